"""Polls that wait for a change."""

from __future__ import annotations

import json
import threading
import time

from ..check import Check
from ..fetchd import Fetchd
from ..gateway import Gateway
from ..outcomes import require

# A job that stays queued until the check is over.
NEVER = "2999-01-01T00:00:00Z"


def poll_without_change(service: Fetchd, gateway: Gateway) -> str:
    id = service.submit("rehearse:film.mkv?size=1", not_before=NEVER)
    tag = service.exchange("GET", f"/v1/jobs/{id}")[1]["etag"]
    start = time.monotonic()
    answer, body = gateway.ask("GET", f"/v1/jobs/{id}", {"If-None-Match": tag, "Prefer": "wait=2"})
    waited = time.monotonic() - start
    require(answer.status == 304 and not body, f"the answer was {answer.status} with {len(body)} bytes")
    require(waited >= 1.9, f"it was answered after {waited:.1f} s")
    return ""


def poll_with_change(service: Fetchd, gateway: Gateway) -> str:
    """The answer comes with the change, not at the end of the wait."""
    id = service.submit("rehearse:film.mkv?size=1", not_before=NEVER)
    tag = service.exchange("GET", f"/v1/jobs/{id}")[1]["etag"]
    threading.Timer(0.5, service.json, ("POST", f"/v1/jobs/{id}/pause")).start()
    start = time.monotonic()
    answer, body = gateway.ask("GET", f"/v1/jobs/{id}", {"If-None-Match": tag, "Prefer": "wait=30"})
    require(answer.status == 200, f"the answer was {answer.status}")
    require(json.loads(body)["state"] == "paused", f"the job is {json.loads(body)['state']}")
    require(time.monotonic() - start < 25, "the answer came only at the end of the wait")
    return ""


CHECKS = [Check("poll, unchanged", poll_without_change), Check("poll, changed", poll_with_change)]
