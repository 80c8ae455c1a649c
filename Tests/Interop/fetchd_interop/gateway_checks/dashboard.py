"""The dashboard and the API below a path of the proxy."""

from __future__ import annotations

import json
import re
from urllib.parse import urljoin

from ..check import Check
from ..fetchd import Fetchd
from ..gateway import Gateway
from ..outcomes import require


def dashboard(service: Fetchd, gateway: Gateway) -> str:
    """Every file that the page and its modules name is found below the path."""
    gateway.require_offered("sub-path")
    page, body = gateway.ask("GET", "/")
    require(page.status == 200, f"the page was answered with {page.status}")
    found = {"/"}
    wanted = names_in("/", body)
    while wanted - found:
        path = (wanted - found).pop()
        found.add(path)
        answer, body = gateway.ask("GET", path)
        require(answer.status == 200, f"{path} was answered with {answer.status}")
        if path.endswith((".js", ".css")):
            wanted |= names_in(path, body)
    require(len(found) > 5, f"only {sorted(found)} were found")
    return f"{len(found)} files"


def names_in(path: str, body: bytes) -> set[str]:
    """The relative addresses of a page (src, href), of a module (import) or of a style sheet (url)."""
    text = body.decode()
    patterns = [r'\b(?:src|href)="([^"#:]+)"', r'\bfrom "([^"]+)"', r'\bimport "([^"]+)"', r'\burl\("?([^")#:]+)"?\)']
    names = {name for pattern in patterns for name in re.findall(pattern, text)}
    require(not any(name.startswith("/") for name in names), f"{path} has absolute addresses")
    return {urljoin(path, name) for name in names}


def submission(service: Fetchd, gateway: Gateway) -> str:
    body = json.dumps({"url": "rehearse:film.mkv?size=1"}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": gateway.url}
    answer, content = gateway.ask("POST", "/v1/jobs", headers, body)
    require(answer.status == 201, f"the job was answered with {answer.status}: {content[:200]!r}")
    refused, problem = gateway.ask("POST", "/v1/jobs", {"Content-Type": "application/json"}, b"{}")
    require(refused.status == 422 and b"missing-field" in problem, f"a mistake was answered with {refused.status}")
    return ""


CHECKS = [Check("submission", submission), Check("dashboard", dashboard)]
