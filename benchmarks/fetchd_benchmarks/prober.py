"""A client that sends one request after another while something else happens, and notes how long each took."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from .fetchd import Fetchd
from .summaries import percentile

PAUSE = 0.005


class Prober:
    def __init__(self, service: Fetchd, path: str, body: dict | None = None):
        self._client, self._path, self._body = service.client(), path, body
        self._seconds: list[float] = []
        self._must_stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Prober:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._must_stop.set()
        self._thread.join()
        self._client.close()

    def milliseconds(self, share: float) -> float:
        """A percentile; 1 is the slowest request."""
        return percentile(self._seconds, share) * 1000 if self._seconds else 0

    def _run(self) -> None:
        while not self._must_stop.wait(PAUSE):
            begin = time.monotonic()
            self._client.bytes("POST" if self._body else "GET", self._path, self._body)
            self._seconds.append(time.monotonic() - begin)
