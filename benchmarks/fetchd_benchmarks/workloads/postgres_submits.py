"""Submissions to one service on PostgreSQL, beside the same service on SQLite."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..bench import Bench
from ..fetchd import Fetchd, fetchd
from ..postgres import postgres
from ..processes import cpu_seconds
from ..results import Metric, Sample, Table
from ..workload import Measured, Workload
from ..wrk import METRICS
from . import batches, submits

BATCHES = (1000, 64)
DATABASE = Metric("database_each", "PostgreSQL CPU a job, µs", 1)

Load = Callable[[Fetchd], Sample]


def measure(bench: Bench) -> Measured:
    jobs = bench.amount(40_000, 4000)
    tables = [measure_batches(bench, jobs, batch) for batch in BATCHES]
    samples = take_turns(bench, "single submits", partial(submits.submit, bench))
    title = "POST /v1/jobs, 64 clients with persistent connections (wrk)"
    return [*tables, Table(title, [*METRICS, DATABASE, submits.COMMITS], samples)], []


def measure_batches(bench: Bench, jobs: int, batch: int) -> Table:
    def load(service: Fetchd) -> Sample:
        return Sample(batches.submit(jobs, batch, service), requests=jobs)

    samples = take_turns(bench, f"batches of {batch:,}", load)
    title = f"{jobs:,} jobs in batches of {batch:,}, {batches.CLIENTS} clients"
    return Table(title, [*batches.METRICS, DATABASE], samples)


def take_turns(bench: Bench, title: str, load: Load) -> dict[str, list[Sample]]:
    contenders = bench.fetchds(partial(run_on_postgres, bench, load), ", PostgreSQL")
    contenders |= bench.fetchds(partial(run_on_sqlite, load), ", SQLite")
    return bench.take_turns(title, contenders, "rate")


def run_on_postgres(bench: Bench, load: Load, program: Path, folder: Path) -> Sample:
    with bench.folder() as own, postgres(own) as database, fetchd(program, folder, "--store", database.url) as service:
        before = cpu_seconds(database.pid)
        sample = load(service)
        used = cpu_seconds(database.pid) - before
    return Sample(sample, database_each=used * 1e6 / sample["requests"])


def run_on_sqlite(load: Load, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        return load(service)


NOTES = """\
The jobs do not start. The answer follows the commit, which is on disk: `fsync` and `synchronous_commit` are on. Each run
has a server of its own with an empty database, 256 MiB of shared buffers and otherwise the default settings. It runs on
the same machine and shares its cores with fetchd and the clients. "CPU" is that of fetchd."""

WORKLOAD = Workload("postgres-submits", "Submissions on PostgreSQL", NOTES, measure)
