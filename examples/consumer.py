#!/usr/bin/env python3
"""Submits downloads to fetchd and follows them to their end, through restarts of this program and of the service.

    python3 -m venv .venv && .venv/bin/pip install requests
    .venv/bin/python examples/consumer.py https://example.org/a.iso https://example.org/b.iso

You can kill the program at any moment and run it again without addresses: it continues where it was. You can also kill
the service. FETCHD_URL (default: http://127.0.0.1:8080) and FETCHD_TOKEN select the service. The exit status is 0 when
all downloads have succeeded, 1 when some have not, and 2 when the user must correct something first.

Three steps make this safe:

1. The program stores the order, with a new key and the current position in the journal, before it sends the order. If it
   sends the order again with the same Idempotency-Key within a day, the service returns the first answer and downloads
   nothing twice.
2. The program stores each event and its position in one transaction. After a crash it receives the interrupted event
   again, and never an event that it has stored.
3. The program acknowledges the finish after it has stored it. The acknowledgement means that the consumer is now
   responsible for the event.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import time
import uuid
from dataclasses import dataclass

try:
    import requests
except ModuleNotFoundError:
    sys.exit("consumer: the package 'requests' is missing. Install it: pip install requests")

# In seconds. The service answers a wait after at most 30. An answer that takes much longer never comes.
WAIT, CONNECT_LIMIT, ANSWER_LIMIT, LONGEST_PAUSE = 30, 5, 60, 15


@dataclass
class Order:
    key: str
    session: str
    urls: list[str]
    after: int  # the last stored event
    batch: int | None = None  # set when the service has accepted the order
    finish: int | None = None  # the event that ended the batch
    outcome: str | None = None
    acknowledged: bool = False


class Memory:
    """The durable state: the order, the position in the journal, and the result of each download."""

    def __init__(self, file: str):
        self._db = sqlite3.connect(file, isolation_level=None)
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            'CREATE TABLE IF NOT EXISTS "order" (key, session, urls, after, batch, finish, outcome, acknowledged)'
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS downloads (job PRIMARY KEY, url, state, result)")

    def order(self) -> Order | None:
        row = self._db.execute('SELECT * FROM "order"').fetchone()
        return Order(row[0], row[1], json.loads(row[2]), *row[3:]) if row else None

    def begin(self, order: Order) -> None:
        with self._transaction():
            self._db.execute('DELETE FROM "order"')
            self._db.execute("DELETE FROM downloads")
            self._db.execute(
                'INSERT INTO "order" VALUES (?, ?, ?, ?, NULL, NULL, NULL, FALSE)',
                (order.key, order.session, json.dumps(order.urls), order.after),
            )

    def accepted(self, jobs: list[dict]) -> None:
        with self._transaction():
            self._db.execute('UPDATE "order" SET batch = ?', (jobs[0]["batch"],))
            self._db.executemany(
                "INSERT INTO downloads VALUES (?, ?, 'outstanding', NULL)", [(job["id"], job["url"]) for job in jobs]
            )

    def take(self, event: dict) -> str | None:
        """Returns a line about the event if it concerns this order. When this returns, the event is stored."""
        order, data = self.order(), event["data"]
        with self._transaction():
            self.move_to(event["id"])
            if event["type"] in ("job.succeeded", "job.failed", "job.cancelled"):
                return self._note_end(data["snapshot"])
            if event["type"] == "session.finished" and data["batch"] == order.batch:
                self._db.execute('UPDATE "order" SET finish = ?, outcome = ?', (event["id"], data["outcome"]))
                return f"Batch {order.batch} is over: {data['outcome'].replace('_', ' ')}."
        return None

    def _note_end(self, job: dict) -> str | None:
        # Your program would process the file here, or store that the file must be processed.
        result = job["file"]["path"] if job["file"] else (job["failure"] or {}).get("message")
        ours = self._db.execute(
            "UPDATE downloads SET state = ?, result = ? WHERE job = ? RETURNING url", (job["state"], result, job["id"])
        ).fetchone()
        # Print the stored address: events omit the query of a URL, because it may contain a secret.
        return f"{job['state']}: {ours[0]} {result or ''}".rstrip() if ours else None

    def move_to(self, position: int) -> None:
        self._db.execute('UPDATE "order" SET after = max(after, ?)', (position,))

    def acknowledged(self) -> None:
        self._db.execute('UPDATE "order" SET acknowledged = TRUE')

    def counts(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT state, count(*) FROM downloads GROUP BY state ORDER BY state DESC"))

    def _transaction(self) -> sqlite3.Connection:
        self._db.execute("BEGIN IMMEDIATE")
        return self._db  # as a context: commits, or rolls back when something is thrown


class Refused(Exception):
    """The service refuses the request; the message says what to do."""


class Service:
    """fetchd's API. Every request here is safe to repeat, so it is repeated until there is an answer."""

    def __init__(self, url: str, token: str | None):
        self._url = url.rstrip("/")
        self._http = requests.Session()
        if token:
            self._http.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, **options: object) -> dict:
        failures = 0
        while True:
            pause = min(LONGEST_PAUSE, 0.5 * 2 ** min(failures, 6))
            try:
                answer = self._http.request(
                    method, self._url + path, timeout=(CONNECT_LIMIT, ANSWER_LIMIT), allow_redirects=False, **options
                )
                if answer.status_code not in (502, 503, 504):
                    return self._content(answer)
                asked = answer.headers.get("Retry-After", "")
                pause = max(pause, int(asked) if asked.isdecimal() else 0)
                why = "is not ready."
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
                why = "does not answer. Is it running (fetchd serve)?"
            failures += 1
            if failures == 1:
                print(f"fetchd at {self._url} {why} Trying again until it does.", file=sys.stderr, flush=True)
            time.sleep(pause)

    def _content(self, answer: requests.Response) -> dict:
        try:
            content = answer.json() if answer.content else {}
        except ValueError:
            content = None
        if answer.ok and content is not None:
            return content
        if answer.status_code == 401:
            raise Refused("The service requires its token: set FETCHD_TOKEN to it.")
        if not content or "detail" not in content:
            raise Refused(f"{self._url} answers {answer.status_code}, but not as fetchd does: is FETCHD_URL right?")
        if answer.status_code == 410:
            raise Refused(
                "The service no longer has the next events, because this program was stopped for longer than the service "
                "keeps them (--event-retention). GET /v1/jobs shows the results of the downloads. To start again, use "
                "another --state."
            )
        raise Refused(f"{content['title']}. {content['detail']}")


