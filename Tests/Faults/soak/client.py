"""A client that repeats requests without an answer, and checks every job in the answers."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any, Iterator

from service import Service, Unreachable

from .ledger import Job, Ledger
from .tally import Tally

# The number of seconds without an answer after which the service counts as dead.
PATIENCE = 90

# The reasons for which a submission may be refused: the job of `resume_from` has no bytes any more, or the session has
# ended.
REFUSALS = ("/problems/state-conflict", "/problems/session-finishing", "/problems/unknown-session")


class Dead(Exception):
    """The service has not answered for too long, although it was started."""


@dataclass(frozen=True)
class Answer:
    status: int
    document: Any
    headers: dict[str, str]
    # Earlier attempts got no answer, so it is unknown whether they took effect.
    is_repeated: bool

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Client:
    def __init__(self, service: Service, ledger: Ledger, tally: Tally):
        self._service = service
        self._ledger = ledger
        self._tally = tally

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None,
        allowed: tuple[int, ...] = (),
    ) -> Answer:  # fmt: skip
        """Repeats the request until it is answered. A status that is neither a success nor allowed is a finding."""
        deadline, is_repeated = time.monotonic() + PATIENCE, False
        while True:
            try:
                answer = self._service.ask(method, path, body, headers, patience=60)
            except Unreachable as error:
                # A request to a port without a listener had no effect. The client does not distinguish this case.
                is_repeated = True
                self._tally.count("requests repeated")
                if time.monotonic() > deadline:
                    raise Dead(f"no answer to {method} {path}: {error}") from error
                time.sleep(0.05)
                continue
            if answer.status == 503 and self._is_passing(answer.document) and time.monotonic() < deadline:
                self._tally.count("answers 503")
                time.sleep(0.1)
                continue
            break
        self._tally.count("requests")
        if method != "GET":
            self._tally.note(
                asked=f"{method} {path}", body=_short(body), status=answer.status, repeated=is_repeated
            )
        self._judge(method, path, answer.status, answer.document, allowed)
        return Answer(answer.status, answer.document, answer.headers, is_repeated)

    def create(self, jobs: list[tuple[dict[str, Any], list]]) -> list[Job]:
        """Submits orders with their resources. Returns no jobs if a donor or a session was deleted meanwhile."""
        orders = [order for order, _ in jobs]
        key = {"Idempotency-Key": secrets.token_hex(12)}
        if len(orders) == 1:
            answer = self.ask("POST", "/v1/jobs", orders[0], key, allowed=(409, 422))
            documents = [answer.document]
        else:
            answer = self.ask("POST", "/v1/jobs/batch", {"jobs": orders}, key, allowed=(409, 422))
            documents = answer.document.get("jobs", [])
        if not answer.is_success:
            self._tally.count(f"submissions refused with {answer.status}")
            if answer.document.get("type") not in REFUSALS:
                self._tally.find("submission", f"{answer.document} to {_short(orders)}")
            return []
        created = [
            Job(document["id"], document["session"], order, list(resources))
            for document, (order, resources) in zip(documents, jobs)
        ]
        for job in created:
            self._ledger.add(job)
        self._tally.count("jobs created", len(created))
        return created

    def ask_of(
        self, job: Job, method: str, action: str = "", body: Any = None, headers: dict[str, str] | None = None,
        allowed: tuple[int, ...] = (404, 409),
    ) -> Answer:  # fmt: skip
        """Sends a request about a job. A response shows committed state, so its revision is never below one that a client
        has seen, also after a kill in between."""
        seen = job.revision
        answer = self.ask(method, f"/v1/jobs/{job.id}{action}", body, headers, allowed)
        if answer.status == 200 and isinstance(answer.document, dict) and "revision" in answer.document:
            revision = answer.document["revision"]
            if revision < seen:
                self._tally.find("revision", f"{job.id} was at {seen} and is at {revision} now")
            job.revision = max(job.revision, revision)
        return answer

    def job(self, job: Job) -> dict[str, Any] | None:
        """None if the job was deleted."""
        answer = self.ask_of(job, "GET")
        return answer.document if answer.status == 200 else None

    def pages(self, path: str, member: str) -> Iterator[dict[str, Any]]:
        cursor = ""
        while True:
            document = self.ask("GET", f"{path}{'&' if '?' in path else '?'}limit=1000{cursor}").document
            yield from document[member]
            if not document["next_cursor"]:
                return
            cursor = f"&cursor={document['next_cursor']}"

    def journal(self, query: str = "") -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        after = 0
        while True:
            page = self.ask("GET", f"/v1/events?after={after}&limit=1000{query}").document
            if not page["events"]:
                return events
            events += page["events"]
            after = page["next_after"]

    @property
    def stats(self) -> dict[str, Any]:
        return self.ask("GET", "/v1/stats").document

    def _is_passing(self, document: Any) -> bool:
        """Whether the service is starting or stopping."""
        return isinstance(document, dict) and document.get("type") == "/problems/unavailable"

    def _judge(self, method: str, path: str, status: int, document: Any, allowed: tuple[int, ...]) -> None:
        if not 200 <= status < 300 and status not in allowed:
            self._tally.find("answer", f"{method} {path}: {status} {_short(document)}")


def _short(document: Any) -> str | None:
    return None if document is None else str(document)[:300]
