#!/usr/bin/env python3
"""tools/write_options.py [--check] AVROD - what repeats the table of options, made of `AVROD --help`: packaging/avrod.conf, and the
options of server/man/avrod.8 between its two marks. --check: nothing is written, and 1 where one of them is not as it would be."""

import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
BEGIN, END = '.\\" Made by tools/write_options.py: begin\n', '.\\" Made by tools/write_options.py: end\n'
HEAD = """\
# The options of avrod, each with its default. Take away the # before a name to set it.
#
# avrod reads this file only if --config or AVROD_CONFIG names it. A line is name = value; a comment stands on a line
# of its own. The environment (AVROD_HEAD_MAX for head-max) goes before this file, and the command line before both.
# avrod --config FILE --check-config says whether all is right. See avrod(8).
"""


class Option:
    def __init__(self, name, argument, default, lines):
        self.name, self.argument, self.default, self.lines = name, argument, default, lines

    def is_action(self):
        return self.default is None


def options_of(program):
    """The options as --help tells them, in its order."""
    text = subprocess.run([program, "--help"], stdout=subprocess.PIPE, timeout=60, check=True).stdout.decode()
    options = []
    for line in text.splitlines():
        found = re.match(r"  --([a-z-]+)(?: (\S+))?(?:  \(default: (.*)\))?$", line)
        if found:
            options.append(Option(*found.groups(), []))
        elif options:
            options[-1].lines.append(line.strip())
    assert len(options) > 20
    return options


def conf_of(options):
    out = [HEAD]
    for option in options:
        if option.is_action() or option.name == "config":
            continue
        value = option.argument if option.default == "none" else option.default
        out.append("\n" + "".join(f"# {line}\n" for line in option.lines) + f"#{option.name} = {value}\n")
    return "".join(out)


# ---- the manual page ----


def mdoc_text(text):
    """Words in lines that are not too long, of which each sentence begins one."""
    sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", text.replace("\\", "\\e"))
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)]
    return "".join(("\\&" if line[0] in ".'" else "") + line + "\n" for line in lines)


def mdoc_lines(lines):
    """Words and what they mean, with blanks between, become a list."""
    out, inside = [], False
    for line in lines:
        found = re.match(r"(\S+) {2,}(.*)", line)
        if bool(found) != inside:
            out.append(".El\n" if inside else ".Bl -tag -width Ds -compact\n")
            inside = bool(found)
        out.append(f".It Cm {found.group(1)}\n" + mdoc_text(found.group(2)) if found else mdoc_text(line))
    return "".join(out) + (".El\n" if inside else "")


def mdoc_of(options):
    out = [".Bl -tag -width Ds\n"]
    for option in options:
        argument = f" Ar {option.argument.lower()}" if option.argument else ""
        out.append(f".It Fl -{option.name}{argument}\n" + mdoc_lines(option.lines))
        if option.default not in (None, "none"):
            out.append(f"Default:\n.Li {option.default}\n")
    return "".join(out) + ".El\n"


def page_with(page, options):
    before, rest = page.split(BEGIN)
    _, behind = rest.split(END)
    return before + BEGIN + mdoc_of(options) + END + behind


def main():
    check, program = "--check" in sys.argv, sys.argv[-1]
    options, code = options_of(program), 0
    for name, made_of in (("packaging/avrod.conf", lambda _: conf_of(options)),
                          ("server/man/avrod.8", lambda page: page_with(page, options))):
        path, old = os.path.join(ROOT, name), ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                old = f.read()
        new = made_of(old)
        if new == old:
            continue
        if check:
            print(f"{name} does not say what --help does; tools/write_options.py AVROD writes it anew")
            code = 1
            continue
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)
    sys.exit(code)


if __name__ == "__main__":
    main()
