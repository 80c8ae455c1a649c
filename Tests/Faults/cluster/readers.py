"""Clients that follow the journal with a cursor: each must have every event once, in the order of the numbers."""

from __future__ import annotations

import http.client
import json
import zlib
from pathlib import Path
from typing import Any

from service import Unreachable
from soak.actor import Actor
from soak.watchers import Stream

from .node import Node
from .world import World


# The numbers that a failover leaves out at least.
GAP = 10_000


class Reading:
    """The events that a client has received, one on each line of a file: number, type, job, and a checksum of the whole
    event. So the readings of two clients are equal if and only if they have received the same."""

    def __init__(self, file: Path):
        self.file = file
        self._lines = file.open("w", encoding="utf-8", buffering=1 << 16)
        self.last = 0

    def take(self, event: dict[str, Any]) -> None:
        checksum = zlib.crc32(json.dumps(event, sort_keys=True).encode())
        self._lines.write(f"{event['id']} {event['type']} {event['job']} {checksum:08x}\n")
        self.last = event["id"]

    def close(self) -> None:
        self._lines.close()


class StreamReader(Actor):
    """Listens at one node. When its node dies, it waits for it, and continues there after its last event."""

    name, pause = "stream reader", (0.02, 0.1)

    def __init__(self, world: World, node: Node):
        super().__init__(world, node.number)
        self._node = node
        self.reading = Reading(world.folder / f"events-node-{node.number}.txt")

    def act(self) -> None:
        try:
            # The service sends a heartbeat every two seconds. A process that was stopped by SIGSTOP does not.
            stream = Stream(self._node.service.port, "", self.reading.last, patience=30)
        except (Unreachable, OSError, http.client.HTTPException):
            return
        self.world.tally.count("streams")
        try:
            for block in stream.blocks():
                self._take(block)
                if self.is_stopped:
                    return
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            stream.close()

    def _take(self, block: dict[str, str]) -> None:
        match block.get("event"):
            case None | "job.progress":
                pass
            case "position":
                # A failover has left a gap in the numbers.
                if int(block["id"]) > self.reading.last + GAP:
                    self.reading.last = int(block["id"])
                elif int(block["id"]) != self.reading.last:
                    self._find(f"is at {block['id']} after {self.reading.last}")
            case "reset":
                self._find(f"was reset after {self.reading.last}: {block['data']}")
            case _:
                self.reading.take(json.loads(block["data"]))

    def _find(self, sentence: str) -> None:
        self.world.tally.find("stream", f"the stream of node {self._node.number} {sentence}")


class MovingReader(Actor):
    """Reads page by page, each one at a random node."""

    name, pause = "moving reader", (0.02, 0.2)

    def __init__(self, world: World, number: int = 1):
        super().__init__(world, number)
        self._nodes = world.nodes
        self.reading = Reading(world.folder / "events-any-node.txt")

    def act(self) -> None:
        node = self.rng.choice(self._nodes)
        limit = self.rng.choice([7, 100, 1000, 1000])
        try:
            answer = node.service.ask(
                "GET", f"/v1/events?after={self.reading.last}&wait=2&limit={limit}", patience=5
            )
        except Unreachable:
            return
        if answer.status == 503:
            return
        if answer.status != 200:
            self.world.tally.find(
                "pages", f"node {node.number} answers a reader after {self.reading.last}: {answer.document}"
            )
            return
        self.world.tally.count("pages of events")
        for event in answer.document["events"]:
            self.reading.take(event)
