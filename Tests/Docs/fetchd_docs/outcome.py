"""What passed, what failed and what was left out."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator

from .environment import Failure


class Report:
    def __init__(self) -> None:
        self.failures: list[str] = []
        self.skipped: list[str] = []

    @contextlib.contextmanager
    def check(self, name: str) -> Iterator[None]:
        """One check. If it fails, the others continue."""
        start = time.monotonic()
        try:
            yield
        except (Failure, OSError, subprocess.TimeoutExpired) as error:
            self.failures.append(name)
            print(f"✗ {name}: {error}", flush=True)
        else:
            print(f"✓ {name} ({time.monotonic() - start:.1f} s)", flush=True)

    def skip(self, name: str, why: str) -> None:
        self.skipped.append(name)
        print(f"– {name}: {why}", flush=True)
