"""Checks that fetchd has kept its promises, and that all jobs end as they should.

Each function yields a sentence for each broken promise.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Iterator

from receiver import Post
from service import Service

from .disk_audit import bytes_of, shown
from .knowledge import Knowledge
from .workload import Request

TERMINAL = ("succeeded", "failed", "cancelled")


def all_jobs(service: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = service.ask("GET", f"/v1/jobs?limit=1000{cursor}").document
        found += page["jobs"]
        if not page["next_cursor"]:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def all_events(service: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = 0
    while True:
        page = service.ask("GET", f"/v1/events?after={after}&limit=1000").document
        if not page["events"]:
            return found
        found += page["events"]
        after = page["next_after"]


# MARK: When the service is ready


def memory_faults(knowledge: Knowledge, jobs: list[dict[str, Any]], events: list[dict[str, Any]]) -> Iterator[str]:
    """The service still has everything that it had acknowledged."""
    found = {job["id"]: job for job in jobs}
    for id, name in knowledge.acknowledged_jobs.items():
        yield from _job_faults(knowledge, id, name, found.get(id))
    yield from _creation_faults(knowledge, jobs)
    yield from journal_faults(knowledge, events)


def _job_faults(knowledge: Knowledge, id: str, name: str, job: dict[str, Any] | None) -> Iterator[str]:
    deletions = knowledge.of(id, "delete")
    if any(map(knowledge.is_acknowledged, deletions)):
        if job:
            yield f"{name}: the deletion of {id} was acknowledged, and it is there, {job['state']}"
        return
    if job is None:
        if not deletions:
            yield f"{name}: the job {id} was acknowledged, and it is gone"
        return
    controls = knowledge.of(id, "pause", "resume", "cancel", "retry")
    if controls and knowledge.is_acknowledged(controls[-1]):
        yield from _control_faults(knowledge, controls[-1], name, job)
    yield from _patch_faults(knowledge, id, name, job)


def _control_faults(knowledge: Knowledge, request: Request, name: str, job: dict[str, Any]) -> Iterator[str]:
    wanted = {"pause": "paused", "cancel": "cancelled"}.get(request.action)
    if wanted and job["state"] != wanted:
        yield f"{name}: {request.action} was acknowledged, and it is {job['state']}"
    kept = job["progress"]["bytes_durable"]
    if request.bytes_durable and kept < request.bytes_durable and not knowledge.is_adopted(job["id"]):
        yield f"{name}: {request.bytes_durable} bytes were said to be durable, and {kept} are"


def _patch_faults(knowledge: Knowledge, id: str, name: str, job: dict[str, Any]) -> Iterator[str]:
    patches = [request for request in knowledge.of(id, "patch") if request.status is None or request.status < 300]
    for member in ("metadata", "priority"):
        values = [(request, request.body[member]) for request in patches if member in request.body]
        known = max((i for i, (request, _) in enumerate(values) if knowledge.is_acknowledged(request)), default=None)
        if known is not None and job[member] not in [value for _, value in values[known:]]:
            yield f"{name}: a patch of {member} was acknowledged, and it is {job[member]}"


def _creation_faults(knowledge: Knowledge, jobs: list[dict[str, Any]]) -> Iterator[str]:
    """The service has all jobs of a request or none of them, each once, and no other jobs."""
    names = Counter(job["metadata"].get("order") for job in jobs)
    deleted = {name for request in knowledge.requests if request.action == "delete" for name in request.names}
    for request in knowledge.requests:
        if request.action == "create":
            there = [name for name in request.names if name in names]
            missing = set(request.names) - set(there) - deleted
            if there and missing:
                yield f"of the jobs of one request, {len(there)} are there, and these are not: {sorted(missing)}"
    for name, count in names.items():
        if count > 1:
            yield f"{name}: there are {count} jobs of one request"
    submitted = {name for request in knowledge.requests if request.action == "create" for name in request.names}
    for name in names.keys() - submitted:
        yield f"{name}: there is a job that had not been submitted yet"


def journal_faults(knowledge: Knowledge, events: list[dict[str, Any]]) -> Iterator[str]:
    """Every event that a client has seen still exists, with the same number."""
    journal = {event["id"]: event for event in events}
    for event in knowledge.events:
        now = journal.get(event["id"])
        if now is None:
            yield f"event {event['id']} ({event['type']}) was read by a client, and is gone"
        elif now != event:
            former, present = f"{event['type']} of {event['job']}", f"{now['type']} of {now['job']}"
            yield f"event {event['id']} was read as {former}, and is {present}"
    for post in knowledge.posts:
        now = journal.get(post.event)
        if now is None:
            yield f"event {post.event} ({post.type}) was posted to the receiver, and is gone"
        elif now["type"] != post.type:
            yield f"event {post.event} was posted as {post.type}, and is {now['type']}"


def repetition_faults(knowledge: Knowledge, service: Service) -> Iterator[str]:
    """A repeated request creates nothing, and gets the same answer as the first one."""
    creations = [request for request in knowledge.requests if request.action == "create"]
    for request in [request for request in creations if knowledge.is_acknowledged(request)][-2:]:
        answer = service.ask("POST", request.path, request.body, {"Idempotency-Key": request.key or ""})
        again = [job["id"] for job in answer.document["jobs"]] if answer.status == 201 else []
        if again != request.ids:
            given = f"{answer.status}: {again[:1]}, not {request.ids[:1]}"
            yield f"the repeated request for {request.names[0]} was answered {given}"


# MARK: After all jobs have ended


def end_faults(knowledge: Knowledge, jobs: list[dict[str, Any]], downloads: Path) -> Iterator[str]:
    """Every job has the right end, and its file has the right bytes."""
    contents: dict[str, list[bytes | None]] = defaultdict(list)
    for job in jobs:
        if job["file"]:
            contents[job["file"]["path"]].append(knowledge.content(job["metadata"]["order"]))
    for job in jobs:
        name = job["metadata"]["order"]
        allowed = _ends(knowledge, job["id"], name)
        if job["state"] not in allowed:
            failure = job["failure"] or {}
            why = f"{failure.get('code')}: {failure.get('message')}"
            yield f"{name}: {job['state']} ({why}), not {' or '.join(allowed)}"
        if job["state"] != "succeeded":
            continue
        path, wanted = job["file"]["path"], knowledge.content(name)
        found = bytes_of(downloads / path)
        # A later job may have replaced the file.
        if found is None or found not in contents[path]:
            yield f"{name} has succeeded and {shown(found, wanted)} at {path}; resume: {job['resume']}"
        if wanted is not None and job["file"]["sha256"] != hashlib.sha256(wanted).hexdigest():
            yield f"{name}: the sha256 in the document is not the source's"


def _ends(knowledge: Knowledge, id: str, name: str) -> list[str]:
    ends = ["succeeded" if knowledge.content(name) is not None else "failed"]
    # A running job is cancelled before it is deleted.
    if knowledge.of(id, "delete"):
        return [*ends, "cancelled"]
    controls = knowledge.of(id, "cancel", "retry")
    if not controls:
        return ends
    last = controls[-1]
    if last.action == "cancel" and knowledge.is_acknowledged(last):
        return ["cancelled"]
    return [*ends, "cancelled"] if not knowledge.is_acknowledged(last) else ends


def run_faults(knowledge: Knowledge, jobs: list[dict[str, Any]], events: list[dict[str, Any]]) -> Iterator[str]:
    """Each run of a job has one terminal event, and the finishes of each session have the numbers 1, 2, ..."""
    histories: dict[str, list[str]] = defaultdict(list)
    finishes: dict[str, list[int]] = defaultdict(list)
    for event in events:
        if event["job"]:
            histories[event["job"]].append(event["type"].removeprefix("job."))
        if event["type"] == "session.finished":
            finishes[event["session"]].append(event["data"]["batch"])
    for job in jobs:
        name, history = job["metadata"]["order"], histories[job["id"]]
        most = 1 + len(knowledge.of(job["id"], "retry"))
        ends = sum(type in TERMINAL for type in history)
        if not 1 <= ends <= most or history.count("created") != 1 or history[-1] not in TERMINAL:
            yield f"{name}: {ends} ends of at most {most} runs: {history}"
    for session, batches in finishes.items():
        if batches != list(range(1, len(batches) + 1)):
            yield f"the finishes of {session} are of the batches {batches}"


def delivery_faults(
    knowledge: Knowledge, events: list[dict[str, Any]], posts: list[Post], sessions: set[str]
) -> Iterator[str]:
    """Every event was delivered, under one identifier, before or after the loss.

    posts: the posts since the loss. sessions: the sessions with the webhook.
    """
    accepted: set[int] = set()
    ids: dict[int, set[str]] = defaultdict(set)
    for post in [*knowledge.posts, *posts]:
        ids[post.event].add(post.webhook_id)
        if post.is_accepted:
            accepted.add(post.event)
    for event, names in ids.items():
        if len(names) > 1:
            yield f"event {event} was posted under several identifiers: {sorted(names)}"
    for name, count in Counter(name for names in ids.values() for name in names).items():
        if count > 1:
            yield f"{name} was the identifier of {count} events"
    for event in events:
        if event["session"] in sessions and event["id"] not in accepted:
            yield f"event {event['id']} ({event['type']}) never arrived"
