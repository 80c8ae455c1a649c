"""Webhook endpoints, with outages, that record every post."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import random
import threading
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from .listener import Conversation, Listener, Request, Reset, head
from .tally import Tally


@dataclass
class Post:
    """One attempt at one delivery. `arrived` and `accepted` are moments of one clock that only counts."""

    webhook_id: str
    event: int
    type: str
    data_digest: str
    arrived: int
    accepted: int | None = None


def digest_of(data: dict[str, Any]) -> str:
    return hashlib.sha1(json.dumps(data, sort_keys=True).encode()).hexdigest()


def new_secret(rng: random.Random) -> str:
    return "whsec_" + base64.b64encode(rng.randbytes(32)).decode()


@dataclass(eq=False)
class Endpoint:
    """The endpoint of one webhook of one session."""

    session: str
    name: str
    events: list[str]
    secrets: list[str]
    tally: Tally
    # ok, error (500), throttled (429), slow, lost (accepted, but the answer is lost), gone (410, once)
    mode: str = "ok"
    posts: list[Post] = field(default_factory=list)
    # Deliveries of events up to this one were cancelled when the webhook was disabled, and then requested again.
    recovered_through: int = 0
    receiver: Receiver | None = None

    def __post_init__(self) -> None:
        self._clock = itertools.count(1)
        self._lock = threading.Lock()

    @property
    def path(self) -> str:
        return f"/{self.session}/{self.name}"

    def wants(self, type: str) -> bool:
        return any(fnmatchcase(type, pattern) for pattern in self.events)

    @property
    def accepted_events(self) -> set[int]:
        with self._lock:
            return {post.event for post in self.posts if post.accepted is not None}

    def answer(self, request: Request, conversation: Conversation) -> None:
        """Accepts or refuses a post, depending on the mode."""
        mode, post = self.mode, self._taken(request)
        self.tally.count("webhook posts")
        if mode != "ok":
            self.tally.count(f"webhook fault: {mode}")
        match mode:
            case "error":
                return _answer(conversation, "500 Internal Server Error")
            case "throttled":
                return _answer(conversation, "429 Too Many Requests", {"Retry-After": "1"})
            case "lost":
                raise Reset
            case "gone":
                self.mode = "ok"
                return _answer(conversation, "410 Gone")
            case "slow":
                time.sleep(1.2)
        # Before the answer is sent: the service may act on it at once.
        if post:
            with self._lock:
                post.accepted = next(self._clock)
        _answer(conversation, "204 No Content")

    def _taken(self, request: Request) -> Post | None:
        webhook_id = request.headers.get("webhook-id", "")
        if not self._is_signed(request, webhook_id):
            self.tally.find("webhook signature", f"{self.path} was posted {webhook_id} without a valid signature")
            return None
        document = json.loads(request.body)
        event = document["data"].pop("event")
        for known in ("session", "job"):
            document["data"].pop(known)
        with self._lock:
            post = Post(webhook_id, event, document["type"], digest_of(document["data"]), next(self._clock))
            self.posts.append(post)
        return post

    def _is_signed(self, request: Request, webhook_id: str) -> bool:
        timestamp = request.headers.get("webhook-timestamp", "0")
        if abs(int(timestamp) - time.time()) > 60:
            return False
        signed = f"{webhook_id}.{timestamp}.".encode() + request.body
        valid = {
            "v1," + base64.b64encode(hmac.digest(base64.b64decode(s.removeprefix("whsec_")), signed, "sha256")).decode()
            for s in self.secrets
        }
        return not valid.isdisjoint(request.headers.get("webhook-signature", "").split())


def _answer(conversation: Conversation, status: str, fields: dict[str, str] | None = None) -> None:
    fields = (fields or {}) | ({} if status.startswith("204") else {"Content-Length": "0"})
    conversation.send(head(status, fields))


class Receiver:
    """A port with endpoints behind it."""

    def __init__(self) -> None:
        self._endpoints: dict[str, Endpoint] = {}
        self.listener = Listener(self._converse)

    def add(self, endpoint: Endpoint) -> None:
        self._endpoints[endpoint.path] = endpoint
        endpoint.receiver = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.port}"

    def _converse(self, conversation: Conversation) -> None:
        while (request := conversation.request()) is not None:
            self._endpoints[request.target].answer(request, conversation)
