"""Clients that pause, resume, patch, cancel, retry and delete single jobs and whole sessions."""

from __future__ import annotations

from typing import Any

from .actor import Actor
from .ledger import TERMINAL, Job
from .orders import random_configuration, random_destination, soon
from .resource import PASSWORD, USER


class Meddler(Actor):
    name, pause = "meddler", (0.02, 0.25)

    def act(self) -> None:
        recent = self.world.ledger.present[-80:]
        if not recent:
            return
        job = self.rng.choice(recent)
        if not job.lock.acquire(blocking=False):
            return
        try:
            actions = [self.pause_job, self.resume, self.cancel, self.retry, self.patch, self.look, self.delete]
            action = self.rng.choices(actions, [3, 3, 2, 4, 4, 2, 0.5])[0]
            action(job)
        finally:
            job.lock.release()

    def pause_job(self, job: Job) -> None:
        if self.world.client.ask_of(job, "POST", "/pause").is_success:
            self.world.tally.count("pauses")

    def resume(self, job: Job) -> None:
        if self.world.client.ask_of(job, "POST", "/resume").is_success:
            self.world.tally.count("resumes")

    def cancel(self, job: Job) -> None:
        body = self.rng.choice([{}, {"produce_resume_data": True}])
        if self.world.client.ask_of(job, "POST", "/cancel", body).is_success:
            self.world.tally.count("cancels")

    def retry(self, job: Job) -> None:
        retry(self, job)

    def patch(self, job: Job) -> None:
        if self.world.client.ask_of(job, "PATCH", "", self._patch(job), allowed=(404, 409)).is_success:
            self.world.tally.count("patches")

    def _patch(self, job: Job) -> dict[str, Any]:
        kind = self.rng.randrange(6)
        match kind:
            case 0:
                return {"priority": self.rng.choice(["high", "normal", "low"])}
            case 1:
                return {"rate_limit_bytes_per_second": self.rng.choice([None, self.rng.randint(50_000, 2_000_000)])}
            case 2:
                return {"connections": self.rng.randint(1, 6), "metadata": {"patched": True}}
            case 3:
                if destination := random_destination(self.rng):
                    return {"destination": destination}
                return {"not_before": soon(1)}
            case 4:
                return {"credentials": {"type": "basic", "username": USER, "password": PASSWORD}}
            case _:
                other = self.world.origin.add(self.rng)
                if job.has_checksum or self.rng.random() < 0.7:
                    return {"url": job.resources[0].url}
                # Recorded before the request, because the job may download it before the answer arrives.
                job.resources.append(other)
                return {"url": other.url}

    def look(self, job: Job) -> None:
        self.world.client.job(job)

    def delete(self, job: Job) -> None:
        delete(self, job, "keep")


def retry(actor: Actor, job: Job) -> None:
    """Exactly once, also where a kill hides what came of it: a run ends at a moment of its own, and `finished_at` tells
    whether it is still the same run."""
    client = actor.world.client
    document = client.job(job)
    if not document or document["state"] not in ("failed", "cancelled"):
        return
    while True:
        answer = client.ask_of(job, "POST", "/retry", headers={"If-Match": f'"{document["revision"]}"'},
                               allowed=(404, 409, 412))  # fmt: skip
        if answer.is_success:
            # With the revision of an ended job, only one attempt can succeed.
            job.runs += 1
            actor.world.tally.count("retries")
        elif answer.is_repeated:
            now = client.job(job)
            if now and now["finished_at"] == document["finished_at"]:
                document = now
                continue
            if now:
                job.runs += 1
                actor.world.tally.count("retries")
        return


def delete(actor: Actor, job: Job, file: str) -> None:
    """Records the choice before the request, because the file may be deleted before the answer arrives."""
    if job.deleted != "no":
        return
    job.deleted = file
    answer = actor.world.client.ask_of(job, "DELETE", f"?file={file}")
    job.is_deletion_repeated = answer.is_repeated
    if answer.status == 409:
        job.deleted = "no"
        return
    if answer.status == 404 and not answer.is_repeated:
        if not actor.world.ledger.session(job.session).is_ending:
            actor.world.tally.find("job gone", f"{job.id} was not there to be deleted")
        job.deleted = "session"
    actor.world.ledger.remove(job)
    actor.world.tally.count("jobs deleted")


class Gardener(Actor):
    """Helps those that wait, resumes those that were forgotten, and deletes old jobs, so that a soak of any length has
    about as many jobs as another."""

    name, pause = "gardener", (0.3, 1)
    # The number of jobs that are kept, including ended ones.
    most = 200

    def act(self) -> None:
        for state in ("waiting", "paused"):
            listed = self.world.client.ask("GET", f"/v1/jobs?state={state}&limit=50").document["jobs"]
            for document in self.rng.sample(listed, min(4, len(listed))):
                job = self.world.ledger.find(document["id"])
                if job and job.lock.acquire(blocking=False):
                    try:
                        help_job(self, job, document)
                    finally:
                        job.lock.release()
        for job in self.world.ledger.present[: max(0, self.world.ledger.number_present - self.most)][:12]:
            if job.lock.acquire(blocking=False):
                try:
                    self._weed(job)
                finally:
                    job.lock.release()

    def _weed(self, job: Job) -> None:
        document = self.world.client.job(job)
        if document is None:
            self.world.ledger.remove(job)
        elif document["state"] in TERMINAL:
            delete(self, job, self.rng.choice(["delete", "delete", "delete", "keep"]))
        else:
            self.world.client.ask_of(job, "POST", "/resume")


def help_job(actor: Actor, job: Job, document: dict[str, Any]) -> None:
    client = actor.world.client
    match document["reason"]:
        case "credentials":
            body = {"credentials": {"type": "basic", "username": USER, "password": PASSWORD}}
        case "url":
            present = [resource for resource in job.resources if not resource.habits.is_missing]
            if not present:
                client.ask_of(job, "POST", "/cancel")
                return
            body = {"url": present[-1].url}
        case _:
            client.ask_of(job, "POST", "/resume")
            return
    if client.ask_of(job, "PATCH", "", body, allowed=(404, 409)).is_success:
        actor.world.tally.count("helped")


class Steward(Actor):
    """Performs actions on whole sessions."""

    name, pause = "steward", (0.5, 4)

    def act(self) -> None:
        client, tally = self.world.client, self.world.tally
        # Guest sessions end by themselves. Declaring one again would create a second session of that name.
        session = self.rng.choice([s for s in self.world.ledger.sessions if not s.is_guest])
        path = f"/v1/sessions/{session.name}"
        match self.rng.choices(["pause", "cancel", "configure", "acknowledge", "look"], [3, 1, 2, 2, 2])[0]:
            case "pause":
                client.ask("POST", f"{path}/pause")
                self.rest(self.rng.uniform(0, 1))
                client.ask("POST", f"{path}/resume")
                tally.count("sessions paused and resumed")
            case "cancel":
                client.ask("POST", f"{path}/cancel")
                tally.count("sessions cancelled")
            case "configure":
                session.configuration = random_configuration(self.rng)
                client.ask("PUT", path, session.configuration)
                tally.count("sessions configured")
            case "acknowledge":
                through = client.ask("GET", path).document["last_event"]
                client.ask("POST", f"{path}/acknowledge", {"through": through})
                tally.count("acknowledgements")
            case "look":
                client.ask("PUT", path)
