"""The counters: each reads one kind of work of a running process."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ..commands import compiled
from ..environment import ENVIRONMENT
from ..fetchd import Fetchd

Counts = dict[str, float]

# Their number depends on the moments at which threads meet, or on the state of the allocator, not on the work.
UNCOUNTED_CALLS = {
    "futex", "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6", "nanosleep",
    "clock_nanosleep", "restart_syscall", "sched_yield", "madvise", "mmap", "munmap", "mprotect", "brk", "mremap",
    "rt_sigprocmask", "rt_sigaction", "sigaltstack", "gettid", "getpid", "clone", "clone3", "exit", "set_robust_list",
    "rseq", "prctl", "sched_getaffinity", "timerfd_settime",
}  # fmt: skip
SYNCS = {"fsync", "fdatasync", "syncfs"}


class Allocations:
    """Calls of malloc and its relatives, counted by a preloaded library (native/counting.c)."""

    def __init__(self, folder: Path):
        self._file = folder / "allocations"
        self._file.write_bytes(bytes(8))

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(compiled("counting.c")), "COST_COUNTS": str(self._file)}

    def count(self) -> int:
        return int.from_bytes(self._file.read_bytes(), sys.byteorder)


class SystemCalls:
    """Counts the system calls of a process between `start` and `stop`."""

    def __init__(self, pid: int, report: Path):
        self._report = report
        self._strace = subprocess.Popen(
            ["strace", "-f", "-c", "-U", "calls,name", "-o", report, "-p", str(pid)],
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._strace.stderr
        # It writes one line for each thread, or for all of them, when it has attached.
        self.error = "" if "attached" in (line := self._strace.stderr.readline()) else line

    def stop(self) -> Counts:
        self._strace.send_signal(signal.SIGINT)
        self._strace.communicate()
        found = re.findall(r"^\s*(\d+)\s+(\w+)$", self._report.read_text(), re.MULTILINE)
        calls = {name: int(count) for count, name in found if name != "total"}
        counted = {name: count for name, count in calls.items() if name not in UNCOUNTED_CALLS}
        return {
            "system calls": sum(counted.values()),
            "syncs": sum(count for name, count in calls.items() if name in SYNCS),
        }


class Instructions:
    """Instructions in user mode, counted by valgrind's callgrind. The hardware's counters, as perf reads them, do not
    exist on many virtual machines."""

    def __init__(self, folder: Path):
        self._output = folder / "callgrind"

    @property
    def runner(self) -> list[str]:
        return ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={self._output}"]

    def during(self, step: Callable[[], None], pid: int) -> int:
        self._command(pid, "zero")
        step()
        for file in self._output.parent.glob(f"{self._output.name}*"):
            file.unlink()
        self._command(pid, "dump")
        texts = [file.read_text() for file in self._output.parent.glob(f"{self._output.name}*")]
        return sum(int(total) for text in texts for total in re.findall(r"^totals: (\d+)$", text, re.MULTILINE))

    def _command(self, pid: int, command: str) -> None:
        subprocess.run(["vgdb", f"--pid={pid}", command], env=ENVIRONMENT, check=True, capture_output=True)


def missing_tools() -> dict[str, str]:
    """Counters that this machine cannot offer, and why."""
    missing = {}
    if not shutil.which("strace"):
        missing["system calls"] = "strace is not installed"
    if not (shutil.which("valgrind") and shutil.which("vgdb")):
        missing["instructions"] = "valgrind is not installed"
    elif problem := valgrind_problem():
        missing["instructions"] = f"valgrind does not run: {problem}"
    if not shutil.which("cc"):
        missing["allocations"] = "there is no C compiler"
    return missing


def valgrind_problem() -> str:
    """Why valgrind cannot run a program here; empty when it can."""
    command = ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=/dev/null", "true"]
    ended = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    return ended.stderr.strip()[-200:] or f"status {ended.returncode}" if ended.returncode else ""


def statements(service: Fetchd) -> Counts:
    """The SQL statements and commits so far."""
    names = {"SQL statements": "fetchd_database_statements_total", "commits": "fetchd_database_commits_total"}
    found = {name: service.metric(metric) for name, metric in names.items()}
    return {name: value for name, value in found.items() if value is not None}
