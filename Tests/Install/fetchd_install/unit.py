"""What a systemd unit says, and whether a traced program kept to its filter of system calls."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path


class Unit:
    def __init__(self, file: Path):
        lines = [line for line in file.read_text().splitlines() if "=" in line and not line.startswith("#")]
        self._settings = [tuple(line.split("=", 1)) for line in lines]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self._settings if key == name]

    def value(self, name: str) -> str:
        return self.values(name)[-1]

    @property
    def command(self) -> list[str]:
        return shlex.split(self.value("ExecStart"))

    def allowed_calls(self) -> set[str]:
        """The system calls that SystemCallFilter= leaves (systemd.exec(5)): the first line is a list of allowed calls."""
        allowed: set[str] = set()
        for line in self.values("SystemCallFilter"):
            calls = {call for word in line.lstrip("~").split() for call in _expanded(word)}
            allowed = allowed - calls if line.startswith("~") else allowed | calls
        # systemd always allows these.
        return allowed | set(_expanded("@default"))


def _expanded(word: str) -> list[str]:
    if not word.startswith("@"):
        return [word]
    listing = subprocess.run(["systemd-analyze", "syscall-filter", word], check=True, capture_output=True, text=True)
    names = [line.strip() for line in listing.stdout.splitlines()[1:] if line.startswith("    ")]
    return [call for name in names if not name.startswith("#") for call in _expanded(name)]


def used_calls(trace: Path, program: str) -> set[str]:
    """The system calls of a trace of strace(1) from the start of the program on."""
    text = trace.read_text(errors="replace")
    begin = text.index(f'execve("{program}"')
    return set(re.findall(r"^\d+ +([a-z0-9_]+)\(", text[begin:], re.MULTILINE)) - {"execve"}
