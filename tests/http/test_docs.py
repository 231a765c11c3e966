"""tests/http/test_docs.py - the pages for users are true: their console sessions are run, and their tables compared with the
tables in the source. With --write the answers of now are put into the sessions."""

import os
import re
import subprocess
import sys

import console
import shown
from avrod import AVROD, ROOT

PAGES = ["docs/http-api.md", "docs/paths.md", "docs/schemas.md", "docs/registry.md", "docs/operating.md", "docs/access.md",
         "docs/build-cache.md"]
ROUTES = ["docs/http-api.md", "docs/registry.md"]
SHOWN = ["docs/http-api.md", "docs/paths.md", "docs/registry.md", "docs/access.md", "docs/build-cache.md"]

# What no curl line of those pages shows, and why not.
NOT_SHOWN = {
    "header fields": {
        "User-Agent": "nothing but the access log shows it",
        "Referer": "nothing but the access log shows it",
    },
    "header fields of answers": {
        "Retry-After": "a 503 takes more clients than one",
    },
    "errors": {
        "backup_running": "takes more clients than one",
        "not_supported": "takes a server with an engine that keeps nothing",
        "draining": "the server is gone a moment later",
        "helpers_busy": "takes more clients than one",
        "internal": "a fault of ours, which the tests of faults make",
        "interrupted": "its client has left",
        "io": "a disk that fails",
        "json_too_large": "takes a record of 16 MiB, and minutes under a sanitizer",
        "logins_slowed": "takes two failures within a second",
        "no_memory": "takes more clients than one",
        "queue_full": "takes more clients than one",
        "store_broken": "a disk that fails",
        "too_many_connections": "takes more clients than one",
    },
    "errors of the registry": {
        "50001": "a fault of ours, or a disk that fails",
        "50701": "the 507 of the others, with another body",
    },
}


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


# ---- X-macro tables ----


def rows_of(text, macro):
    """The arguments of each row MACRO(...) of a .def file, strings without their quotes."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    rows = []
    for row in re.findall(rf"^{macro}\(((?:\"[^\"]*\"|\([^)]*\)|[^()\"])*)\)", text, re.M):
        parts = re.findall(r'((?:"[^"]*"|\([^)]*\)|[^,"(])+)(?:,|$)', row)
        rows.append([re.sub(r'"\s*"|^"|"$', "", part.strip()) for part in parts])
    assert rows, f"no rows {macro}"
    return rows


def words_in(text, prefix):
    return re.findall(rf"{prefix}\((\w+)\)", text)


# ---- tables of a page ----


def table_of(page, *columns):
    """The cells of all tables of a page with these columns."""
    rows, inside = [], False
    for line in read(page).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells == list(columns):
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(line) <= set("|-"):
            rows.append(cells)
    assert rows, f"{page} has no table {columns}"
    return rows


def code_of(cell):
    """What stands in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def same(what, said, real):
    said, real = sorted(said), sorted(real)
    missing = [row for row in real if said.count(row) < real.count(row)]
    false = [row for row in said if real.count(row) < said.count(row)]
    assert said == real, f"{what}: missing in the docs: {missing}; only there: {false}"


# ---- one check a table ----


def check_routes():
    text = read("server/routes.def")
    said = [(tuple(methods.split(", ")), *code_of(path), tuple(code_of(params)))
            for page in ROUTES
            for methods, path, params, *_ in table_of(page, "method", "path", "parameters", "does", "answers")]
    real = [(tuple(words_in(row[0], "M")), row[1], tuple(words_in(row[4], "P"))) for row in rows_of(text, "ROUTE")]
    same("routes", said, real)
    page = read("docs/http-api.md")
    items = re.findall(r"^- .*?(?=^- |^$)", page, re.S | re.M)
    reserved = next(item for item in items if "No type can bear" in item)
    same("reserved words", set(code_of(reserved)) - {"_"}, {row[0] for row in rows_of(text, "RESERVED")})
    verbs = next(item for item in items if "are verbs" in item).split("are verbs")[0]
    same("verbs", code_of(verbs), [row[0] for row in rows_of(text, "VERB")])


