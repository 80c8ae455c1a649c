"""Measures one run: its time, and the CPU time and peak memory of its processes."""

from __future__ import annotations

import os
import time

from .processes import cpu_seconds, peak_mib
from .results import Sample


class Stopwatch:
    """Starts with the first submission, so the start of the process does not count."""

    def __init__(self, *pids: int):
        self._pids = pids
        self._cpu = self._cpu_seconds()
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def pause(self) -> None:
        """Waits before the next look at the progress: long enough not to affect the result, and short enough that
        the result is at most 2 % late."""
        time.sleep(min(max(0.02 * self.seconds, 0.002), 0.25))

    def stop(self, *, on_disk: bool = False, **more: float) -> Sample:
        """The times, and the memory of all processes. With `on_disk` also the time until a sync after the run has
        returned."""
        wall = self.seconds
        peak = sum(map(peak_mib, self._pids))
        sample = Sample({"wall": wall, "cpu": self._cpu_seconds() - self._cpu, "peak": peak} | more)
        if on_disk:
            os.sync()
            sample["on_disk"] = self.seconds
        return sample

    def _cpu_seconds(self) -> float:
        return sum(map(cpu_seconds, self._pids))
