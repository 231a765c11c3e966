/* tests/unit/base/test_utf8_portable.c - the tests of test_utf8.c on the way that needs no vectors. */
#undef __SSE2__
#include "base/utf8.c"
#include "tests/unit/base/test_utf8.c"
