"""Checks the answers of the running service after all work has ended."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from audit import batch_faults

from .actor import World
from .ledger import TERMINAL, Job
from .receiver import Endpoint, Post, digest_of
from .watchers import Follower, Reader

ENDINGS = tuple(f"job.{state}" for state in TERMINAL)

Event = dict[str, Any]


class Audit:
    """Each method checks one promise. Each violation is a finding."""

    def __init__(self, world: World):
        self.world = world
        self._find = world.tally.find
        self.events = world.client.journal()
        self.jobs = {job["id"]: job for job in world.client.pages("/v1/jobs", "jobs")}
        self._of_job: dict[str, list[Event]] = defaultdict(list)
        self._of_session: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            self._of_session[event["session"]].append(event)
            if event["job"]:
                self._of_job[event["job"]].append(event)

    def run(self, follower: Follower, reader: Reader) -> None:
        self._numbers()
        self._watchers(follower, reader)
        for job in self.world.ledger.jobs:
            self._existence(job)
            self._history(job)
            self._bytes(job)
        for id in self.jobs.keys() - {job.id for job in self.world.ledger.jobs}:
            self._find("unknown job", f"{id} was never acknowledged to anybody")
        for session in self.world.ledger.sessions:
            self._batches(session.name)
            for endpoint in session.endpoints:
                EndpointAudit(endpoint, self._of_session[session.name], self._find).run()
        self._counts()

    def _numbers(self) -> None:
        """Each event has its own number, and the numbers are in order."""
        for before, after in zip(self.events, self.events[1:]):
            if after["id"] <= before["id"]:
                self._find("event numbers", f"{after['id']} follows {before['id']}")

    def _watchers(self, follower: Follower, reader: Reader) -> None:
        """A client that continued after its last event through every kill has received each event once."""
        journal = [(event["id"], event["type"]) for event in self.events]
        for name, seen in (("stream", follower.listener.events), ("pages", reader.events)):
            if seen != journal:
                missed, invented = set(journal) - set(seen), set(seen) - set(journal)
                self._find(
                    "watcher", f"by {name}: {len(missed)} events missed {sorted(missed)[:5]}, {len(invented)}"
                    f" that the journal does not have {sorted(invented)[:5]}, {len(seen)} of {len(journal)} in all"
                )  # fmt: skip

    def _existence(self, job: Job) -> None:
        """An acknowledged job exists, unless it was deleted."""
        is_of_guest = self.world.ledger.session(job.session).is_ending
        if job.id not in self.jobs:
            if job.deleted == "no" and not is_of_guest:
                self._find("job lost", f"{job.id} was acknowledged, not deleted, and is not there")
        elif job.deleted != "no":
            self._find("deletion undone", f"{job.id} was deleted and is there")

    def _history(self, job: Job) -> None:
        """A job is created once, and each run ends once. After the end there are only events of a retry or of the
        deletion."""
        history = [event["type"].removeprefix("job.") for event in self._of_job[job.id]]
        ends = [type for type in history if type in TERMINAL]
        if history[:1] != ["created"] or history.count("created") != 1:
            self._find("creation", f"{job.id}: {history}")
        if len(ends) != job.runs:
            self._find("terminal events", f"{job.id} ended {len(ends)} times in {job.runs} runs: {history}")
        is_over, ended = False, 0
        for type in history:
            if type == "deleted":
                is_over = True
            elif is_over or (ended == job.runs and type not in TERMINAL):
                self._find("after the end", f"{job.id}: {type} in {history}")
            ended += type in TERMINAL
        if (document := self.jobs.get(job.id)) and ends:
            self._same_end(job, document)

    def _same_end(self, job: Job, document: dict[str, Any]) -> None:
        """The last terminal event has the present job, except for addresses: events show them without a query."""
        snapshot = next(e for e in reversed(self._of_job[job.id]) if e["type"] in ENDINGS)["data"]["snapshot"]
        for member in ("state", "finished_at", "batch", "file", "attempts"):
            if snapshot[member] != document[member]:
                self._find("snapshot", f"{job.id}: {member} was {snapshot[member]} and is {document[member]}")

    def _bytes(self, job: Job) -> None:
        """By its receipt, each succeeded job has a version that the origin has served. `files.py` checks the disk."""
        for event in self._of_job[job.id]:
            if event["type"] == "job.succeeded":
                file = event["data"]["snapshot"]["file"]
                if not job.may_have_become(file["sha256"], file["size"]):
                    self._find("wrong bytes", f"{job.id}: {file}, which is no version of its addresses; {job.order}")

    def _batches(self, session: str) -> None:
        for kind, sentence in batch_faults(self._of_session[session]):
            self._find(kind, f"{session}: {sentence}")

    def _counts(self) -> None:
        """The counts of the statistics, the sessions and the lists agree."""
        client = self.world.client
        stats, sessions = client.stats, client.ask("GET", "/v1/sessions").document["sessions"]
        listed = Counter(job["state"] for job in self.jobs.values())
        for state, number in stats["jobs"].items():
            if number != listed[state] or number != sum(session["counts"][state] for session in sessions):
                self._find("counts", f"{number} {state} in the statistics, {listed[state]} in the list")
        expected = {"sessions": len(sessions), "last_event": self.events[-1]["id"], "deliveries_pending": 0}
        for member, value in expected.items():
            if stats[member] != value:
                self._find("counts", f"{member} is {stats[member]}, not {value}")
        if stats["slots"]["used"]:
            self._find("counts", f"{stats['slots']['used']} slots are used by nothing")
        kept = {session.name for session in self.world.ledger.sessions if not session.is_guest}
        if {session["id"] for session in sessions} != kept:
            self._find("sessions", f"{[session['id'] for session in sessions]} are there, {sorted(kept)} should be")


class EndpointAudit:
    """Checks the posts to one webhook."""

    def __init__(self, endpoint: Endpoint, events: list[Event], find):
        self._endpoint = endpoint
        self._find = find
        # Test events go to a single webhook. The soak sends none.
        self._wanted = {event["id"]: event for event in events if endpoint.wants(event["type"])}
        self._posts: dict[int, list[Post]] = defaultdict(list)
        for post in endpoint.posts:
            self._posts[post.event].append(post)

    def run(self) -> None:
        self._arrivals()
        self._identities()
        self._order()

    def _arrivals(self) -> None:
        """The endpoint has accepted exactly the events that the webhook matches, with the data of the journal."""
        for id, event in self._wanted.items():
            posts = self._posts.get(id, [])
            if not any(post.accepted for post in posts):
                self._complain("delivery", f"{event['type']} {id} was never taken, after {len(posts)} posts")
            if any((post.type, post.data_digest) != (event["type"], digest_of(event["data"])) for post in posts):
                self._complain("delivery", f"{event['type']} {id} was posted with other data than the journal has")
        if unwanted := self._posts.keys() - self._wanted.keys():
            self._complain("delivery", f"{sorted(unwanted)[:5]} were posted and not asked for")

    def _identities(self) -> None:
        """Each event has one webhook-id, and each webhook-id one event."""
        events: dict[str, set[int]] = defaultdict(set)
        for event, posts in self._posts.items():
            if len({post.webhook_id for post in posts}) > 1:
                self._complain("webhook-id", f"event {event} was posted under several: {posts}")
            for post in posts:
                events[post.webhook_id].add(event)
        for webhook_id, numbers in events.items():
            if len(numbers) > 1:
                self._complain("webhook-id", f"{webhook_id} is that of the events {sorted(numbers)}")

    def _order(self) -> None:
        """A finish is delivered after all earlier events were accepted, except for deliveries that a 410 has
        cancelled."""
        taken = {
            event: min(moments)
            for event, posts in self._posts.items()
            if (moments := [post.accepted for post in posts if post.accepted])
        }
        for id, event in self._wanted.items():
            if event["type"] != "session.finished" or not self._posts.get(id):
                continue
            first = self._posts[id][0].arrived
            begin = self._endpoint.recovered_through
            late = [e for e in self._wanted if begin < e < id and taken.get(e, first) >= first]
            if late:
                self._complain("order", f"the finish {id} came before {late[:5]}")

    def _complain(self, kind: str, sentence: str) -> None:
        self._find(kind, f"{self._endpoint.session}/{self._endpoint.name}: {sentence}")
