"""Streams of events."""

from __future__ import annotations

import threading
import time

from ..check import Check
from ..fetchd import Fetchd
from ..gateway import Gateway
from ..outcomes import require

# Seconds. A proxy that collects an answer would deliver an event with the heartbeat, or never.
HEARTBEAT = 60
PROMPT = 40
# A wait ends after 30 seconds, and much earlier with an event.
WAIT, EARLY = 30, 25


def stream(service: Fetchd, gateway: Gateway) -> str:
    """An event arrives at once, although the stream does not end."""
    after = service.json("GET", "/v1/stats")["last_event"]
    connection, answer = gateway.open("GET", f"/v1/events?after={after}", {"Accept": "text/event-stream"})
    try:
        require(answer.status == 200, f"the answer was {answer.status}")
        require(answer.headers["Content-Type"].startswith("text/event-stream"), f"it is {answer.headers['Content-Type']}")
        connection.sock.settimeout(PROMPT)
        threading.Timer(0.3, service.submit, ("rehearse:film.mkv?size=1",)).start()
        start = time.monotonic()
        for line in answer:
            if line.strip() == b"event: job.succeeded":
                break
            require(time.monotonic() - start < PROMPT, f"no event after {PROMPT} s")
        else:
            require(False, "the stream ended")
    except TimeoutError:
        require(False, f"nothing arrived for {PROMPT} s")
    finally:
        connection.close()
    return ""


def event_page_with_wait(service: Fetchd, gateway: Gateway) -> str:
    after = service.json("GET", "/v1/stats")["last_event"]
    threading.Timer(0.3, service.submit, ("rehearse:film.mkv?size=1",)).start()
    start = time.monotonic()
    answer, body = gateway.ask("GET", f"/v1/events?after={after}&wait={WAIT}")
    require(answer.status == 200 and b"job.created" in body, f"the answer was {answer.status}: {body[:200]!r}")
    require(time.monotonic() - start < EARLY, "the answer came only at the end of the wait")
    return ""


CHECKS = [Check("stream", stream), Check("page with wait", event_page_with_wait)]
