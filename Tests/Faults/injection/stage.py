"""A service that is started again after each kill, and a client that repeats its requests."""

from __future__ import annotations

import signal
import time
from typing import Any

from library import Faults
from service import PATIENCE, Answer, Overdue, Service, Unreachable, until


class EndedByItself(Exception):
    """The process ended, but not by SIGKILL."""


class Stage:
    """Repeats each request until it is answered.

    recoveries: the rules of each next process, after the first process was killed.
    """

    def __init__(self, service: Service, faults: Faults, recoveries: list[list[str]]):
        self.service = service
        self.faults = faults
        self.kills = 0
        self._recoveries = recoveries

    def start(self) -> None:
        """Starts the service and waits until it answers. A process that is killed before that is started again."""
        while True:
            self.service.start()
            until("fetchd is ready or has ended", lambda: self.service.is_ready or self.service.status is not None)
            if self.service.status is None:
                return
            self._note_end()

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.service.ask(method, path, body, headers)
            except Unreachable as error:
                if time.monotonic() > deadline:
                    raise Overdue(f"no answer to {method} {path}: {error}") from error
                self.revive()

    def restart(self, *rules: str) -> None:
        """Stops and starts the service with SIGTERM, as an operator would. The next process gets these rules."""
        status = self.terminate(PATIENCE)
        if status != 0:
            raise EndedByItself(f"SIGTERM ended it with status {status}")
        self.faults.set(*rules)
        self.start()

    def revive(self) -> None:
        """Starts the service again if it has ended. A connection can be lost shortly before the end is visible."""
        if self.service.wait(0.3) is not None:
            self._note_end()
            self.start()

    def terminate(self, patience: float) -> int:
        """Sends SIGTERM, again after each kill, and returns the final exit status."""
        while True:
            status = self.service.terminate(patience)
            if status is None:
                raise Overdue(f"SIGTERM did not end it within {patience:.0f} s")
            if status != -signal.SIGKILL:
                return status
            self._note_end()
            self.start()

    def _note_end(self) -> None:
        if self.service.status != -signal.SIGKILL:
            raise EndedByItself(f"fetchd ended with status {self.service.status}")
        self.kills += 1
        self.faults.set(*(self._recoveries.pop(0) if self._recoveries else []))
