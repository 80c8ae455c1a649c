"""Random jobs, in all valid combinations of their options."""

from __future__ import annotations

import hashlib
import random
from datetime import datetime, timedelta, timezone
from typing import Any

from .ledger import Session
from .origin import Origin
from .resource import PASSWORD, USER, Resource

# Names that several jobs use at the same time, in the folder `pool`. Only these files may be replaced.
SHARED_NAMES = [f"shared-{number}.bin" for number in range(8)]
POOL = "pool"

FAST_RETRIES = {"max_attempts": 6, "base_seconds": 0.1, "max_seconds": 1}


def random_configuration(rng: random.Random) -> dict[str, Any]:
    """A configuration of a session, with short retries and timeouts, so that a soak has many of them."""
    configuration: dict[str, Any] = {
        "retry": FAST_RETRIES,
        "timeouts": {"request_seconds": rng.choice([2, 3]), "connect_seconds": 5},
        "finish_delay_seconds": rng.choice([0, 0.2, 1]),
        "on_conflict": rng.choice(["rename", "rename", "error"]),
        "priority": rng.choice(["high", "normal", "low"]),
        "connections": rng.choice([1, 1, 3]),
        "directory": rng.choice([None, "films", "music/new"]),
        "wait_for": rng.choice([["space"], ["space", "credentials"], ["space", "credentials", "url"]]),
    }
    if rng.random() < 0.3:
        configuration["max_concurrent_jobs"] = rng.randint(2, 6)
    if rng.random() < 0.3:
        configuration["rate_limit_bytes_per_second"] = rng.randint(500_000, 3_000_000)
    if rng.random() < 0.3:
        configuration["headers"] = {"X-Soak": "session"}
    return configuration


def random_order(rng: random.Random, origin: Origin, session: Session) -> tuple[dict[str, Any], list[Resource]]:
    """A document for `POST /v1/jobs`, and the files that the job may create."""
    resource = origin.add(rng)
    resources, size = [resource], resource.version.size
    order: dict[str, Any] = {"session": session.name, "url": resource.url}
    if rng.random() < 0.1:
        resources.append(origin.twin(resource))
        del order["url"]
        order["urls"] = [each.url for each in rng.sample(resources, 2)]
    if rng.random() < 0.25:
        algorithm = rng.choice(["sha-256", "sha-256", "sha-512", "sha-1", "md5"])
        digest = hashlib.new(algorithm.replace("-", ""), resource.version.content).hexdigest()
        order["checksum"] = {"algorithm": algorithm, "value": digest}
    if rng.random() < 0.15:
        order["expected_size"] = size
    if rng.random() < 0.25:
        order["connections"] = rng.randint(2, 6)
    if rng.random() < 0.15:
        order["rate_limit_bytes_per_second"] = rng.randint(size // 5 + 1, size * 2 + 1000)
    if rng.random() < 0.3:
        order["priority"] = rng.choice(["high", "normal", "low"])
    if rng.random() < 0.5:
        order["wait_for"] = rng.choice([["space"], ["credentials", "url", "space"], ["url"]])
    if rng.random() < 0.2 and resource.habits.needs_password:
        order["credentials"] = {"type": "basic", "username": USER, "password": PASSWORD}
    if rng.random() < 0.05:
        order["not_before"] = soon(rng.uniform(0, 3))
    if rng.random() < 0.03:
        order["deadline"] = soon(rng.uniform(1, 6))
    if rng.random() < 0.05:
        order["digest"] = "none"
    if rng.random() < 0.04:
        order |= {"method": "POST", "form": {"page": "1"}}
    if rng.random() < 0.2:
        order |= {"tags": [rng.choice(["red", "green", "blue"])], "metadata": {"place": rng.randrange(1000)}}
    if destination := random_destination(rng):
        order["destination"] = destination
    return order, resources


def random_destination(rng: random.Random) -> dict[str, Any] | None:
    kind = rng.random()
    if kind < 0.25:
        name, conflict = rng.choice(SHARED_NAMES), rng.choices(["rename", "replace", "error"], [5, 4, 1])[0]
        return {"directory": POOL, "filename": name, "on_conflict": conflict}
    if kind < 0.4:
        return {"filename": rng.choice(["{job_id}.bin", "{host}-{suggested_filename}", "{date}-{url_basename}"])}
    return None


def soon(seconds: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
