"""The expectations while all calls of a kind fail, and afterwards. Each function yields a sentence for each
violation."""

from __future__ import annotations

from typing import Any, Iterator

from .cases import ONCE, Case

# Calls that a job needs to create its part or to place its file.
_STORAGE = {
    ("parts", "open"), ("parts", "pwrite64"), ("folder", "open"), ("folder", "mkdir"), ("folder", "renameat2"),
}  # fmt: skip


def faults_meanwhile(case: Case, saw: dict[str, Any]) -> Iterator[str]:
    """A job waits, and the service reports the reason."""
    is_storage = (case.area, case.call) in _STORAGE
    # A rename that fails with ENOENT can also mean that the part file is missing. It is then downloaded again.
    is_vanished = (case.call, case.error) == ("renameat2", "ENOENT")
    if is_storage and not is_vanished and not {"space", "storage"} & set(saw["waits"]):
        yield f"no job waited for space or storage, only for {saw['waits'] or 'nothing'}"
    if case.area == "full-downloads" and "space" not in saw["waits"]:
        yield "no job waited for space"
    if (is_storage and not case.is_full or case.is_unsaved) and 503 not in saw["readyz"]:
        yield "/readyz never answered 503"
    if case.is_unsaved and 503 not in saw["submits"]:
        yield f"submissions were answered {saw['submits']}"


def faults_of_stop(case: Case, status: int | None, is_reached: bool, patience: float) -> Iterator[str]:
    """
    status: the exit status after SIGTERM; None: the process had to be killed.
    is_reached: a call has failed after SIGTERM.
    """
    if status is None:
        yield f"SIGTERM did not end it within {patience:.0f} s"
    elif status < 0:
        yield f"after SIGTERM it ended by signal {-status}"
    elif status == 0 and case.is_unsaved and is_reached:
        yield "SIGTERM ended it with status 0 although something could not be stored"


def faults_of_reasons(case: Case, saw: dict[str, Any]) -> Iterator[str]:
    """A job that has lost bytes has a reason for it."""
    is_sync = case.area == "parts" and case.call in ("fdatasync", "syncfs")
    if is_sync and case.shape in ONCE and saw["reached"] and "sync_failed" not in saw["why"]:
        yield f"no job says that a sync has failed, only {saw['why'] or 'nothing'}"
