"""Submissions in batches."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from .. import aria2
from ..bench import Bench
from ..environment import LOOPBACK, chunks
from ..fetchd import Fetchd, fetchd, queued_job
from ..http_client import Client
from ..results import Metric, Plot, Sample, Table
from ..stopwatch import Stopwatch
from ..summaries import Summary, values
from ..workload import Measured, Workload

BATCH, CLIENTS = 1000, 4
METRICS = [
    Metric("rate", "jobs/s", 0, is_compared=True, has_range=True),
    Metric("wall", "wall, s", 2, has_range=True),
    Metric("cpu", "CPU, s", 2),
    Metric("cpu_each", "CPU a job, µs", 1, is_compared=True),
    Metric("peak", "peak RSS, MiB", 0),
]


def measure(bench: Bench) -> Measured:
    jobs = bench.amount(40_000, 4000)
    contenders = bench.fetchds(partial(run_fetchd, jobs, BATCH))
    contenders["aria2c, multicall"] = partial(run_aria2, jobs, BATCH)
    samples = bench.take_turns(f"batches of {BATCH:,}", contenders, "rate")
    table = Table(f"{jobs:,} jobs in batches of {BATCH:,}, {CLIENTS} clients", METRICS, samples)
    curves: dict[str, list[tuple[float, float]]] = {"fetchd": [], "aria2c": []}
    for size in bench.sizes(10_000, quick=1000, first=1):
        count = min(jobs, size * 400)
        runs = {"fetchd": partial(run_fetchd, count, size, bench.program), "aria2c": partial(run_aria2, count, size)}
        samples = bench.take_turns(f"batches of {size:,}", runs, "rate", rounds=min(bench.pairs, 3))
        for name, curve in curves.items():
            curve.append((size, Summary.of(values(samples[name], "rate")).median))
    return [table], [Plot("batches", f"Submissions in batches, {CLIENTS} clients", "jobs in a batch", "jobs/s", curves)]


def run_fetchd(jobs: int, batch: int, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        return submit(jobs, batch, service)


def submit(jobs: int, batch: int, service: Fetchd) -> Sample:
    documents = [queued_job("default", f"file-{number}") for number in range(jobs)]
    bodies = [json.dumps({"jobs": some}) for some in chunks(documents, batch)]
    return post_all(service.port, service.pid, "/v1/jobs/batch", bodies, jobs)


def run_aria2(jobs: int, batch: int, folder: Path) -> Sample:
    bodies = []
    for begin in range(0, jobs, batch):
        urls = [f"http://{LOOPBACK}:9/file-{number}" for number in range(begin, begin + batch)]
        calls = [{"methodName": "aria2.addUri", "params": [[url], {"pause": "true"}]} for url in urls]
        bodies.append(json.dumps(aria2.request("system.multicall", [calls])))
    with aria2.aria2(folder) as peer:
        return post_all(peer.port, peer.pid, "/jsonrpc", bodies, jobs)


def post_all(port: int, pid: int, path: str, bodies: list[str], jobs: int) -> Sample:
    """Each client sends its next request when the last one is answered."""

    def post(number: int) -> None:
        client = Client(port)
        for body in bodies[number::CLIENTS]:
            client.bytes("POST", path, body.encode())
        client.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        watch = Stopwatch(pid)
        for future in [pool.submit(post, number) for number in range(CLIENTS)]:
            future.result()
        sample = watch.stop()
    return Sample(sample | {"rate": jobs / sample["wall"], "cpu_each": sample["cpu"] * 1e6 / jobs})


NOTES = """\
The jobs do not start. All jobs of a request are added or none, and the answer has their documents. The curves are
medians of three runs."""

WORKLOAD = Workload("batches", "Batches", NOTES, measure)
