"""Many small files: the cost of a job."""

from __future__ import annotations

from pathlib import Path

from .. import aria2, files
from ..bench import Bench
from ..commands import run_curl, run_jobs_floor
from ..fetchd import fetchd
from ..nginx import nginx
from ..results import Metric, Plot, Sample, Table
from ..stopwatch import Stopwatch
from ..summaries import Summary, values
from ..workload import Measured, Workload

KIB, AT_A_TIME, BATCH = 16, 64, 1000
COMPARED = 10_000  # files; more only show the growth
METRICS = [
    Metric("rate", "files/s", 0, is_compared=True, has_range=True),
    Metric("wall", "wall, s", 2, has_range=True),
    Metric("cpu", "CPU, s", 2),
    Metric("cpu_each", "CPU a file, ms", 2, is_compared=True),
    Metric("peak", "peak RSS, MiB", 0, is_compared=True),
    Metric("on_disk", "until on disk, s", 2),
]


def measure(bench: Bench) -> Measured:
    sizes = bench.sizes(100_000, quick=1000, most=1_000_000)
    rows = {count: measure_count(bench, count) for count in sizes}
    curves: dict[str, list[tuple[float, float]]] = {}
    for count, samples in rows.items():
        for name, runs in samples.items():
            curves.setdefault(name, []).append((count, Summary.of(values(runs, "rate")).median))
    shown = COMPARED if COMPARED in rows else sizes[-1]
    title = f"{shown:,} files of {KIB} KiB, in batches of {BATCH:,}, {AT_A_TIME} at a time"
    plot = Plot("small-files", f"Files of {KIB} KiB, {AT_A_TIME} at a time", "files", "files/s", curves)
    return [Table(title, METRICS, rows[shown])], [plot]


def measure_count(bench: Bench, count: int) -> dict[str, list[Sample]]:
    bench.require_space(count * KIB / 1024 * 2.2)
    with bench.folder() as folder:
        sizes = files.small_files(count, KIB)
        digests = files.make_files(folder / "files", sizes)
        with nginx(folder / "origin", folder / "files") as origin:
            urls = [f"{origin.url}/{path}" for path in sizes]
            contenders = bench.fetchds(lambda program, folder: run_fetchd(program, folder, urls, digests))
            contenders["floor"] = lambda folder: checked(run_jobs_floor(urls, folder), folder, digests)
            contenders["aria2c"] = lambda folder: run_aria2(folder, urls, digests)
            contenders["curl"] = lambda folder: run_curl_parallel(folder, urls, digests)
            return bench.take_turns(
                f"{count:,} small files", contenders, "rate", rounds=1 if count > COMPARED else None
            )


def run_fetchd(program: Path, folder: Path, urls: list[str], digests: dict[str, bytes]) -> Sample:
    with fetchd(program, folder, jobs=AT_A_TIME) as service:
        watch = Stopwatch(service.pid)
        service.submit([{"url": url} for url in urls], BATCH)
        service.wait_for("succeeded", len(urls), watch)
        sample = watch.stop(on_disk=True)
    return checked(sample, folder, digests)


def run_aria2(folder: Path, urls: list[str], digests: dict[str, bytes]) -> Sample:
    with aria2.aria2(folder, jobs=AT_A_TIME, results=len(urls) + 1) as peer:
        watch = Stopwatch(peer.pid)
        peer.add(urls, BATCH)
        peer.wait_for_stopped(len(urls), watch)
        sample = watch.stop(on_disk=True)
    return checked(sample, folder, digests)


def run_curl_parallel(folder: Path, urls: list[str], digests: dict[str, bytes]) -> Sample:
    return checked(run_curl(urls, folder, AT_A_TIME), folder, digests)


def checked(sample: Sample, folder: Path, digests: dict[str, bytes]) -> Sample:
    files.verify(folder / "downloads", digests)
    count = len(digests)
    return Sample(sample | {"rate": count / sample["wall"], "cpu_each": sample["cpu"] * 1000 / count})


NOTES = """\
The time is from the first submission until the last file is reported as finished. fetchd commits each job before it
answers, syncs the file and its folder, computes the sha-256, and commits the receipt. The floor is
benchmarks/native/jobs_floor.c: it keeps these promises with a synced log in place of a database, and has no API. aria2c
syncs each file but not its folder. Its jobs are only in memory, and it computes no digest. curl does none of this, and
its time includes its start.

Where the 0.47 ms of CPU time of a file go (perf, one run of 10,000 files, commit c02cdc96):

| part | share |
| --- | ---: |
| tasks and disk lanes: attempts, plans, verdicts, sha-256, the runtime of Swift | 19 % |
| transactions: state machine, events, encoding | 13 % |
| the loop of libcurl | 12 % |
| the kernel: create, rename and permissions of the file | 11 % |
| the kernel: threads that wake and wait | 11 % |
| SQLite | 10 % |
| the kernel: sockets | 6 % |
| the kernel: writes, of files and of the log | 5 % |
| the kernel: syncs | 4 % |
| the kernel: memory and the rest | 9 % |"""

WORKLOAD = Workload("small-files", "Small files", NOTES, measure)
