"""scripts/check faults errors: the disk fails in one way; the trial checks the jobs during the fault and afterwards."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

from .cases import NOTHING, Case
from .hardship import inside_namespace
from .trial import Trial


def tried(program: Path, case: Case, seed: int, keep: bool) -> dict[str, Any]:
    """Runs a trial, and returns its findings and observations."""
    if case.is_full_disk:
        inside_namespace()
    with _lived(program, case, seed, keep) as trial:
        return {"faults": trial.faults, "saw": trial.saw}


def calls_made(program: Path, seed: int) -> set[tuple[str, str]]:
    """The calls, by area, between the start and the end of the jobs in a trial without faults."""
    with _lived(program, NOTHING, seed, keep=False) as trial:
        if trial.faults:
            raise AssertionError(f"Even a disk that does not fail is too much: {trial.faults}")
        return trial.made


@contextmanager
def _lived(program: Path, case: Case, seed: int, keep: bool) -> Iterator[Trial]:
    folder = Path(tempfile.mkdtemp(prefix="fetchd-errors."))
    trial = Trial(program, case, folder, seed)
    try:
        trial.run()
        yield trial
    finally:
        trial.service.kill()
        if keep:
            print(f"Kept: {folder}")
        else:
            trial.hardship.remove()
            shutil.rmtree(folder, ignore_errors=True)
