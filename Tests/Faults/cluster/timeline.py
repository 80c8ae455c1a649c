"""The faults of a soak: what happened to which node or server, and when."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

# Kinds of faults of nodes.
KILL = "kill, started at once"
OUTAGE = "kill, started later"
FREEZE = "SIGSTOP, SIGCONT"
UPGRADE = "SIGTERM, started again"
BLACKOUT = "kill of all nodes"
NODE_KINDS = (KILL, OUTAGE, FREEZE, UPGRADE, BLACKOUT)
# Kinds of faults of the database.
DATABASE_PAUSE = "database paused"
DATABASE_STOP = "database stopped"
DATABASE_CRASH = "database killed"
STANDBY_PAUSE = "standby paused"
FAILOVER = "failover to the standby"
DATABASE_KINDS = (DATABASE_PAUSE, DATABASE_STOP, DATABASE_CRASH, STANDBY_PAUSE, FAILOVER)


@dataclass
class Fault:
    """Moments are seconds of the monotonic clock, which all processes of the machine share."""

    kind: str
    # The number of the node; None: the database, or all nodes.
    node: int | None
    began: float
    ended: float | None = None
    # The jobs that ran on the node when the fault began.
    carried: int = 0
    # The seconds from the beginning until none of these jobs was carried by that process any more; None: not measured.
    takeover: float | None = None
    # The seconds from a start until the node was ready.
    start: float | None = None

    def is_near(self, moment: float, after: float) -> bool:
        """Whether the fault lasted at the moment, or had ended less than `after` seconds before."""
        return self.began <= moment and (self.ended is None or moment <= self.ended + after)


class Timeline:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def begin(self, kind: str, node: int | None = None, carried: int = 0) -> Fault:
        fault = Fault(kind, node, time.monotonic(), carried=carried)
        with self._lock:
            self._faults.append(fault)
        return fault

    def end(self, fault: Fault) -> None:
        fault.ended = time.monotonic()

    @property
    def faults(self) -> list[Fault]:
        with self._lock:
            return list(self._faults)

    def write(self, file: Path) -> None:
        """wall: the monotonic moment as a time of the wall clock, which the logs have."""
        wall = time.time() - time.monotonic()
        lines = [json.dumps(asdict(fault) | {"wall": round(fault.began + wall, 3)}) for fault in self.faults]
        file.write_text("\n".join(lines) + "\n")
