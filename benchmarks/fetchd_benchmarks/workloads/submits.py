"""Single submissions by many clients at the same time."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from .. import aria2
from ..bench import Bench
from ..environment import LOOPBACK
from ..fetchd import Fetchd, fetchd, queued_job
from ..results import Metric, Sample, Table
from ..workload import Measured, Workload
from ..wrk import METRICS, Request, run_wrk

COMMITS = Metric("jobs_a_commit", "jobs a commit", 1)


def measure(bench: Bench) -> Measured:
    contenders = bench.fetchds(partial(run_fetchd, bench))
    contenders["aria2c, addUri"] = partial(run_aria2, bench)
    samples = bench.take_turns("single submits", contenders, "rate")
    return [Table("POST /v1/jobs, 64 clients with persistent connections (wrk)", [*METRICS, COMMITS], samples)], []


def run_fetchd(bench: Bench, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        return submit(bench, service)


def submit(bench: Bench, service: Fetchd) -> Sample:
    before = service.metric("fetchd_database_commits_total")
    request = Request("/v1/jobs", "POST", body=json.dumps(queued_job("default", "file-@")))
    sample = run_wrk(request, service.port, service.pid, service.folder, bench.seconds)
    commits = service.metric("fetchd_database_commits_total")
    if before is not None and commits is not None:
        sample["jobs_a_commit"] = sample["requests"] / max(commits - before, 1)
    return sample


def run_aria2(bench: Bench, folder: Path) -> Sample:
    with aria2.aria2(folder) as peer:
        body = json.dumps(aria2.request("aria2.addUri", [[f"http://{LOOPBACK}:9/file-@"], {"pause": "true"}]))
        return run_wrk(Request("/jsonrpc", "POST", body=body), peer.port, peer.pid, folder, bench.seconds)


NOTES = """\
The jobs do not start: fetchd's have a `not_before`, aria2's are added with `pause`. fetchd answers after the commit
is synced. aria2c stores nothing."""

WORKLOAD = Workload("submits", "Single submissions", NOTES, measure)
