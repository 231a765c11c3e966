"""tests/client/test_install.py - what is installed: the library as others link it, the manual pages, the completion.

The build is $BUILD, the compiler $CC; $STATIC is empty where the static library is not built."""

import gzip
import os
import re
import shutil
import subprocess
import tempfile

from avrod import ROOT, Server

BUILD, CC, LIBDIR = os.environ["BUILD"], os.environ["CC"], os.environ["LIBDIR"]
PROGRAM = r"""
#include <avrod.h>
#include <stdio.h>
#include <string.h>

/* A name that avrod uses inside: it is the program's. */
int buf_append(void);
int buf_append(void) { return 7; }

int main(int argc, char **argv)
{
    avrod_client *client;
    struct avrod_error error = {0};
    struct avrod_answer answer = {0};
    struct avrod_options options = {.url = argv[argc - 1]};
    int failed = avrod_open(&options, &client, &error) || avrod_ping(client, &error) ||
                 avrod_schema_put(client, "t", "\"int\"", 5, NULL, NULL, &error) ||
                 avrod_put(client, "t", "1", 1, "42", 2, NULL, NULL, &error) ||
                 avrod_get(client, "t", "1", 1, NULL, &answer, &error);
    printf("%s %s %d\n", failed ? error.message : answer.body, avrod_version(), buf_append());
    avrod_answer_release(&answer);
    avrod_error_release(&error);
    avrod_close(client);
    return failed;
}
"""


def run(*command, **kw):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False, **kw)
    assert done.returncode == 0, (command, done.stdout)
    return done.stdout


