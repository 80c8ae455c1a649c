"""Compiles disk_faults.c, sets its rules, and reads its counters."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).with_name("disk_faults.c")

# In the order of the library's counters.
CALLS = (
    "write", "pwrite64", "writev", "fdatasync", "fsync", "syncfs", "sync_file_range", "renameat2", "linkat", "unlink",
    "ftruncate", "fallocate", "open", "mkdir", "sendto", "sendmsg",
)  # fmt: skip


def compiled(source: Path = SOURCE) -> Path:
    """Returns a library for LD_PRELOAD. It is compiled into the build folder unless this version of it exists."""
    name = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    library = ROOT / ".build/faults" / f"{source.stem}-{name}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        fresh = library.with_suffix(f".{os.getpid()}")
        flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra"]
        subprocess.run(["cc", *flags, "-o", fresh, source, "-ldl", "-lpthread"], check=True)
        fresh.rename(library)
    return library


class Faults:
    """The rules for the calls of the processes in one folder."""

    def __init__(self, folder: Path):
        self._library = compiled()
        self._rules = folder / "faults.rules"
        self._log = folder / "faults.log"
        self._counts = folder / "faults.counts"
        self.set()

    def set(self, *rules: str) -> None:
        """Replaces all rules, also for a running process, from its next call on."""
        fresh = self._rules.with_suffix(".new")
        fresh.write_text("".join(f"{rule}\n" for rule in rules), encoding="utf-8")
        fresh.rename(self._rules)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self._library),
            "DISK_FAULTS_RULES": str(self._rules),
            "DISK_FAULTS_LOG": str(self._log),
            "DISK_FAULTS_COUNTS": str(self._counts),
        }

    @property
    def obeyed(self) -> list[str]:
        """The calls that a rule was applied to, one on each line: call, path, action."""
        return self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []

    @property
    def counts(self) -> dict[str, int]:
        """The number of calls of all processes so far."""
        if not self._counts.exists():
            return dict.fromkeys(CALLS, 0)
        return dict(zip(CALLS, struct.unpack(f"{len(CALLS)}Q", self._counts.read_bytes())))
