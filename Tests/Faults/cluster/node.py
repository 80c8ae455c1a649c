"""One node of the cluster."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from service import Service
from soak.listener import free_port
from soak.process import Process
from soak.tally import Tally

from .database import Database

# The status of a service that could not store all changes before it stopped.
UNSTORED = 74
# The status of a service whose jobs other nodes have taken over, or whose server has lost changes.
REPLACED = 75
# The seconds after a fault of the database in which a stop may end with that status.
AFTERMATH = 30


class Node(Process):
    """number: 1, 2, 3. The database has a number of its own for the node."""

    def __init__(
        self, number: int, program: Path, folder: Path, key: Path, database: Database, tally: Tally,
        arguments: tuple[str, ...], downloads: Path | None = None,
    ):  # fmt: skip
        folder.mkdir(exist_ok=True)
        self.number = number
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._database = database
        node_arguments = ("--store", database.url, "--key-file", str(key), "--node-url", self.url, *arguments)
        super().__init__(Service(program, folder, arguments=node_arguments, port=self.port, downloads=downloads), tally)

    @property
    def is_free(self) -> bool:
        """Whether no fault of the node is under way."""
        return not self._lock.locked()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block, the node may be down."""
        with self._lock:
            self._check()
            yield

    def start_again(self) -> float:
        """Within `held`. Returns the seconds until the node was ready."""
        began = time.monotonic()
        self._start()
        return time.monotonic() - began

    def stop_in_order(self) -> None:
        """Within `held`: SIGTERM."""
        self._terminate()

    def freeze(self, wait: Callable[[], None]) -> None:
        """Within `held`: nothing of the process runs until `wait` returns."""
        self.service.signal(signal.SIGSTOP)
        try:
            wait()
        finally:
            self.service.signal(signal.SIGCONT)

    def _check(self) -> bool:
        """Starts the node again if it was replaced, as a service manager does."""
        if self.service.status == REPLACED:
            self._tally.count("starts after status 75")
            self._start()
        return super()._check()

    def _is_end_in_order(self, status: int) -> bool:
        # A node that was replaced can end just before the signal.
        return status in (0, REPLACED) or (status == UNSTORED and self._database.is_away(within=AFTERMATH))