def declared():
    with open(os.path.join(ROOT, "client/avrod.h"), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return set(re.findall(r"\b(avrod_\w+)\(", text))


def exported(path, *options):
    return {line.split()[-1] for line in run("nm", "--defined-only", "-g", *options, path).splitlines() if len(line.split()) == 3}


def check_names(prefix):
    """What avrod.h declares is there, and nothing else is."""
    wanted = declared()
    assert len(wanted) > 20
    assert exported(os.path.join(prefix, LIBDIR, "libavrod.so"), "-D") == wanted
    if os.environ["STATIC"]:
        assert exported(os.path.join(prefix, LIBDIR, "libavrod.a")) == wanted


def check_programs(prefix, folder):
    """A program is built as the pkg-config file says, as C and as C++, and runs."""
    env = {**os.environ, "PKG_CONFIG_PATH": os.path.join(prefix, LIBDIR, "pkgconfig")}
    version = run("pkg-config", "--modversion", "libavrod", env=env).strip()
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    flags = run("pkg-config", "--cflags", "libavrod", env=env).split()
    shared = run("pkg-config", "--libs", "libavrod", env=env).split()
    assert "-lcurl" not in shared
    ways = {"shared": shared}
    if os.environ["STATIC"]:
        private = run("pkg-config", "--libs", "libcurl").split()
        ways["static"] = [os.path.join(prefix, LIBDIR, "libavrod.a"), *private, "-pthread"]
    sanitize = os.environ.get("SANITIZE", "")
    for way, libraries in ways.items():
        program = os.path.join(folder, way)
        run(CC, "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", *([f"-fsanitize={sanitize}"] if sanitize else []),
            *flags, source, "-o", program, *libraries)
        with Server("--engine", "memory") as s:
            env["LD_LIBRARY_PATH"] = os.path.join(prefix, LIBDIR)
            out = run(program, f"http://127.0.0.1:{s.port}", env=env)
        assert out == f"42 {version} 7\n", out
    for standard in ("gnu99", "c17"):
        run(CC, f"-std={standard}", "-Wall", "-Werror", *flags, "-fsyntax-only", "-x", "c", os.path.join(prefix, "include/avrod.h"))
    if shutil.which("g++"):
        run("g++", "-Wall", "-Werror", "-fsyntax-only", "-x", "c++", os.path.join(prefix, "include/avrod.h"))


def table_words(name, pattern):
    with open(os.path.join(ROOT, "client/ctl", name), encoding="utf-8") as f:
        return re.findall(pattern, f.read(), re.M)


def check_pages(prefix):
    """Each function, command and option has its place; no page has a fault. They are installed compressed."""
    pages = {}
    for page in ("man1/avroctl.1", "man3/libavrod.3", "man8/avrod.8"):
        path = os.path.join(prefix, os.path.basename(page))
        with gzip.open(os.path.join(prefix, "share/man", page + ".gz"), "rt", encoding="utf-8") as f, open(path, "w", encoding="utf-8") as plain:
            pages[page] = f.read()
            plain.write(pages[page])
        said = subprocess.run(["mandoc", "-T", "lint", "-W", "style", path], capture_output=True, text=True, timeout=60, check=False)
        faults = [line for line in said.stdout.splitlines() if "referenced manual not found" not in line]
        assert not faults, faults
    functions = set(re.findall(r"^\.Fn (avrod_\w+) ", pages["man3/libavrod.3"], re.M))
    assert functions == declared(), functions ^ declared()
    page = pages["man1/avroctl.1"]
    for command in table_words("commands.def", r'^COMMAND\(\w+, "([^"]+)"'):
        assert re.search(rf"^\.It Cm {command}\b", page, re.M), command
    shown = set(re.findall(r"-([a-z][a-z0-9-]+)", " ".join(re.findall(r"^\.It Fl .*$", page, re.M))))
    for option in table_words("options.def", r'^OPTION\(\w+, "--([^"]+)"'):
        assert option in shown, option
    for variable in table_words("options.def", r'"(AVROD_\w+)"'):
        assert variable in page, variable


def complete(prefix, line, url=""):
    """What bash offers behind a line."""
    words = re.findall(r"=|[^ =]+|(?<=[ =])$", line)
    script = f"""
        . '{prefix}/share/bash-completion/completions/{words[0]}'
        COMP_WORDS=({' '.join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
        _{words[0]}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    env = {**os.environ, "PATH": os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"], "AVROD_URL": url}
    return sorted(run("bash", "-c", script, env=env, cwd=os.path.join(prefix, "share")).split())


def check_completion(prefix):
    with Server("--engine", "memory") as s:
        url = f"http://127.0.0.1:{s.port}"
        s.post("/putschema/person", body=b'"int"')
        assert complete(prefix, "avroctl sc", url) == ["scan", "schema"]
        assert complete(prefix, "avroctl schema d", url) == ["delete", "diff"]
        assert complete(prefix, "avroctl --url x --json pi", url) == ["ping"]
        assert complete(prefix, "avroctl put --if-m", url) == ["--if-match"]
        assert complete(prefix, "avroctl ping --if-m", url) == []
        assert complete(prefix, "avroctl get --field f p", url) == ["person"]
        assert complete(prefix, "avroctl schema put p", url) == ["person"]
        assert complete(prefix, "avroctl put person id m", url) == ["man"]
        assert complete(prefix, "avroctl bench si", url) == ["sizes"]
        assert complete(prefix, "avroctl path cl", url) == ["clear"]
        assert complete(prefix, "avroctl path update p", url) == ["person"]
        assert complete(prefix, "avroctl path update person id . m", url) == complete(prefix, "avroctl backup m", url) == ["man"]
        assert complete(prefix, "avroctl fsck --av") == ["--avrod"]
    assert complete(prefix, "avrod --head-") == ["--head-deadline", "--head-max"]
    assert complete(prefix, "avrod --durability ") == ["async", "none", "sync"]
    assert complete(prefix, "avrod --durability=a") == ["async"]
    assert complete(prefix, "avrod --data ma") == complete(prefix, "avrod --config=ma") == ["man"]
    assert complete(prefix, "avrod --head-max ") == []


def main():
    with tempfile.TemporaryDirectory(prefix="avrod-test-") as folder:
        prefix = os.path.join(folder, "usr")
        run("cmake", "--install", BUILD, "--prefix", prefix)
        assert re.match(r"avroctl \d", run(os.path.join(prefix, "bin/avroctl"), "--version"))
        check_names(prefix)
        check_programs(prefix, folder)
        check_pages(prefix)
        check_completion(prefix)
    print("ok")


if __name__ == "__main__":
    main()
