"""Addresses that lead elsewhere, or nowhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..check import Check
from ..content import LARGE
from ..fetchd import Fetchd, described
from ..outcomes import require
from ..server import Site
from .files import require_large


@contextlib.contextmanager
def expired(site: Site) -> Iterator[None]:
    """Meanwhile the server refuses everything below /expiring/."""
    site.expiry.write_bytes(b"")
    site.expiry.chmod(0o644)
    try:
        yield
    finally:
        site.expiry.unlink()


def expires_midway(service: Fetchd, site: Site) -> str:
    """The job waits for another address, and continues from its bytes."""
    url = site.address("expiring")
    # So slow that it is paused before its end.
    id = service.submit(url, wait_for=["url"], rate_limit_bytes_per_second=LARGE // 60)
    service.wait_for_bytes(id, LARGE // 100)
    service.json("POST", f"/v1/jobs/{id}/pause")
    with expired(site):
        service.json("POST", f"/v1/jobs/{id}/resume")
        waiting = service.wait_for(id, "waiting")
        require(waiting["reason"] == "url", f"it waits for {waiting['reason']}")
        fresh = site.address("large")
        service.json("PATCH", f"/v1/jobs/{id}", {"url": fresh, "rate_limit_bytes_per_second": None})
        job = service.wait_for(id, "succeeded")
    require_large(service, site, job)
    require(job["resume"]["decision"] == "resumed", f"it was not resumed: {job['resume']}")
    return ""


def expired_before(service: Fetchd, site: Site) -> str:
    """A link that was never valid for fetchd also waits, if the job asks for it."""
    url = site.address("expiring")
    with expired(site):
        id = service.submit(url, wait_for=["url"])
        waiting = service.wait_for(id, "waiting")
        require(waiting["reason"] == "url", f"it waits for {waiting['reason']}")
    service.json("PATCH", f"/v1/jobs/{id}", {"url": url})
    require_large(service, site, service.wait_for(id, "succeeded"))
    return ""


def redirects(service: Fetchd, site: Site) -> str:
    job = service.download(site.address("redirect"))
    require_large(service, site, job)
    steps = job["receipt"]["redirects"]
    require(len(steps) == 3, f"the receipt has {steps}")
    require(job["receipt"]["final_url"] == site.address("large"), f"it came from {job['receipt']['final_url']}")
    return ""


def missing(service: Fetchd, site: Site) -> str:
    job = service.wait_for(service.submit(site.address("missing")), "failed")
    require(job["failure"]["code"] == "bad_status" and job["failure"]["status"] == 404, described(job))
    require(job["file"] is None, "the error page became a file")
    return ""


CHECKS = [
    Check("link expires", expires_midway),
    Check("link expired before", expired_before),
    Check("redirects", redirects),
    Check("404", missing),
]
