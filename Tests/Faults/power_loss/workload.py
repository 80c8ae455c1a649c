"""The traced run: the downloads, the requests of the clients, and the answers they receive."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Callable

from origin import Origin, Resource
from receiver import Post, Receiver
from service import Answer, Service, Unreachable, until

SESSIONS = ("films", "small")
CONFIGURATION = {
    "finish_delay_seconds": 0.2,
    "retry": {"base_seconds": 0.05, "max_seconds": 0.3, "max_attempts": 50},
}
ARGUMENTS = (
    "--max-concurrent-jobs", "16", "--max-connections-per-host", "32",
    "--webhook-retry-delays", "0,0.3,0.3,0.5,0.5,1,1,1,1,1,1",
)  # fmt: skip

# The duration in seconds that the steps below are designed for.
FULL_LENGTH = 24


@dataclass
class Request:
    """One request of a client. Times are nanoseconds of the monotonic clock."""

    # "create", "pause", "resume", "cancel", "retry", "patch", "delete", "declare"
    action: str
    # The names of the jobs, in the order of the request.
    names: list[str]
    sent: int
    path: str
    body: Any = None
    key: str | None = None
    # The time of the answer; None if there was none.
    done: int | None = None
    status: int | None = None
    # The identifiers of the jobs, as far as they are known.
    ids: list[str] = field(default_factory=list)
    # The content of the answer to "pause" and "cancel".
    bytes_durable: int | None = None

    def is_acknowledged(self, moment: int) -> bool:
        return self.done is not None and self.done < moment and self.status is not None and self.status < 300


@dataclass
class Sighting:
    """An event of the journal, as a client has read it."""

    time: int
    event: dict[str, Any]


@dataclass
class Received:
    """Everything that clients and receivers received from the service, with the times."""

    requests: list[Request] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    # The times of the starts of the service, from and to, in nanoseconds of the monotonic clock.
    starts: list[tuple[int, int]] = field(default_factory=list)

    def save(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def load(file: Path) -> Received:
        lists = json.loads(file.read_text(encoding="utf-8"))
        return Received(
            [Request(**it) for it in lists["requests"]],
            [Sighting(**it) for it in lists["sightings"]],
            [Post(**it) for it in lists["posts"]],
            [(begin, end) for begin, end in lists["starts"]],
        )


@dataclass(frozen=True)
class Order:
    """A job to submit."""

    name: str
    session: str
    # None: the origin does not have the file.
    resource: Resource | None
    # The path of the file at the origin.
    path: str
    # Other members of the request.
    wish: dict[str, Any] = field(default_factory=dict)

    def body(self, origin: str) -> dict[str, Any]:
        return {"url": origin + self.path, "session": self.session, "metadata": {"order": self.name}} | self.wish


class Plan:
    """All jobs. The same seed and length give the same jobs.

    seconds: the duration of the whole run, which determines sizes and times.
    """

    def __init__(self, seed: int, seconds: float):
        self.pace = seconds / FULL_LENGTH
        self._random = random.Random(seed)
        self.orders: dict[str, Order] = {}
        self.first = self._first()
        self.second = self._second()
        self.swarm = [self._add(f"swarm-{i}", 3_000 + 17 * i, session="small") for i in range(int(150 * self.pace))]
        self.late = [self._add("late", 4_000_000, 300_000)]
        self.third = [self._add(f"third-{i}", 500_000 + 1000 * i, 200_000) for i in range(10)]
        self.heir = self._add("heir", None, like="donor", destination={"filename": "heir.bin"})
        self.stream = [self._add(f"stream-{i}", 5_000 + 333 * i, session="small", paced=False) for i in range(60)]

    def resources(self, is_difficult: bool) -> dict[str, Resource]:
        """The files of the origin, with rates, cuts and refusals only on request."""
        resources = {order.path: order.resource for order in self.orders.values() if order.resource}
        if is_difficult:
            return resources
        return {path: replace(it, rate=None, cuts=(), refusals=()) for path, it in resources.items()}

    def _first(self) -> list[Order]:
        same = {"filename": "same.bin", "on_conflict": "rename"}
        newest = {"filename": "newest.bin", "on_conflict": "replace"}
        return [
            *(self._add(f"small-{i}", 60_000 + 20_000 * i, paced=False) for i in range(8)),
            *(self._add(f"same-{i}", 40_000 + i, destination=same) for i in range(3)),
            self._add("newest-0", 50_000, destination=newest),
            self._add("segmented", 9_000_000, 250_000, connections=4),
            self._add("chunked", 2_500_000, 300_000, is_chunked=True),
            self._add("lost", 2_000_000, 300_000, cuts=(700_000, 500_000)),
            self._add("busy", 90_000, refusals=(503, 503)),
            self._add("missing", None),
            self._add("paused", 2_200_000, 300_000),
            self._add("cancelled", 2_200_000, 300_000),
            self._add("doomed", 3_000_000, 250_000),
            self._add("donor", 3_000_000, 300_000),
            self._add("deep-0", 50_000, destination={"directory": "a/b/c"}),
            self._add("lasting", 4_000_000, 170_000),
        ]

    def _second(self) -> list[Order]:
        same = {"filename": "same.bin", "on_conflict": "rename"}
        newest = {"filename": "newest.bin", "on_conflict": "replace"}
        return [
            self._add("newest-1", 51_000, destination=newest),
            self._add("same-3", 41_000, destination=same),
            self._add("deep-1", 52_000, destination={"directory": "a/d/e"}),
            self._add("dropped", 2_000_000, 200_000),
            self._add("segmented-2", 3_000_000, 250_000, connections=4),
        ]

    def _add(
        self, name: str, size: int | None, rate: float | None = None, *, session: str = "films",
        like: str | None = None, is_chunked: bool = False, cuts: tuple[int, ...] = (), refusals: tuple[int, ...] = (),
        paced: bool = True, **wish: Any,
    ) -> Order:  # fmt: skip
        """like: another order with the same file.

        paced: the size is for the full length; for a shorter run, the file is smaller.
        """
        resource, path = None, f"/{like or name}"
        if like:
            resource = self.orders[like].resource
        elif size is not None:
            count = int(size * self.pace) if paced else size
            cuts = tuple(int(cut * self.pace) for cut in cuts)
            resource = Resource(self._random.randbytes(count), rate, cuts, refusals, is_chunked)
        order = Order(name, session, resource, path, wish)
        self.orders[name] = order
        return order


def start(service: Service) -> None:
    """Starts the service and waits until it is ready. Raises `EndedByItself` if the process ends before."""
    service.start()
    until("fetchd is ready or has ended", lambda: service.is_ready or service.status is not None)
    if not service.is_ready:
        raise EndedByItself(f"fetchd ended with status {service.status} before it was ready")
    until("/readyz answers 200", lambda: service.ask("GET", "/readyz").status == 200)


class EndedByItself(Exception):
    """The process ended without a kill."""


class Workload:
    """The clients of a service that is killed once during the run, and again at its end.

    kill: ends the process between two of its system calls.
    """

    def __init__(
        self, plan: Plan, service: Service, origin: Origin, receiver: Receiver, kill: Callable[[], None]
    ):  # fmt: skip
        self._plan = plan
        self._service = service
        self._origin = origin
        self._receiver = receiver
        self._kill = kill
        self._ids: dict[str, str] = {}
        self._received = Received()
        self._lock = threading.Lock()
        self._began = 0.0
        self._is_over = threading.Event()

    def run(self) -> Received:
        self._start()
        self._began = time.monotonic()
        self._declare()
        others = [threading.Thread(target=it, daemon=True) for it in (self._stream, self._watch)]
        for thread in others:
            thread.start()
        self._play()
        self._kill()
        self._is_over.set()
        for thread in others:
            thread.join()
        self._received.posts = self._receiver.posts
        return self._received

    def _start(self) -> None:
        begin = time.monotonic_ns()
        start(self._service)
        self._received.starts.append((begin, time.monotonic_ns()))

    # MARK: Actions of the clients

    def _play(self) -> None:
        plan = self._plan
        self._create(plan.first)
        self._at(2)
        self._patch("lasting", {"metadata": {"order": "lasting", "patch": 1}, "priority": "high"})
        self._act("pause", "paused")
        self._at(3)
        self._act("cancel", "cancelled", {"produce_resume_data": True})
        self._act("pause", "donor")
        self._create([plan.heir], {"resume_from": self._ids["donor"]})
        self._at(5)
        self._delete("small-0", "delete")
        self._delete("small-1", "keep")
        self._delete("doomed", "keep")
        self._act("retry", "cancelled")
        self._at(7)
        self._act("resume", "paused")
        self._create(plan.second)
        self._at(8.5)
        self._act("cancel", "dropped")
        self._create(plan.swarm)
        self._patch("lasting", {"metadata": {"order": "lasting", "patch": 2}})
        self._at(12.2)
        self._create(plan.late)
        self._at(15)
        self._kill()
        self._start()
        self._at(17)
        self._patch("lasting", {"destination": {"filename": "moved.bin"}})
        self._create(plan.third)
        self._at(FULL_LENGTH)

    def _stream(self) -> None:
        """Submits small jobs one by one, except for a while in which no file is finished and two parts grow."""
        for order in self._plan.stream:
            while self._is_between(12, 15):
                self._is_over.wait(0.05)
            if self._is_over.wait(0.35):
                return
            self._create([order])

    def _watch(self) -> None:
        """Reads the journal as it grows."""
        after = 0
        while not self._is_over.is_set():
            try:
                page = self._service.ask("GET", f"/v1/events?after={after}&limit=1000&wait=2").document
            except Unreachable:
                self._is_over.wait(0.05)
                continue
            now = time.monotonic_ns()
            self._received.sightings += [Sighting(now, event) for event in page["events"]]
            after = page["next_after"]

    # MARK: Requests

    def _at(self, second: float) -> None:
        time.sleep(max(0.0, self._began + second * self._plan.pace - time.monotonic()))

    def _is_between(self, first: float, last: float) -> bool:
        return first <= (time.monotonic() - self._began) / self._plan.pace < last

    def _declare(self) -> None:
        webhook = {"url": self._receiver.url, "events": ["job.*", "session.*"]}
        for session in SESSIONS:
            self._do(Request("declare", [], 0, f"/v1/sessions/{session}", CONFIGURATION), "PUT")
            self._do(Request("declare", [], 0, f"/v1/sessions/{session}/webhooks/consumer", webhook), "PUT")

    def _create(self, orders: list[Order], wish: dict[str, Any] | None = None) -> None:
        """Repeats the request with the same key until it is answered."""
        names = [order.name for order in orders]
        body = {"jobs": [order.body(self._origin.url) | (wish or {}) for order in orders]}
        request = Request("create", names, 0, "/v1/jobs/batch", body, key=names[0])
        while not self._do(request) and not self._is_over.is_set():
            time.sleep(0.05)
        self._ids |= zip(names, request.ids)

    def _act(self, action: str, name: str, body: Any = None) -> None:
        self._do(Request(action, [name], 0, f"/v1/jobs/{self._ids[name]}/{action}", body or {}))

    def _patch(self, name: str, body: Any) -> None:
        self._do(Request("patch", [name], 0, f"/v1/jobs/{self._ids[name]}", body), "PATCH")

    def _delete(self, name: str, file: str) -> None:
        path = f"/v1/jobs/{self._ids[name]}"
        if file == "delete":
            until(f"{name} has ended", lambda: self._service.ask("GET", path).document["finished_at"])
        self._do(Request("delete", [name], 0, f"{path}?file={file}"), "DELETE")

    def _do(self, request: Request, method: str = "POST") -> bool:
        """Returns whether the request was answered."""
        if request.sent == 0:
            request.sent = time.monotonic_ns()
            with self._lock:
                self._received.requests.append(request)
        if request.action != "create":
            request.ids = [self._ids[name] for name in request.names]
        try:
            headers = {"Idempotency-Key": request.key} if request.key else None
            answer = self._service.ask(method, request.path, request.body, headers)
        except Unreachable:
            return False
        request.done, request.status = time.monotonic_ns(), answer.status
        self._check(request, answer)
        return True

    def _check(self, request: Request, answer: Answer) -> None:
        if request.action == "create" and answer.status == 201:
            request.ids = [job["id"] for job in answer.document["jobs"]]
        elif request.action in ("pause", "cancel") and answer.status == 200:
            request.bytes_durable = answer.document["progress"]["bytes_durable"]
        elif answer.status >= 300 and answer.status != 409:
            raise AssertionError(f"{request.action} {request.path}: {answer.status} {answer.document}")
