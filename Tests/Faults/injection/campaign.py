"""Runs many trials, several at a time, each in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Iterable, Iterator

# The timeout of a trial, in seconds.
LONGEST = 300


@dataclass
class Trial:
    """The arguments of `scripts/check faults` that repeat the trial."""

    name: str
    arguments: list[str]

    @property
    def command(self) -> str:
        return " ".join(["scripts/check", "faults", *self.arguments])


def run(script: str, trials: Iterable[Trial], at_once: int) -> Iterator[tuple[Trial, dict[str, Any]]]:
    """Yields each trial with the document that it printed, in the order in which the trials end."""
    with ThreadPoolExecutor(at_once) as pool:
        futures = {pool.submit(_run, script, trial): trial for trial in trials}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _run(script: str, trial: Trial) -> dict[str, Any]:
    command = [sys.executable, script, *trial.arguments, "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"faults": [f"it did not end within {LONGEST} s"]}
    except (IndexError, ValueError):
        return {"faults": [f"the trial itself failed: {done.stderr.strip()[-600:]}"]}