def check_errors():
    sent, never = read("base/errors.def").split("/* Never sent")
    said = [(status, *code_of(code)) for status, code, _ in table_of("docs/http-api.md", "status", "code", "when")]
    known = {slug for _, slug in said}
    registry = [(number, status, *code_of(error)) for number, status, error, _ in
                table_of("docs/registry.md", "error_code", "status", "error", "when")]
    said += [(status, slug) for _, status, slug in registry if slug not in known]
    same("errors", said, [(row[1], row[2]) for row in rows_of(sent, "ERROR")])
    slugs = {row[0]: row[2] for row in rows_of(sent, "ERROR")}
    same("error codes of the registry", registry,
         [(number, number[:3], slugs[name]) for name, number in rows_of(read("server/registry/codes.def"), "CODE")])
    assert rows_of(never, "ERROR")
    problems = table_of("docs/http-api.md", "code", "in records", "in schemas")
    same("problems", [code_of(row[0])[0] for row in problems],
         [row[1] for row in rows_of(read("base/problems.def"), "PROBLEM")])


def check_headers():
    said = [name for row in table_of("docs/http-api.md", "request", "what for") for name in code_of(row[0])]
    same("header fields", said, [row[1] for row in rows_of(read("server/http/headers.def"), "HEADER")])
    page = read("docs/http-api.md")
    answers = re.findall(r"^HTTP/1\.1 .*\n((?:[A-Z][A-Za-z-]*: .*\n)+)", page, re.M)
    shown = {line.split(":")[0] for answer in answers for line in answer.splitlines()}
    told = {name for row in table_of("docs/http-api.md", "answer", "when") for name in code_of(row[0])}
    assert len(answers) > 20 and shown <= told, f"header fields of answers that the table does not have: {shown - told}"


def amount(value, unit):
    """A limit as a person would write it."""
    n = int(value)
    scales = {"bytes": [(1 << 20, "MiB"), (1 << 10, "KiB")], "ms": [(1000, "s")],
              "ns": [(1000000, "ms"), (1000, "us")]}
    for scale, name in scales.get(unit, []):
        if n >= scale and n % scale == 0:
            return f"{n // scale:,} {name}"
    return f"{n:,} {unit}"


def check_limits():
    said = [tuple(row[:2]) for page in PAGES if page not in ("docs/schemas.md", "docs/paths.md") for row in table_of(page, "limit", "value", "beyond it")]
    real = [(row[3], amount(row[1], row[2])) for row in rows_of(read("base/limits.def"), "LIMIT")]
    same("limits", said, real)


def check_options():
    text = subprocess.run([AVROD, "--help"], stdout=subprocess.PIPE, timeout=60, check=True).stdout.decode()
    real = re.findall(r"^  (--.*?)  \(default: (.*)\)$", text, re.M)
    said = [(*code_of(option), default) for option, default, _ in
            table_of("docs/operating.md", "option", "default", "meaning")]
    same("options", said, real)
    for action in re.findall(r"^  (--[a-z-]+)(?: [A-Z]+)?$", text, re.M):
        assert f"`{action}`" in read("docs/operating.md"), action


def check_stages():
    said = [(code_of(stage)[0], what) for stage, what in table_of("docs/http-api.md", "stage", "what")]
    same("stages", said, [tuple(row) for row in rows_of(read("server/stages.def"), "STAGE")])


def check_metrics():
    """Each row word for word; a new row's line for the page is what a failure prints as missing."""
    kinds = {"COUNTER": "counter", "GAUGE": "gauge", "HISTOGRAM_TYPE": "histogram"}
    real = [(f"`{name}`", kinds[kind], ", ".join(f"`{label}`" for label in labels.split(", ") if label), text)
            for kind, name, _, labels, _, text in rows_of(read("server/metrics.def"), "METRIC")]
    said = [tuple(row) for row in table_of("docs/operating.md", "metric", "type", "labels", "meaning")]
    same("metrics", said, real)
    names = set(re.findall(r"\b(?:avrod|process)_\w+", read("docs/operating.md")))
    known = {name.strip("`") for name, *_ in real}
    unknown = {name for name in names if re.sub("_(bucket|sum|count)$", "", name) not in known and name not in known}
    assert not unknown, f"no such metrics: {unknown}"


