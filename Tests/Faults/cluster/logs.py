"""The logs of the nodes. A line of the level error or critical is expected during the fault that it reports, and just
after.

A machine that is busy for some seconds can delay the renewal of a lease without any fault. The node then stops its transfers,
and nothing is lost. These stalls are counted, and are no findings."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Iterable, Iterator

from .timeline import DATABASE_KINDS, FREEZE, Fault

LINE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z) (trace|debug|info|notice|warning|error|critical) \[")
# The seconds after a fault in which nodes report what it has caused.
AFTERMATH = 30
# What a node writes when it has not renewed its lease in time.
STALL = "This node cannot renew its lease"
# Reports of faults in fetchd itself.
NEVER_EXPECTED = ("The kept counts were wrong",)


def log_faults(node: int, lines: Iterable[str], faults: list[Fault], wall: float) -> Iterator[str]:
    """wall: what has to be added to a moment of the monotonic clock to get that of the wall clock."""
    stalled = -math.inf
    for line in lines:
        head = LINE.match(line)
        if head is None:
            yield f"node {node} has written what is no line of its log: {line.rstrip()}"
        elif head[2] in ("error", "critical"):
            moment = _moment(head, wall)
            if STALL in line:
                stalled = moment
            is_explained = moment <= stalled + AFTERMATH or is_expected(node, moment, faults)
            if any(text in line for text in NEVER_EXPECTED) or not is_explained:
                yield f"node {node}: {line.rstrip()}"


def stalls(node: int, lines: Iterable[str], faults: list[Fault], wall: float) -> int:
    """How often the node could not renew its lease in time although there was no fault."""
    heads = (LINE.match(line) for line in lines if STALL in line)
    return sum(not is_expected(node, _moment(head, wall), faults) for head in heads if head)


def _moment(head: re.Match[str], wall: float) -> float:
    return datetime.fromisoformat(head[1].replace("Z", "+00:00")).timestamp() - wall


def is_expected(node: int, moment: float, faults: list[Fault]) -> bool:
    """Whether the database was away, or this node was stopped for longer than its lease."""
    return any(
        fault.is_near(moment, AFTERMATH)
        for fault in faults
        if fault.kind in DATABASE_KINDS or (fault.kind == FREEZE and fault.node == node)
    )
