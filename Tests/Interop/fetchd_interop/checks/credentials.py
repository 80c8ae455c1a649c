"""Credentials for the server, and for the proxy in front of it."""

from __future__ import annotations

from ..check import Check
from ..content import PASSWORD, USER
from ..fetchd import Fetchd, described
from ..outcomes import NotOffered, require
from ..server import Site


def right(scheme: str) -> Check:
    def run(service: Fetchd, site: Site) -> str:
        url = site.address(scheme)
        job = service.download(url, credentials={"type": scheme, "username": USER, "password": PASSWORD})
        require(job["file"]["size"] > 0, "the file is empty")
        return ""

    return Check(scheme, run)


def wrong(scheme: str) -> Check:
    """The job waits for other credentials, and goes on with them."""

    def run(service: Fetchd, site: Site) -> str:
        credentials = {"type": scheme, "username": USER, "password": "wrong"}
        id = service.submit(site.address(scheme), credentials=credentials, wait_for=["credentials"])
        waiting = service.wait_for(id, "waiting")
        require(waiting["reason"] == "credentials", f"it waits for {waiting['reason']}")
        require((waiting["challenge"] or {}).get("scheme") == scheme, f"the challenge is {waiting['challenge']}")
        service.json("PATCH", f"/v1/jobs/{id}", {"credentials": credentials | {"password": PASSWORD}})
        service.wait_for(id, "succeeded")
        return ""

    return Check(f"{scheme}, wrong", run)


def none(service: Fetchd, site: Site) -> str:
    job = service.wait_for(service.submit(site.address("basic")), "failed")
    require(job["failure"]["code"] == "credentials_required", described(job))
    require(job["failure"]["status"] == 401, described(job))
    return ""


def refused_by_proxy(service: Fetchd, site: Site) -> str:
    """407 is the proxy's: the failure names it."""
    proxy = site.configuration.get("proxy")
    if proxy is None:
        raise NotOffered("there is no proxy")
    site.require_offered("refusal by the proxy")
    url = site.address("large")
    service.declare(site.configuration | {"proxy": proxy.replace(PASSWORD, "wrong")})
    try:
        job = service.wait_for(service.submit(url), "failed")
    finally:
        service.declare(site.configuration)
    require(job["failure"]["code"] == "proxy_credentials_required", described(job))
    return ""


CHECKS = [
    right("basic"), wrong("basic"), right("digest"), wrong("digest"), Check("no credentials", none),
    Check("proxy, wrong", refused_by_proxy),
]  # fmt: skip
