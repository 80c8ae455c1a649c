"""Whole files."""

from __future__ import annotations

import gzip
import json
import time
import urllib.request
from pathlib import Path

from ..check import Check
from ..content import FOREIGN_NAME, LARGE, SPARSE, SPARSE_MARKS, TEXT, sha256
from ..fetchd import Fetchd
from ..outcomes import NotOffered, require
from ..processes import connections_to
from ..server import Site

CONNECTIONS = 4


def large_bytes(site: Site) -> bytes:
    """What the server sends to another client."""
    if site.large is not None:
        return site.large
    with urllib.request.urlopen(site.address("large"), timeout=60) as answer:
        return answer.read()


def require_large(service: Fetchd, site: Site, job: dict) -> None:
    expected = large_bytes(site)
    require(service.path(job).read_bytes() == expected, "the file has other bytes than the server's")
    require(job["file"]["sha256"] == sha256(expected), "the digest is not that of the file")


def whole_file(service: Fetchd, site: Site) -> str:
    job = service.download(site.address("large"))
    require_large(service, site, job)
    require(job["receipt"]["status"] == 200, f"the status is {job['receipt']['status']}")
    require(job["receipt"]["length_verified"], "the length was not verified")
    return job["receipt"]["protocol"]


def four_connections(service: Fetchd, site: Site) -> str:
    """The largest number of connections that were open at once says whether the server got several."""
    url = site.address("large")
    if not site.can_resume or not site.shows_ranges:
        require_large(service, site, service.download(url, connections=CONNECTIONS))
        return "one connection: the server has no ranges, or no strong validator, or answers 200 to a range of the whole file"
    # Slow enough to see the connections. When all are open, the rest needs no limit.
    id = service.submit(url, connections=CONNECTIONS, rate_limit_bytes_per_second=LARGE // 10)
    most = 0
    while most < CONNECTIONS and service.job(id)["state"] in ("queued", "running"):
        most = max(most, connections_to(site.port))
        time.sleep(0.01)
    if most >= CONNECTIONS:
        service.json("PATCH", f"/v1/jobs/{id}", {"rate_limit_bytes_per_second": None})
    require_large(service, site, service.wait_for(id, "succeeded"))
    require(most > 1, "the file came over one connection")
    return f"{most} at once"


def compressible(service: Fetchd, site: Site) -> str:
    """fetchd asks for `identity`, so a server that compresses must not."""
    job = service.download(site.address("gzip"))
    stored = service.path(job).read_bytes()
    if site.large is None:
        # httpbin compresses for every client.
        document = json.loads(gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored)
        require(document["gzipped"] is True, "the file is another")
        return "compressed although fetchd asked for identity; stored as sent"
    require(stored == TEXT, f"the file begins with {stored[:20]!r}")
    return ""


def empty(service: Fetchd, site: Site) -> str:
    job = service.download(site.address("empty"))
    require(job["file"]["size"] == 0 and service.path(job).stat().st_size == 0, "the file is not empty")
    require(job["progress"]["fraction"] == 1, "the progress is not 1")
    return ""


def beyond_four_gibibytes(service: Fetchd, site: Site) -> str:
    job = service.download(site.address("sparse"), patience=600, digest="none", connections=4)
    file = service.path(job)
    try:
        require(file.stat().st_size == SPARSE, f"the size is {file.stat().st_size}")
        require(marks_of(file) == SPARSE_MARKS, "the marks are at other offsets")
    finally:
        file.unlink()
    return ""


def marks_of(file: Path) -> dict[int, bytes]:
    found = {}
    with file.open("rb") as content:
        for offset, mark in SPARSE_MARKS.items():
            content.seek(offset)
            found[offset] = content.read(len(mark))
    return found


def foreign_name(service: Fetchd, site: Site) -> str:
    job = service.download(site.address("foreign name"))
    name = service.path(job).name
    require(name == FOREIGN_NAME, f"the file is called {name}")
    if site.large is None:
        raise NotOffered("the server has no such file")
    require(service.path(job).read_bytes() == site.large[:1000], "the file has other bytes than the server's")
    return ""


CHECKS = [
    Check("whole file", whole_file),
    Check("four connections", four_connections),
    Check("gzip", compressible),
    Check("empty", empty),
    Check("4 GiB + 1", beyond_four_gibibytes, is_long=True),
    Check("UTF-8 name", foreign_name),
]
