"""tests/lib/shown.py - what the console sessions of a page show: each request that a curl of them sends, with the answer
that is printed below it."""

import re
import shlex
from dataclasses import dataclass, field

import console

BODIES = ("-d", "--data", "--data-binary", "--data-raw", "--json", "--data-urlencode")
FIELDS = {"-r": "Range", "-A": "User-Agent", "-e": "Referer"}  # options that name a header field


@dataclass
class Request:
    method: str
    target: str
    fields: set = field(default_factory=set)  # names of header fields that the command names
    answer: str = ""  # of the whole command
    port: str = ""

    @property
    def path(self):
        return self.target.partition("?")[0]

    @property
    def parameters(self):
        return {pair.partition("=")[0] for pair in self.target.partition("?")[2].split("&") if pair}

    @property
    def is_refused(self):
        return bool(re.search(r'"error_code":|"title": ?".*?"code": ?"', self.answer, re.S))


def request_of(words, answer):
    """The request of one curl, words behind its name; None if it is for no path here."""
    method, target, port, fields = None, None, "", set()
    for word, behind in zip(words, [*words[1:], ""]):
        if word == "-X":
            method = behind
        elif word in ("-I", "--head"):
            method = method or "HEAD"
        elif word == "-T":
            method = method or "PUT"
        elif word in BODIES:
            method = method or "POST"
        elif word == "-H":
            fields.add(behind.partition(":")[0])
        if FIELDS.get(word):
            fields.add(FIELDS[word])
        place = re.match(r"(?:http://)?(?:localhost|127\.0\.0\.1):(\d+)(/.*)?$", word)
        if place and not target:
            port, target = place[1], place[2] or "/"
    return Request(method or "GET", target.rstrip(";"), fields, answer, port) if target else None


def requests_of(page):
    """All of the text of a page, in their order."""
    requests = []
    for block in console.BLOCK.findall(page):
        for lines, answer in console.turns_of(block):
            words = shlex.split(console.command_of(lines), comments=True)
            starts = [at for at, word in enumerate(words) if word.lstrip("$(") == "curl"]
            for at in starts:
                ends = [end for end, word in enumerate(words) if end > at and word in ("|", ";", "&&")]
                request = request_of(words[at + 1:min(ends, default=None)], "\n".join(answer))
                requests += [request] if request else []
    return requests


def answers_of(page):
    """Whatever the commands of a page print."""
    return "\n".join("\n".join(answer) for block in console.BLOCK.findall(page) for _, answer in console.turns_of(block))


# ---- routes ----


def fits(pattern, path, reserved, verbs):
    """Is this path one of the pattern's, as the router takes it?"""
    steps, pieces = pattern.split("/")[1:], path.rstrip("/").split("/")[1:] or [""]
    if len(steps) != len(pieces):
        return False
    if steps[0] == "{type}" and (pieces[0] in reserved or len(steps) > 2 and pieces[1] not in verbs):
        return False
    return all(piece == step or (step.startswith("{") and piece) for step, piece in zip(steps, pieces))


def best_of(patterns, path, reserved, verbs):
    """The pattern that a path is for: literals before names."""
    found = [pattern for pattern in patterns if fits(pattern, path, reserved, verbs)]
    return min(found, key=lambda pattern: [step.startswith("{") for step in pattern.split("/")], default=None)
