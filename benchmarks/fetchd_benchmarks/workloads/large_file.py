"""One large file over one connection: the cost of a byte."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from .. import aria2, files
from ..bench import Bench
from ..commands import run_curl, run_floor
from ..fetchd import fetchd
from ..nginx import nginx
from ..results import Metric, Plot, Sample, compared
from ..stopwatch import Stopwatch
from ..summaries import Summary, values
from ..workload import Measured, Workload

METRICS = [
    Metric("wall", "wall, s", 2, is_compared=True, has_range=True),
    Metric("on_disk", "until on disk, s", 2, is_compared=True, has_range=True),
    Metric("rate", "MiB/s", 0),
    Metric("cpu", "CPU, s", 2, is_compared=True, has_range=True),
    Metric("peak", "peak RSS, MiB", 0),
]


def measure(bench: Bench) -> Measured:
    largest = bench.amount(1024, 64)
    sizes = [size for size in (1, 4, 16, 64, 256, 1024) if size <= largest]
    rows = {size: measure_size(bench, size) for size in sizes}
    curves: dict[str, list[tuple[float, float]]] = {}
    for size, samples in rows.items():
        for name, runs in samples.items():
            curves.setdefault(name, []).append((size, Summary.of(values(runs, "wall")).median))
    title = f"One file of {largest} MiB, one connection"
    tables = [
        compared(title, METRICS, rows[largest], "fetchd, no digest", "fetchd, sha"),
        compared(f"{title}, with sha-256", METRICS, rows[largest], "fetchd, sha-256", "fetchd, no"),
    ]
    return tables, [Plot("large-file", "One file, one connection", "MiB", "seconds", curves)]


def measure_size(bench: Bench, mib: int) -> dict[str, list[Sample]]:
    bench.require_space(mib * 2.2)
    path = f"large-{mib}.bin"
    with bench.folder() as folder:
        digests = files.make_files(folder / "files", {path: mib << 20})
        with nginx(folder / "origin", folder / "files") as origin:
            url = f"{origin.url}/{path}"
            contenders = bench.fetchds(partial(run_fetchd, url, "sha-256"), ", sha-256")
            contenders |= bench.fetchds(partial(run_fetchd, url, "none"), ", no digest")
            contenders["curl"] = partial(run_curl, [url])
            contenders["aria2c"] = partial(run_aria2, url)
            contenders["bare libcurl, one fdatasync"] = partial(run_floor, url, syncs=True)
            contenders["bare libcurl, no sync"] = partial(run_floor, url, syncs=False)
            verified = {name: partial(run_verified, run, digests) for name, run in contenders.items()}
            return bench.take_turns(f"one file of {mib} MiB", verified, rounds=None if mib >= 64 else 3)


def run_verified(run: Callable[[Path], Sample], digests: dict[str, bytes], folder: Path) -> Sample:
    sample = run(folder)
    files.verify(folder / "downloads", digests)
    size = sum(file.stat().st_size for file in (folder / "downloads").iterdir() if file.is_file())
    return Sample(sample | {"rate": (size >> 20) / sample["wall"]})


def run_fetchd(url: str, digest: str, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        watch = Stopwatch(service.pid)
        service.api.bytes("POST", "/v1/jobs", {"url": url, "digest": digest})
        service.wait_for("succeeded", 1, watch)
        return watch.stop(on_disk=True)


def run_aria2(url: str, folder: Path) -> Sample:
    with aria2.aria2(folder) as peer:
        watch = Stopwatch(peer.pid)
        peer.add([url], 1)
        peer.wait_for_stopped(1, watch)
        return watch.stop(on_disk=True)


NOTES = """\
"Bare libcurl" is benchmarks/native/floor.c: one epoll loop and writes of 512 KiB. fetchd writes files of at least 64 MiB
past the page cache, syncs the file and its folder, and commits the receipt. aria2c syncs the file but not its folder. curl and the loop without a sync leave the
bytes in memory: compare with them the time "until on disk", when a sync after the run has returned. The times of curl
and of the loop include their start. fetchd and aria2c are asked for the progress, so their times are up to 2 % late."""

WORKLOAD = Workload("large-file", "A large file", NOTES, measure)
