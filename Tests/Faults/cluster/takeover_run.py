"""One node with many slow downloads is killed. The others must run all of them within the promised time."""

from __future__ import annotations

import random
import time
from typing import Callable

from service import Overdue, until

from .readers import MovingReader, StreamReader
from .settling import settle, stop
from .stage import Outcome, Plan, audited, built, start
from .submitter import declare, submit
from .timeline import OUTAGE
from .world import World

SESSION = "films"
RATE = 20_000
# Longer than all that happens before the rates are lifted.
SIZE = RATE * 100
# A node takes over after it could renew its own lease for this time.
STEADY_AFTER = 10


class TakeoverRun:
    """promise: the longest time of the takeover, in seconds."""

    def __init__(self, plan: Plan, jobs: int, promise: int):
        self._plan = plan
        self._jobs = jobs
        self._promise = promise

    def run(self, say: Callable[[str], None]) -> tuple[World, Outcome | None, list[tuple[str, str]]]:
        with built(self._plan) as world:
            readers = [*(StreamReader(world, node) for node in world.nodes), MovingReader(world)]
            for reader in readers:
                reader.start()
            first, *others = world.nodes
            start([first])
            self._load(world, say)
            start(others)
            ready = time.monotonic()
            until("the other nodes may take over", lambda: time.monotonic() - ready > STEADY_AFTER)
            seconds = self._kill_first(world, say)
            world.origin.is_slow = False
            settle(world, [])
            first.start()
            settle(world, [reader.reading for reader in readers])
            stop(*readers)
            for reader in readers:
                reader.reading.close()
            world.timeline.write(self._plan.folder / "faults.jsonl")
            outcome = audited(self._plan, world, [reader.reading for reader in readers], [], say)
            return world, outcome, [("takeover", f"all {self._jobs} jobs ran on the other nodes after {seconds:.1f} s")]

    def _load(self, world: World, say: Callable[[str], None]) -> None:
        declare(world, SESSION)
        submit(world, random.Random(world.seed), SESSION, [SIZE] * self._jobs, RATE)
        url = world.nodes[0].url
        until(f"{self._jobs} jobs run", lambda: _running(world).get(url) == self._jobs)
        say(f"{self._jobs} slow downloads run on the first node")

    def _kill_first(self, world: World, say: Callable[[str], None]) -> float:
        """Returns the seconds until all jobs ran elsewhere."""
        first = world.nodes[0]
        with first.held():
            fault = world.timeline.begin(OUTAGE, first.number, carried=self._jobs)
            first.service.kill()
            say("It was killed")

            def is_taken_over() -> bool:
                running = _running(world)
                return running.get(first.url) == 0 and sum(running.values()) == self._jobs

            try:
                until("the other nodes run all jobs", is_taken_over)
            except Overdue as error:
                world.tally.find("takeover", str(error))
        fault.takeover = time.monotonic() - fault.began
        world.timeline.end(fault)
        if fault.takeover > self._promise:
            world.tally.find("takeover", f"it took {fault.takeover:.1f} s, and {self._promise} s are promised")
        return fault.takeover


def _running(world: World) -> dict[str, int]:
    """The number of jobs that run on each node, by its URL."""
    return {url: state["running"] for url, state in (world.states() or {}).items()}
