"""A thread that repeats an action until it is stopped."""

from __future__ import annotations

import random
import threading
import traceback
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from .client import Client, Dead
from .ledger import Ledger
from .origin import Origin
from .process import Process
from .tally import Tally


@dataclass
class World:
    """The state that all actors share."""

    seed: int
    tally: Tally
    ledger: Ledger
    origin: Origin
    process: Process
    client: Client
    # Set when a problem makes it pointless to continue.
    is_over: threading.Event = field(default_factory=threading.Event)


class Shared(Protocol):
    """What an actor needs of the state that it shares with others."""

    seed: int
    tally: Tally
    is_over: threading.Event


class Actor:
    """Each actor has its own random numbers, from the seed and its name."""

    name: ClassVar[str]
    # The bounds of the random time between two actions, in seconds.
    pause: ClassVar[tuple[float, float]]

    def __init__(self, world: Shared, number: int = 1):
        self.world = world
        self.rng = random.Random(f"{world.seed}/{self.name}/{number}")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{self.name} {number}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        self._thread.join(120)
        if self._thread.is_alive():
            self.world.tally.find("soak", f"{self._thread.name} did not stop")

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set() or self.world.is_over.is_set()

    def rest(self, seconds: float) -> None:
        self._stop.wait(seconds)

    def act(self) -> None:
        raise NotImplementedError

    def _run(self) -> None:
        while not self.is_stopped:
            try:
                self.act()
            except Dead as error:
                self.world.tally.find("dead", str(error))
                self.world.is_over.set()
            except Exception:
                self.world.tally.find("soak", f"{self._thread.name}: {traceback.format_exc(limit=-3)}")
                self.rest(1)
            self.rest(self.rng.uniform(*self.pause))
