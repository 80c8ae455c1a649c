"""Counts of actions, and the findings. Many threads write to it."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

# The number of findings of one kind that are shown.
MOST_FINDINGS = 20


class Tally:
    def __init__(self, log: Path):
        self.began = time.monotonic()
        self.counts: Counter[str] = Counter()
        self._findings: dict[str, list[str]] = {}
        self._lock = threading.Lock()
        self._log = log.open("a", encoding="utf-8", buffering=1 << 16)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def count(self, what: str, number: int = 1) -> None:
        with self._lock:
            self.counts[what] += number

    def note(self, **fields: Any) -> None:
        """Writes a line to the log of requests."""
        line = {"at": round(self.seconds, 3), "thread": threading.current_thread().name} | fields
        with self._lock:
            if not self._log.closed:
                self._log.write(json.dumps(line) + "\n")

    def find(self, kind: str, sentence: str) -> None:
        """Records a broken promise."""
        with self._lock:
            self._findings.setdefault(kind, []).append(sentence)
        self.note(finding=kind, sentence=sentence)

    @property
    def kinds_of_findings(self) -> set[str]:
        with self._lock:
            return set(self._findings)

    @property
    def findings(self) -> list[str]:
        lines = []
        with self._lock:
            for kind, sentences in self._findings.items():
                lines += [f"{kind}: {sentence}" for sentence in sentences[:MOST_FINDINGS]]
                if len(sentences) > MOST_FINDINGS:
                    lines.append(f"{kind}: and {len(sentences) - MOST_FINDINGS} more")
        return lines

    def close(self) -> None:
        with self._lock:
            self._log.close()
