"""Jobs, sessions and events of a service."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union, overload

from .errors import DownloadFailed, FetchdError
from .files import save
from .progress import Bar
from .transport import LONGEST_WAIT, Query, Transport, component

Path = Union[str, "os.PathLike[str]"]
Document = Dict[str, Any]
_ENDED = ("succeeded", "failed", "cancelled")


class Client:
    """A service. Threads can share a client.

    url: the address of the service; by default FETCHD_URL, or http://127.0.0.1:8080.
    token: a token of the service; by default FETCHD_TOKEN, or none.
    patience: seconds for which a request waits for a service that does not answer, for example because it restarts.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, patience: float = 30.0) -> None:
        self._transport = Transport(url, token, patience)

    @classmethod
    def _of(cls, transport: Transport) -> "Client":
        client = cls.__new__(cls)
        client._transport = transport
        return client

    @overload
    def download(self, url: str, to: Path, *, progress: Optional[bool] = None, **job: Any) -> str: ...
    @overload
    def download(self, url: str, to: None = None, *, progress: Optional[bool] = None, **job: Any) -> "Job": ...

    def download(
        self, url: str, to: Optional[Path] = None, *, progress: Optional[bool] = None, **job: Any
    ) -> Union[str, "Job"]:
        """Downloads a file, and returns when it is there. Raises DownloadFailed.

        to: a file or a folder of this machine, to which the file is copied from the service, and whose path is returned. Without
        it, the file stays in the downloads folder of the service, and the job is returned.
        progress: whether to show a bar, for which ``tqdm`` must be installed; by default on a terminal.
        job: other members of the job: ``session``, ``headers``, ``checksum``, ...
        """
        new = self.add(url, **job)
        new.wait(progress=progress)
        return new if to is None else new.save(to)

    def add(self, url: str, **job: Any) -> "Job":
        """Submits a job, and returns when the service has stored it."""
        return Job(self._transport, self._transport.request("POST", "jobs", {"url": url, **job}))

    def add_all(self, jobs: List[Document]) -> List["Job"]:
        """Submits up to 10,000 jobs, all or none."""
        answer = self._transport.request("POST", "jobs/batch", {"jobs": jobs})
        return [Job(self._transport, job) for job in answer["jobs"]]

    def job(self, id: str) -> "Job":
        return Job(self._transport, self._transport.request("GET", f"jobs/{component(id)}"))

    def jobs(self, **filters: Union[str, None]) -> Iterator["Job"]:
        """The jobs that the caller may see, the newest first. filters: ``session``, ``state``, ``tag``."""
        cursor: Optional[str] = None
        while True:
            page = self._transport.request("GET", "jobs", query={**filters, "limit": 1000, "cursor": cursor})
            for job in page["jobs"]:
                yield Job(self._transport, job)
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def import_list(
        self, path: Path, format: str, *, session: Optional[str] = None, base: Optional[str] = None, keep_going: bool = False
    ) -> Document:
        """Adds a job for each line of a list (docs/lists.md). The same list is imported once a day.

        Returns ``created``, ``existing`` and ``batch``. Raises FetchdError, whose ``problem["problems"]`` has the faulty lines.
        """
        query = {"session": session, "format": format, "base": base, "keep_going": "true" if keep_going else None}
        with open(path, "rb") as list_of_jobs:
            size = os.fstat(list_of_jobs.fileno()).st_size
            headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
            answer = self._transport.open(
                "POST", "jobs/import", list_of_jobs, query=query, headers=headers, timeout=3600
            )
        with answer:
            document: Document = _object(answer.read())
        return document

    def session(self, id: str, **configuration: Any) -> "Session":
        """Declares a session, or attaches to it again. With members of a configuration, they replace the present one."""
        body = configuration or None
        return Session(self._transport, self._transport.request("PUT", f"sessions/{component(id)}", body))

    def events(self, after: Optional[int] = None, session: Optional[str] = None, type: Optional[str] = None) -> Iterator[Document]:
        """The events of the journal, until the iterator is closed. It outlasts restarts of the service, and misses no event.

        after: the last event that the caller knows; by default, the events from now on.
        Raises EventsPruned if events after it are gone.
        """
        position = self.last_event() if after is None else after
        while True:
            page = self._transport.request(
                "GET", "events", query={"after": position, "session": session, "type": type, "wait": LONGEST_WAIT, "limit": 1000}
            )
            yield from page["events"]
            position = page["next_after"]

    def last_event(self) -> int:
        """The number of the last event."""
        headers = {"Accept": "text/event-stream"}
        with self._transport.open("GET", "events", headers=headers) as answer:
            for line in answer.lines():
                # The stream begins with an event `position`, whose identifier is the number.
                if line.startswith(b"id:"):
                    return int(line[3:])
        return 0

    def stats(self) -> Document:
        return self._transport.request("GET", "stats")


