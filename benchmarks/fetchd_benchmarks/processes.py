"""Child processes: their start and end, and what they cost."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .environment import ENVIRONMENT, fail

Process = subprocess.Popen


@contextlib.contextmanager
def running(
    command: Sequence[str | Path], log: Path, environment: dict[str, str] | None = None, patience: float = 60
) -> Iterator[Process]:
    """Starts a process in the folder of its log. At the end it gets SIGTERM, and after `patience` seconds SIGKILL."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env=ENVIRONMENT | (environment or {}), cwd=log.parent,
        )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(condition: Callable[[], bool], process: Process, log: Path, patience: float = 60) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            fail(f"{process.args[0]} did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.005)


def family(pid: int) -> list[int]:
    """The process and all of its descendants."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += map(int, task.read_text().split())
    return [pid, *(member for child in children for member in family(child))]


def cpu_seconds(pid: int) -> float:
    """User and system time of the process, of its descendants, and of children that have ended."""
    total = 0.0
    for member in family(pid):
        with contextlib.suppress(OSError):
            # The CPU clock of the process. /proc/PID/stat has the same time in ticks of 10 ms.
            total += time.clock_gettime(~member << 3 | 2)
            # The fields after the name, which may contain spaces: 16 and 17 are cutime and cstime.
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
    return total


def peak_mib(pid: int) -> float:
    return _status_sum(pid, "VmHWM") / 1024


def resident_mib(pid: int) -> float:
    return _status_sum(pid, "VmRSS") / 1024


def context_switches(pid: int) -> Counter[str]:
    """By thread. A thread that sleeps and wakes up once has one."""
    switches: Counter[str] = Counter()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            status = (task / "status").read_text()
            switches[task.name] = sum(int(count) for count in re.findall(r"ctxt_switches:\s+(\d+)", status))
    return switches


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def _status_sum(pid: int, field: str) -> int:
    total = 0
    for member in family(pid):
        with contextlib.suppress(OSError):
            found = re.search(rf"^{field}:\s+(\d+) kB$", Path(f"/proc/{member}/status").read_text(), re.MULTILINE)
            total += int(found[1]) if found else 0
    return total
