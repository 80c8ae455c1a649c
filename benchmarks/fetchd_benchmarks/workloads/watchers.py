"""Thousands of watching clients: long polls and event streams, beside running downloads."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

from .. import watching_clients as clients
from ..bench import Bench
from ..environment import allow_descriptors, fail
from ..fetchd import NEVER, Fetchd, fetchd
from ..processes import cpu_seconds, descriptors, resident_mib
from ..results import Metric, Plot, Sample, Table
from ..summaries import Summary, percentile, values
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
        return asyncio.run(watch(service, polls, polls // STREAMS_OF_POLLS, seconds))


async def watch(service: Fetchd, polls: int, streams: int, seconds: float) -> Sample:
    port, pid = service.port, service.pid
    # Four downloads that outlast the run, and one job that waits.
    going = [{"url": f"rehearse:going-{number}?size=2000000000&seconds=4000"} for number in range(4)]
    job = service.submit([*going, {"url": "rehearse:watched", "not_before": NEVER}])[-1]
    await asyncio.sleep(1)
    await latencies(port, 0.5)
    before, open_before = resident_mib(pid), descriptors(pid)

    watchers = await clients.connect(port, watches(job, await last_event(port), polls, streams))
    await wait_for_watchers(port, polls, streams)
    cpu, begin = cpu_seconds(pid), time.monotonic()
    others = await latencies(port, seconds)
    sample = Sample(
        resident=resident_mib(pid), cpu=(cpu_seconds(pid) - cpu) * 100 / (time.monotonic() - begin),
        p50=percentile(others, 0.5), p99=percentile(others, 0.99),
    )  # fmt: skip
    sample["each"] = (sample["resident"] - before) * 1024 / (polls + streams)
    times = await change(port, job["id"], watchers)
    sample |= {"half": times[len(times) // 2] * 1000, "all": times[-1] * 1000}
    if lost := sum(watcher.is_lost for watcher in watchers):
        fail(f"{lost} watchers were disconnected")

    clients.disconnect(watchers)
    begin = time.monotonic()
    await wait_for_watchers(port, 0, 0)
    sample["gone"] = (time.monotonic() - begin) * 1000
    await asyncio.sleep(2)
    return Sample(sample, left=max(descriptors(pid) - open_before, 0), later=resident_mib(pid))


def watches(job: dict, last: int, polls: int, streams: int) -> list[clients.Watch]:
    """Half of the long polls wait for the job, half for the next event of the journal."""
    tag = f'If-None-Match: "{job["revision"]}"'
    of_job = clients.head("GET", f"/v1/jobs/{job['id']}", 0, tag, "Prefer: wait=30")
    of_journal = clients.head("GET", f"/v1/events?wait=30&after={last}&job={job['id']}&type=job.paused")
    stream = clients.head("GET", "/v1/events", 0, "Accept: text/event-stream")
    polled = [clients.Watch(of_job, b'"state":"paused"'), clients.Watch(of_journal, b'"job.paused"')]
    return [polled[number % 2] for number in range(polls)] + [clients.Watch(stream, b'"job.paused"', False)] * streams


async def change(port: int, job: str, watchers: list[clients.Watcher]) -> list[float]:
    """Pauses the job. The seconds from the request until each watcher knows."""
    begin = time.monotonic()
    status, _ = await clients.request(port, "POST", f"/v1/jobs/{job}/pause")
    if status != 200:
        fail(f"the pause was answered with {status}")
    return await clients.arrivals(watchers, begin)


async def latencies(port: int, seconds: float) -> list[float]:
    """Milliseconds of another client's requests, each over a new connection."""
    begin, found = time.monotonic(), []
    while time.monotonic() < begin + seconds:
        start = time.monotonic()
        await clients.request(port, "GET", "/v1/jobs?limit=1")
        found.append((time.monotonic() - start) * 1000)
        await asyncio.sleep(0.01)
    return found


async def last_event(port: int) -> int:
    return (await clients.request(port, "GET", "/v1/sessions/default"))[1]["last_event"]


async def wait_for_watchers(port: int, polls: int, streams: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = (await clients.request(port, "GET", "/v1/stats"))[1]["watchers"]
        if (found["waits"], found["streams"]) == (polls, streams):
            return
        await asyncio.sleep(0.02)
    fail(f"the service reports {found}, and {polls} waits and {streams} streams are expected")


NOTES = """\
Half of the long polls wait for one job (`If-None-Match` and `Prefer: wait=30`), half for the journal (`GET
/v1/events?wait=30`). The streams receive all events. Four downloads run. "Others" is another client that requests the
newest job, over a new connection each time. "Change" is the time from the request that pauses the job until half and
all of the watchers know. The watchers share one thread of Python, which needs a large part of that time. Then they
disconnect without notice."""

WORKLOAD = Workload("watchers", "Watching clients", NOTES, measure)
