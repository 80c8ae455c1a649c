"""The service under test: killed, stopped and started by one thread, while all others talk to it."""

from __future__ import annotations

import threading
import time

from service import Overdue, Service, until

from .tally import Tally

# The time limit of a stop by SIGTERM, in seconds, on a busy machine.
STOP = 60
START = 60


class Process:
    def __init__(self, service: Service, tally: Tally):
        self.service = service
        self._tally = tally
        # The lock is held while the process should not run.
        self._lock = threading.Lock()
        self.longest_start = 0.0
        self.longest_stop = 0.0

    def start(self) -> None:
        with self._lock:
            self._start()

    def kill(self, again_after: float | None = None) -> None:
        """Sends SIGKILL and starts the process; with `again_after`, kills it again that many seconds after the
        start."""
        with self._lock:
            self._check()
            self.service.kill()
            self._tally.count("kills")
            if again_after is not None:
                self.service.start()
                time.sleep(again_after)
                self.service.kill()
                self._tally.count("kills while it starts")
            self._start()

    def restart(self) -> None:
        with self._lock:
            self._terminate()
            self._start()

    def terminate(self) -> None:
        """Sends SIGTERM at the end of the soak."""
        with self._lock:
            self._terminate()

    def check(self) -> bool:
        """Checks that the process runs if it should. A process that has ended by itself is a finding."""
        if not self._lock.acquire(blocking=False):
            return True
        try:
            return self._check()
        finally:
            self._lock.release()

    def _check(self) -> bool:
        status = self.service.status
        if status is not None:
            end = self.service.log.read_text(errors="replace")[-2000:]
            self._tally.find("ended by itself", f"status {status}; the end of its log:\n{end}")
            return False
        return True

    def _start(self) -> None:
        began = time.monotonic()
        self.service.start()
        try:
            until("fetchd is ready", lambda: self.service.is_ready or self.service.status is not None, START)
        except Overdue:
            self._tally.find("start", f"it was not ready after {START} s")
            return
        self._check()
        self.longest_start = max(self.longest_start, time.monotonic() - began)

    def _terminate(self) -> None:
        self._check()
        began = time.monotonic()
        status = self.service.terminate(STOP)
        self.longest_stop = max(self.longest_stop, time.monotonic() - began)
        self._tally.count("stops by SIGTERM")
        if status is None:
            self._tally.find("stop", f"SIGTERM did not end it within {STOP} s")
            self.service.kill()
        elif not self._is_end_in_order(status):
            self._tally.find("stop", f"SIGTERM ended it with status {status}")

    def _is_end_in_order(self, status: int) -> bool:
        return status == 0
