"""story.py URL TOKEN ORIGIN WEBHOOK SHA256

A whole session through the client that openapi-generator makes for Python. scripts/check clients explains the arguments.
"""

from __future__ import annotations

import hashlib
import json
import sys

import fetchd


def main(url: str, token: str, origin: str, webhook: str, sha256: str) -> None:
    with fetchd.ApiClient(fetchd.Configuration(host=url, access_token=token)) as client:
        jobs, sessions, events = fetchd.JobsApi(client), fetchd.SessionsApi(client), fetchd.EventsApi(client)
        configuration = fetchd.SessionConfigurationInput(
            directory="python", finish_delay_seconds=0, retry=fetchd.RetryPolicyInput(max_attempts=2)
        )
        declared = sessions.declare_session("python", session_configuration_input=configuration)
        require(declared.state is fetchd.SessionState.IDLE, declared)
        endpoint = fetchd.WebhookInput(url=webhook, events=[fetchd.EventPattern.SESSION_DOT_STAR])
        fetchd.WebhooksApi(client).declare_webhook("python", "consumer", endpoint)
        created = jobs.create_jobs(
            fetchd.JobsInput(
                jobs=[
                    fetchd.JobInput(
                        url=f"{origin}/holiday.jpg",
                        session="python",
                        tags=["holiday"],
                        checksum=fetchd.ChecksumInput(algorithm=fetchd.ChecksumAlgorithm.SHA_MINUS_256, value=sha256),
                        destination=fetchd.DestinationInput(on_conflict=fetchd.ConflictRule.REPLACE),
                    ),
                    fetchd.JobInput(url=f"{origin}/missing.jpg", session="python", connections=2),
                ]
            ),
            idempotency_key="python",
        )
        good, missing = (ended(jobs, job.id) for job in created.jobs)
        require(good.state is fetchd.JobState.SUCCEEDED and good.failure is None, good)
        require(good.file.sha256 == sha256 and good.receipt.status == 200, good)
        require(hashlib.sha256(jobs.get_job_file(good.id)).hexdigest() == sha256, "the bytes are others")
        require(missing.failure.code is fetchd.FailureCode.BAD_STATUS and missing.failure.status == 404, missing)
        finish = finished(events)
        require(finish.data["outcome"] == fetchd.BatchOutcome.PARTLY_FAILED.value, finish)
        session = sessions.acknowledge_session("python", fetchd.Acknowledgement(through=finish.id))
        require(session.acknowledged_through == finish.id, session)
        explain_a_mistake(jobs)
        sessions.delete_session("python", outstanding=fetchd.OutstandingChoice.CANCEL)
    print("a whole session")


def ended(jobs: fetchd.JobsApi, id: str) -> fetchd.Job:
    for _ in range(20):
        job = jobs.get_job(id)
        if job.finished_at is not None:
            return job
        try:
            jobs.get_job(id, if_none_match=f'"{job.revision}"', prefer="wait=5")
        except fetchd.ApiException as unchanged:
            require(unchanged.status == 304, unchanged)
    raise TimeoutError(id)


def finished(events: fetchd.EventsApi) -> fetchd.Event:
    for _ in range(20):
        page = events.list_events(session="python", type=fetchd.EventPattern.SESSION_DOT_FINISHED, wait=5)
        for event in page.events:
            return event
    raise TimeoutError("session.finished")


def explain_a_mistake(jobs: fetchd.JobsApi) -> None:
    try:
        # The client checks the URL itself, so the mistake is one that only the service knows.
        jobs.create_job(fetchd.JobInput(url="http://host/", session="unknown"))
    except fetchd.ApiException as refusal:
        problem = fetchd.Problem.from_dict(json.loads(refusal.body))
        require(problem.status == 422 and problem.pointer == "/session", problem)
    else:
        raise AssertionError("an unknown session was accepted")


def require(holds: object, what: object) -> None:
    if not holds:
        raise AssertionError(what)


if __name__ == "__main__":
    main(*sys.argv[1:])
