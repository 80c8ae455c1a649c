"""Memory, descriptors and threads of the process, once a second, in a CSV file."""

from __future__ import annotations

import csv
import os
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from .actor import Actor, World


@dataclass(frozen=True)
class Sample:
    seconds: float
    # "storm" while the process is killed at random, "long run" while it is not, "settling" at the end.
    phase: str
    # The number of the process in the soak, from 1.
    process: int
    resident_mib: float
    descriptors: int
    threads: int
    # The number of jobs that exist.
    jobs: int
    requests: int
    kills: int
    busy_percent: float


class Sampler(Actor):
    name, pause = "sampler", (0, 0)

    def __init__(self, world: World, file: Path, number: int = 1):
        super().__init__(world, number)
        self.phase = "storm"
        self.samples: list[Sample] = []
        self._file = file.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file)
        self._writer.writerow([field.name for field in fields(Sample)])
        self._next = time.monotonic()
        self._busy = (0, 0.0)

    def act(self) -> None:
        if not self.world.process.check():
            self.world.is_over.set()
        if sample := self._sample():
            self.samples.append(sample)
            self._writer.writerow(astuple(sample))
            self._file.flush()
        self._next += 1
        self.rest(max(0, self._next - time.monotonic()))

    def _sample(self) -> Sample | None:
        """A sample; None if there is no process at the moment."""
        pid, tally = self.world.process.service.pid, self.world.tally
        try:
            status = dict(
                line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
            )
            return Sample(
                round(tally.seconds, 1), self.phase, self.world.process.service.starts,
                round(int(status["VmRSS"].split()[0]) / 1024, 2), len(os.listdir(f"/proc/{pid}/fd")),
                int(status["Threads"]), self.world.ledger.number_present, tally.counts["requests"],
                tally.counts["kills"] + tally.counts["stops by SIGTERM"], self._busy_percent(pid),
            )  # fmt: skip
        except (OSError, KeyError):
            return None

    def _busy_percent(self, pid: int | None) -> float:
        """The share of one processor since the previous sample; 0 for a new process."""
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used, now = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), time.monotonic()
        before, self._busy = self._busy, (pid or 0, used)
        began, self._at = getattr(self, "_at", now), now
        return round(100 * (used - before[1]) / (now - began), 1) if before[0] == pid and now > began else 0.0
