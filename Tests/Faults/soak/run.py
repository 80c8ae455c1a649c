"""One soak: the storm, the long run, the settling and the audit."""

from __future__ import annotations

import random
import time
from pathlib import Path

from service import Service

from .actor import Actor, World
from .audit import Audit
from .client import Client, Dead
from .files import FileAudit
from .growth import growths
from .killer import Killer
from .ledger import Ledger
from .meddler import Gardener, Meddler, Steward
from .origin import Origin
from .plot import draw
from .process import Process
from .report import rows
from .sampler import Sampler
from .settling import Settling
from .submitter import Guest, Heir, Submitter, declare
from .tally import Tally
from .tampering import tamper_with_answers, tamper_with_files
from .watchers import Follower, Reader, Visitor
from .weather import ConsumerWeather, OriginWeather

# The permanent sessions, with the number of their webhooks.
SESSIONS = {"default": 1, "films": 2, "music": 1, "books": 2}

OPTIONS = (
    "--max-concurrent-jobs", "14", "--max-connections-per-host", "5", "--stream-heartbeat", "2",
    # Longer than every outage, so that no delivery is given up.
    "--webhook-retry-delays", ",".join(["0", "0.3", "0.5"] + ["1"] * 300),
)  # fmt: skip


class Soak:
    """is_tampered: breaks promises in the evidence; `planted` has the kinds of findings that must follow."""

    def __init__(self, program: Path, folder: Path, seed: int, is_tampered: bool = False):
        self.folder = folder
        self._is_tampered = is_tampered
        self.planted: set[str] = set()
        tally, ledger = Tally(folder / "requests.jsonl"), Ledger()
        service = Service(program, folder, arguments=OPTIONS)
        self.world = World(
            seed, tally, ledger, Origin(seed, tally), Process(service, tally), Client(service, ledger, tally)
        )
        self._sampler = Sampler(self.world, folder / "samples.csv")
        self._follower, self._reader = Follower(self.world), Reader(self.world)
        self._clients: list[Actor] = [
            Submitter(self.world), Heir(self.world), Guest(self.world), Meddler(self.world, 1), Meddler(self.world, 2),
            Gardener(self.world), Steward(self.world), OriginWeather(self.world), ConsumerWeather(self.world),
            Visitor(self.world, 1), Visitor(self.world, 2), Visitor(self.world, 3),
        ]  # fmt: skip
        self._events: list = []

    def run(self, seconds: float, say) -> bool:
        """Returns whether every promise was kept."""
        world = self.world
        try:
            world.process.start()
            self._declare_sessions()
            say(f"Storm: {seconds / 3:.0f} s with kills")
            self._start(self._sampler, self._follower, self._reader, *self._clients)
            self._storm(seconds / 3)
            say(f"Long run: {seconds * 2 / 3:.0f} s without kills")
            self._sampler.phase = "long run"
            world.is_over.wait(seconds * 2 / 3)
            self._sampler.phase = "settling"
            self._stop(*self._clients)
            say("Settling: a last kill, and then everything that is owed is done")
            self._settle()
            say("Audit")
            self._audit()
        except Dead as error:
            world.tally.find("dead", str(error))
        finally:
            for actor in (*self._clients, self._sampler, self._follower, self._reader):
                actor.stop()
            world.process.service.kill()
        return self._judge()

    @property
    def table(self) -> list[tuple[str, str]]:
        return rows(self.world, self._events, self._sampler.samples, self._growths)

    @property
    def picture(self) -> Path:
        return self.folder / "soak.png"

    def _declare_sessions(self) -> None:
        declarer = Settling(self.world)
        for name, endpoints in SESSIONS.items():
            declare(declarer, name, endpoints)

    def _storm(self, seconds: float) -> None:
        killer = Killer(self.world)
        self._start(killer)
        self.world.is_over.wait(seconds)
        self._stop(killer)

    def _settle(self) -> None:
        world = self.world
        if world.is_over.is_set():
            return
        world.process.kill()
        Settling(world).settle()
        self._catch_up()
        self._stop(self._follower, self._reader, self._sampler)

    def _catch_up(self) -> None:
        """Waits until the watchers have received the last event."""
        last, deadline = self.world.client.stats["last_event"], time.monotonic() + 60
        while min(self._follower.listener.last or 0, self._reader.after) < last and time.monotonic() < deadline:
            time.sleep(0.1)

    def _audit(self) -> None:
        if self.world.is_over.is_set():
            return
        audit = Audit(self.world)
        self._events = audit.events
        if self._is_tampered:
            self.planted |= tamper_with_answers(audit, self._follower)
        audit.run(self._follower, self._reader)
        self.world.process.terminate()
        if self._is_tampered:
            service = self.world.process.service
            self.planted |= tamper_with_files(service.downloads, service.data)
        FileAudit(self.world, audit.events).run()

    def _judge(self) -> bool:
        tally = self.world.tally
        self._growths = growths(self._sampler.samples)
        for growth in self._growths:
            if not growth.is_within:
                tally.find("growth", str(growth))
        if self._sampler.samples:
            draw(self._sampler.samples, self._growths, self.picture, f"fetchd soak, seed {self.world.seed}")
        tally.close()
        return not tally.findings

    def _start(self, *actors: Actor) -> None:
        for actor in actors:
            actor.start()

    def _stop(self, *actors: Actor) -> None:
        for actor in actors:
            actor.stop()
        for actor in actors:
            actor.join()


def random_seed() -> int:
    return random.SystemRandom().randrange(1, 1_000_000)
