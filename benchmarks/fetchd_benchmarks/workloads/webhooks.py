"""Webhooks: deliveries to one endpoint, and to many beside one that never answers."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path

from ..bench import Bench
from ..environment import LOOPBACK, progress
from ..fetchd import Fetchd, fetchd
from ..receiver import Receiver
from ..results import Metric, Plot, Sample, Table
from ..stopwatch import Stopwatch
from ..summaries import Summary, values
from ..workload import Measured, Workload

LIVE = 50  # endpoints beside a dead one
METRICS = [
    Metric("rate", "deliveries/s", 0, has_range=True, is_compared=True),
    Metric("wall", "wall, s", 2, has_range=True),
    Metric("cpu", "CPU, s", 2),
    Metric("cpu_each", "CPU a delivery, µs", 0, is_compared=True),
    Metric("peak", "peak RSS, MiB", 0),
    Metric("inversions", "out of order", 0, has_range=True),
]


def measure(bench: Bench) -> Measured:
    rows = {
        count: bench.take_turns(f"{count:,} deliveries", bench.fetchds(partial(run_one, count)), "rate", rounds)
        for count in bench.sizes(10_000, quick=1000, most=100_000)
        for rounds in [bench.pairs if count == 10_000 else min(bench.pairs, 3)]
    }
    last = max(rows)
    curves = {
        name: [(float(count), Summary.of(values(samples[name], "rate")).median) for count, samples in rows.items()]
        for name in rows[last]
    }
    events = bench.amount(200, 20)
    beside: dict[str, partial[Sample]] = {}
    for name, program in bench.programs.items():
        beside[f"{name}, {LIVE} live endpoints and a dead one"] = partial(run_many, events, True, program)
        beside[f"{name}, {LIVE} live endpoints"] = partial(run_many, events, False, program)
    tables = [
        Table(f"{last:,} events to one endpoint", METRICS, rows[last]),
        Table(f"{events} events to {LIVE} endpoints", METRICS, bench.take_turns("endpoints", beside, "rate")),
    ]
    return tables, [Plot("webhooks", "Deliveries to one endpoint", "events", "deliveries/s", curves)]


def run_one(count: int, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service, Receiver() as receiver:
        declare(service, "one", receiver.url("one"))
        return deliver(service, receiver, count, 1)


def run_many(events: int, has_dead: bool, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service, Receiver() as receiver, socket.create_server((LOOPBACK, 0)) as dead:
        # Connections to the dead endpoint are established, and never answered.
        if has_dead:
            declare(service, "dead", f"http://{LOOPBACK}:{dead.getsockname()[1]}/dead")
        for number in range(LIVE):
            declare(service, f"live-{number}", receiver.url(f"live-{number}"))
        return deliver(service, receiver, events, LIVE)


def declare(service: Fetchd, name: str, url: str) -> None:
    body = {"url": url, "events": ["job.created"]}
    service.api.bytes("PUT", f"/v1/sessions/default/webhooks/{name}", body)


def deliver(service: Fetchd, receiver: Receiver, events: int, endpoints: int) -> Sample:
    watch = Stopwatch(service.pid)
    service.submit_queued(events)
    receiver.wait_for(events * endpoints)
    sample = watch.stop()
    if any(len(set(ids)) < events for ids in receiver.events.values()):
        progress("some events arrived twice")
    deliveries = events * endpoints
    return Sample(
        sample, rate=deliveries / sample["wall"], cpu_each=sample["cpu"] * 1e6 / deliveries,
        inversions=receiver.inversions(),
    )  # fmt: skip


NOTES = """\
Each event is the `job.created` of a submitted job that does not start. The time is from the submission until the
receiver, which is Python's asyncio on the same machine, has every event. "Out of order" counts events that arrived
after a later one: fetchd starts deliveries in order, and they may overlap. The dead endpoint accepts connections and
never answers."""

WORKLOAD = Workload("webhooks", "Webhooks", NOTES, measure)
