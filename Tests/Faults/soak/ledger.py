"""The jobs and sessions of the soak: what the service has acknowledged, and the requests that were sent."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from typing import Any

from .content import Version
from .receiver import Endpoint
from .resource import Resource

TERMINAL = ("succeeded", "failed", "cancelled")


@dataclass(eq=False)
class Job:
    """A job whose creation was acknowledged."""

    id: str
    session: str
    order: dict[str, Any]
    # All resources that the job was ever told to download.
    resources: list[Resource]
    # The number of its runs: 1, and 1 for each retry.
    runs: int = 1
    # The highest revision in any answer. An answer shows committed state, so no later answer may have a lower revision.
    revision: int = 0
    # "no", "keep" or "delete" (the choice for its file), or "session" (it was deleted with its session).
    deleted: str = "no"
    # A kill occurred between its deletion and the answer.
    is_deletion_repeated: bool = False
    # The lock of the thread that acts on this job.
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def has_checksum(self) -> bool:
        return "checksum" in self.order

    def may_have_become(self, sha256: str | None, size: int) -> bool:
        """Whether the origin has served that under one of the job's addresses, and the job allows it. Where the digest
        is not known, the size decides."""
        return any(
            (version.sha256 == sha256 if sha256 else version.size == size) and self._allows(version)
            for resource in self.resources
            for version in list(resource.versions)
        )

    def _allows(self, version: Version) -> bool:
        if self.order.get("expected_size", version.size) != version.size:
            return False
        if checksum := self.order.get("checksum"):
            algorithm = checksum["algorithm"].replace("-", "")
            return hashlib.new(algorithm, version.content).hexdigest() == checksum["value"]
        return True


@dataclass(eq=False)
class Session:
    name: str
    configuration: dict[str, Any]
    endpoints: list[Endpoint] = field(default_factory=list)
    # The session is deleted before the soak ends.
    is_guest: bool = False
    # Its deletion was requested; it takes no more jobs.
    is_ending: bool = False


class Ledger:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._sessions: dict[str, Session] = {}
        # The jobs that were not deleted, in the order of their creation.
        self._present: dict[str, Job] = {}

    def add(self, job: Job) -> None:
        with self._lock:
            self._jobs[job.id] = job
            self._present[job.id] = job

    def remove(self, job: Job) -> None:
        with self._lock:
            self._present.pop(job.id, None)

    def find(self, id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(id)

    def session(self, name: str) -> Session:
        with self._lock:
            return self._sessions[name]

    def add_session(self, session: Session) -> None:
        with self._lock:
            self._sessions[session.name] = session

    @property
    def jobs(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    @property
    def present(self) -> list[Job]:
        with self._lock:
            return list(self._present.values())

    @property
    def number_present(self) -> int:
        with self._lock:
            return len(self._present)

    @property
    def sessions(self) -> list[Session]:
        with self._lock:
            return list(self._sessions.values())

    @property
    def open_sessions(self) -> list[Session]:
        return [session for session in self.sessions if not session.is_ending]

    @property
    def endpoints(self) -> list[Endpoint]:
        return [endpoint for session in self.sessions for endpoint in session.endpoints]
