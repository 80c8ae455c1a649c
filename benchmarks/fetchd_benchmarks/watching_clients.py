"""Clients that watch: thousands of long polls and event streams, by native/watchers.c."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from .commands import compiled
from .environment import LOOPBACK, fail


@dataclass(frozen=True)
class Watch:
    """A number of equal requests, and the text that their answers have when the change has happened."""

    count: int
    wanted: str
    path: str
    fields: Sequence[str] = ()

    @property
    def request(self) -> str:
        return "\r\n".join([f"GET {self.path} HTTP/1.1", f"Host: {LOOPBACK}", *self.fields, "", ""])


class Watchers:
    """A process with one connection for each watcher. It ends without a notice to the service."""

    def __init__(self, port: int, watches: Sequence[Watch], folder: Path):
        arguments = [str(port)]
        for number, watch in enumerate(watches):
            file = folder / f"request-{number}"
            file.write_text(watch.request, newline="")
            arguments += [str(watch.count), watch.wanted, str(file)]
        self._count = sum(watch.count for watch in watches)
        self._process = subprocess.Popen(
            [compiled("watchers.c"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Watchers:
        if self._line() != "open":
            fail("the watchers did not connect")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()

    def arrivals(self, begin: float) -> list[float]:
        """The seconds from `begin` (time.monotonic) until each watcher received the change, in order."""
        return sorted(float(self._line().removeprefix("found ")) - begin for _ in range(self._count))

    def disconnect(self) -> None:
        if self._process.returncode is None:
            self._process.communicate()
        if self._process.returncode:
            fail("a watcher was disconnected")

    def _line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            fail("a watcher was disconnected")
        return line.decode().strip()
