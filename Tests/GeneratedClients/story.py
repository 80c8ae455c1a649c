#!/usr/bin/env python3
"""Tests/GeneratedClients/story.py URL TOKEN ORIGIN WEBHOOK SHA256

A whole session through the client that was generated from openapi.yaml (fetchd_client, made by generate.py): declared,
filled with a batch, followed to its finish, read, acknowledged and ended. ORIGIN serves /holiday.jpg, whose digest is
SHA256; WEBHOOK takes what is posted to it. Everything is asked for and looked at as typed values; whatever is not what
it should be ends the story.
"""

from __future__ import annotations

import datetime
import hashlib
import sys
import uuid

from fetchd_client import AuthenticatedClient, models
from fetchd_client.api.events import list_events
from fetchd_client.api.jobs import (
    cancel_job, change_job, create_job, create_jobs, delete_job, get_job, get_job_file, get_resume_data, list_jobs,
    pause_job, resume_job, retry_job,
)  # fmt: skip
from fetchd_client.api.service import get_description, get_liveness, get_readiness, get_stats
from fetchd_client.api.sessions import acknowledge_session, declare_session, delete_session, get_session, list_sessions
from fetchd_client.api.webhooks import (
    declare_webhook, delete_webhook, get_delivery, get_webhook, list_deliveries, list_webhooks, rotate_webhook_secret,
    test_webhook,
)  # fmt: skip
from fetchd_client.types import UNSET

# Waits of 30 seconds each, for a story that fails.
PATIENCE = 4
ENDS = (models.JobState.SUCCEEDED, models.JobState.FAILED, models.JobState.CANCELLED)


def main(url: str, token: str, origin: str, hook: str, sha256: str) -> None:
    client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True, timeout=60)
    with client:
        ask_how_it_is(client)
        declare(client, hook)
        good, missing = submit(client, origin)
        read_the_good_one(client, good, sha256)
        read_the_missing_one(client, missing)
        finish = read_the_journal(client, good.id, missing.id)
        read_the_deliveries(client, finish)
        drive(client, origin)
        explain_a_mistake(client)
        end(client, finish, good.id)
    print("a whole session")


