"""The state that all threads of the soak share."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from origin import Origin
from receiver import Receiver
from service import Answer, Service, Unreachable
from soak.client import Client
from soak.ledger import Ledger
from soak.tally import Tally

from .database import Database
from .downloads import Downloads
from .node import Node
from .timeline import Timeline


@dataclass
class World:
    seed: int
    folder: Path
    tally: Tally
    timeline: Timeline
    database: Database
    nodes: list[Node]
    origin: Origin
    receiver: Receiver
    downloads: Downloads
    # Set when a problem makes it pointless to continue.
    is_over: threading.Event = field(default_factory=threading.Event)
    # Set when no further fault shall begin, and those under way shall end.
    is_calm: threading.Event = field(default_factory=threading.Event)

    def client(self, node: Node | None = None) -> Client:
        """A client of this node, or of all: it sends each request to a random node that runs, and repeats it at
        another one if there is no answer."""
        service: Any = node.service if node else AnyNode(self.nodes)
        return Client(service, Ledger(), self.tally)

    def states(self) -> dict[str, dict[str, Any]] | None:
        """`GET /v1/nodes` by the URLs of the nodes, from any node that answers."""
        for node in [node for node in self.nodes if node.is_free]:
            if (answer := answered(node.service, "/v1/nodes", patience=2)) and answer.status == 200:
                return {state["url"]: state for state in answer.document["nodes"]}
        return None


class AnyNode:
    """Answers as a service does."""

    def __init__(self, nodes: list[Node]):
        self._nodes = nodes

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, patience: float = 30
    ) -> Answer:
        free = [node for node in self._nodes if node.is_free] or self._nodes
        return random.choice(free).service.ask(method, path, body, headers, min(patience, 10))


def answered(service: Service, path: str, patience: float) -> Answer | None:
    try:
        return service.ask("GET", path, patience=patience)
    except Unreachable:
        return None
