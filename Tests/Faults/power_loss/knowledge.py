"""The answers and posts that clients and receivers had received from the service at a moment.

Everything that was received before the moment is a promise. A request without an answer may or may not take effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from receiver import Post

from .workload import Deed, Plan, Told


@dataclass
class Knowledge:
    """The received answers and posts at a moment, in nanoseconds of the monotonic clock."""

    plan: Plan
    told: Told
    moment: int

    @cached_property
    def deeds(self) -> list[Deed]:
        """The requests that were sent."""
        return [deed for deed in self.told.deeds if deed.sent < self.moment]

    @cached_property
    def posts(self) -> list[Post]:
        return [post for post in self.told.posts if post.time < self.moment]

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        return [sighting.event for sighting in self.told.sightings if sighting.time < self.moment]

    def is_acknowledged(self, deed: Deed) -> bool:
        return deed.is_acknowledged(self.moment)

    def of(self, job: str, *actions: str) -> list[Deed]:
        return [deed for deed in self.deeds if deed.action in actions and job in deed.ids]

    def is_adopted(self, job: str) -> bool:
        """Whether another job was to take over its part."""
        creations = [deed for deed in self.deeds if deed.action == "create"]
        return any(body.get("resume_from") == job for deed in creations for body in deed.body["jobs"])

    def is_sent(self, action: str, path_end: str, job: str) -> bool:
        return any(deed.path.endswith(path_end) for deed in self.of(job, action))

    @cached_property
    def acknowledged_jobs(self) -> dict[str, str]:
        """The names of the jobs, by identifier."""
        creations = [deed for deed in self.deeds if deed.action == "create" and self.is_acknowledged(deed)]
        return {id: name for deed in creations for id, name in zip(deed.ids, deed.names)}

    def content(self, name: str) -> bytes | None:
        resource = self.plan.orders[name].resource
        return resource.content if resource else None

    def content_at(self, url: str) -> bytes | None:
        return self.content(url.rpartition("/")[2])
