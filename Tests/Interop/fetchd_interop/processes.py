"""Child processes that serve a port, and wait conditions."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from .environment import ENVIRONMENT, LOOPBACK
from .outcomes import Failure

Value = TypeVar("Value")


@contextlib.contextmanager
def serving(command: Sequence[str | Path], port: int, folder: Path, name: str | None = None) -> Iterator[subprocess.Popen]:
    """Starts the program, and continues when it accepts connections. Its output goes to NAME.log in the folder."""
    log = folder / f"{name or Path(command[0]).name}.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=ENVIRONMENT,
            cwd=folder,
        )  # fmt: skip
    try:
        until(f"{command[0]} accepts connections", lambda: is_open(port, process, log), 30)
        yield process
    finally:
        stop(process)


def is_open(port: int, process: subprocess.Popen, log: Path) -> bool:
    if process.poll() is not None:
        raise Failure(f"{process.args[0]} has ended: {log.read_text(errors='replace')[-1500:]}")
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def stop(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def until(what: str, condition: Callable[[], Value], patience: float = 60, pause: float = 0.02) -> Value:
    """The first value that is true. After `patience` seconds the check has failed."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"after {patience:g} s it is still not true that {what}")
        time.sleep(pause)
    return value


def connections_to(port: int) -> int:
    """The number of established TCP connections to a local port, from the side of the client."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    peers = [(fields[2], fields[3]) for fields in map(str.split, lines)]
    return sum(1 for peer, state in peers if state == "01" and peer.endswith(f":{port:04X}"))
