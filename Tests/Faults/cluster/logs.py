"""The logs of the nodes. A line of the level error or critical is expected during the fault that it reports, and just
after."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Iterable, Iterator

from .timeline import DATABASE_KINDS, FREEZE, Fault

LINE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z) (trace|debug|info|notice|warning|error|critical) \[")
# The seconds after a fault in which nodes report what it has caused.
AFTERMATH = 30
# Reports of faults in fetchd itself.
NEVER_EXPECTED = ("The kept counts were wrong",)


def log_faults(node: int, lines: Iterable[str], faults: list[Fault], wall: float) -> Iterator[str]:
    """wall: what has to be added to a moment of the monotonic clock to get that of the wall clock."""
    for line in lines:
        head = LINE.match(line)
        if head is None:
            yield f"node {node} has written what is no line of its log: {line.rstrip()}"
        elif head[2] in ("error", "critical"):
            moment = datetime.fromisoformat(head[1].replace("Z", "+00:00")).timestamp() - wall
            if any(text in line for text in NEVER_EXPECTED) or not is_expected(node, moment, faults):
                yield f"node {node}: {line.rstrip()}"


def is_expected(node: int, moment: float, faults: list[Fault]) -> bool:
    """Whether the database was away, or this node was stopped for longer than its lease."""
    return any(
        fault.is_near(moment, AFTERMATH)
        for fault in faults
        if fault.kind in DATABASE_KINDS or (fault.kind == FREEZE and fault.node == node)
    )
