"""The soak of a cluster: load and faults for some minutes, then the audit."""

from __future__ import annotations

from typing import Callable

from soak.actor import Actor

from .database_faults import DatabaseFaults, Failover
from .node_faults import NodeFaults
from .readers import MovingReader, StreamReader
from .report import rows
from .settling import settle, stop
from .stage import NODES, Outcome, Plan, audited, built, start, watch
from .submitter import Submitter
from .world import World
from .writers import SESSION, Writers
from .writers import Plan as WriterPlan

WRITERS = 64
SUBMITTERS = 5
SLOTS = 12


class Soak:
    def __init__(self, plan: Plan, seconds: float, has_database_faults: bool):
        self._plan = plan
        self._seconds = seconds
        self._has_database_faults = has_database_faults

    def run(self, say: Callable[[str], None]) -> tuple[World, Outcome | None, list[tuple[str, str]]]:
        """Returns no outcome if the cluster did not come to an end of its work."""
        with built(self._plan) as world:
            start(world.nodes)
            world.client().ask("PUT", f"/v1/sessions/{SESSION}", {})
            readers = [*(StreamReader(world, node) for node in world.nodes), MovingReader(world)]
            writers = [Writers(self._writers(world, home)) for home in range(NODES)]
            say(f"Load and faults: {self._seconds:.0f} s, with {NODES} x {WRITERS} writers")
            for each in [*readers, *writers]:
                each.start()
            self._storm(world, writers)
            say("Settling: no more faults, and all work is done")
            settle(world, [reader.reading for reader in readers])
            stop(*readers)
            for reader in readers:
                reader.reading.close()
            world.timeline.write(self._plan.folder / "faults.jsonl")
            if world.is_over.is_set():
                return world, None, []
            outcome = audited(self._plan, world, [r.reading for r in readers], [w.file for w in writers], say)
            return world, outcome, rows(world, outcome.evidence, self._seconds)

    def _storm(self, world: World, writers: list[Writers]) -> None:
        submitters = [Submitter(world, number) for number in range(1, SUBMITTERS + 1)]
        faults: list[Actor] = [NodeFaults(world)]
        if self._has_database_faults:
            faults.append(DatabaseFaults(world, self._seconds))
        if self._plan.has_standby:
            faults.append(Failover(world, self._seconds))
        for actor in [*submitters, *faults]:
            actor.start()
        watch(world, self._seconds)
        world.is_calm.set()
        stop(*faults)
        world.origin.is_slow = False
        stop(*submitters)
        for writer in writers:
            writer.stop()
        for writer in writers:
            if (status := writer.join()) != 0:
                world.tally.find("soak", f"the writers of {writer.file.name} ended with status {status}")

    def _writers(self, world: World, home: int) -> WriterPlan:
        ports = tuple(node.port for node in world.nodes)
        return WriterPlan(world.seed, ports, home, WRITERS, world.folder / f"writers-{home + 1}.txt")
