"""The answers and posts that clients and receivers had received from the service at a moment.

Everything that was received before the moment is a promise. A request without an answer may or may not take effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from receiver import Post

from .workload import Request, Plan, Received


@dataclass
class Knowledge:
    """The received answers and posts at a moment, in nanoseconds of the monotonic clock."""

    plan: Plan
    received: Received
    moment: int

    @cached_property
    def requests(self) -> list[Request]:
        """The requests that were sent."""
        return [request for request in self.received.requests if request.sent < self.moment]

    @cached_property
    def posts(self) -> list[Post]:
        return [post for post in self.received.posts if post.time < self.moment]

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        return [sighting.event for sighting in self.received.sightings if sighting.time < self.moment]

    def is_acknowledged(self, request: Request) -> bool:
        return request.is_acknowledged(self.moment)

    def of(self, job: str, *actions: str) -> list[Request]:
        return [request for request in self.requests if request.action in actions and job in request.ids]

    def is_adopted(self, job: str) -> bool:
        """Whether another job was to take over its part."""
        creations = [request for request in self.requests if request.action == "create"]
        return any(body.get("resume_from") == job for request in creations for body in request.body["jobs"])

    def is_sent(self, action: str, path_end: str, job: str) -> bool:
        return any(request.path.endswith(path_end) for request in self.of(job, action))

    @cached_property
    def acknowledged_jobs(self) -> dict[str, str]:
        """The names of the jobs, by identifier."""
        creations = [request for request in self.requests if request.action == "create" and self.is_acknowledged(request)]
        return {id: name for request in creations for id, name in zip(request.ids, request.names)}

    def content(self, name: str) -> bytes | None:
        resource = self.plan.orders[name].resource
        return resource.content if resource else None

    def content_at(self, url: str) -> bytes | None:
        return self.content(url.rpartition("/")[2])
