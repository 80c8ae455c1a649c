"""The fixed scenario: 100 small jobs, 1,000 polls, and one file of 64 MiB."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from .. import files
from ..environment import fail
from ..fetchd import Fetchd

JOBS, KIB, AT_A_TIME = 100, 16, 4
POLLS = 1000
LARGE = "large/large.bin"
LARGE_MIB = 64
PATIENCE = 300  # seconds; valgrind makes the program fifty times slower

Step = Callable[[], None]


def prepare(folder: Path) -> None:
    """The files of the origin."""
    files.make_files(folder, {**files.small_files(2 * JOBS, KIB), LARGE: LARGE_MIB << 20})


class Scenario:
    """Runs the steps against one service. The first jobs and polls are not counted: they fill caches and connections."""

    def __init__(self, service: Fetchd, origin: str):
        self._service, self._origin = service, origin
        self._small = [f"{origin}/{path}" for path in files.small_files(2 * JOBS, KIB)]
        self._succeeded = 0
        self._job = ""

    def warm_up(self) -> None:
        self._download(self._small[:JOBS])
        self._poll(POLLS // 20)

    @property
    def steps(self) -> dict[str, Step]:
        return {
            f"{JOBS} jobs of {KIB} KiB": lambda: self._download(self._small[JOBS:]),
            f"{POLLS:,} polls": lambda: self._poll(POLLS),
            f"{LARGE_MIB} MiB": lambda: self._download([f"{self._origin}/{LARGE}"]),
        }

    def _download(self, urls: list[str]) -> None:
        self._job = self._service.submit([{"url": url} for url in urls])[-1]["id"]
        self._succeeded += len(urls)
        deadline = time.monotonic() + PATIENCE
        # One long poll of the last job instead of many short ones, so that the number of requests does not depend on
        # the time. The few jobs that end after it are found by looking again.
        tag = ""
        while self._service.process.poll() is None and time.monotonic() < deadline:
            status, fields, content = self._service.api.exchange(
                "GET", f"/v1/events?session=default&type=session.finished&wait=30&after={tag or 0}"
            )
            if self._service.counts()["succeeded"] == self._succeeded:
                return
        fail(f"the downloads did not end: {self._service.counts()}")

    def _poll(self, count: int) -> None:
        for _ in range(count):
            self._service.api.bytes("GET", f"/v1/jobs/{self._job}")
