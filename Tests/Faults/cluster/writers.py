"""Clients of one node that submit jobs and repeat each request, also at other nodes, until it is acknowledged. They run
in a process of their own: the threads of one Python process share one processor with the readers and the origin."""

from __future__ import annotations

import json
import multiprocessing
import random
import threading
import time
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path

from service import Unreachable

from .connection import Connection

# The seconds that a client waits for an answer. A node that was stopped by SIGSTOP does not answer for longer.
PATIENCE = 5
# The seconds for which the clients do not ask a node after a failure.
AVOIDANCE = 5
# The seconds after which a client that shall stop gives up a request.
LAST_PATIENCE = 60
# The share of acknowledged requests that are sent once more to another node.
REPEATED = 0.02
# The jobs do not start.
START = "2999-01-01T00:00:00Z"
SESSION = "queue"


@dataclass(frozen=True)
class Plan:
    """home: the index of the port that these clients ask first."""

    seed: int
    ports: tuple[int, ...]
    home: int
    writers: int
    file: Path


class Writers:
    """The process."""

    def __init__(self, plan: Plan):
        context = multiprocessing.get_context("spawn")
        self.file = plan.file
        self._stop = context.Event()
        self._process = context.Process(target=_run, args=(plan, self._stop), daemon=True)

    def start(self) -> None:
        self._process.start()

    def stop(self) -> None:
        """No further jobs are submitted."""
        self._stop.set()

    def join(self) -> int | None:
        """Returns the exit status."""
        self._process.join(LAST_PATIENCE + 30)
        return self._process.exitcode


def _run(plan: Plan, stop: Event) -> None:
    with Record(plan.file) as record:
        balancer = Balancer(len(plan.ports), plan.home)
        writers = [Writer(plan, number, balancer, record, stop) for number in range(plan.writers)]
        threads = [threading.Thread(target=writer.run) for writer in writers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Record:
    """The file of results: a line for each, of words between tabs (acknowledgements.py reads it)."""

    def __init__(self, file: Path):
        self._file = file.open("w", encoding="utf-8", buffering=1 << 16)
        self._lock = threading.Lock()

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()

    def write(self, *words: object) -> None:
        line = "\t".join(map(str, words)) + "\n"
        with self._lock:
            self._file.write(line)


class Balancer:
    """Chooses nodes as a load balancer does: after a failure, it leaves a node out for some time. Then one client tries
    it, and the others follow when it has answered."""

    def __init__(self, nodes: int, home: int):
        self._home = home
        self._lock = threading.Lock()
        # When each node may be tried again; None: it has answered.
        self._next_try: list[float | None] = [None] * nodes

    def choose(self, rng: random.Random) -> int:
        now = time.monotonic()
        with self._lock:
            usable = [node for node, moment in enumerate(self._next_try) if moment is None or moment <= now]
            node = self._home if self._home in usable else rng.choice(usable or range(len(self._next_try)))
            if self._next_try[node] is not None:
                self._next_try[node] = now + PATIENCE
            return node

    def note(self, node: int, has_answered: bool) -> None:
        with self._lock:
            self._next_try[node] = None if has_answered else time.monotonic() + AVOIDANCE


class Writer:
    def __init__(self, plan: Plan, number: int, balancer: Balancer, record: Record, stop: Event):
        self._name = f"{plan.home + 1}-{number}"
        self._rng = random.Random(f"{plan.seed}/writer/{self._name}")
        self._connections = [Connection(port, PATIENCE) for port in plan.ports]
        self._balancer = balancer
        self._record = record
        self._stop = stop

    def run(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            self._submit(f"{self._name}-{number}")
        for connection in self._connections:
            connection.close()

    def _submit(self, key: str) -> None:
        body = json.dumps(
            {"session": SESSION, "url": "http://127.0.0.1:9/never", "not_before": START, "metadata": {"key": key}}
        ).encode()
        tries = 0
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            node = self._balancer.choose(self._rng)
            job = self._try(node, key, body)
            self._balancer.note(node, has_answered=job is not None)
            if job:
                self._record.write("acknowledged", f"{time.monotonic():.4f}", key, job, node + 1, tries)
                if self._rng.random() < REPEATED:
                    self._repeat(key, body, besides=node)
                return
            tries += 1
            time.sleep(self._rng.uniform(0.02, 0.1) * min(tries, 5))
            if deadline is None and self._stop.is_set():
                deadline = time.monotonic() + LAST_PATIENCE
        self._record.write("unanswered", key)

    def _try(self, node: int, key: str, body: bytes) -> str | None:
        """Returns the job; None if there was no answer, or the node is not available."""
        try:
            status, answer = self._connections[node].post("/v1/jobs", body, {"Idempotency-Key": key})
        except Unreachable:
            return None
        if status == 201:
            return json.loads(answer)["id"]
        if status != 503:
            self._record.write("refused", key, node + 1, status, answer[:500].decode(errors="replace"))
        return None

    def _repeat(self, key: str, body: bytes, besides: int) -> None:
        """The other node remembers the key."""
        node = self._rng.choice([node for node in range(len(self._connections)) if node != besides])
        if job := self._try(node, key, body):
            self._record.write("repeated", key, job, node + 1)
