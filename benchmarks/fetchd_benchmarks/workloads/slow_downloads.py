"""Thousands of slow downloads at the same time: the cost of an open transfer."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .. import aria2
from ..bench import Bench
from ..environment import allow_descriptors, fail, progress
from ..fetchd import fetchd
from ..nginx import SLOW_KIB, nginx
from ..processes import cpu_seconds, resident_mib
from ..results import Metric, Plot, Sample, Table, compared
from ..summaries import Summary, values
from ..workload import Measured, Workload

SIZES = (10, 100, 1000, 4000, 10_000)
PEER_AT = 1000  # aria2 takes part up to here
FILE_KIB = SLOW_KIB * 100  # lasts for 100 s
METRICS = [
    Metric("cpu", "CPU, % of a core", 1, is_compared=True, has_range=True),
    Metric("cpu_mib", "CPU a MiB, ms", 2, is_compared=True),
    Metric("rate", "MiB/s", 1),
    Metric("each", "RSS, KiB each", 0, is_compared=True, has_range=True),
    Metric("resident", "RSS, MiB", 0),
    Metric("start", "all run after, s", 1),
]


def measure(bench: Bench) -> Measured:
    last = min(bench.amount(SIZES[-1], 100), bench.largest or SIZES[-1])
    sizes = [size for size in SIZES if size <= last]
    sizes = possible(sizes, allow_descriptors())
    bench.require_space(max(sizes) * FILE_KIB / 1024 * 1.2)
    rows = {size: measure_size(bench, size) for size in sizes}
    shown = [size for size in sizes if size >= 1000] or sizes[-1:]
    tables = [table for size in shown for table in tables_of(size, rows[size])]
    plots = [
        plot(rows, "cpu", "slow-downloads-cpu", "CPU of slow downloads", "% of a core"),
        plot(rows, "each", "slow-downloads-memory", "Memory of slow downloads", "KiB of RSS each"),
    ]
    return tables, plots


def tables_of(size: int, samples: dict[str, list[Sample]]) -> list[Table]:
    title = f"{size:,} downloads of {SLOW_KIB} KiB/s"
    return [
        compared(f"{title}, without a digest", METRICS, samples, "fetchd, no digest", "fetchd, sha"),
        compared(f"{title}, with sha-256", METRICS, samples, "fetchd, sha-256", "fetchd, no"),
    ]


def possible(sizes: list[int], limit: int) -> list[int]:
    """fetchd admits as many jobs as the limit of open files allows: one for each job, and some for all together."""
    for size in sizes:
        if size + 2500 > limit:
            progress(f"{size:,} downloads are left out: the limit of open files is {limit:,} (ulimit -Hn)")
    return [size for size in sizes if size + 2500 <= limit]


def plot(rows: dict[int, dict[str, list[Sample]]], metric: str, name: str, title: str, unit: str) -> Plot:
    curves: dict[str, list[tuple[float, float]]] = {}
    for size, samples in rows.items():
        for contender, runs in samples.items():
            curves.setdefault(contender, []).append((size, Summary.of(values(runs, metric)).median))
    return Plot(name, title, "downloads", unit, curves)


def measure_size(bench: Bench, count: int) -> dict[str, list[Sample]]:
    seconds = bench.amount(15, 3)
    with bench.folder() as folder:
        slow = folder / "files/slow"
        slow.mkdir(parents=True)
        (slow / "slow.bin").write_bytes(bytes(FILE_KIB << 10))
        with nginx(folder / "origin", folder / "files") as origin:
            urls = [f"{origin.url}/slow/slow.bin?{number}" for number in range(count)]
            contenders = bench.fetchds(partial(run_fetchd, urls, "none", seconds), ", no digest")
            contenders |= bench.fetchds(partial(run_fetchd, urls, "sha-256", seconds), ", sha-256")
            if count <= PEER_AT:
                contenders["aria2c"] = partial(run_aria2, urls, seconds)
            rounds = min(bench.pairs, 3) if count > PEER_AT else None
            return bench.take_turns(f"{count:,} slow downloads", contenders, "cpu", rounds)


def run_fetchd(urls: list[str], digest: str, seconds: float, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder, jobs=len(urls)) as service:
        idle = resident_mib(service.pid)
        begin = time.monotonic()
        jobs = [{"url": url, "digest": digest, "destination": {"filename": "{job_id}"}} for url in urls]
        service.submit(jobs)
        wait_until(lambda: service.counts()["running"] == len(urls))

        def received() -> int:
            return service.api.json("GET", "/v1/sessions/default")["progress"]["bytes_received"]

        wait_until(lambda: received() > len(urls) * (SLOW_KIB << 9))
        return watch(service.pid, idle, len(urls), seconds, time.monotonic() - begin, received)


def run_aria2(urls: list[str], seconds: float, folder: Path) -> Sample:
    with aria2.aria2(folder, "--file-allocation=none", "--auto-file-renaming=true", jobs=len(urls)) as peer:
        idle = resident_mib(peer.pid)
        begin = time.monotonic()
        calls = [
            {"methodName": "aria2.addUri", "params": [[url], {"out": f"{number}.bin"}]}
            for number, url in enumerate(urls)
        ]
        gids = [answer[0] for answer in peer.call("system.multicall", [calls])]

        def received() -> int:
            keys = ["completedLength"]
            calls = [{"methodName": "aria2.tellStatus", "params": [gid, keys]} for gid in gids]
            return sum(int(answer[0]["completedLength"]) for answer in peer.call("system.multicall", [calls]))

        wait_until(lambda: int(peer.call("aria2.getGlobalStat")["numActive"]) == len(urls))
        wait_until(lambda: received() > len(urls) * (SLOW_KIB << 9))
        return watch(peer.pid, idle, len(urls), seconds, time.monotonic() - begin, received)


def watch(pid: int, idle: float, count: int, seconds: float, start: float, received: Callable[[], int]) -> Sample:
    # The work of the start ends, and what the server has held back meanwhile arrives.
    time.sleep(max(3, count / 250))
    before, cpu, begin = received(), cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    took, used = time.monotonic() - begin, cpu_seconds(pid) - cpu
    mib = (received() - before) / (1 << 20)
    resident = resident_mib(pid)
    if mib < 0.5 * count * SLOW_KIB / 1024 * took:
        progress(f"only {mib / took:.1f} MiB/s of {count * SLOW_KIB / 1024:.1f} arrive: the machine is too slow")
    return Sample(
        cpu=used * 100 / took, cpu_mib=used * 1000 / max(mib, 1e-9), rate=mib / took,
        each=(resident - idle) * 1024 / count, resident=resident, start=start,
    )  # fmt: skip


def wait_until(condition: Callable[[], bool], patience: float = 90) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            fail("the slow downloads did not all start in time")
        time.sleep(0.1)


NOTES = """\
nginx limits each connection to 20 KiB/s. "Each" is the growth of the process for each download. CPU time is measured
for 15 seconds, when all downloads have started and have received what the server held back meanwhile. fetchd syncs the
files and commits their durable offsets, at this rate each after 4 seconds. aria2c does not, and computes no digest; it
takes part with up to 1,000 downloads. Compare the CPU time of a MiB, because nginx sends a bit more to a client that
reads at once. With fewer than 42,500 open files, 10,000 downloads close their parts between two writes.

This machine needs one and a half times the CPU time of the machine of most other rows: there, aria2c took 2.5 % of a
core for 1,000 downloads."""

WORKLOAD = Workload("slow-downloads", "Slow downloads", NOTES, measure)
