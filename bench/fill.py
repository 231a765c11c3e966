"""bench/fill.py BUILD RECORDS... - fill the stores that are not there yet. Called by fill.sh."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

# pylint: disable=wrong-import-position
import stores
from tools import Tools

for number in sys.argv[2:]:
    print(stores.cached(Tools(sys.argv[1]), int(number)))
