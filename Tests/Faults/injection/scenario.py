"""A short scenario with one session. scripts/check faults kills fetchd at every step of it."""

from __future__ import annotations

import time
from typing import Any, Iterator

import audit
from audit import TERMINAL, Order
from origin import Origin, Resource, random_bytes
from receiver import Receiver
from service import PATIENCE, Overdue

from .stage import Stage

SESSION = "films"
ARGUMENTS = ("--max-connections-per-host", "32", "--webhook-retry-delays", "0,0.2,0.2,0.4,0.4,1,1,1,1,1,1,1")
CONFIGURATION = {
    "finish_delay_seconds": 0.2,
    "retry": {"base_seconds": 0.05, "max_seconds": 0.2, "max_attempts": 50},
}
WEBHOOK = {"events": ["job.*", "session.*"]}

# Files that exist before: one whose name is taken, and one that is replaced.
OCCUPIED = {"taken.bin": b"of somebody else", "replaced.bin": b"an earlier version"}


class Scenario:
    """A list of steps. Each step is repeated until it is acknowledged. The scenario takes six seconds, or less after a
    kill."""

    def __init__(self, stage: Stage, origin: Origin, receiver: Receiver, seed: int, restarted: list[str]):
        """
        restarted: the rules of the process that the scenario starts in the middle.
        """
        self._stage = stage
        self._restarted = restarted
        self._origin = origin
        self._receiver = receiver
        self._ids: dict[str, str] = {}
        self._pause_holds = False
        self.orders: dict[str, Order] = {}
        # The number of calls before the restart in the middle.
        self.counts: dict[str, int] = {}
        resources = {
            # There is one checkpoint after two seconds, before the restart, and one after it. The other jobs share
            # these checkpoints.
            "long": Resource(random_bytes(seed, 2_000_000), rate=400_000),
            "segmented": Resource(random_bytes(seed + 1, 9_000_000), rate=700_000),
            "paused": Resource(random_bytes(seed + 2, 900_000), rate=600_000),
            "cancelled": Resource(random_bytes(seed + 3, 3_000_000), rate=300_000),
            "lost": Resource(random_bytes(seed + 4, 700_000), rate=300_000, cuts=(300_000,)),
            "chunked": Resource(random_bytes(seed + 5, 500_000), rate=400_000, is_chunked=True),
            "taken": Resource(random_bytes(seed + 6, 100_000)),
            "replaced": Resource(random_bytes(seed + 7, 60_000)),
            "same": Resource(random_bytes(seed + 8, 30_000)),
            "same again": Resource(random_bytes(seed + 9, 30_001)),
            "empty": Resource(b""),
            "retried": Resource(random_bytes(seed + 10, 40_000)),
            "later": Resource(random_bytes(seed + 11, 50_000)),
        }
        self._resources = {name: (f"/{name.replace(' ', '-')}", it) for name, it in resources.items()}

    def play(self) -> None:
        for name, (path, resource) in self._resources.items():
            if name != "retried":
                self._origin.resources[path] = resource
        ask = self._stage.ask
        self._expect(ask("PUT", f"/v1/sessions/{SESSION}", CONFIGURATION), 200, 201)
        webhook = WEBHOOK | {"url": self._receiver.url}
        self._expect(ask("PUT", f"/v1/sessions/{SESSION}/webhooks/consumer", webhook), 200, 201)
        self._submit("first", self._batch())
        self._pause("paused")
        self._cancel("cancelled")
        self._submit("second", {"later": {"destination": {"directory": "a/b", "filename": "later.bin"}}})
        self._retry("retried")
        self._restart()
        self._resume("paused")
        self._wait("every job has ended", self._all_ended)
        self._wait("every delivery is settled", self._all_delivered)

    def faults(self) -> Iterator[str]:
        """Audits the running service, and then, after it is stopped, the disk."""
        service = self._stage.service
        found = audit.jobs(self._stage, SESSION)
        events = audit.journal(self._stage, SESSION)
        yield from audit.job_faults(found, self.orders, service.downloads)
        yield from audit.journal_faults(events, self.orders)
        yield from audit.delivery_faults(self._receiver.posts, events)
        if self._pause_holds and "job.paused" not in [e["type"] for e in events if e["job"] == self._ids["paused"]]:
            yield "paused: the pause was acknowledged, and the journal does not know it"
        status = self._stage.terminate(PATIENCE)
        if status != 0:
            yield f"SIGTERM ended it with status {status}"
        foreign = ("taken.bin",) + (() if "replaced.bin" in _paths(found) else ("replaced.bin",))
        yield from audit.file_faults(service.downloads, found, service.data, foreign)

    # MARK: Steps

    def _batch(self) -> dict[str, dict[str, Any]]:
        same = {"filename": "same.bin", "on_conflict": "rename"}
        return {
            "long": {"digest": "none"},
            "segmented": {"connections": 4},
            "paused": {},
            "cancelled": {},
            "lost": {},
            "chunked": {},
            "taken": {"destination": {"filename": "taken.bin", "on_conflict": "rename"}},
            "replaced": {"destination": {"filename": "replaced.bin", "on_conflict": "replace"}},
            "same": {"destination": same},
            "same again": {"destination": same},
            "empty": {},
            "retried": {},
        }

    def _submit(self, key: str, wanted: dict[str, dict[str, Any]]) -> None:
        """Submits with the same idempotency key until it is acknowledged, so that the jobs are created once."""
        urls = {name: self._origin.url + self._resources[name][0] for name in wanted}
        body = {"jobs": [{"session": SESSION, "url": urls[name]} | more for name, more in wanted.items()]}
        answer = self._expect(self._stage.ask("POST", "/v1/jobs/batch", body, {"Idempotency-Key": key}), 201)
        for name, job in zip(wanted, answer["jobs"]):
            self._ids[name] = job["id"]
            self.orders[job["id"]] = Order(name, self._resources[name][1].content)

    def _pause(self, name: str) -> None:
        self._wait(f"{name} has bytes", lambda: self._has_bytes(name))
        answer = self._stage.ask("POST", f"/v1/jobs/{self._ids[name]}/pause", {})
        # 409: the job has ended, or is being promoted, before it could be paused.
        self._expect(answer, 200, 409)
        self._pause_holds = answer.status == 200

    def _restart(self) -> None:
        """Restarts the service during transfers, after the first offsets are promised."""
        self._wait("a checkpoint", lambda: self._has_bytes("long", "bytes_durable"))
        self.counts = self._stage.faults.counts
        self._stage.restart(*self._restarted)

    def _resume(self, name: str) -> None:
        if self._pause_holds:
            state = self._job(name)["state"]
            if state != "paused":
                raise AssertionError(f"{name}: the pause was acknowledged, and now it is {state}")
        self._expect(self._stage.ask("POST", f"/v1/jobs/{self._ids[name]}/resume", {}), 200, 409)

    def _cancel(self, name: str) -> None:
        self._wait(f"{name} has bytes", lambda: self._has_bytes(name))
        answer = self._stage.ask("POST", f"/v1/jobs/{self._ids[name]}/cancel", {})
        self._expect(answer, 200, 409)
        if answer.status == 200:
            self.orders[self._ids[name]].ends = ("cancelled",)

    def _retry(self, name: str) -> None:
        """Retries the job that failed with 404, now that the file exists."""
        self._wait(f"{name} has failed", lambda: self._job(name)["state"] == "failed")
        path, resource = self._resources[name]
        self._origin.resources[path] = resource
        # 409: the answer to the first request was lost, and the job has succeeded meanwhile.
        self._expect(self._stage.ask("POST", f"/v1/jobs/{self._ids[name]}/retry", {}), 200, 409)
        self.orders[self._ids[name]].runs = 2

    # MARK: Conditions

    def _job(self, name: str) -> dict[str, Any]:
        return self._expect(self._stage.ask("GET", f"/v1/jobs/{self._ids[name]}"), 200)

    def _has_bytes(self, name: str, which: str = "bytes_received") -> bool:
        job = self._job(name)
        return job["progress"][which] > 0 or job["state"] in TERMINAL

    def _all_ended(self) -> bool:
        answer = self._expect(self._stage.ask("GET", f"/v1/jobs?session={SESSION}&limit=1000"), 200)
        return all(job["state"] in TERMINAL for job in answer["jobs"])

    def _all_delivered(self) -> bool:
        session = self._expect(self._stage.ask("GET", f"/v1/sessions/{SESSION}"), 200)
        finishes = self._expect(self._stage.ask("GET", f"/v1/events?session={SESSION}&type=session.finished"), 200)
        if session["batch"] not in [event["data"]["batch"] for event in finishes["events"]]:
            return False
        path = f"/v1/sessions/{SESSION}/webhooks/consumer/deliveries?state=pending"
        pending = self._expect(self._stage.ask("GET", path), 200)
        return not pending["deliveries"]

    def _wait(self, what: str, condition: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if self._stage.kills:
                # All conditions were observed. The audit checks the rest.
                self._origin.is_slow = False
            if time.monotonic() > deadline:
                raise Overdue(f"waited {PATIENCE} s in vain until {what}")
            time.sleep(0.03)

    @staticmethod
    def _expect(answer: Any, *statuses: int) -> Any:
        if answer.status not in statuses:
            raise AssertionError(f"answered {answer.status}: {answer.document}")
        return answer.document


def _paths(found: dict[str, dict[str, Any]]) -> set[str]:
    return {job["file"]["path"] for job in found.values() if job["file"]}
