"""Requests to the service, over restarts of it."""

from __future__ import annotations

import http.client
import json
import os
import random
import time
import uuid
from typing import IO, Any, Dict, Iterator, Mapping, Optional, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import EventsPruned, FetchdError, ServiceUnavailable

#: Seconds. The service answers waits after 30, and sends a heartbeat on a stream every 15.
READ_TIMEOUT = 75.0
LONGEST_WAIT = 30

Query = Mapping[str, Union[str, int, None]]


class Transport:
    """Sends requests to one service. It has no connection between requests, so threads can share it."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, patience: float = 30.0) -> None:
        """patience: seconds for which a request waits for a service that does not answer, for example because it restarts."""
        self.url = (url or os.environ.get("FETCHD_URL") or "http://127.0.0.1:8080").rstrip("/")
        self.token = token if token is not None else os.environ.get("FETCHD_TOKEN")
        self.patience = patience
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{self.url}' is not the address of a service, such as http://127.0.0.1:8080")
        self._is_secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._base = parts.path

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Any] = None,
        *,
        query: Optional[Query] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = READ_TIMEOUT,
    ) -> Dict[str, Any]:
        """Sends JSON and returns JSON. A POST is carried out once, also if it must be repeated."""
        sent = dict(headers or {})
        data: Optional[bytes] = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        if method == "POST":
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        with self.open(method, path, data, query=query, headers=sent, timeout=timeout) as answer:
            text = answer.read()
        return json.loads(text) if text else {}

    def open(
        self,
        method: str,
        path: str,
        body: Union[bytes, IO[bytes], None] = None,
        *,
        query: Optional[Query] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = READ_TIMEOUT,
    ) -> "Answer":
        """Sends a request until the service answers it.

        Raises FetchdError for a refusal, and ServiceUnavailable if the service does not answer for too long.
        """
        start = body.tell() if body is not None and not isinstance(body, bytes) else 0
        for pause in self.pauses():
            if body is not None and not isinstance(body, bytes):
                body.seek(start)
            try:
                answer = self._send(method, path, body, query, headers, timeout)
            except (OSError, http.client.HTTPException) as error:
                if pause is None:
                    raise ServiceUnavailable(f"{self.url} does not answer: {error}") from error
            else:
                if answer.status < 400:
                    return answer
                problem = self._problem(answer)
                # 502 and 504 are of a proxy whose service is away. The client may have to wait for its turn (429).
                if answer.status not in (429, 502, 503, 504) or problem.type == "/problems/quota-exceeded" or pause is None:
                    raise problem
            time.sleep(pause or 0)
        raise ServiceUnavailable(f"{self.url} does not answer")

    def pauses(self) -> Iterator[Optional[float]]:
        """The seconds before each repetition; None after the last one. With jitter, because many clients wait for a restart."""
        end = time.monotonic() + self.patience
        pause = 0.1
        while time.monotonic() < end:
            yield pause * random.uniform(0.5, 1)
            pause = min(pause * 2, 5)
        yield None

    def _send(
        self,
        method: str,
        path: str,
        body: Union[bytes, IO[bytes], None],
        query: Optional[Query],
        headers: Optional[Mapping[str, str]],
        timeout: float,
    ) -> "Answer":
        make = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        connection = make(self._host, self._port, timeout=timeout)
        sent = {"User-Agent": "fetchd-python", **(headers or {})}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        values = {name: str(value) for name, value in (query or {}).items() if value is not None}
        target = f"{self._base}/v1/{path}" + (f"?{urlencode(values, quote_via=quote)}" if values else "")
        try:
            try:
                connection.request(method, target, body, sent)
            except (BrokenPipeError, ConnectionResetError):
                # The service refuses a body before its end, and its answer says why.
                pass
            return Answer(connection, connection.getresponse())
        except BaseException:
            connection.close()
            raise

    def _problem(self, answer: "Answer") -> FetchdError:
        with answer:
            text = answer.read()
        try:
            problem = json.loads(text)
        except ValueError:
            problem = {}
        if not isinstance(problem, dict):
            problem = {}
        kind = EventsPruned if problem.get("type") == "/problems/events-pruned" else FetchdError
        return kind(answer.status, problem)


class Answer:
    """A response whose body was not read yet."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._response = response
        self.status = response.status

    def header(self, name: str) -> Optional[str]:
        return self._response.getheader(name)

    def read(self, count: int = -1) -> bytes:
        return self._response.read() if count < 0 else self._response.read(count)

    def lines(self) -> Iterator[bytes]:
        while True:
            line = self._response.readline()
            if not line:
                return
            yield line

    def close(self) -> None:
        self._response.close()
        self._connection.close()

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def component(text: str) -> str:
    """A name as one component of a path."""
    return quote(text, safe="")

