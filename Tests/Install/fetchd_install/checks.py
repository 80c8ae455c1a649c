"""The result of a check script: what holds, what does not, and what could not be checked."""

from __future__ import annotations

import sys
import time
from typing import Callable, TypeVar

Value = TypeVar("Value")


class Checks:
    def __init__(self) -> None:
        self._count = 0
        self._failures: list[str] = []
        self._notes: list[str] = []
        self._unchecked: list[str] = []

    def heading(self, text: str) -> None:
        print(f"\n━━ {text}", flush=True)

    def expect(self, holds: object, sentence: str, evidence: object = "") -> bool:
        """Reports whether a sentence is true. The evidence is printed if it is not."""
        self._count += 1
        if holds:
            print(f"✓ {sentence}", flush=True)
            return True
        self._failures.append(sentence)
        print(f"✗ {sentence}" + (f"\n  {evidence}" if evidence != "" else ""), flush=True)
        return False

    def note(self, text: str) -> None:
        """A measured fact, which is repeated at the end."""
        self._notes.append(text)
        print(f"  {text}", flush=True)

    def could_not_check(self, text: str) -> None:
        self._unchecked.append(text)

    def summary(self) -> int:
        """Prints the result, and returns the exit status."""
        self.heading("Result")
        for note in self._notes:
            print(f"  {note}")
        print("This machine cannot check:")
        for text in self._unchecked:
            print(f"  - {text}")
        for failure in self._failures:
            print(f"✗ {failure}")
        print(f"{self._count - len(self._failures)} passed, {len(self._failures)} failed", flush=True)
        return 1 if self._failures or not self._count else 0


def eventually(what: str, look: Callable[[], Value | None], seconds: float = 30) -> Value:
    """The first value of `look` that is neither None nor False."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = look()
        if value is not None and value is not False:
            return value
        time.sleep(0.05)
    sys.exit(f"Waited in vain for {what}.")
