"""Cancels all queued jobs of a session, while other clients go on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ..bench import Bench
from ..fetchd import fetchd, queued_job
from ..prober import Prober
from ..results import Metric, Plot, Sample, Table
from ..stopwatch import Stopwatch
from ..workload import Measured, Workload

METRICS = [
    Metric("wall", "until all are cancelled, s", 2, has_range=True),
    Metric("answer", "until the answer, s", 2),
    Metric("cpu", "CPU, s", 2),
    Metric("peak", "peak RSS, MiB", 0),
    Metric("read_p99", "others' reads p99, ms", 1, has_range=True),
    Metric("write_p99", "others' submits p99, ms", 1, has_range=True),
    Metric("write_max", "slowest submit, ms", 1),
]


def measure(bench: Bench) -> Measured:
    tables, curves = [], {"all are cancelled, s": [], "others' submits p99, s": []}
    sizes = bench.sizes(100_000, quick=1000, most=1_000_000)
    for count in sizes:
        rounds = min(bench.pairs, 3) if count == sizes[-1] else 1
        contenders = bench.fetchds(partial(run, count))
        samples = bench.take_turns(f"cancel {count:,} jobs", contenders, rounds=rounds)
        first = next(iter(samples.values()))[0]
        curves["all are cancelled, s"].append((count, first["wall"]))
        curves["others' submits p99, s"].append((count, first["write_p99"] / 1000))
        tables = [Table(f"Cancelling {count:,} queued jobs of a session", METRICS, samples)]
    return tables, [Plot("cancelling", "Cancelling the queued jobs of a session", "jobs", "seconds", curves)]


def run(count: int, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        for session in ("many", "others"):
            service.api.bytes("PUT", f"/v1/sessions/{session}", {})
        service.submit_queued(count, "many")
        job = service.api.json("POST", "/v1/jobs", queued_job("others", "read"))["id"]
        with (
            Prober(service, f"/v1/jobs/{job}") as reads,
            Prober(service, "/v1/jobs", queued_job("others", "new")) as writes,
        ):
            watch = Stopwatch(service.pid)
            service.api.bytes("POST", "/v1/sessions/many/cancel")
            answer = watch.seconds
            service.wait_for("cancelled", count, watch, "many")
            sample = watch.stop()
        return Sample(
            sample, answer=answer, read_p99=reads.milliseconds(0.99), write_p99=writes.milliseconds(0.99),
            write_max=writes.milliseconds(1),
        )  # fmt: skip


NOTES = """\
`POST /v1/sessions/{session}/cancel`. Meanwhile, two clients read a job of another session and submit jobs to it, one
request each 5 ms."""

WORKLOAD = Workload("cancelling", "Cancelling many jobs", NOTES, measure)
