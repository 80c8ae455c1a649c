"""Many trials, some at once, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Iterable, Iterator

# Seconds after which a trial that does not end is given up.
LONGEST = 300


@dataclass
class Trial:
    """`scripts/faults` with arguments: what reproduces what was found."""

    name: str
    arguments: list[str]

    @property
    def command(self) -> str:
        return " ".join(["scripts/faults", *self.arguments])


def run(script: str, trials: Iterable[Trial], at_once: int) -> Iterator[tuple[Trial, dict[str, Any]]]:
    """Each trial with the document that it has printed, as they end."""
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
