"""After the faults: the nodes finish all downloads and deliveries, and the readers catch up."""

from __future__ import annotations

import time

from soak.actor import Actor

from .readers import Reading
from .world import World

# The seconds without progress after which the remaining work counts as stuck.
PATIENCE = 60
OUTSTANDING = ("queued", "running", "waiting", "paused")


def settle(world: World, readings: list[Reading]) -> None:
    """Returns when no work is left, and each reader has the last event."""
    _wait(world, lambda: _remaining_work(world))
    last = int(world.database.query("SELECT coalesce(max(id), 0) FROM events")[0][0])
    _wait(world, lambda: {reading.file.name: reading.last for reading in readings if reading.last < last})


def stop(*actors: Actor) -> None:
    for actor in actors:
        actor.stop()
    for actor in actors:
        actor.join()


def _wait(world: World, remaining) -> None:
    """Waits as long as there is progress. remaining: a description of what is left, empty at the end."""
    former, since = None, time.monotonic()
    while not world.is_over.is_set():
        now = remaining()
        if not now:
            return
        if now != former:
            former, since = now, time.monotonic()
        if time.monotonic() > since + PATIENCE:
            world.tally.find("stuck", f"without progress for {PATIENCE} s: {now}")
            return
        time.sleep(0.3)


def _remaining_work(world: World) -> dict[str, object]:
    client, names = world.client(), set(world.downloads.sessions)
    left: dict[str, object] = {}
    for session in client.ask("GET", "/v1/sessions").document["sessions"]:
        outstanding = sum(session["counts"][state] for state in OUTSTANDING)
        if session["id"] in names and (outstanding or session["state"] != "idle" or session["finish_due_at"]):
            left[session["id"]] = (outstanding, session["state"])
    stats = client.stats
    if stats["deliveries_pending"]:
        left["deliveries pending"] = stats["deliveries_pending"]
    # The bytes of a running transfer are progress, too.
    if left:
        left["bytes received"] = stats["bytes_received"]
    return left
