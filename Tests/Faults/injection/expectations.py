"""What is to be seen while all such calls fail, and what afterwards; each yields a sentence for what is not so."""

from __future__ import annotations

from typing import Any, Iterator

from .cases import ONCE, Case

# Calls without which a job cannot have a part, or its file a place.
_STORAGE = {
    ("parts", "open"), ("parts", "pwrite64"), ("folder", "open"), ("folder", "mkdir"), ("folder", "renameat2"),
}  # fmt: skip


def faults_meanwhile(case: Case, saw: dict[str, Any]) -> Iterator[str]:
    """Something waits, and who asks is told."""
    is_storage = (case.area, case.call) in _STORAGE
    # A rename that finds nothing may also mean a part that has vanished, which is fetched once more.
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
    status: what SIGTERM ended the process with; None: it had to be killed.
    is_reached: a call has failed after SIGTERM.
    """
    if status is None:
        yield f"SIGTERM did not end it within {patience:.0f} s"
    elif status < 0:
        yield f"after SIGTERM it ended by signal {-status}"
    elif status == 0 and case.is_unsaved and is_reached:
        yield "SIGTERM ended it with status 0 although something could not be stored"


def faults_of_reasons(case: Case, saw: dict[str, Any]) -> Iterator[str]:
    """A job that has lost bytes says why."""
    is_sync = case.area == "parts" and case.call in ("fdatasync", "syncfs")
    if is_sync and case.shape in ONCE and saw["reached"] and "sync_failed" not in saw["why"]:
        yield f"no job says that a sync has failed, only {saw['why'] or 'nothing'}"
