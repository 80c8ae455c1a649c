"""Thousands of watching clients: long polls and event streams, beside running downloads."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from ..bench import Bench
from ..environment import allow_descriptors, fail
from ..fetchd import NEVER, Fetchd, fetchd
from ..processes import cpu_seconds, descriptors, resident_mib
from ..results import Metric, Plot, Sample, Table
from ..summaries import Summary, percentile, values
from ..watching_clients import Watch, Watchers
from ..workload import Measured, Workload

STREAMS_OF_POLLS = 10  # one stream for as many long polls
METRICS = [
    Metric("each", "RSS, KiB each", 1, has_range=True),
    Metric("resident", "RSS, MiB", 0),
    Metric("cpu", "CPU while parked, % of a core", 1),
    Metric("p50", "others p50, ms", 1),
    Metric("p99", "others p99, ms", 1),
    Metric("half", "change at half, ms", 0),
    Metric("all", "change at all, ms", 0, has_range=True),
    Metric("gone", "noticed the end of all, ms", 0),
    Metric("left", "descriptors left", 0),
    Metric("later", "RSS afterwards, MiB", 0),
]


def measure(bench: Bench) -> Measured:
    allow_descriptors()
    rows = {}
    for polls in bench.sizes(10_000, quick=500):
        rounds = bench.pairs if polls == 10_000 else min(bench.pairs, 3)
        seconds = bench.amount(10, 2)
        rows[polls] = bench.take_turns(f"{polls:,} polls", bench.fetchds(partial(run, polls, seconds)), "all", rounds)
    last = max(rows)

    def curve(metric: str) -> list[tuple[float, float]]:
        return [(polls, Summary.of(values(rows[polls][bench_name], metric)).median) for polls in rows]

    bench_name = next(iter(bench.programs))
    curves = {"change at all, ms": curve("all"), "others p99, ms": curve("p99"), "RSS each, KiB": curve("each")}
    title = f"{last:,} long polls and {last // STREAMS_OF_POLLS:,} streams"
    return [Table(title, METRICS, rows[last])], [Plot("watchers", "Watching clients", "long polls", "ms, KiB", curves)]


def run(polls: int, seconds: float, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder, "--enable-rehearsals") as service:
        # Four downloads that outlast the run, and one job that waits.
        going = [{"url": f"rehearse:going-{number}?size=2000000000&seconds=4000"} for number in range(4)]
        job = service.submit([*going, {"url": "rehearse:watched", "not_before": NEVER}])[-1]
        latencies(service, 1)
        resident, opened = resident_mib(service.pid), descriptors(service.pid)
        watches = requests(service, job, polls, polls // STREAMS_OF_POLLS)
        with Watchers(service.port, watches, folder) as watchers:
            wait_for_watchers(service, polls, polls // STREAMS_OF_POLLS)
            sample = parked(service, seconds)
            sample["each"] = (sample["resident"] - resident) * 1024 / (polls + polls // STREAMS_OF_POLLS)
            begin = time.monotonic()
            service.api.bytes("POST", f"/v1/jobs/{job['id']}/pause")
            times = watchers.arrivals(begin)
            watchers.disconnect()
            begin = time.monotonic()
            wait_for_watchers(service, 0, 0)
            sample["gone"] = (time.monotonic() - begin) * 1000
        time.sleep(2)
        return Sample(
            sample, half=times[len(times) // 2] * 1000, all=times[-1] * 1000,
            left=max(descriptors(service.pid) - opened, 0), later=resident_mib(service.pid),
        )  # fmt: skip


def requests(service: Fetchd, job: dict, polls: int, streams: int) -> list[Watch]:
    """Half of the long polls wait for the job, half for an event of the journal."""
    tag = service.api.exchange("GET", f"/v1/jobs/{job['id']}")[1]["ETag"]
    last = service.api.json("GET", "/v1/sessions/default")["last_event"]
    event = f"/v1/events?wait=30&after={last}&job={job['id']}&type=job.paused"
    return [
        Watch(polls // 2, '"state":"paused"', f"/v1/jobs/{job['id']}", [f"If-None-Match: {tag}", "Prefer: wait=30"]),
        Watch(polls - polls // 2, '"job.paused"', event),
        Watch(streams, "job.paused", "/v1/events", ["Accept: text/event-stream"]),
    ]


def parked(service: Fetchd, seconds: float) -> Sample:
    """The process while nothing changes, and the answers to another client."""
    cpu, begin = cpu_seconds(service.pid), time.monotonic()
    others = latencies(service, seconds)
    return Sample(
        resident=resident_mib(service.pid), cpu=(cpu_seconds(service.pid) - cpu) * 100 / (time.monotonic() - begin),
        p50=percentile(others, 0.5), p99=percentile(others, 0.99),
    )  # fmt: skip


def latencies(service: Fetchd, seconds: float) -> list[float]:
    """Milliseconds of requests, each over a new connection."""
    begin, found = time.monotonic(), []
    while time.monotonic() < begin + seconds:
        start = time.monotonic()
        client = service.client()
        client.bytes("GET", "/v1/jobs?limit=1")
        client.close()
        found.append((time.monotonic() - start) * 1000)
        time.sleep(0.01)
    return found


def wait_for_watchers(service: Fetchd, polls: int, streams: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = service.api.json("GET", "/v1/stats")["watchers"]
        if (found["waits"], found["streams"]) == (polls, streams):
            return
        time.sleep(0.02)
    fail(f"the service reports {found}, and {polls} waits and {streams} streams are expected")


NOTES = """\
Half of the long polls wait for one job (`If-None-Match` and `Prefer: wait=30`), half for the journal (`GET
/v1/events?wait=30`). The streams receive all events. Four downloads run. "Others" is another client that requests the
newest job, over a new connection each time. "Change" is the time from the request that pauses the job until half and
all of the watchers know. Then they disconnect without notice."""

WORKLOAD = Workload("watchers", "Watching clients", NOTES, measure)
