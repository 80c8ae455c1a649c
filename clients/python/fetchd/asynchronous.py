"""The same for asyncio: each call runs in a thread."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, AsyncIterator, Callable, Iterator, List, Optional, TypeVar, Union, overload

from .client import Client, Document, Finish, Job, Path, Session

_Value = TypeVar("_Value")
_END = object()


class AsyncClient:
    """A service, for coroutines. The members are those of Client; jobs and sessions are those of AsyncJob and AsyncSession."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, patience: float = 30.0) -> None:
        self._client = Client(url, token, patience=patience)

    @overload
    async def download(self, url: str, to: Path, *, progress: Optional[bool] = None, **job: Any) -> str: ...
    @overload
    async def download(self, url: str, to: None = None, *, progress: Optional[bool] = None, **job: Any) -> "AsyncJob": ...

    async def download(
        self, url: str, to: Optional[Path] = None, *, progress: Optional[bool] = None, **job: Any
    ) -> Union[str, "AsyncJob"]:
        new = await self.add(url, **job)
        await new.wait(progress=progress)
        return new if to is None else await new.save(to)

    async def add(self, url: str, **job: Any) -> "AsyncJob":
        return AsyncJob(await asyncio.to_thread(lambda: self._client.add(url, **job)))

    async def add_all(self, jobs: List[Document]) -> List["AsyncJob"]:
        return [AsyncJob(job) for job in await asyncio.to_thread(self._client.add_all, jobs)]

    async def job(self, id: str) -> "AsyncJob":
        return AsyncJob(await asyncio.to_thread(self._client.job, id))

    async def jobs(self, **filters: Optional[str]) -> AsyncIterator["AsyncJob"]:
        async for job in _iterate(lambda: self._client.jobs(**filters)):
            yield AsyncJob(job)

    async def import_list(self, path: Path, format: str, **options: Any) -> Document:
        return await asyncio.to_thread(lambda: self._client.import_list(path, format, **options))

    async def session(self, id: str, **configuration: Any) -> "AsyncSession":
        return AsyncSession(await asyncio.to_thread(lambda: self._client.session(id, **configuration)))

    def events(self, after: Optional[int] = None, session: Optional[str] = None, type: Optional[str] = None) -> AsyncIterator[Document]:
        return _iterate(lambda: self._client.events(after, session, type))

    async def stats(self) -> Document:
        return await asyncio.to_thread(self._client.stats)


class AsyncJob:
    """A Job for coroutines."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __repr__(self) -> str:
        return repr(self.job)

    @property
    def id(self) -> str:
        return self.job.id

    @property
    def state(self) -> str:
        return self.job.state

    @property
    def path(self) -> Optional[str]:
        return self.job.path

    @property
    def document(self) -> Document:
        return self.job.document

    async def refresh(self) -> "AsyncJob":
        return await self._do(self.job.refresh)

    def watch(self) -> AsyncIterator[Document]:
        return _iterate(self.job.watch)

    async def wait(self, timeout: Optional[float] = None, *, progress: Optional[bool] = None) -> "AsyncJob":
        return await self._do(lambda: self.job.wait(timeout, progress=progress))

    async def save(self, to: Path) -> str:
        return await asyncio.to_thread(self.job.save, to)

    async def pause(self) -> "AsyncJob":
        return await self._do(self.job.pause)

    async def resume(self) -> "AsyncJob":
        return await self._do(self.job.resume)

    async def cancel(self, produce_resume_data: bool = False) -> "AsyncJob":
        return await self._do(lambda: self.job.cancel(produce_resume_data))

    async def retry(self) -> "AsyncJob":
        return await self._do(self.job.retry)

    async def change(self, **members: Any) -> "AsyncJob":
        return await self._do(lambda: self.job.change(**members))

    async def delete(self, file: str = "keep") -> None:
        await asyncio.to_thread(self.job.delete, file)

    async def _do(self, action: Callable[[], Job]) -> "AsyncJob":
        await asyncio.to_thread(action)
        return self


class AsyncSession:
    """A Session for coroutines."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def document(self) -> Document:
        return self.session.document

    async def add(self, url: str, **job: Any) -> AsyncJob:
        return AsyncJob(await asyncio.to_thread(lambda: self.session.add(url, **job)))

    async def add_all(self, jobs: List[Document]) -> List[AsyncJob]:
        return [AsyncJob(job) for job in await asyncio.to_thread(self.session.add_all, jobs)]

    async def wait_for_finish(self, timeout: Optional[float] = None, *, acknowledge: bool = True) -> Finish:
        return await asyncio.to_thread(lambda: self.session.wait_for_finish(timeout, acknowledge=acknowledge))

    def events(self, after: Optional[int] = None) -> AsyncIterator[Document]:
        return _iterate(lambda: self.session.events(after))

    async def manifest(self, format: str = "sha256sum") -> str:
        return await asyncio.to_thread(self.session.manifest, format)


async def _iterate(make: Callable[[], Iterator[_Value]]) -> AsyncIterator[_Value]:
    """An iterator whose next value a thread waits for. A closed one ends its thread after the wait at hand.

    The thread is a daemon and not of the pool of asyncio, at whose end a program would wait for it.
    """
    loop = asyncio.get_running_loop()
    wanted = threading.Semaphore(0)
    is_closed = threading.Event()
    values: "asyncio.Queue[Any]" = asyncio.Queue()

    def hand_over(value: Any) -> None:
        try:
            loop.call_soon_threadsafe(values.put_nowait, value)
        except RuntimeError:
            # The loop was closed meanwhile.
            is_closed.set()

    def run() -> None:
        try:
            for value in make():
                hand_over((value, None))
                wanted.acquire()
                if is_closed.is_set():
                    return
            hand_over((_END, None))
        except BaseException as error:
            hand_over((_END, error))

    threading.Thread(target=run, name="fetchd-events", daemon=True).start()
    try:
        while True:
            (value, error) = await values.get()
            if error is not None:
                raise error
            if value is _END:
                return
            yield value
            wanted.release()
    finally:
        is_closed.set()
        wanted.release()
