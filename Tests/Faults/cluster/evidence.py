"""What the nodes and the database say after all work has ended."""

from __future__ import annotations

import hashlib
import random
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable

from audit import journal
from receiver import Post

from .acknowledgements import Acknowledgements
from .downloads import Download
from .node import Node
from .readers import Reading
from .timeline import Fault
from .world import World
from .writers import SESSION

# The number of jobs that each node is asked for one by one.
SAMPLE = 200


@dataclass
class Evidence:
    acknowledgements: Acknowledgements
    # The jobs of the writers as each node lists them: the job and its key.
    listings: dict[int, list[tuple[str, str]]]
    # The status of `GET /v1/jobs/{id}` at each node, for some acknowledged jobs.
    statuses: dict[int, dict[str, int]]
    # The number of jobs of each state that each node reports, and that the database has.
    counts: dict[int, dict[str, int]]
    stored_counts: dict[str, int]
    # The writers' jobs in the database.
    stored_jobs: int
    # Of the events in the database: their number, the first and the last one; and the last number of the journal.
    stored_events: tuple[int, int, int, int]
    # The lines of each reader (see `Reading`).
    readings: dict[str, Path | list[str]]
    downloads: list[Download]
    # By job.
    documents: dict[str, dict[str, Any]]
    # The digest of the bytes of `GET /v1/jobs/{id}/file`; None: it has no file.
    digests: dict[str, str | None]
    # By session.
    events: dict[str, list[dict[str, Any]]]
    posts: list[Post]
    # The part files that are left, with their nodes.
    parts: list[str]
    logs: dict[int, Path | list[str]]
    faults: list[Fault]
    # What has to be added to a moment of the monotonic clock to get that of the wall clock.
    wall: float
    # The gaps that failovers have left in the numbers of the events: the last event before, and the first one after.
    gaps: list[tuple[int, int]] = field(default_factory=list)


def opened(source: Path | list[str], stack: ExitStack) -> Iterable[str]:
    """The lines of a log or of a reader."""
    return stack.enter_context(source.open(encoding="utf-8")) if isinstance(source, Path) else source


def gathered(world: World, readings: list[Reading], records: list[Path]) -> Evidence:
    rng = random.Random(f"{world.seed}/evidence")
    nodes = {node.number: node for node in world.nodes}
    acknowledgements = Acknowledgements.read(records)
    sample = rng.sample(sorted(acknowledgements.jobs.values()), min(SAMPLE, len(acknowledgements.jobs)))
    downloads, sessions = world.downloads.all, world.downloads.sessions
    documents = {
        job["id"]: job
        for session in sessions
        for job in world.client().pages(f"/v1/jobs?session={session}", "jobs")
    }
    return Evidence(
        acknowledgements,
        {number: _listing(world, node) if records else [] for number, node in nodes.items()},
        {number: _statuses(node, sample) for number, node in nodes.items()},
        {number: world.client(node).stats["jobs"] for number, node in nodes.items()},
        {state: int(count) for state, count in world.database.query("SELECT state, count(*) FROM jobs GROUP BY 1")},
        int(world.database.query(f"SELECT count(*) FROM jobs WHERE session = '{SESSION}'")[0][0]),
        _stored_events(world),
        {reading.file.stem: reading.file for reading in readings},
        downloads,
        documents,
        {download.id: _digest(rng.choice(world.nodes), download.id) for download in downloads},
        {session: journal(rng.choice(world.nodes).service, session) for session in sessions},
        world.receiver.posts,
        _parts(world),
        {number: node.service.log for number, node in nodes.items()},
        world.timeline.faults,
        time.time() - time.monotonic(),
        [(int(a), int(b)) for a, b in world.database.query("SELECT last_event, next_event FROM journal_gaps ORDER BY 1")],
    )


def _listing(world: World, node: Node) -> list[tuple[str, str]]:
    pages = world.client(node).pages(f"/v1/jobs?session={SESSION}", "jobs")
    return [(job["id"], job["metadata"]["key"]) for job in pages]


def _statuses(node: Node, jobs: list[str]) -> dict[str, int]:
    return {job: node.service.ask("GET", f"/v1/jobs/{job}").status for job in jobs}


def _stored_events(world: World) -> tuple[int, int, int, int]:
    query = "SELECT count(*), min(id), max(id), (SELECT last FROM journal) FROM events"
    count, first, last, journal_last = map(int, world.database.query(query)[0])
    return count, first, last, journal_last


def _digest(node: Node, job: str) -> str | None:
    answer = node.service.ask("GET", f"/v1/jobs/{job}/file")
    return hashlib.sha256(answer.document).hexdigest() if answer.status == 200 else None


def _parts(world: World) -> list[str]:
    folders = {node.service.downloads for node in world.nodes}
    return sorted(str(part) for folder in folders for part in folder.glob(".incomplete/*.part"))