def check_named_tests(what, cell):
    """Each test that is named is there. Is one named at all?"""
    text = ""
    for word in code_of(cell):
        if word.startswith("tests/"):
            text = read(word)
        elif text and re.fullmatch(r"\w+", word):
            assert re.search(rf"def {word}\(|TEST\({word}\)", text), f"{what}: there is no test {word}"
    return bool(text)


def check_behaviours():
    for behaviour, tests in table_of("docs/testing.md", "behaviour of the store", "tests"):
        assert check_named_tests(behaviour, tests), behaviour


def check_complaints():
    """Each case has a row."""
    rows = table_of("docs/testing.md", "case", "about", "tests")
    numbers = set()
    for cases, about, tests in rows:
        found = [int(n) for n in re.findall(r"D-(\d\d)", cases)]
        numbers |= set(range(found[0], found[1] + 1)) if " to " in cases else set(found)
        assert check_named_tests(f"{cases}, {about}", tests) or "later" in tests, f"{cases}: neither a test nor a word"
    assert numbers == set(range(1, 67)), numbers ^ set(range(1, 67))


# ---- is there a curl line for each of them? ----


def check_shown_routes():
    """Each method of each route is asked for, and answers; so is each parameter, on a route that knows it."""
    text = read("server/routes.def")
    reserved, verbs = ({row[0] for row in rows_of(text, macro)} for macro in ("RESERVED", "VERB"))
    routes = [(row[1], set(words_in(row[0], "M")), set(words_in(row[4], "P"))) for row in rows_of(text, "ROUTE")]
    methods, parameters = set(), set()
    for page in SHOWN:
        for request in shown.requests_of(read(page)):
            pattern = shown.best_of([row[0] for row in routes], request.path, reserved, verbs)
            known = [row for row in routes if row[0] == pattern and request.method in row[1]]
            if known and not request.is_refused:
                methods.add((request.method, pattern))
                parameters |= request.parameters & set().union(*(row[2] for row in known))
    real = {(method, pattern) for pattern, taken, _ in routes for method in taken}
    assert methods == real, f"no curl line is answered by: {sorted(real - methods)}"
    real = {row[0] for row in rows_of(read("server/params.def"), "PARAM")}
    assert parameters == real, f"no curl line has the parameters: {sorted(real - parameters)}"


def not_shown(what, missing):
    """Is that which no curl line shows what is known not to be shown? What is shown by now has no place there either."""
    known = set(NOT_SHOWN[what])
    assert missing == known, f"{what}: no curl line shows {sorted(missing - known)}; one does {sorted(known - missing)}"


def check_shown_fields():
    """Each header field is sent by a curl line, and each of an answer is in one."""
    requests = [request for page in SHOWN for request in shown.requests_of(read(page))]
    sent = set().union(*(request.fields for request in requests))
    told = {name for row in table_of("docs/http-api.md", "request", "what for") for name in code_of(row[0])}
    not_shown("header fields", told - sent)
    answered = {name for request in requests for name in re.findall(r"^([A-Z][A-Za-z-]*): ", request.answer, re.M)}
    told = {name for row in table_of("docs/http-api.md", "answer", "when") for name in code_of(row[0])}
    not_shown("header fields of answers", told - answered)


def check_shown_errors():
    """Each status and code of the tables is in an answer."""
    answers = "".join(shown.answers_of(read(page)) for page in SHOWN)
    codes = set(re.findall(r'"status": ?\d+,.*?"code": ?"(\w+)"', answers, re.S))
    told = {code_of(code)[0] for _, code, _ in table_of("docs/http-api.md", "status", "code", "when")}
    not_shown("errors", told - codes)
    numbers = set(re.findall(r'"error_code":(\d+)', answers))
    told = {number for number, *_ in table_of("docs/registry.md", "error_code", "status", "error", "when")}
    not_shown("errors of the registry", told - numbers)


def main():
    for page in PAGES:
        console.check(page, write="--write" in sys.argv)
        print(page)
    for check in (check_routes, check_errors, check_headers, check_limits, check_options, check_metrics,
                  check_stages, check_behaviours, check_complaints, check_shown_routes, check_shown_fields,
                  check_shown_errors):
        check()
        print(check.__name__)
    print("ok")


if __name__ == "__main__":
    main()
