"""Clients that submit jobs up to a limit, one by one, in batches, and in sessions of their own."""

from __future__ import annotations

from .actor import Actor
from .ledger import Session
from .orders import random_configuration, random_order
from .receiver import Endpoint, Receiver, new_secret

# The limit of outstanding jobs in all sessions. Beyond it, no client submits.
ROOM = 50
SUBSCRIPTIONS = (
    ["job.*", "session.*"], ["session.*"], ["session.finished", "job.succeeded", "job.failed"], ["job.*"],
)  # fmt: skip


def declare(actor: Actor, name: str, endpoints: int, guests: Receiver | None = None) -> Session:
    """Declares a session with webhooks, before it has jobs: they get all of its events. Each webhook has a port of its
    own; those of guests share one."""
    world, rng = actor.world, actor.rng
    session = Session(name, random_configuration(rng), is_guest=guests is not None)
    world.client.ask("PUT", f"/v1/sessions/{name}", session.configuration)
    for number in range(endpoints):
        subscription = SUBSCRIPTIONS[0] if number == 0 else rng.choice(SUBSCRIPTIONS)
        endpoint = Endpoint(name, f"hook-{number}", subscription, [new_secret(rng)], world.tally)
        receiver = guests or Receiver()
        receiver.add(endpoint)
        webhook = {"url": receiver.url + endpoint.path, "events": endpoint.events, "secret": endpoint.secrets[0]}
        world.client.ask("PUT", f"/v1/sessions/{name}/webhooks/{endpoint.name}", webhook)
        session.endpoints.append(endpoint)
    world.ledger.add_session(session)
    return session


class Submitter(Actor):
    name, pause = "submitter", (0.02, 0.3)

    def act(self) -> None:
        jobs = self.world.client.stats["jobs"]
        if sum(jobs[state] for state in ("queued", "running", "waiting", "paused")) >= ROOM:
            self.rest(0.3)
            return
        session = self.rng.choice(self.world.ledger.open_sessions)
        number = self.rng.choices([1, self.rng.randint(2, 15)], [3, 1])[0]
        self.world.client.create([random_order(self.rng, self.world.origin, session) for _ in range(number)])


class Heir(Actor):
    """Takes over the bytes of jobs that do not run."""

    name, pause = "heir", (0.5, 3)

    def act(self) -> None:
        client, ledger = self.world.client, self.world.ledger
        for donor in self.rng.sample(ledger.present, min(8, ledger.number_present)):
            if client.ask_of(donor, "GET", "/resume-data").status != 200:
                continue
            session = self.rng.choice(ledger.open_sessions)
            order, resources = random_order(self.rng, self.world.origin, session)
            if self.rng.random() < 0.7:
                for member in ("urls", "checksum", "expected_size"):
                    order.pop(member, None)
                order["url"] = donor.resources[0].url
                resources = donor.resources
            order["resume_from"] = donor.id
            if client.create([(order, resources + donor.resources)]):
                self.world.tally.count("jobs that took over bytes")
            return


class Guest(Actor):
    """Sessions that are declared, used, and deleted again."""

    name, pause = "guest", (3, 10)

    def __init__(self, world, number: int = 1):
        super().__init__(world, number)
        self._guests = 0
        self._receiver = Receiver()

    def act(self) -> None:
        self._guests += 1
        session = declare(self, f"guest-{self._guests}", self.rng.choice([0, 1]), self._receiver)
        client = self.world.client
        client.create([random_order(self.rng, self.world.origin, session) for _ in range(self.rng.randint(1, 6))])
        self.rest(self.rng.uniform(0, 4))
        session.is_ending = True
        choice = self.rng.choice(["finish", "cancel"])
        client.ask("DELETE", f"/v1/sessions/{session.name}?outstanding={choice}", allowed=(404,))
        self.world.tally.count("sessions deleted")