class Job:
    """One download. ``document`` is what the service said of it last."""

    def __init__(self, transport: Transport, document: Document) -> None:
        self._transport = transport
        self.document = document

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.state}>"

    @property
    def id(self) -> str:
        return str(self.document["id"])

    @property
    def state(self) -> str:
        return str(self.document["state"])

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED

    @property
    def path(self) -> Optional[str]:
        """The finished file, relative to the downloads folder of the service."""
        file = self.document.get("file")
        return str(file["path"]) if file else None

    def refresh(self) -> "Job":
        self.document = self._get()
        return self

    def watch(self) -> Iterator[Document]:
        """The document at each change of the job or of its progress, up to its end."""
        yield self.document
        while not self.has_ended:
            self.document = self._get(wait=LONGEST_WAIT)
            yield self.document

    def wait(self, timeout: Optional[float] = None, *, progress: Optional[bool] = None) -> "Job":
        """Waits until the job has succeeded. Raises DownloadFailed, or TimeoutError after so many seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        with Bar(progress, str(self.document.get("url", ""))) as bar:
            while not self.has_ended:
                left = LONGEST_WAIT if end is None else end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{self.id} is {self.state} after {timeout} seconds")
                wait = max(1, min(LONGEST_WAIT, int(left)))
                self.document = self._get(wait=wait) if bar.is_shown else self._get(wait=wait, until="ended")
                bar.show(self.document["progress"])
        if self.state != "succeeded":
            raise DownloadFailed(self.document)
        return self

    def save(self, to: Path) -> str:
        """Copies the finished file to this machine, and compares its digest. Returns the path of the copy."""
        return save(self._transport, self.document, to)

    def pause(self) -> "Job":
        return self._act("pause")

    def resume(self) -> "Job":
        return self._act("resume")

    def cancel(self, produce_resume_data: bool = False) -> "Job":
        return self._act("cancel", {"produce_resume_data": produce_resume_data})

    def retry(self) -> "Job":
        return self._act("retry")

    def change(self, **members: Any) -> "Job":
        """Replaces members of the job, such as ``url`` of an expired link. None removes one."""
        self.document = self._transport.request("PATCH", self._path, members)
        return self

    def delete(self, file: str = "keep") -> None:
        """Forgets the job, after it was cancelled if it has not ended. file: ``keep`` or ``delete``."""
        try:
            self._transport.request("DELETE", self._path, query={"file": file})
        except FetchdError as error:
            # The answer to the first request may be lost.
            if error.status != 404:
                raise

    @property
    def _path(self) -> str:
        return f"jobs/{component(self.id)}"

    def _get(self, wait: Optional[int] = None, until: Optional[str] = None) -> Document:
        headers = {}
        if wait is not None:
            headers["Prefer"] = f"wait={wait}"
            if until is None:
                headers["If-None-Match"] = _tag(self.document)
        with self._transport.open("GET", self._path, query={"until": until}, headers=headers) as answer:
            return self.document if answer.status == 304 else _object(answer.read())

    def _act(self, action: str, body: Optional[Document] = None) -> "Job":
        self.document = self._transport.request("POST", f"{self._path}/{action}", body)
        return self


class Session:
    """A group of jobs with one configuration. A program that starts again attaches to it by its name."""

    def __init__(self, transport: Transport, document: Document) -> None:
        self._transport = transport
        self.document = document
        self._position = int(document["acknowledged_through"])

    def __repr__(self) -> str:
        return f"<Session {self.id} {self.document['state']}>"

    @property
    def id(self) -> str:
        return str(self.document["id"])

    def refresh(self) -> "Session":
        self.document = self._transport.request("GET", self._path)
        return self

    def add(self, url: str, **job: Any) -> Job:
        return Client._of(self._transport).add(url, session=self.id, **job)

    def add_all(self, jobs: List[Document]) -> List[Job]:
        """Submits up to 10,000 jobs, all or none."""
        return Client._of(self._transport).add_all([{**job, "session": self.id} for job in jobs])

    def import_list(self, path: Path, format: str, **options: Any) -> Document:
        return Client._of(self._transport).import_list(path, format, session=self.id, **options)

    def jobs(self, state: Optional[str] = None) -> Iterator[Job]:
        return Client._of(self._transport).jobs(session=self.id, state=state)

    def events(self, after: Optional[int] = None) -> Iterator[Document]:
        return Client._of(self._transport).events(after, session=self.id)

    def wait_for_finish(self, timeout: Optional[float] = None, *, acknowledge: bool = True) -> "Finish":
        """Waits for the next finish of the session: all jobs of a batch have ended.

        A finish that was not acknowledged, because the program ended before, comes again. acknowledge: whether the finish is
        acknowledged at once; otherwise call its ``acknowledge()`` when its results are stored.
        Raises TimeoutError after so many seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONGEST_WAIT if end is None else end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"session {self.id} has not finished after {timeout} seconds")
            wait = max(1, min(LONGEST_WAIT, int(left)))
            query: Query = {"after": self._position, "session": self.id, "type": "session.finished", "limit": 1, "wait": wait}
            page = self._transport.request("GET", "events", query=query)
            if page["events"]:
                finish = Finish(self, page["events"][0])
                self._position = finish.event
                if acknowledge:
                    finish.acknowledge()
                return finish
            self._position = max(self._position, int(page["next_after"]))

    def acknowledge(self, through: int) -> "Session":
        self.document = self._transport.request("POST", f"{self._path}/acknowledge", {"through": through})
        return self

    def manifest(self, format: str = "sha256sum") -> str:
        """The finished files with their digests, for ``sha256sum --check`` in the downloads folder."""
        with self._transport.open("GET", f"{self._path}/manifest", query={"format": format}) as answer:
            return answer.read().decode()

    @property
    def _path(self) -> str:
        return f"sessions/{component(self.id)}"


class Finish:
    """All jobs of a batch have ended."""

    def __init__(self, session: Session, document: Document) -> None:
        self._session = session
        self.document = document
        #: The number of the event.
        self.event = int(document["id"])
        data: Mapping[str, Any] = document["data"]
        self.batch = int(data["batch"])
        #: ``succeeded``, ``partly_failed``, ``failed`` or ``cancelled``.
        self.outcome = str(data["outcome"])
        self.counts: Dict[str, int] = dict(data["counts"])
        #: The first failures: ``job``, ``code``, ``message``.
        self.failures: List[Document] = list(data["failures"])

    def acknowledge(self) -> None:
        """Tells the service that its client has the finish. A token without the scope ``sessions`` may not."""
        try:
            self._session.acknowledge(self.event)
        except FetchdError as error:
            if error.type != "/problems/forbidden":
                raise


def _tag(job: Document) -> str:
    return f"\"{job['revision']}.{job['progress']['bytes_received']}\""


def _object(text: bytes) -> Document:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("the service did not answer with an object")
    return document
