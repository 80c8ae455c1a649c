#!/usr/bin/env python3
"""command_a2rpc.py BASE-URL FILE-URL TOKEN: drives fetchd with the command a2rpc."""
import re
import subprocess
import sys
import time

base, url, token = sys.argv[1:4]


def a2rpc(*arguments):
    run = subprocess.run(
        [sys.executable, "-m", "a2rpc", "--rpc-url", base + "/jsonrpc", "--rpc-secret", token, *arguments],
        capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, (arguments, run.stdout, run.stderr)
    return run.stdout


def gid(text):
    return re.search(r"GID: (\w{16})", text)[1]


def until(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(a2rpc("list"))


first = gid(a2rpc("add", url, "-o", "command.bin"))
until(lambda: re.search(rf"\[{first}\] 293k/293k - .*/command.bin", a2rpc("list")))
paused = gid(a2rpc("add", url, "-s", "pause=true"))
assert re.search(rf"Waiting Downloads ===\n\[{paused}\]", a2rpc("list"))
assert paused in a2rpc("resume", paused)
until(lambda: re.search(rf"\[{paused}\] 293k/293k", a2rpc("list")))
removed = gid(a2rpc("add", url, "-s", "pause=true"))
assert removed in a2rpc("remove", removed)
