"""Clients that look: two that follow the journal through every kill and must have all of it in the end, and visitors
that come and go."""

from __future__ import annotations

import http.client
import json
from typing import Any, Iterator

from service import Unreachable

from .actor import Actor, World
from .listener import LOOPBACK

# The longest time without a byte of a stream, in seconds, on a busy machine. The service sends a heartbeat every two
# seconds.
SILENCE = 60

TERMINAL_EVENTS = ("job.succeeded", "job.failed", "job.cancelled")


class Stream:
    """One connection to `GET /v1/events` as Server-Sent Events."""

    def __init__(self, port: int | None, query: str, last: int | None, patience: float):
        if port is None:
            raise Unreachable("not started")
        self._connection = http.client.HTTPConnection(LOOPBACK, port, timeout=patience)
        headers = {"Accept": "text/event-stream"} | ({} if last is None else {"Last-Event-ID": str(last)})
        self._connection.request("GET", f"/v1/events{query}", headers=headers)
        self._response = self._connection.getresponse()
        if self._response.status != 200:
            raise Unreachable(f"a stream is answered {self._response.status}")

    def blocks(self) -> Iterator[dict[str, str]]:
        """The fields of each block. A comment, such as a heartbeat, is a block without fields, so that a reader that
        shall stop notices it while there are no events."""
        fields: dict[str, str] = {}
        while line := self._response.readline().decode():
            if line == "\n":
                if fields:
                    yield fields
                fields = {}
                continue
            name, _, value = line.rstrip("\n").partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
            else:
                yield {}

    def close(self) -> None:
        self._connection.close()


class Listener:
    """A client that checks the blocks of its streams."""

    def __init__(self, world: World, name: str):
        self._world = world
        self._name = name
        self.last: int | None = None
        self.events: list[tuple[int, str]] = []
        self._ended: set[str] = set()

    def take(self, block: dict[str, str]) -> None:
        if "id" in block:
            self._move(int(block["id"]), block.get("event") != "position")
        match block.get("event"):
            case None | "position":
                pass
            case "reset":
                self._find(f"was reset: {block['data']}")
            case "job.progress":
                job = json.loads(block["data"])["job"]
                if job in self._ended:
                    self._find(f"received progress of {job} after the job had ended")
            case type:
                self._note(type, json.loads(block["data"]))

    def _move(self, id: int, is_event: bool) -> None:
        """An event has a higher number than all earlier ones. `position` may repeat the number."""
        if self.last is not None and (id < self.last or (is_event and id == self.last)):
            self._find(f"received {id} after {self.last}")
        self.last = id

    def _note(self, type: str, event: dict[str, Any]) -> None:
        self.events.append((event["id"], type))
        if type in TERMINAL_EVENTS:
            self._ended.add(event["job"])
        elif event["job"]:
            self._ended.discard(event["job"])

    def _find(self, sentence: str) -> None:
        self._world.tally.find("stream", f"{self._name} {sentence}")


class Follower(Actor):
    """Listens to all events. After a lost connection, it continues after its last event."""

    name, pause = "follower", (0.02, 0.1)

    def __init__(self, world: World, number: int = 1):
        super().__init__(world, number)
        self.listener = Listener(world, "the follower")
        self.listener.last = 0

    def act(self) -> None:
        try:
            stream = Stream(self.world.process.service.port, "", self.listener.last, patience=SILENCE)
        except (Unreachable, OSError, http.client.HTTPException):
            return
        self.world.tally.count("streams")
        try:
            for block in stream.blocks():
                self.listener.take(block)
                if self.is_stopped:
                    return
        except TimeoutError:
            self.world.tally.find("stream", f"the follower heard nothing for {SILENCE} s")
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            stream.close()


class Reader(Actor):
    """Reads the journal page by page, and waits for the next one."""

    name, pause = "reader", (0.02, 0.3)

    def __init__(self, world: World, number: int = 1):
        super().__init__(world, number)
        self.after = 0
        self.events: list[tuple[int, str]] = []

    def act(self) -> None:
        limit = self.rng.choice([1, 7, 100, 1000])
        page = self.world.client.ask("GET", f"/v1/events?after={self.after}&wait=3&limit={limit}").document
        for event in page["events"]:
            if event["id"] <= self.after:
                self.world.tally.find("journal", f"{event['id']} came after {self.after}")
            self.events.append((event["id"], event["type"]))
        self.after = page["next_after"]
        self.world.tally.count("long polls")


class Visitor(Actor):
    """Opens a stream or waits for a job, and often closes the connection before there is an answer."""

    name, pause = "visitor", (0.05, 1)

    def act(self) -> None:
        recent = self.world.ledger.present[-60:]
        try:
            if recent and self.rng.random() < 0.6:
                self._wait_for(self.rng.choice(recent).id)
            else:
                self._listen()
        except (Unreachable, OSError, http.client.HTTPException, ValueError):
            pass

    def _listen(self) -> None:
        last = self.world.client.stats["last_event"]
        session = self.rng.choice(self.world.ledger.open_sessions).name
        query = self.rng.choice(["", f"?session={session}", "?type=job.*"])
        port = self.world.process.service.port
        stream = Stream(port, query, self.rng.choice([None, 0, max(0, last - 30)]), patience=3)
        self.world.tally.count("streams")
        listener = Listener(self.world, f"a visitor of /v1/events{query}")
        try:
            for number, block in enumerate(stream.blocks()):
                listener.take(block)
                if self.is_stopped or number > 400 or self.rng.random() < 0.02:
                    return
        finally:
            stream.close()

    def _wait_for(self, id: str) -> None:
        port = self.world.process.service.port
        if port is None:
            return
        self.world.tally.count("long polls")
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=self.rng.choice([0.05, 0.5, 10]))
        try:
            connection.request("GET", f"/v1/jobs/{id}", headers={"Prefer": f"wait={self.rng.randint(1, 5)}"})
            response = connection.getresponse()
            response.read()
            if response.status not in (200, 304, 404, 503):
                self.world.tally.find("answer", f"a wait for {id} was answered {response.status}")
        finally:
            connection.close()
