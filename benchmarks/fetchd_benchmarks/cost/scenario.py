"""The fixed scenario: 100 small jobs, 1,000 polls, and one file of 64 MiB with and without a digest."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from .. import files
from ..environment import fail
from ..fetchd import Fetchd

JOBS, KIB, AT_A_TIME = 100, 16, 16
POLLS = 1000
LARGE = "large/large.bin"
LARGE_MIB = 64
PATIENCE = 1800  # seconds; valgrind makes the program fifty times slower

Step = Callable[[], None]


def prepare(folder: Path) -> None:
    """The files of the origin."""
    files.make_files(folder, {**files.small_files(2 * JOBS, KIB), LARGE: LARGE_MIB << 20})


class Scenario:
    """Runs the steps against one service. The warm-up, which fills caches and opens connections, is not counted."""

    def __init__(self, service: Fetchd, origin: str):
        self._service, self._origin = service, origin
        self._small = [f"{origin}/{path}" for path in files.small_files(2 * JOBS, KIB)]
        self._succeeded = 0
        self._position = 0  # in the journal
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
            # Under valgrind, which has no instructions for SHA, the digest is nearly all of the step above.
            f"{LARGE_MIB} MiB, no digest": lambda: self._download([f"{self._origin}/{LARGE}"], digest="none"),
        }

    def _download(self, urls: list[str], digest: str = "sha-256") -> None:
        self._job = self._service.submit([{"url": url, "digest": digest} for url in urls])[-1]["id"]
        # A long poll for the end of the batch: the number of requests hardly depends on the time.
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            path = f"/v1/events?type=session.finished&after={self._position}&wait=30"
            page = self._service.api.json("GET", path)
            self._position = page["next_after"]
            if page["events"]:
                break
        counts = self._service.counts()
        self._succeeded += len(urls)
        if counts["succeeded"] != self._succeeded:
            fail(f"the downloads did not succeed: {counts}")

    def _poll(self, count: int) -> None:
        for _ in range(count):
            self._service.api.bytes("GET", f"/v1/jobs/{self._job}")
