"""Pauses, stops and kills the database server, and promotes its standby."""

from __future__ import annotations

from soak.actor import Actor

from .timeline import DATABASE_CRASH, DATABASE_PAUSE, DATABASE_STOP, FAILOVER, STANDBY_PAUSE
from .world import World

# The longest time for which the server is away. In a short run, it is a sixth of the run.
LONGEST = 30
SHARE = 1 / 6
# The longest time from the loss of the primary until the standby is promoted.
LONGEST_FAILOVER = 5


class DatabaseFaults(Actor):
    name, pause = "database faults", (0, 0)
    # The bounds of the time in which the database works, in seconds.
    respite = (3, 12)

    def __init__(self, world: World, seconds: float):
        super().__init__(world)
        self._world = world
        self._longest = min(LONGEST, seconds * SHARE)
        self._deck: list[str] = []

    def act(self) -> None:
        self.rest(self.rng.uniform(*self.respite))
        if self.is_stopped:
            return
        if not self._deck:
            self._deck = [DATABASE_PAUSE, DATABASE_STOP, DATABASE_CRASH, STANDBY_PAUSE]
            self.rng.shuffle(self._deck)
        fail(self._world, self._deck.pop(), self.rng.uniform(1, self._longest))


class Failover(Actor):
    """One failover in the middle of the run."""

    name, pause = "failover", (0, 0)

    def __init__(self, world: World, seconds: float):
        super().__init__(world)
        self._world = world
        self._moment = self.rng.uniform(0.4, 0.6) * seconds

    def act(self) -> None:
        self.rest(self._moment)
        if not self.is_stopped:
            fail(self._world, FAILOVER, self.rng.uniform(0, LONGEST_FAILOVER))
        self.stop()


def fail(world: World, kind: str, seconds: float) -> None:
    """Makes the database fail, and returns when it works again. A fault of the standby needs a standby."""
    database = world.database

    def wait() -> None:
        world.is_calm.wait(seconds)

    with database.held():
        if kind in (STANDBY_PAUSE, FAILOVER) and not database.standby:
            return
        world.tally.count(f"fault: {kind}")
        fault = world.timeline.begin(kind)
        {
            DATABASE_PAUSE: lambda: database.pause(wait),
            DATABASE_STOP: lambda: database.stop(wait),
            DATABASE_CRASH: database.crash,
            STANDBY_PAUSE: lambda: database.pause_standby(wait),
            FAILOVER: lambda: database.fail_over(wait),
        }[kind]()
        world.timeline.end(fault)
