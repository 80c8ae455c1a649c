"""A service without work."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from ..aria2 import Aria2, aria2
from ..bench import Bench
from ..fetchd import Fetchd, fetchd
from ..processes import context_switches, cpu_seconds, descriptors, peak_mib, resident_mib
from ..results import Metric, Sample, Table
from ..workload import Measured, Workload

METRICS = [
    Metric("resident", "RSS, MiB", 1, has_range=True),
    Metric("peak", "peak RSS, MiB", 1),
    Metric("switches", "context switches/s", 2, has_range=True),
    Metric("cpu", "CPU, ms/s", 2),
    Metric("descriptors", "descriptors", 0),
    Metric("ready", "ready after, ms", 0, has_range=True),
]


def measure(bench: Bench) -> Measured:
    seconds = bench.amount(30, 5)
    contenders = bench.fetchds(lambda program, folder: run(fetchd(program, folder), seconds))
    contenders["aria2c"] = lambda folder: run(aria2(folder), seconds)
    samples = bench.take_turns("idle", contenders, "resident", rounds=min(bench.pairs, 3))
    return [Table(f"Nothing to do, for {seconds} seconds", METRICS, samples)], []


def run(start: AbstractContextManager[Fetchd | Aria2], seconds: float) -> Sample:
    with start as service:
        time.sleep(2)  # the work of the start
        switches, cpu = context_switches(service.pid), cpu_seconds(service.pid)
        time.sleep(seconds)
        return Sample(
            resident=resident_mib(service.pid), peak=peak_mib(service.pid),
            switches=(context_switches(service.pid) - switches).total() / seconds,
            cpu=(cpu_seconds(service.pid) - cpu) * 1000 / seconds, descriptors=descriptors(service.pid),
            ready=service.seconds_to_ready * 1000,
        )  # fmt: skip


NOTES = """\
Context switches are those of all threads. Each wake-up of a thread is at least one. A second after its start, fetchd unmaps the code
that it may not need again. What it uses is mapped again from the file cache, without a read from the disk."""

WORKLOAD = Workload("idle", "Idle", NOTES, measure)
