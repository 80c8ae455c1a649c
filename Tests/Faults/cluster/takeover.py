"""How long it takes until no job is carried by a process that is gone."""

from __future__ import annotations

import time

from .node import Node
from .timeline import Fault
from .world import World

# The seconds between two looks.
INTERVAL = 0.2


def wait_for_takeover(world: World, node: Node, fault: Fault, until: float) -> None:
    """Stores the time of the takeover in the fault, if it happens before `until`.

    node: `held`, so that another one is asked.
    """
    while fault.carried and time.monotonic() < until and not world.is_calm.is_set():
        states = world.states()
        if states and states[node.url]["running"] == 0:
            fault.takeover = time.monotonic() - fault.began
            return
        time.sleep(INTERVAL)
