"""The end of a soak: all faults stop, waiting jobs get what they wait for, and the service finishes all its work."""

from __future__ import annotations

import time

from .actor import Actor
from .meddler import help_job
from .weather import bring_back

# The number of seconds without progress after which the remaining work counts as stuck.
PATIENCE = 60
# The time limit for all of it, in seconds.
AT_MOST = 300
OUTSTANDING = ("queued", "running", "waiting", "paused")


class Settling(Actor):
    """Not a thread: `settle` returns when no work is left."""

    name, pause = "settling", (0, 0)

    def settle(self) -> None:
        world = self.world
        world.origin.calm()
        for endpoint in world.ledger.endpoints:
            endpoint.mode = "ok"
            endpoint.receiver.listener.open()
        for session in world.ledger.sessions:
            if not session.is_guest:
                session.configuration.pop("rate_limit_bytes_per_second", None)
                world.client.ask("PUT", f"/v1/sessions/{session.name}", session.configuration)
                for endpoint in session.endpoints:
                    bring_back(world, endpoint)
        self._lift_limits()
        self._wait_for_all()

    def _lift_limits(self) -> None:
        for state in OUTSTANDING:
            for document in list(self.world.client.pages(f"/v1/jobs?state={state}", "jobs")):
                job = self.world.ledger.find(document["id"])
                patch = {"rate_limit_bytes_per_second": None, "not_before": None}
                if job:
                    self.world.client.ask_of(job, "PATCH", "", patch)

    def _wait_for_all(self) -> None:
        """Waits as long as there is progress."""
        left, since = "", time.monotonic()
        deadline = since + AT_MOST
        while not self.world.is_over.is_set():
            now = self._left()
            if not now:
                return
            if now != left:
                left, since = now, time.monotonic()
            if time.monotonic() > min(deadline, since + PATIENCE):
                self.world.tally.find("stuck", left)
                return
            self._push()
            time.sleep(0.3)

    def _left(self) -> str:
        """A text about the remaining work; empty if there is none."""
        stats = self.world.client.stats
        sessions = self.world.client.ask("GET", "/v1/sessions").document["sessions"]
        left = {state: stats["jobs"][state] for state in OUTSTANDING if stats["jobs"][state]}
        if stats["deliveries_pending"]:
            left["deliveries pending"] = stats["deliveries_pending"]
        if busy := [session["id"] for session in sessions if session["state"] != "idle" or session["finish_due_at"]]:
            left["sessions"] = busy
        # The bytes of a running transfer are progress, too.
        if left:
            left["bytes received"] = stats["bytes_received"]
        return ", ".join(f"{name}: {value}" for name, value in left.items())

    def _push(self) -> None:
        client = self.world.client
        for state in ("paused", "waiting"):
            for document in client.ask("GET", f"/v1/jobs?state={state}&limit=1000").document["jobs"]:
                if job := self.world.ledger.find(document["id"]):
                    help_job(self, job, document)
