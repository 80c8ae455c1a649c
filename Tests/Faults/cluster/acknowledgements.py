"""What the writers have recorded."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, Iterator

from .timeline import DATABASE_KINDS, Fault

# The seconds after a fault of the database in which a gap is due to it.
RECOVERY = 15
# A gap begins with the last acknowledgement before the fault, at most so many seconds earlier.
LEAD = 0.5


@dataclass
class Acknowledgements:
    # The job of each key.
    jobs: dict[str, str] = field(default_factory=dict)
    # When each was acknowledged, in order.
    times: list[float] = field(default_factory=list)
    # The numbers of requests that were sent more than once, and of all further ones.
    retried: int = 0
    retries: int = 0
    # Requests that were sent again after their acknowledgement: key, job, node.
    repeated: list[tuple[str, str, str]] = field(default_factory=list)
    # The keys without an acknowledgement. Their jobs may exist.
    unanswered: set[str] = field(default_factory=set)
    # Answers that are neither an acknowledgement nor a 503.
    refusals: list[str] = field(default_factory=list)

    @staticmethod
    def read(files: Iterable[Path]) -> Acknowledgements:
        found = Acknowledgements()
        for file in files:
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    found._add(line.rstrip("\n").split("\t"))
        found.times.sort()
        return found

    def _add(self, words: list[str]) -> None:
        match words:
            case ["acknowledged", time, key, job, _, tries]:
                self.jobs[key] = job
                self.times.append(float(time))
                self.retried += tries != "0"
                self.retries += int(tries)
            case ["repeated", key, job, node]:
                self.repeated.append((key, job, node))
            case ["unanswered", key]:
                self.unanswered.add(key)
            case _:
                self.refusals.append(" ".join(words))

    def faults(self) -> Iterator[str]:
        """Answers that break a promise."""
        for refusal in self.refusals:
            yield f"a writer was answered: {refusal}"
        for key, job, node in self.repeated:
            if self.jobs[key] != job:
                yield f"{key} was acknowledged as {self.jobs[key]}, and at node {node} as {job}"


def longest_gaps(times: list[float], faults: list[Fault]) -> dict[str, list[float]]:
    """For each kind of fault, the longest time without an acknowledgement after each fault of this kind, in seconds.

    A gap is due to a fault of the database that lasts or has ended just before, or else to the last fault of a node
    before the gap began.
    """
    database = [fault for fault in faults if fault.kind in DATABASE_KINDS]
    nodes = sorted((fault for fault in faults if fault.kind not in DATABASE_KINDS), key=lambda fault: fault.began)
    begins = [fault.began for fault in nodes]
    longest: dict[int, tuple[Fault, float]] = {}
    for before, after in zip(times, times[1:]):
        cause = next((fault for fault in reversed(database) if _overlaps(fault, before, after)), None)
        if cause is None and (index := bisect_right(begins, min(after, before + LEAD))):
            cause = nodes[index - 1]
        if cause is not None and after - before > longest.get(id(cause), (cause, 0.0))[1]:
            longest[id(cause)] = (cause, after - before)
    gaps: dict[str, list[float]] = {}
    for fault, gap in longest.values():
        gaps.setdefault(fault.kind, []).append(gap)
    return gaps


def _overlaps(fault: Fault, before: float, after: float) -> bool:
    return fault.began <= after and (fault.ended is None or before <= fault.ended + RECOVERY)
