"""A cluster with its surroundings: database, nodes, origin and webhook; and the audit at its end."""

from __future__ import annotations

import base64
import os
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator

from origin import Origin
from receiver import Receiver
from soak.tally import Tally

from .database import Database
from .downloads import Downloads
from .evidence import Evidence, gathered
from .node import Node
from .promises import broken
from .readers import Reading
from .tampering import tamper
from .timeline import Timeline
from .world import World

NODES = 3

ARGUMENTS = (
    "--max-connections-per-host", "1000", "--stream-heartbeat", "2", "--stop-timeout", "50",
    # Longer than every outage, so that no delivery is given up.
    "--webhook-retry-delays", ",".join(["0", "0.3", "0.5"] + ["1"] * 300),
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What the command line asks for.

    slots: the jobs that run on one node at once.
    """

    program: Path
    folder: Path
    seed: int
    slots: int
    has_standby: bool = False
    is_shared: bool = False
    is_tampered: bool = False


@dataclass
class Outcome:
    evidence: Evidence
    # The kinds of findings that must follow from what was changed in the evidence.
    planted: set[str]


@contextmanager
def built(plan: Plan) -> Iterator[World]:
    """Starts everything but the nodes. At the end of the block, all processes are killed."""
    tally = Tally(plan.folder / "requests.jsonl")
    database = Database(plan.has_standby)
    nodes: list[Node] = []
    try:
        database.start()
        with Origin() as origin, Receiver() as receiver:
            nodes += _nodes(plan, database, tally)
            yield World(
                plan.seed, plan.folder, tally, Timeline(), database, nodes, origin, receiver,
                Downloads(plan.seed, origin),
            )  # fmt: skip
    finally:
        for node in nodes:
            node.service.kill()
        database.remove(logs=plan.folder)
        tally.close()


def _nodes(plan: Plan, database: Database, tally: Tally) -> list[Node]:
    key = plan.folder / "fetchd.key"
    key.touch(mode=0o600)
    key.write_bytes(base64.b64encode(os.urandom(32)) + b"\n")
    arguments = (*ARGUMENTS, "--max-concurrent-jobs", str(plan.slots))
    shared = plan.folder / "downloads" if plan.is_shared else None
    if shared:
        arguments += ("--downloads", "shared")
    return [
        Node(number, plan.program, plan.folder / f"node-{number}", key, database, tally, arguments, shared)
        for number in range(1, NODES + 1)
    ]


def start(nodes: list[Node]) -> None:
    """Returns when all of them are ready."""
    threads = [threading.Thread(target=node.start) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def watch(world: World, seconds: float) -> None:
    """Waits, and looks whether a node has ended by itself."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not world.is_over.is_set():
        if not all(node.check() for node in world.nodes):
            world.is_over.set()
        world.is_over.wait(0.5)


def audited(
    plan: Plan, world: World, readings: list[Reading], records: list[Path], say: Callable[[str], None]
) -> Outcome:
    """Compares what all nodes say with what was acknowledged, and stops the nodes.

    records: the files of the writers.
    """
    say("Audit")
    evidence = gathered(world, readings, records)
    planted = tamper(evidence) if plan.is_tampered else set()
    for kind, sentence in broken(evidence):
        world.tally.find(kind, sentence)
    for node in world.nodes:
        node.terminate()
    return Outcome(evidence, planted)