def require(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def typed(answer: object, kind: type) -> object:
    """The answer, if it is of that kind; a problem says what the matter is."""
    require(isinstance(answer, kind), f"expected {kind.__name__}: {answer}")
    return answer


def ask_how_it_is(client: AuthenticatedClient) -> None:
    typed(get_liveness.sync(client=client), models.Liveness)
    typed(get_readiness.sync(client=client), models.Readiness)
    require("openapi: 3.1" in get_description.sync(client=client), "the description is not what it should be")
    require(typed(get_stats.sync(client=client), models.Stats).slots.max_ > 0, "there are no slots")


def declare(client: AuthenticatedClient, hook: str) -> None:
    wish = models.SessionConfigurationInput(
        directory="photos",
        priority=models.Priority.HIGH,
        wait_for=[models.WaitFor.SPACE, models.WaitFor.CREDENTIALS],
        retry=models.RetryPolicyInput(max_attempts=2, base_seconds=0),
        finish_delay_seconds=0,
    )
    session = typed(declare_session.sync("photos", client=client, body=wish), models.Session)
    require(session.state is models.SessionState.IDLE, f"it is {session.state}")
    require(session.configuration.priority is models.Priority.HIGH, "the priority is another")
    require(session.configuration.timeouts.request_seconds == 60, "the defaults are not filled in")
    require(session.configuration.proxy is None and session.finish_due_at is None, "what is not there is not null")

    wanted = models.WebhookInput(url=hook, events=[models.EventPattern.JOB, models.EventPattern.SESSION])
    webhook = typed(declare_webhook.sync("photos", "consumer", client=client, body=wanted), models.WebhookWithSecret)
    require(webhook.secret.startswith("whsec_"), "there is no secret")
    again = typed(rotate_webhook_secret.sync("photos", "consumer", client=client, body=models.SecretInput()), models.WebhookWithSecret)
    require(again.secret != webhook.secret, "the secret is the same")
    require(
        typed(get_webhook.sync("photos", "consumer", client=client), models.Webhook).state is models.WebhookState.ENABLED,
        "the webhook is not enabled",
    )
    require(len(typed(list_webhooks.sync("photos", client=client), models.WebhookList).webhooks) == 1, "there are others")


def submit(client: AuthenticatedClient, origin: str) -> tuple[models.Job, models.Job]:
    """A batch, twice under one key: the second time creates nothing."""
    orders = models.JobsInput(
        jobs=[
            models.JobInput(url=f"{origin}/holiday.jpg", session="photos", tags=["holiday"]),
            models.JobInput(url=f"{origin}/missing.jpg", session="photos", digest=models.Digest.NONE),
        ]
    )
    key = str(uuid.uuid4())
    created = typed(create_jobs.sync(client=client, body=orders, idempotency_key=key), models.CreatedJobs)
    repeated = typed(create_jobs.sync(client=client, body=orders, idempotency_key=key), models.CreatedJobs)
    require([job.id for job in created.jobs] == [job.id for job in repeated.jobs], "the batch was created twice")
    require(all(job.state is models.JobState.QUEUED for job in created.jobs), "they are not queued")
    return tuple(ended(client, job.id) for job in created.jobs)


def ended(client: AuthenticatedClient, id: str) -> models.Job:
    return until(client, id, lambda job: job.state in ENDS)


def until(client: AuthenticatedClient, id: str, holds) -> models.Job:
    """Waits for changes of a job until it is as wanted."""
    tag = UNSET
    for _ in range(PATIENCE * 100):
        answer = get_job.sync_detailed(id, client=client, if_none_match=tag, prefer="wait=30")
        tag = answer.headers["ETag"]
        if answer.status_code == 200 and holds(job := typed(answer.parsed, models.Job)):
            return job
    raise AssertionError(f"{id} never was as wanted")


def read_the_good_one(client: AuthenticatedClient, job: models.Job, sha256: str) -> None:
    require(job.state is models.JobState.SUCCEEDED, f"it is {job.state}: {job.failure}")
    require(isinstance(job.finished_at, datetime.datetime) and job.finished_at.tzinfo, "its end is no time")
    require(job.phase is None and job.reason is None and job.failure is None, "it has what only others have")
    require(job.progress.fraction == 1 and job.progress.bytes_per_second is None, "its progress is not that of an end")
    require(isinstance(job.file, models.FinishedFile) and job.file.sha256 == sha256, "the digest is another")
    require(job.file.path == "photos/holiday.jpg", f"it is at {job.file.path}")
    require(isinstance(job.receipt, models.Receipt) and job.receipt.etag == '"v1"', "the receipt lacks the entity tag")
    require(job.receipt.length_verified and job.receipt.timings.total_seconds >= 0, "the receipt proves nothing")
    require(job.resume.decision is models.ResumeDecision.FRESH and job.resume.why is None, "it did not begin fresh")
    content = get_job_file.sync(job.id, client=client).payload.read()
    require(hashlib.sha256(content).hexdigest() == sha256, "the content is another")
    start = get_job_file.sync(job.id, client=client, range_="bytes=0-99").payload.read()
    require(start == content[:100], "the range is another")


def read_the_missing_one(client: AuthenticatedClient, job: models.Job) -> None:
    require(job.state is models.JobState.FAILED and job.file is None, f"it is {job.state}")
    require(isinstance(job.failure, models.Failure), "it has no failure")
    require(job.failure.code is models.FailureCode.BAD_STATUS and job.failure.status == 404, f"it is {job.failure}")
    page = typed(list_jobs.sync(client=client, session="photos", state=models.JobState.FAILED), models.JobList)
    require([found.id for found in page.jobs] == [job.id] and page.next_cursor is None, "the list is another")


def read_the_journal(client: AuthenticatedClient, *jobs: str) -> models.Event:
    """Page by page, to the finish."""
    events, after = [], 0
    for _ in range(PATIENCE):
        page = typed(list_events.sync(client=client, session="photos", after=after, wait=30), models.EventList)
        events += page.events
        after = page.next_after
        if events[-1].type_ is models.EventType.SESSION_FINISHED:
            break
    require([event.id for event in events] == sorted({event.id for event in events}), "the events are not in order")
    require({event.job for event in events if event.job} == set(jobs), "the events are of other jobs")
    ends = [event for event in events if event.type_ in (models.EventType.JOB_SUCCEEDED, models.EventType.JOB_FAILED)]
    require(len(ends) == 2, "the ends are not one for each job")
    snapshot = models.JobEnded.from_dict(ends[0].data.to_dict()).snapshot
    require(snapshot.id in jobs and snapshot.state in ENDS, "the snapshot is another")
    finish = events[-1]
    data = models.SessionFinished.from_dict(finish.data.to_dict())
    require(data.outcome is models.BatchOutcome.PARTLY_FAILED, f"it is {data.outcome}")
    require((data.counts.succeeded, data.counts.failed, data.counts.cancelled) == (1, 1, 0), f"it counts {data.counts}")
    require(data.failures[0].code is models.FailureCode.BAD_STATUS, "the failure is not told")
    return finish


def read_the_deliveries(client: AuthenticatedClient, finish: models.Event) -> None:
    tried = typed(test_webhook.sync("photos", "consumer", client=client, body=models.NoOptions()), models.Delivery)
    require(tried.type_ is models.EventType.WEBHOOK_TEST, "it is no test")
    for _ in range(600):
        page = typed(list_deliveries.sync("photos", "consumer", client=client), models.DeliveryList)
        if all(delivery.state is models.DeliveryState.ACKNOWLEDGED for delivery in page.deliveries):
            break
        # Nothing can be waited for here but the journal, to which deliveries add nothing.
        list_events.sync(client=client, after=finish.id, wait=1, type_=models.EventPattern.WEBHOOK_DISABLED)
    one = typed(get_delivery.sync(page.deliveries[0].id, client=client), models.Delivery)
    require(one.state is models.DeliveryState.ACKNOWLEDGED and one.next_attempt_at is None, f"it is {one.state}")
    require(one.attempts[0].error is None and one.attempts[0].status // 100 == 2, f"it went {one.attempts}")


def drive(client: AuthenticatedClient, origin: str) -> None:
    """One that begins in a thousand years, and is stopped, changed, let go on, and stopped for good."""
    far = datetime.datetime(2999, 1, 1, tzinfo=datetime.timezone.utc)
    order = models.JobInput(
        url=f"{origin}/holiday.jpg",
        session="photos",
        not_before=far,
        destination=models.DestinationInput(on_conflict=models.ConflictRule.REPLACE),
        credentials=models.CredentialsInput(type_=models.CredentialsType.BEARER, token="secret"),
    )
    job = typed(create_job.sync(client=client, body=order), models.Job)
    require(job.not_before == far, f"it begins {job.not_before}")
    require(job.destination.on_conflict is models.ConflictRule.REPLACE, "the rule is another")
    paused = typed(pause_job.sync(job.id, client=client, body=models.NoOptions()), models.Job)
    require(paused.state is models.JobState.PAUSED, f"it is {paused.state}")
    patch = models.JobPatch(priority=models.Priority.LOW, metadata=models.Metadata.from_dict({"album": 7}))
    changed = typed(change_job.sync(job.id, client=client, body=patch, if_match=f'"{paused.revision}"'), models.Job)
    require(changed.priority is models.Priority.LOW and changed.metadata["album"] == 7, "it was not changed")
    late = typed(change_job.sync(job.id, client=client, body=patch, if_match=f'"{paused.revision}"'), models.Problem)
    require(late.type_ == "/problems/precondition-failed" and late.status == 412, f"it is {late.type_}")
    require(
        typed(resume_job.sync(job.id, client=client, body=models.NoOptions()), models.Job).state is models.JobState.QUEUED,
        "it does not go on",
    )
    cancelled = typed(cancel_job.sync(job.id, client=client, body=models.CancelOptions(produce_resume_data=True)), models.Job)
    require(cancelled.state is models.JobState.CANCELLED, f"it is {cancelled.state}")
    require(typed(get_resume_data.sync(job.id, client=client), models.Problem).status == 404, "it has bytes")
    require(
        typed(retry_job.sync(job.id, client=client, body=models.NoOptions()), models.Job).state is models.JobState.QUEUED,
        "it was not begun again",
    )
    require(delete_job.sync_detailed(job.id, client=client, file=models.FileChoice.DELETE).status_code == 204, "it stays")


def explain_a_mistake(client: AuthenticatedClient) -> None:
    problem = typed(create_job.sync(client=client, body=models.JobInput(url="ftp://host/file")), models.Problem)
    require(problem.status == 422 and problem.pointer == "/url", f"it is {problem}")
    require(problem.type_ == "/problems/invalid-value", f"it is {problem.type_}")


def end(client: AuthenticatedClient, finish: models.Event, job: str) -> None:
    body = models.Acknowledgement(through=finish.id)
    session = typed(acknowledge_session.sync("photos", client=client, body=body), models.Session)
    require(session.acknowledged_through == finish.id, "it is not acknowledged")
    require(session.counts.succeeded == 1 and session.counts.failed == 1, f"it counts {session.counts}")
    require(delete_job.sync_detailed(job, client=client).status_code == 204, "the job was not forgotten")
    require(typed(get_job.sync(job, client=client), models.Problem).status == 404, "the job is still there")
    require(delete_webhook.sync_detailed("photos", "consumer", client=client).status_code == 204, "the webhook stays")
    gone = delete_session.sync_detailed("photos", client=client, outstanding=models.OutstandingChoice.CANCEL)
    require(gone.status_code in (202, 204), f"deleting the session answered {gone.status_code}")
    for _ in range(PATIENCE * 30):
        if typed_or_gone(client) is None:
            break
        list_events.sync(client=client, after=finish.id, session="photos", wait=1)
    names = [session.id for session in typed(list_sessions.sync(client=client), models.SessionList).sessions]
    require(names == ["default"], f"there are {names}")


def typed_or_gone(client: AuthenticatedClient) -> models.Session | None:
    answer = get_session.sync("photos", client=client)
    if isinstance(answer, models.Problem):
        require(answer.status == 404, f"expected a session or none: {answer}")
        return None
    return typed(answer, models.Session)


if __name__ == "__main__":
    main(*sys.argv[1:])
