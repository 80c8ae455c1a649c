"""Clients that submit downloads in batches, each client in a session of its own with a webhook."""

from __future__ import annotations

import random
import secrets

from soak.actor import Actor

from .downloads import Download
from .world import World

# The limit of outstanding jobs of a session. Beyond it, its client submits nothing.
ROOM = 12


def declare(world: World, session: str) -> None:
    client = world.client()
    client.ask("PUT", f"/v1/sessions/{session}", {"finish_delay_seconds": 0.3})
    webhook = {"url": world.receiver.url, "events": ["job.*", "session.*"]}
    client.ask("PUT", f"/v1/sessions/{session}/webhooks/hook", webhook)


def submit(world: World, rng: random.Random, session: str, sizes: list[int], bytes_per_second: float) -> None:
    """Submits a download of each size in one batch, and remembers them when they are acknowledged."""
    files = [world.downloads.new_file(rng, size, bytes_per_second) for size in sizes]
    orders = [{"session": session, "url": url} for url, _ in files]
    key = {"Idempotency-Key": secrets.token_hex(12)}
    answer = world.client().ask("POST", "/v1/jobs/batch", {"jobs": orders}, key)
    for document, (_, version) in zip(answer.document["jobs"], files):
        world.downloads.add(Download(document["id"], session, version))
    world.tally.count("batches submitted")


class Submitter(Actor):
    name, pause = "submitter", (0.2, 1.5)

    def __init__(self, world: World, number: int):
        super().__init__(world, number)
        self._world = world
        self._client = world.client()
        self._session = f"films-{number}"
        self._is_declared = False
        self._room = 0

    def act(self) -> None:
        if not self._is_declared:
            declare(self._world, self._session)
            self._is_declared = True
        counts = self._client.ask("GET", f"/v1/sessions/{self._session}").document["counts"]
        outstanding = sum(counts[state] for state in ("queued", "running", "waiting", "paused"))
        if outstanding > self._room:
            return
        # A batch finishes when all jobs of the session have ended, so the client mostly waits for that.
        self._room = self.rng.choice([0, 0, ROOM])
        sizes = [self.rng.randint(20_000, 400_000) for _ in range(self.rng.randint(3, ROOM))]
        submit(self._world, self.rng, self._session, sizes, bytes_per_second=self.rng.randint(40_000, 150_000))
