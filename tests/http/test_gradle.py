"""tests/http/test_gradle.py - Gradle's HTTP build cache, as docs/build-cache.md sets it up: what one build has stored another, which
has nothing but the cache, takes from it; who may not store builds all the same. tests/run.sh installs Gradle; where there
is none, there is nothing to test."""

import os
import shutil
import subprocess
import tempfile

from avrod import Server, sanitized

PASSWORD = "correct horse"
ACCESS = "[anonymous]\nreader = gradle\n\n[user ci]\nschema = gradle\nwriter = gradle\n"
SETTINGS = """rootProject.name = 'cached'
buildCache {
    local { enabled = false }
    remote(HttpBuildCache) {
        url = 'http://127.0.0.1:%(port)d/gradle/'
        push = true
        %(credentials)s
    }
}
"""
CREDENTIALS = f"credentials {{ username = 'ci'; password = '{PASSWORD}' }}"
BUILD = """@CacheableTask
class Square extends DefaultTask {
    @Input int n
    @OutputFile File result
    @TaskAction void run() { result.text = "${n * n}\\n" }
}
task square(type: Square) {
    n = %d
    result = file("$buildDir/square.txt")
}
"""


def build(folder, name, port, n, credentials):
    """In a project and a home of its own; returns what Gradle said."""
    project, home = os.path.join(folder, name), os.path.join(folder, name + ".home")
    os.makedirs(project)
    os.makedirs(home)
    with open(os.path.join(project, "settings.gradle"), "w") as f:
        f.write(SETTINGS % {"port": port, "credentials": credentials})
    with open(os.path.join(project, "build.gradle"), "w") as f:
        f.write(BUILD % n)
    with open(os.path.join(project, "gradle.properties"), "w") as f:
        f.write("org.gradle.caching=true\norg.gradle.daemon=false\n")
    env = {**os.environ, "GRADLE_USER_HOME": home, "no_proxy": "*", "JAVA_OPTS": "-XX:TieredStopAtLevel=1"}
    p = subprocess.run(["gradle", "--no-daemon", "square"], cwd=project, env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    said = p.stdout.decode(errors="replace")
    assert p.returncode == 0 and "BUILD SUCCESSFUL" in said, said
    with open(os.path.join(project, "build/square.txt")) as f:
        assert f.read() == f"{n * n}\n", said
    return said


def entries(s):
    return s.get("/gradle?keys=1").body.decode().splitlines()


def check(folder, s):
    first = build(folder, "first", s.port, 12, CREDENTIALS)
    assert "FROM-CACHE" not in first, first
    stored = entries(s)
    assert len(stored) == 1, (stored, first)
    key = stored[0].split('"')[3]
    entry = s.get(f"/gradle/{key}")
    assert entry.header("Content-Type") == "application/vnd.gradle.build-cache-artifact.v1", entry
    assert entry.body[:2] == b"\x1f\x8b", entry
    second = build(folder, "second", s.port, 12, "")
    assert ":square FROM-CACHE" in second, second
    assert entries(s) == stored
    may = s.put("/gradle/probe", body=b"").status == 201
    if not may:
        build(folder, "third", s.port, 13, "")  # another input, and nobody who may store
        assert entries(s) == stored


def main():
    if not shutil.which("gradle"):
        print("skipped: Gradle is not installed; tests/run.sh does it")
        return
    if sanitized():
        print("skipped: once will do, without a sanitizer")
        return
    folder = tempfile.mkdtemp(prefix="avrod-gradle-")
    try:
        passwords, access = os.path.join(folder, "passwords"), os.path.join(folder, "access")
        subprocess.run(["htpasswd", "-cbB", "-C", "5", passwords, "ci", PASSWORD], check=True, stderr=subprocess.DEVNULL)
        with open(access, "w") as f:
            f.write(ACCESS)
        with Server("--passwords", passwords, "--access", access) as s:
            ask = subprocess.run(["curl", "-sS", "-u", f"ci:{PASSWORD}", "--data", '"bytes"',
                                  f"http://127.0.0.1:{s.port}/putschema/gradle?max_size=100MiB"], stdout=subprocess.PIPE, timeout=60)
            assert ask.stdout == b"OK", ask
            check(folder, s)
    finally:
        shutil.rmtree(folder)
    print("ok")


main()
