"""Checks, after faults, that the service has kept its promises.

Each function yields a sentence for each broken promise.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Protocol

from receiver import Post
from service import Answer

TERMINAL = ("succeeded", "failed", "cancelled")


@dataclass
class Order:
    """An acknowledged job, and the ends that it may have."""

    name: str
    content: bytes
    ends: tuple[str, ...] = ("succeeded",)
    # The number of runs that a client has started: 1, and 1 for each retry.
    runs: int = 1


class Answering(Protocol):
    def ask(self, method: str, path: str) -> Answer: ...


def _read(service: Answering, path: str) -> Any:
    answer = service.ask("GET", path)
    if answer.status != 200:
        raise AssertionError(f"GET {path} was answered {answer.status}: {answer.document}")
    return answer.document


def journal(service: Answering, session: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    after = 0
    while True:
        page = _read(service, f"/v1/events?session={session}&after={after}&limit=1000")
        if not page["events"]:
            return events
        events += page["events"]
        after = page["next_after"]


def jobs(service: Answering, session: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    cursor = ""
    while True:
        page = _read(service, f"/v1/jobs?session={session}&limit=1000{cursor}")
        found |= {job["id"]: job for job in page["jobs"]}
        if not page["next_cursor"]:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def job_faults(found: dict[str, dict[str, Any]], orders: dict[str, Order], downloads: Path) -> Iterator[str]:
    """Every acknowledged job exists, no other job exists, and the file of each succeeded job has the right bytes."""
    for id in found.keys() - orders.keys():
        yield f"there is a job that no request was acknowledged for: {id} of {found[id]['url']}"
    for id, order in orders.items():
        job = found.get(id)
        if job is None:
            yield f"{order.name}: the acknowledged job {id} is gone"
            continue
        if job["state"] not in order.ends:
            failure = job["failure"] or {}
            yield f"{order.name}: {job['state']} ({failure.get('code')}: {failure.get('message')})"
        if job["state"] == "succeeded":
            yield from _file_faults(job, order, downloads)


def _file_faults(job: dict[str, Any], order: Order, downloads: Path) -> Iterator[str]:
    path = downloads / job["file"]["path"]
    if not path.is_file():
        yield f"{order.name}: succeeded without a file at {job['file']['path']}"
        return
    content = path.read_bytes()
    if content != order.content:
        wrong = next((i for i, (a, b) in enumerate(zip(content, order.content)) if a != b), -1)
        yield (
            f"{order.name}: succeeded with wrong bytes: {len(content)} of {len(order.content)},"
            f" the first wrong one at {wrong}; resume: {job['resume']}"
        )
    told = job["file"]["sha256"]
    if told is not None and told != hashlib.sha256(order.content).hexdigest():
        yield f"{order.name}: the receipt's sha256 is not the source's"


def journal_faults(events: list[dict[str, Any]], orders: dict[str, Order]) -> Iterator[str]:
    """Every run has one terminal event, and every batch has one finish."""
    numbers = [event["id"] for event in events]
    if numbers != sorted(set(numbers)):
        yield f"events are not in the order of their numbers: {numbers}"
    histories: dict[str, list[str]] = defaultdict(list)
    for event in events:
        if event["job"]:
            histories[event["job"]].append(event["type"].removeprefix("job."))
    for id, order in orders.items():
        history = histories[id]
        ends = [i for i, type in enumerate(history) if type in TERMINAL]
        if history[:1] != ["created"] or history.count("created") != 1:
            yield f"{order.name}: not created once, before everything else: {history}"
        if len(ends) != order.runs:
            yield f"{order.name}: {len(ends)} terminal events for {order.runs} runs: {history}"
        for first, second in zip(ends, ends[1:]):
            if "started" not in history[first + 1 : second]:
                yield f"{order.name}: a run ended twice: {history}"
        if ends and ends[-1] != len(history) - 1:
            yield f"{order.name}: something happened after the end: {history}"
    yield from _finish_faults(events, orders)


def _finish_faults(events: list[dict[str, Any]], orders: dict[str, Order]) -> Iterator[str]:
    finishes = [event["data"] for event in events if event["type"] == "session.finished"]
    batches = [finish["batch"] for finish in finishes]
    if batches != list(range(1, len(batches) + 1)):
        yield f"the batches that finished are not 1, 2, ... once each: {batches}"
    ended = sum(sum(finish["counts"].values()) for finish in finishes)
    if not len(orders) <= ended <= sum(order.runs for order in orders.values()):
        yield f"the finishes count {ended} jobs of {len(orders)}"


def batch_faults(events: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The batches of a session have the numbers 1, 2, 3 and so on, and each has one finish with the right counts. Yields
    the kind of each fault, too."""
    finishes = [event for event in events if event["type"] == "session.finished"]
    numbers = [event["data"]["batch"] for event in finishes]
    if numbers != list(range(1, len(numbers) + 1)):
        yield "batches", f"the finishes are of the batches {numbers}"
    last: dict[tuple[int, str], str] = {}
    for event in events:
        state = event["type"].removeprefix("job.")
        if state in TERMINAL:
            last[event["data"]["snapshot"]["batch"], event["job"]] = state
    ended: dict[int, Counter[str]] = defaultdict(Counter)
    for (batch, _), state in last.items():
        ended[batch][state] += 1
    for event in finishes:
        counts, expected = event["data"]["counts"], ended.pop(event["data"]["batch"], Counter())
        if any(counts[state] != expected[state] for state in TERMINAL):
            yield "batch counts", f"{event['data']} where {dict(expected)} have ended"
    if ended:
        yield "batches", f"nothing says that the batches {sorted(ended)} have finished"


