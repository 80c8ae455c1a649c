"""Realistic data: sessions, jobs in every state, webhooks that take what they are posted and webhooks that do not."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from service import Consumer, Service, until

SESSIONS = ["photos", "films", "archive"]
# For those who end sessions and forget webhooks.
ENDING_SESSIONS = [f"old-{number}" for number in range(1, 13)]
WEBHOOKS = ["consumer", "failing"]
CONSUMERS = ["indexer", "mailer"]
SPARE_CONSUMERS = [f"spare-{number}" for number in range(1, 13)]
SPARE_WEBHOOKS = [f"spare-{number}" for number in range(1, 13)]

# What becomes of a job by itself, and what is done to it.
ORDERS = {
    "succeeded": {"url": "rehearse:holiday.jpg?size=200000", "tags": ["holiday"], "metadata": {"album": 7}},
    "failed": {"url": "rehearse:gone.jpg?status=404"},
    "waiting": {"url": "rehearse:busy.jpg?status=503", "retry": {"base_seconds": 3600, "max_attempts": 5}},
    "queued": {"url": "rehearse:later.jpg", "not_before": "2999-01-01T00:00:00Z"},
    "running": {"url": "rehearse:film.mkv?size=30000000&seconds=900"},
    "paused": {"url": "rehearse:film.mkv?size=30000000&seconds=900"},
    "cancelled": {"url": "rehearse:film.mkv?size=30000000&seconds=900"},
}
# What comes into the hands of somebody else.
HELPLESS = [
    {"url": "rehearse:private.jpg?status=401", "wait_for": ["credentials"]},
    {
        "url": "rehearse:moved.jpg?size=3000000&lose_at=1000000&then=403",
        "wait_for": ["url"],
        "retry": {"base_seconds": 0},
    },
]
# Of each kind, in each session.
JOBS_OF_A_KIND = 4


@dataclass
class Seed:
    """What there is to be asked for."""

    jobs: list[str] = field(default_factory=list)
    # To be forgotten.
    ending_jobs: list[str] = field(default_factory=list)
    deliveries: list[str] = field(default_factory=list)
    # Servers that a download has sent a request to.
    hosts: list[str] = field(default_factory=list)
    last_event: int = 0


def sow(service: Service, consumer: Consumer) -> Seed:
    declare(service, consumer)
    seed = Seed()
    for session in SESSIONS[:2]:
        for state, order in ORDERS.items():
            batch = {"jobs": [{**order, "session": session}] * JOBS_OF_A_KIND}
            created = [job["id"] for job in service.ask("POST", "/v1/jobs/batch", batch)["jobs"]]
            seed.jobs += created
            for job in created:
                bring(service, job, state)
        for order in HELPLESS:
            job = service.ask("POST", "/v1/jobs", {**order, "session": session})["id"]
            seed.jobs.append(job)
            bring(service, job, "waiting")
    service.ask("POST", "/v1/jobs", {"url": "rehearse:done.jpg", "session": "archive"})
    seed.hosts = [urlsplit(consumer.url).netloc]
    asked = service.ask("POST", "/v1/jobs", {"url": consumer.url, "session": "archive", "retry": {"max_attempts": 1}})["id"]
    until("the request to a server", lambda: service.ask("GET", f"/v1/jobs/{asked}")["finished_at"])
    ending = {"jobs": [{**ORDERS["queued"], "session": "photos"}] * 24}
    seed.ending_jobs = [job["id"] for job in service.ask("POST", "/v1/jobs/batch", ending)["jobs"]]
    until("a finish was taken", lambda: deliveries(service, "archive", "acknowledged"))
    until("a delivery has failed", lambda: deliveries(service, "photos", "pending"))
    seed.deliveries = deliveries(service, "photos", "acknowledged") + deliveries(service, "photos", "pending")
    seed.last_event = service.ask("GET", "/v1/stats")["last_event"]
    return seed


def declare(service: Service, consumer: Consumer) -> None:
    service.ask("PUT", "/v1/sessions/photos", {"directory": "photos", "metadata": {"owner": "camera-7"}})
    service.ask("PUT", "/v1/sessions/films", {"max_concurrent_jobs": 8, "headers": {"X-Client": "seed"}})
    for session in ["archive", *ENDING_SESSIONS]:
        service.ask("PUT", f"/v1/sessions/{session}", {"finish_delay_seconds": 0})
    for name in CONSUMERS + SPARE_CONSUMERS:
        service.ask("PUT", f"/v1/consumers/{name}", {"events": ["job.*", "session.*"]})
    for session in SESSIONS:
        for name in WEBHOOKS + SPARE_WEBHOOKS:
            wish = {"url": f"{consumer.url}/{name}", "events": ["job.*", "session.*"] if name in WEBHOOKS else None}
            service.ask("PUT", f"/v1/sessions/{session}/webhooks/{name}", wish)


def bring(service: Service, job: str, state: str) -> None:
    """Waits until a job is in a state, and does what leads there."""
    path = f"/v1/jobs/{job}"
    if state in ("paused", "cancelled"):
        until(f"{job} has begun", lambda: service.ask("GET", path)["progress"]["bytes_received"])
    if state == "paused":
        service.ask("POST", f"{path}/pause")
    if state == "cancelled":
        service.ask("POST", f"{path}/cancel", {"produce_resume_data": True})
    until(f"{job} is {state}", lambda: service.ask("GET", path)["state"] == state)


def deliveries(service: Service, session: str, state: str) -> list[str]:
    found = []
    for webhook in WEBHOOKS:
        page = service.ask("GET", f"/v1/sessions/{session}/webhooks/{webhook}/deliveries?state={state}")
        found += [delivery["id"] for delivery in page["deliveries"] if delivery["attempts"]]
    return found
