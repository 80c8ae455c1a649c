#!/usr/bin/env python3
"""terminal_aria2tui.py BASE-URL FILE-URL TOKEN: shows fetchd's downloads with aria2tui, in a pseudo-terminal."""
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
import urllib.request
from urllib.parse import urlsplit

base, url, token = sys.argv[1:4]
parts = urlsplit(base)


def call(method, *parameters):
    body = json.dumps({"id": "1", "method": method, "params": ["token:" + token, *parameters]}).encode()
    with urllib.request.urlopen(base + "/jsonrpc", data=body) as response:
        return json.loads(response.read())["result"]


call("aria2.addUri", [url], {"out": "shown-in-the-terminal.bin", "pause": "true"})
with tempfile.TemporaryDirectory() as home:
    config = pathlib.Path(home, "config.toml")
    config.write_text(
        f'[general]\nurl = "http://{parts.hostname}"\nport = "{parts.port}"\ntoken = "{token}"\n'
        'startup_commands = ["true"]\nrestart_commands = ["true"]\n')
    environment = {**os.environ, "HOME": home, "ARIA2TUI_CONFIG_PATH": str(config), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    process, terminal = pty.fork()
    if process == 0:
        # A machine without login sessions has no login name, which aria2tui asks for.
        start = "import os, runpy; os.getlogin = lambda: 'nobody'; runpy.run_module('aria2tui', run_name='__main__')"
        os.execve(sys.executable, [sys.executable, "-c", start], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    screen, end = b"", time.monotonic() + 40
    try:
        while time.monotonic() < end and b"shown-in-the-terminal" not in screen:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    screen += os.read(terminal, 65536)
                except OSError:
                    break
        assert b"shown-in-the-terminal" in screen, screen[-3000:]
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
