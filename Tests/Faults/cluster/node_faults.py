"""Kills, stops and pauses nodes while clients use them. At least one node is always left alone, except in a blackout."""

from __future__ import annotations

import random
import threading
import time
import traceback
from contextlib import ExitStack
from typing import Any, Callable

from soak.actor import Actor

from .node import Node
from .takeover import wait_for_takeover
from .timeline import BLACKOUT, FREEZE, KILL, OUTAGE, UPGRADE, Fault
from .world import World

# The seconds between the beginnings of two faults.
INTERVAL = 5
# The longest time for which a killed node is down.
LONGEST_OUTAGE = 15
# The time for which a node is stopped by SIGSTOP: longer than its lease.
FREEZE_SECONDS = 20


def deck(rng: random.Random, is_first: bool) -> list[str]:
    """The next faults, in random order. A short run has the first deck only, which begins with each kind once."""
    essential, further = [FREEZE, KILL, OUTAGE, UPGRADE], [KILL, KILL, OUTAGE, OUTAGE, BLACKOUT]
    if is_first:
        rng.shuffle(further)
        return [*essential, *further]
    mixed = essential + further
    rng.shuffle(mixed)
    return mixed


class NodeFaults(Actor):
    name, pause = "node faults", (0, 0)

    def __init__(self, world: World, number: int = 1):
        super().__init__(world, number)
        self._world = world
        self._deck = deck(self.rng, is_first=True)
        self._begun: list[threading.Thread] = []

    def act(self) -> None:
        self.rest(INTERVAL)
        if self.is_stopped:
            return
        kind = self._deck.pop(0)
        free = [node for node in self._world.nodes if node.is_free]
        if len(free) < (len(self._world.nodes) if kind == BLACKOUT else 2):
            self._world.tally.count("faults postponed")
            # A blackout needs all nodes, so it would wait for long.
            self._deck.append(kind)
            return
        self._deck = self._deck or deck(self.rng, is_first=False)
        self._begin(kind, self.rng.choice(free))

    def join(self) -> None:
        """Returns when all faults have ended."""
        super().join()
        for thread in self._begun:
            thread.join()

    def _begin(self, kind: str, node: Node) -> None:
        target, arguments = {
            KILL: (self._kill, (node, 0.0)),
            OUTAGE: (self._kill, (node, self.rng.uniform(1, LONGEST_OUTAGE))),
            FREEZE: (self._freeze, (node,)),
            UPGRADE: (self._upgrade, (node,)),
            BLACKOUT: (self._black_out, ([0.0, self.rng.uniform(0, 5), self.rng.uniform(0, 5)],)),
        }[kind]
        thread = threading.Thread(target=self._carry_out, args=(target, arguments), name=kind, daemon=True)
        self._begun.append(thread)
        thread.start()

    def _carry_out(self, fault: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        try:
            fault(*arguments)
        except Exception:
            self._world.tally.find("soak", traceback.format_exc(limit=-3))

    def _kill(self, node: Node, down_for: float) -> None:
        before = self._world.states()
        with node.held():
            fault = self._note(KILL if down_for == 0 else OUTAGE, node, before)
            node.service.kill()
            if down_for > 0:
                wait_for_takeover(self._world, node, fault, until=fault.began + down_for)
                self._world.is_calm.wait(max(0.0, fault.began + down_for - time.monotonic()))
            fault.start = node.start_again()
        self._world.timeline.end(fault)
        # A node that is ready has taken over from its former process.
        if down_for == 0 and fault.carried:
            fault.takeover = time.monotonic() - fault.began

    def _freeze(self, node: Node) -> None:
        before = self._world.states()
        with node.held():
            fault = self._note(FREEZE, node, before)
            end = fault.began + FREEZE_SECONDS

            def wait() -> None:
                wait_for_takeover(self._world, node, fault, until=end)
                self._world.is_calm.wait(max(0.0, end - time.monotonic()))

            node.freeze(wait)
        self._world.timeline.end(fault)

    def _upgrade(self, node: Node) -> None:
        before = self._world.states()
        with node.held():
            fault = self._note(UPGRADE, node, before)
            node.stop_in_order()
            wait_for_takeover(self._world, node, fault, until=fault.began + INTERVAL)
            fault.start = node.start_again()
        self._world.timeline.end(fault)

    def _black_out(self, delays: list[float]) -> None:
        """Kills all nodes at once, and starts them one after another, with these delays."""
        fault = self._note(BLACKOUT, None, None)
        with ExitStack() as stack:
            for node in self._world.nodes:
                stack.enter_context(node.held())
            for node in self._world.nodes:
                node.service.kill()
            for node, delay in zip(self._world.nodes, sorted(delays), strict=True):
                self._world.is_calm.wait(max(0.0, fault.began + delay - time.monotonic()))
                start = node.start_again()
                fault.start = max(fault.start or 0.0, start)
        self._world.timeline.end(fault)

    def _note(self, kind: str, node: Node | None, before: dict | None) -> Fault:
        self._world.tally.count(f"fault: {kind}")
        carried = before[node.url]["running"] if node and before and node.url in before else 0
        return self._world.timeline.begin(kind, node.number if node else None, carried)
