"""Requests that are answered from what exists: polls of a job, liveness, and pages of the list."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from .. import aria2
from ..bench import Bench
from ..fetchd import Fetchd, fetchd
from ..nginx import nginx
from ..results import Sample, Table, compared
from ..stopwatch import Stopwatch
from ..workload import Measured, Workload
from ..wrk import METRICS, Request, run_wrk

LISTED = 1000  # jobs in the list
CLIENTS = "64 clients with persistent connections (wrk)"


def measure_polls(bench: Bench) -> Measured:
    with bench.folder() as files:
        prepare_file(files)
        with nginx(files / "origin", files) as origin:
            url = f"{origin.url}/file.bin"
            document = finished_document(bench, url)
            contenders = bench.fetchds(partial(poll_fetchd, bench, url, False))
            contenders |= bench.fetchds(partial(poll_fetchd, bench, url, True), ", If-None-Match")
            contenders["nginx, return"] = partial(ask_nginx_constant, bench, "/job", document)
            contenders["aria2c, tellStatus"] = partial(poll_aria2, bench, url)
            samples = bench.take_turns("polls", contenders, "rate")
    title = f"One finished job, polled by {CLIENTS}"
    tables = [
        compared(title, METRICS, samples, "fetchd", "fetchd, If"),
        compared(f"{title}, If-None-Match", METRICS, samples, "fetchd, If-None-Match", "aria2c"),
    ]
    return tables, []


def measure_livez(bench: Bench) -> Measured:
    def ask(program: Path, folder: Path) -> Sample:
        with fetchd(program, folder) as service:
            return ask_fetchd(bench, service, Request("/livez"), folder)

    with bench.folder() as folder, fetchd(bench.program, folder) as service:
        document = service.api.bytes("GET", "/livez").decode()
    contenders = bench.fetchds(ask)
    contenders["nginx, return"] = partial(ask_nginx_constant, bench, "/livez", document)
    return [Table(f"GET /livez, {CLIENTS}", METRICS, bench.take_turns("livez", contenders, "rate"))], []


def measure_lists(bench: Bench) -> Measured:
    path = "/v1/jobs?limit=100"

    def ask(program: Path, folder: Path) -> Sample:
        with fetchd(program, folder) as service:
            service.submit_queued(LISTED)
            return ask_fetchd(bench, service, Request(path), folder)

    with bench.folder() as folder:
        with fetchd(bench.program, folder) as service:
            service.submit_queued(LISTED)
            page = service.api.bytes("GET", path)
        (folder / "page.json").write_bytes(page)
        contenders = bench.fetchds(ask)
        contenders["nginx, a file"] = partial(ask_nginx_file, bench, folder)
        samples = bench.take_turns("list", contenders, "rate")
    title = f"GET {path} of {LISTED:,} jobs ({len(page) >> 10} KiB), {CLIENTS}"
    return [Table(title, METRICS, samples)], []


def prepare_file(folder: Path) -> None:
    (folder / "file.bin").write_bytes(bytes(16 << 10))


def download(service: Fetchd, url: str) -> str:
    """The identifier of a finished job."""
    job = service.api.json("POST", "/v1/jobs", {"url": url})["id"]
    service.wait_for("succeeded", 1, Stopwatch(service.pid))
    return job


def finished_document(bench: Bench, url: str) -> str:
    with bench.folder() as folder, fetchd(bench.program, folder) as service:
        return service.api.bytes("GET", f"/v1/jobs/{download(service, url)}").decode()


def poll_fetchd(bench: Bench, url: str, has_tag: bool, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        path = f"/v1/jobs/{download(service, url)}"
        tag = service.api.exchange("GET", path)[1]["ETag"]
        return ask_fetchd(bench, service, Request(path, fields={"If-None-Match": tag} if has_tag else {}), folder)


def ask_fetchd(bench: Bench, service: Fetchd, request: Request, folder: Path) -> Sample:
    return run_wrk(request, service.port, service.pid, folder, bench.seconds)


def ask_nginx_constant(bench: Bench, path: str, document: str, folder: Path) -> Sample:
    (folder / "files").mkdir()
    with nginx(folder / "nginx", folder / "files", workers=2, answers={path: document}) as server:
        return run_wrk(Request(path), server.port, server.pid, folder, bench.seconds)


def ask_nginx_file(bench: Bench, files: Path, folder: Path) -> Sample:
    with nginx(folder / "nginx", files, workers=2) as server:
        return run_wrk(Request("/page.json"), server.port, server.pid, folder, bench.seconds)


def poll_aria2(bench: Bench, url: str, folder: Path) -> Sample:
    with aria2.aria2(folder) as peer:
        gid = peer.add([url], 1)[0]
        peer.wait_for_stopped(1, Stopwatch(peer.pid))
        body = json.dumps(aria2.request("aria2.tellStatus", [gid]))
        return run_wrk(Request("/jsonrpc", "POST", body=body), peer.port, peer.pid, folder, bench.seconds)


POLL_NOTES = """\
nginx answers with the same bytes from its configuration. With `If-None-Match`, each answer is a 304. If it shows 0
requests, the 304 had a `Content-Length`, and wrk waits for a body that does not come. aria2c answers with a shorter
document."""

POLLS = Workload("polls", "Polls of a job", POLL_NOTES, measure_polls)
LIVEZ = Workload("livez", "Liveness", "nginx answers with the same bytes from its configuration.", measure_livez)
LISTS = Workload("list", "Lists", "nginx sends the same bytes from a file.", measure_lists)