def main() -> int:
    options = parse_arguments()
    memory = Memory(options.state)
    service = Service(os.environ.get("FETCHD_URL", "http://127.0.0.1:8080"), os.environ.get("FETCHD_TOKEN"))
    order = memory.order()
    if order and not order.acknowledged:
        if options.urls and options.urls != order.urls:
            raise Refused(f"{options.state} has an order under way. Run it without addresses, or with another --state.")
        print("Continuing the stored order.", flush=True)
    elif options.urls:
        begin(memory, service, options)
    else:
        raise Refused("There is no stored order. Name the addresses to download.")
    if memory.order().batch is None:
        submit(memory, service)
    follow(memory, service)
    acknowledge(memory, service)
    counts = memory.counts()
    print("Acknowledged: " + ", ".join(f"{count} {state}" for state, count in counts.items()) + ".", flush=True)
    return 0 if counts.keys() == {"succeeded"} else 1


def begin(memory: Memory, service: Service, options: argparse.Namespace) -> None:
    service.ask("PUT", f"/v1/sessions/{options.session}")
    # fetchd warns if this program does not come back to acknowledge a finish.
    service.ask("PATCH", f"/v1/sessions/{options.session}", json={"acknowledgement": "expected"})
    # Read the position before the order is sent: all events of the order come after it.
    position = service.ask("GET", "/v1/stats")["last_event"]
    memory.begin(Order(key=str(uuid.uuid4()), session=options.session, urls=options.urls, after=position))


def submit(memory: Memory, service: Service) -> None:
    order = memory.order()
    jobs = [{"url": url, "session": order.session} for url in order.urls]
    answer = service.ask("POST", "/v1/jobs/batch", json={"jobs": jobs}, headers={"Idempotency-Key": order.key})
    memory.accepted(answer["jobs"])
    print(f"Handed over, as batch {memory.order().batch} of {order.session}: {len(jobs)} to download.", flush=True)


def follow(memory: Memory, service: Service) -> None:
    """Reads events until the finish. Each answer has the next events, or comes after WAIT seconds without any."""
    while (order := memory.order()).finish is None:
        page = service.ask(
            "GET", "/v1/events", params={"session": order.session, "after": order.after, "wait": WAIT, "limit": 1000}
        )
        for event in page["events"]:
            if line := memory.take(event):
                print(line, flush=True)
        memory.move_to(page["next_after"])


def acknowledge(memory: Memory, service: Service) -> None:
    order = memory.order()
    service.ask("POST", f"/v1/sessions/{order.session}/acknowledge", json={"through": order.finish})
    memory.acknowledged()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Submits downloads to fetchd and follows them to their end, through restarts of both.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("urls", nargs="*", metavar="URL", help="addresses to download; without one: continue the stored order")
    parser.add_argument("--session", default="consumer", help="the session of the downloads")
    parser.add_argument("--state", default="consumer.sqlite", metavar="FILE", help="the file for the state of this program")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        print(f"consumer: {refused}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
