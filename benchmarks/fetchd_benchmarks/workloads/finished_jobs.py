"""What finished jobs cost those who come after them."""

from __future__ import annotations

import time

from ..bench import Bench
from ..fetchd import Fetchd, fetchd, queued_job
from ..processes import resident_mib
from ..results import Metric, Plot, Sample, Table
from ..stopwatch import Stopwatch
from ..summaries import Summary
from ..workload import Measured, Workload

BASE = 1000  # the times with more jobs are compared with those with this many
REQUESTS = {
    "list": "/v1/jobs?limit=100",
    "list of the session": "/v1/jobs?session=many&state=cancelled&limit=100",
    "stats": "/v1/stats",
    "session": "/v1/sessions/many",
    "sessions": "/v1/sessions",
    "metrics": "/metrics",
    "events": "/v1/events?limit=100",
}


def measure(bench: Bench) -> Measured:
    rows: dict[int, Sample] = {}
    with bench.folder() as folder:
        present = 0
        sizes = bench.sizes(1_000_000, quick=10_000)
        for count in sizes:
            with fetchd(bench.program, folder) as service:
                add_finished(service, count - present, count)
            present = count
            with fetchd(bench.program, folder) as service:
                rows[count] = measure_service(service, bench.amount(20, 5))
    return [table(rows)], [plot(rows)]


def add_finished(service: Fetchd, more: int, total: int) -> None:
    service.api.bytes("PUT", "/v1/sessions/many", {})
    service.submit_queued(more, "many", f"file-{total}")
    service.api.bytes("POST", "/v1/sessions/many/cancel")
    service.wait_for("cancelled", total, Stopwatch(service.pid), "many")


def measure_service(service: Fetchd, times: int) -> Sample:
    sample = Sample(ready=service.seconds_to_ready * 1000)
    for name, path in REQUESTS.items():
        sample[name] = milliseconds(service, times, "GET", path)
    sample["submit"] = milliseconds(service, times, "POST", "/v1/jobs", queued_job("default", "new"))
    sample["resident"] = resident_mib(service.pid)
    return sample


def milliseconds(service: Fetchd, times: int, method: str, path: str, body: dict | None = None) -> float:
    """The median."""
    durations = []
    for _ in range(times):
        begin = time.monotonic()
        service.api.bytes(method, path, body)
        durations.append((time.monotonic() - begin) * 1000)
    return Summary.of(durations).median


def table(rows: dict[int, Sample]) -> Table:
    names = ["ready", *REQUESTS, "submit"]
    metrics = [Metric(name, f"{name}, ms", 2) for name in names] + [Metric("resident", "RSS, MiB", 0)]
    shown = {f"{count:,}": [sample] for count, sample in rows.items()}
    last = max(rows)
    if BASE in rows and last > BASE:
        growth = Sample({name: rows[last][name] / rows[BASE][name] for name in [*names, "resident"]})
        shown[f"{last:,} / {BASE:,}"] = [growth]
    return Table("Finished jobs in a session, and the median time of a request", metrics, shown)


def plot(rows: dict[int, Sample]) -> Plot:
    curves = {
        name: [(float(count), sample[name]) for count, sample in rows.items()]
        for name in ["ready", *REQUESTS, "submit"]
    }
    return Plot("finished-jobs", "Requests beside finished jobs", "finished jobs", "milliseconds", curves)


NOTES = """\
The jobs were submitted and cancelled through the API, so that a million of them need no origin. "Ready" is the time
from the start of the process until `/readyz` answers 200. One client sends the requests, one after the other."""

WORKLOAD = Workload("finished-jobs", "Finished jobs", NOTES, measure)
