"""The client of a trial: submits batches and cancels a job, repeats requests without an answer, and records what was
acknowledged."""

from __future__ import annotations

from typing import Any

import audit
from audit import Order
from origin import Origin, Resource, random_bytes
from service import Answer, Service, Unreachable

from .scenario import SESSION

# The submitted jobs, by their names.
Batch = dict[str, dict[str, Any]]


class Submitter:
    def __init__(self, service: Service, origin: Origin, seed: int):
        self._service = service
        self._origin = origin
        self._contents = _resources(seed)
        self.ids: dict[str, str] = {}
        self.orders: dict[str, Order] = {}
        # Batches that were not acknowledged and must be submitted again, by their idempotency keys.
        self.owed: dict[str, Batch] = {}
        # The statuses of all answers to submissions, and the findings about answers.
        self.statuses: list[int] = []
        self.faults: list[str] = []
        origin.resources |= {f"/{name}": resource for name, resource in self._contents.items()}

    def submit(self, key: str, batch: Batch) -> bool:
        """Returns whether the jobs were acknowledged. The service may refuse them temporarily, as documented.

        The name of a job up to its first hyphen is the name of the file.
        """
        jobs = [{"session": SESSION, "url": f"{self._origin.url}/{_file(name)}"} | more for name, more in batch.items()]
        headers = {"Idempotency-Key": key}
        answer = self._service.ask("POST", "/v1/jobs/batch", {"jobs": jobs}, headers)
        if answer.status not in self.statuses:
            self.statuses.append(answer.status)
        if answer.status != 201:
            self.owed[key] = batch
            if answer.status != 503 or "retry-after" not in answer.headers:
                self.faults.append(f"a submission was answered {answer.status}: {_told(answer)}")
            return False
        self.owed.pop(key, None)
        for name, job in zip(batch, answer.document["jobs"]):
            self.ids[name] = job["id"]
            self.orders[job["id"]] = Order(name, self._contents[_file(name)].content)
        return True

    def cancel(self, name: str) -> bool:
        """Returns whether there was a final answer: cancelled, or too late."""
        try:
            answer = self._service.ask("POST", f"/v1/jobs/{self.ids[name]}/cancel", {}, patience=40)
        except Unreachable:
            return False
        if answer.status == 200:
            self.orders[self.ids[name]].ends = ("cancelled",)
        elif answer.status not in (409, 503):
            self.faults.append(f"cancel was answered {answer.status}: {_told(answer)}")
        return answer.status in (200, 409)

    def job(self, name: str) -> dict[str, Any]:
        return audit.jobs(self._service, SESSION)[self.ids[name]]


def _file(name: str) -> str:
    return name.partition("-")[0]


def _told(answer: Answer) -> Any:
    return answer.document["detail"] if isinstance(answer.document, dict) else answer.document


def _resources(seed: int) -> dict[str, Resource]:
    return {
        "early": Resource(random_bytes(seed, 20_000)),
        "long": Resource(random_bytes(seed + 1, 2_800_000), rate=400_000),
        "longer": Resource(random_bytes(seed + 2, 3_200_000), rate=400_000, is_chunked=True),
        "lost": Resource(random_bytes(seed + 3, 900_000), rate=300_000, cuts=(300_000,)),
        "segmented": Resource(random_bytes(seed + 4, 6_000_000), rate=400_000),
        "cancelled": Resource(random_bytes(seed + 5, 3_000_000), rate=300_000),
        "same": Resource(random_bytes(seed + 6, 30_000)),
        "again": Resource(random_bytes(seed + 7, 30_001)),
        "deep": Resource(random_bytes(seed + 8, 40_000)),
        "page": Resource(random_bytes(seed + 11, 20_000), is_chunked=True),
        "later": Resource(random_bytes(seed + 9, 50_000)),
        "bulk": Resource(random_bytes(seed + 10, 1_000)),
    }
