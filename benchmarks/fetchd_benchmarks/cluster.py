"""Several fetchds that share one PostgreSQL database: the nodes of a cluster."""

from __future__ import annotations

import base64
import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from .environment import fail
from .fetchd import Fetchd, fetchd
from .postgres import Postgres


@contextlib.contextmanager
def cluster(
    program: Path, folder: Path, database: Postgres, *, nodes: int, jobs: int, connections: int
) -> Iterator[list[Fetchd]]:
    """Each node has its own folders. `jobs` is the limit of each node, `connections` that of all nodes to one host."""
    key = folder / "fetchd.key"
    key.touch(0o600)
    key.write_bytes(base64.b64encode(os.urandom(32)))
    shared = ("--store", database.url, "--key-file", str(key))
    with contextlib.ExitStack() as stack:
        services = []
        for number in range(nodes):
            own = folder / f"node-{number + 1}"
            own.mkdir()
            service = fetchd(program, own, *shared, jobs=jobs, connections=connections, is_node=True)
            services.append(stack.enter_context(service))
        wait_until_complete(services)
        yield services


def wait_until_complete(services: list[Fetchd], patience: float = 60) -> None:
    """Returns when each node knows all nodes, and one of them leads."""
    deadline = time.monotonic() + patience
    while not all(is_complete(service, len(services)) for service in services):
        if time.monotonic() > deadline:
            fail(f"the nodes do not know each other: {services[0].api.json('GET', '/v1/nodes')}")
        time.sleep(0.01)


def is_complete(service: Fetchd, count: int) -> bool:
    nodes = service.api.json("GET", "/v1/nodes")["nodes"]
    return sum(node["state"] == "running" for node in nodes) == count and any(node["is_leader"] for node in nodes)