def delivery_faults(posts: list[Post], events: list[dict[str, Any]]) -> Iterator[str]:
    """Every event has been delivered, under one id, and each finish after all earlier events."""
    ids: dict[int, set[str]] = defaultdict(set)
    accepted: dict[int, int] = {}
    known = {event["id"]: event for event in events}
    for index, post in enumerate(posts):
        ids[post.event].add(post.webhook_id)
        if post.is_accepted:
            accepted.setdefault(post.event, index)
        event = known.get(post.event)
        if event is None or (event["type"], event["job"]) != (post.type, post.job):
            yield f"{post.type} was posted as event {post.event}, which the journal has as {event and event['type']}"
        if post.type == "session.finished":
            late = [e for e in known if e < post.event and e not in accepted]
            if late:
                yield f"session.finished was posted before {[known[e]['type'] for e in late]}"
    for event in events:
        if event["id"] not in accepted:
            yield f"{event['type']} (event {event['id']}) never arrived"
    for event_id, found in ids.items():
        if len(found) > 1:
            yield f"event {event_id} was posted under {len(found)} ids"
    if len(set.union(set(), *ids.values())) < len(ids):
        yield "two events were posted under one id"


# The lock of the service that has the folder.
LOCK = ".incomplete/lock"


def file_faults(
    downloads: Path, found: dict[str, dict[str, Any]], data: Path, foreign: tuple[str, ...] = ()
) -> Iterator[str]:
    """The folder has only finished files and the parts that the database knows. The service must be stopped.

    foreign: files that existed before the run.
    """
    finished = {job["file"]["path"] for job in found.values() if job["file"]}
    parts = yield from database_faults(data)
    for path in sorted(path for path in downloads.rglob("*") if not path.is_dir()):
        name = str(path.relative_to(downloads))
        if path.parent.name == ".incomplete" and path.suffix == ".part":
            if path.stem not in parts:
                yield f"a part that the database does not know: {name}"
            elif path.stat().st_size < parts[path.stem]:
                yield f"{name} has {path.stat().st_size} bytes, promised are {parts[path.stem]}"
        elif name not in finished and name not in foreign and name != LOCK:
            yield f"a file of no job: {name}"


def database_faults(data: Path) -> Iterator[str]:
    """Checks the integrity of the database, and returns the parts with their promised bytes."""
    with tempfile.TemporaryDirectory(prefix="fetchd-audit.") as copy:
        for file in data.glob("fetchd.sqlite*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, copy)
        database = sqlite3.connect(Path(copy) / "fetchd.sqlite")
        try:
            for (line,) in database.execute("PRAGMA integrity_check"):
                if line != "ok":
                    yield f"integrity_check: {line}"
            for row in database.execute("PRAGMA foreign_key_check"):
                yield f"foreign_key_check: {row}"
            return dict(database.execute("SELECT id, bytes_durable FROM parts"))
        finally:
            database.close()
