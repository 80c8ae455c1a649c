"""Faults around the service: servers and consumers that are down for a while, and files that change."""

from __future__ import annotations

from .actor import Actor
from .receiver import Endpoint, new_secret


class OriginWeather(Actor):
    """Replaces files while they are downloaded, and closes ports of the origin."""

    name, pause = "origin weather", (0.1, 0.8)

    def act(self) -> None:
        origin, tally = self.world.origin, self.world.tally
        recent = self.world.ledger.present[-40:]
        if recent and self.rng.random() < 0.8:
            self.rng.choice(self.rng.choice(recent).resources).change(self.rng, origin.pool)
            tally.count("origin fault: changed file")
        elif self.rng.random() < 0.25:
            listener = self.rng.choice(origin.listeners)
            listener.close()
            tally.count("origin fault: port closed")
            self.rest(self.rng.uniform(0.5, 3))
            listener.open()


class ConsumerWeather(Actor):
    """Outages of webhooks, shorter than the schedule of deliveries."""

    name, pause = "consumer weather", (0.5, 4)

    def act(self) -> None:
        endpoints = [e for s in self.world.ledger.sessions if not s.is_guest for e in s.endpoints]
        endpoint = self.rng.choice(endpoints)
        kind = self.rng.choices(
            ["down", "error", "throttled", "slow", "lost", "gone", "rotate"], [4, 3, 2, 2, 3, 0.5, 2]
        )[0]
        match kind:
            case "down":
                self.world.tally.count("webhook fault: down")
                endpoint.receiver.listener.close()
                self.rest(self.rng.uniform(0.5, 5))
                endpoint.receiver.listener.open()
            case "rotate":
                self._rotate(endpoint)
            case "gone":
                endpoint.mode = "gone"
            case _:
                endpoint.mode = kind
                self.rest(self.rng.uniform(0.5, 5))
                endpoint.mode = "ok"
        self._bring_back(endpoints)

    def _rotate(self, endpoint: Endpoint) -> None:
        secret = new_secret(self.rng)
        endpoint.secrets.append(secret)
        path = f"/v1/sessions/{endpoint.session}/webhooks/{endpoint.name}/rotate-secret"
        self.world.client.ask("POST", path, {"secret": secret})
        self.world.tally.count("secrets rotated")

    def _bring_back(self, endpoints: list[Endpoint]) -> None:
        for endpoint in endpoints:
            bring_back(self.world, endpoint)


def bring_back(world, endpoint: Endpoint) -> None:
    """Enables a webhook that a 410 has disabled, and requests all events that it has missed."""
    path = f"/v1/sessions/{endpoint.session}/webhooks/{endpoint.name}"
    if world.client.ask("GET", path).document["state"] == "enabled":
        return
    world.client.ask("POST", f"{path}/enable")
    accepted = endpoint.accepted_events
    events = world.client.journal(f"&session={endpoint.session}")
    missed = [e["id"] for e in events if endpoint.wants(e["type"]) and e["id"] not in accepted]
    endpoint.recovered_through = events[-1]["id"] if events else 0
    world.client.ask("POST", f"{path}/recover", {"after": min(missed, default=1) - 1})
    world.tally.count("webhooks enabled again")
