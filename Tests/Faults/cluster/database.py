"""The database of the cluster: one server, or a primary with a synchronous standby."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from service import until

from .postgres import Postgres, address, made_folder


class Database:
    """The faults are for one thread at a time, within `held`. Their argument `wait` returns when the fault shall end."""

    def __init__(self, has_standby: bool):
        self.folder = made_folder()
        self.primary = Postgres(self.folder / "a")
        self.standby = Postgres(self.folder / "b") if has_standby else None
        self.url = address(*filter(None, (self.primary, self.standby)))
        self._lock = threading.Lock()
        # The end of the last fault, by the monotonic clock.
        self._healed_at = float("-inf")

    def start(self) -> None:
        self.primary.create()
        self.primary.start()
        if self.standby:
            self.standby.follow(self.primary)
            self.standby.start()
            self.primary.wait_for_standby()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block, the database may be away."""
        with self._lock:
            try:
                yield
            finally:
                self._healed_at = time.monotonic()

    def is_away(self, within: float) -> bool:
        """Whether there is a fault, or was one in the last seconds."""
        return self._lock.locked() or time.monotonic() <= self._healed_at + within

    def pause(self, wait: Callable[[], None]) -> None:
        self.primary.pause()
        wait()
        self.primary.resume()

    def stop(self, wait: Callable[[], None]) -> None:
        self.primary.stop()
        wait()
        self.primary.start()

    def crash(self) -> None:
        """SIGKILL, and a new start."""
        self.primary.kill()
        self.primary.start()

    def pause_standby(self, wait: Callable[[], None]) -> None:
        """No commit is acknowledged meanwhile."""
        assert self.standby
        self.standby.pause()
        wait()
        self.standby.resume()

    def fail_over(self, wait: Callable[[], None]) -> None:
        """The primary is lost for good, and the standby takes its place."""
        assert self.standby
        # A standby that lacks commits must not be promoted. In operation, the program that promotes it sees to that.
        until("the standby has all commits", lambda: self.primary.has_standby)
        self.primary.kill()
        wait()
        self.standby.promote()
        self.primary, self.standby = self.standby, None

    def query(self, sql: str) -> list[list[str]]:
        return self.primary.query(sql)

    def remove(self, logs: Path) -> None:
        """Ends the servers, and removes their folder. Their logs are copied to another folder."""
        for server in filter(None, (self.primary, self.standby)):
            server.end()
        for log in self.folder.glob("*/log"):
            shutil.copy(log, logs / f"postgres-{log.parent.name}.log")
        shutil.rmtree(self.folder)
