"""Downloads that stop and go on."""

from __future__ import annotations

from ..check import Check
from ..content import LARGE
from ..fetchd import Fetchd
from ..outcomes import require
from ..server import Site
from .files import large_bytes, require_large


# Seconds. No job may end before it is stopped. Its rate is not limited afterwards.
SLOWLY = 60


def begin(service: Fetchd, site: Site) -> str:
    """A slow job that has some of its bytes."""
    size = LARGE if site.large is not None else len(large_bytes(site))
    id = service.submit(site.address("large"), rate_limit_bytes_per_second=size // SLOWLY)
    service.wait_for_bytes(id, size // 100)
    return id


def require_decision(site: Site, job: dict) -> str:
    resume = job["resume"]
    if site.can_resume:
        require(resume["decision"] == "resumed" and resume["offset"] > 0, f"it was not resumed: {resume}")
        return ""
    require(resume["decision"] == "restarted", f"it was not restarted: {resume}")
    return f"restarted: {resume['why']}"


def pause_and_resume(service: Fetchd, site: Site) -> str:
    id = begin(service, site)
    paused = service.json("POST", f"/v1/jobs/{id}/pause")
    require(paused["state"] == "paused", f"it is {paused['state']}")
    require(paused["progress"]["bytes_durable"] > 0, "no byte was kept")
    service.json("PATCH", f"/v1/jobs/{id}", {"rate_limit_bytes_per_second": None})
    service.json("POST", f"/v1/jobs/{id}/resume")
    job = service.wait_for(id, "succeeded")
    require_large(service, site, job)
    return require_decision(site, job)


def kill_and_go_on(service: Fetchd, site: Site) -> str:
    # A checkpoint promises bytes every two seconds.
    id = begin(service, site)
    durable = 0
    while durable == 0 and service.job(id)["state"] == "running":
        durable = service.job(id)["progress"]["bytes_durable"]
    service.kill()
    service.start()
    service.json("PATCH", f"/v1/jobs/{id}", {"rate_limit_bytes_per_second": None})
    job = service.wait_for(id, "succeeded")
    require_large(service, site, job)
    require(durable > 0, "the download ended before its first checkpoint")
    return require_decision(site, job)


CHECKS = [Check("pause and resume", pause_and_resume), Check("kill -9", kill_and_go_on)]
