"""What can go wrong."""

from __future__ import annotations

from typing import Any, Dict, Optional


class FetchdError(Exception):
    """The service has refused a request: its problem document (RFC 9457)."""

    def __init__(self, status: int, problem: Dict[str, Any]) -> None:
        self.status = status
        self.problem = problem
        #: The kind of the problem, which is stable: ``/problems/invalid-value``.
        self.type: str = str(problem.get("type", ""))
        self.detail: str = str(problem.get("detail", "")) or str(problem.get("title", "")) or f"The service answered {status}."
        #: The member of the request that has the mistake (RFC 6901), if one has.
        self.pointer: Optional[str] = problem.get("pointer")
        super().__init__(self.detail)


class EventsPruned(FetchdError):
    """Events after the given one are gone, because of their age. Read the jobs again, and then from ``first_available - 1`` on."""

    @property
    def first_available(self) -> int:
        return int(self.problem.get("first_available", 0))


class ServiceUnavailable(Exception):
    """The service did not answer for as long as the client waits for it."""


class DownloadFailed(Exception):
    """A download has failed, or was cancelled."""

    def __init__(self, job: Dict[str, Any]) -> None:
        #: The document of the job.
        self.job = job
        failure = job.get("failure") or {}
        #: The stable code of the failure, such as ``checksum_mismatch``; ``cancelled`` for a job that was cancelled.
        self.code: str = str(failure.get("code") or job.get("state"))
        super().__init__(f"{job.get('id')}: {self.code}: {failure.get('message') or 'the job was cancelled'}")


class WebhookError(Exception):
    """A request is no webhook of the service, or is too old."""
