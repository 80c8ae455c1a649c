#!/usr/bin/env python3
"""A webhook consumer for fetchd: verify the event, store it, answer, then process it.

    python3 -m venv .venv && .venv/bin/pip install standardwebhooks
    .venv/bin/python examples/webhook_receiver.py --port 9000 --secret-file webhook.secret

Then declare the webhook for a session, and store the secret, which is returned only once:

    curl -s -X PUT http://127.0.0.1:8080/v1/sessions/photos/webhooks/consumer \\
         --json '{"url": "http://127.0.0.1:9000/"}' | jq -r .secret > webhook.secret

Every consumer should do this, in this order:

1. Verify the signature over the unchanged bytes, before parsing them. `standardwebhooks` does this. It also refuses
   timestamps that differ by more than five minutes, so that a recorded request cannot be replayed later.
2. Detect repetitions: fetchd delivers each event at least once, and `webhook-id` is the same for all retries.
3. Make the event durable (here: one line in --log), and only then answer 2xx. After that answer, fetchd counts the
   session's finish as acknowledged and does not send it again.
4. Process the event after the answer: fetchd waits 20 seconds for an answer, and slow work would look like a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

try:
    from standardwebhooks import Webhook
except ModuleNotFoundError:
    sys.exit("webhook_receiver: the package 'standardwebhooks' is missing: pip install standardwebhooks")

LARGEST_BODY = 1 << 20


class Inbox:
    """The accepted events, each once; durable if there is a log. Your program may use a table with a unique key."""

    def __init__(self, log: Path | None):
        self._lock = threading.Lock()
        self._log = None
        self._seen: set[str] = set()
        if log:
            self._log = log.open("a+", encoding="utf-8")
            self._log.seek(0)
            lines = self._log.read().splitlines(keepends=True)
            if lines and not lines[-1].endswith("\n"):
                # A crash cut this line off, so the event was not answered with a 2xx, and fetchd sends it again.
                self._log.write("\n")
            self._seen = {entry["webhook_id"] for entry in map(_parsed, lines) if entry}

    def take(self, webhook_id: str, event: dict) -> bool:
        """Returns whether the event is new. When this returns, it is safe to answer 2xx."""
        with self._lock:
            if webhook_id in self._seen:
                return False
            if self._log:
                self._log.write(json.dumps({"webhook_id": webhook_id, **event}) + "\n")
                self._log.flush()
                os.fsync(self._log.fileno())
            self._seen.add(webhook_id)
            return True


def _parsed(line: str) -> dict | None:
    try:
        return json.loads(line)
    except ValueError:
        return None


class Secrets:
    """The secrets in a file, one on each line. The file is read at every request, because it may be written, and secrets
    may be rotated, while this program runs."""

    def __init__(self, file: Path):
        self._file = file

    def verified(self, body: bytes, headers: dict[str, str]) -> dict | None:
        """Returns the event if one of the secrets signed it, else None."""
        for secret in self._file.read_text(encoding="ascii").split():
            try:
                event = Webhook(secret).verify(body, headers)
            except Exception:  # a bad signature, or any error from invalid headers or an invalid body
                continue
            return event if isinstance(event, dict) else None
        return None


class Handler(BaseHTTPRequestHandler):
    server: Consumer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            self._answer(411)
            return
        if int(length) > LARGEST_BODY:
            self._answer(413)
            return
        body = self.rfile.read(int(length))
        webhook_id = self.headers.get("webhook-id")
        if not webhook_id:
            self._answer(400)
            return
        try:
            event = self.server.secrets.verified(body, dict(self.headers.items()))
        except OSError as error:
            # This is not an error of the sender. The sender will try again.
            print(f"webhook_receiver: no secret to verify with: {error}", file=sys.stderr, flush=True)
            self._answer(503)
            return
        if event is None:
            print(f"✗ {webhook_id}: refused, the signature does not verify", flush=True)
            self._answer(401)
            return
        is_new = self.server.inbox.take(webhook_id, event)
        self._answer(204)
        if is_new:
            self.server.work.put((webhook_id, event))

    def _answer(self, status: int) -> None:
        if status >= 400:
            # The request body may be unread, so the connection cannot be reused.
            self.close_connection = True
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass  # no log line for each request


class Consumer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, secrets: Secrets, inbox: Inbox):
        super().__init__((host, port), Handler)
        self.secrets = secrets
        self.inbox = inbox
        self.work: queue.Queue[tuple[str, dict]] = queue.Queue()


def main() -> int:
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    consumer = Consumer(options.host, options.port, Secrets(options.secret_file), Inbox(options.log))
    port = consumer.server_address[1]
    print(f"listening on http://{options.host}:{port}/", flush=True)
    if options.port_file:
        write_whole(options.port_file, f"{port}\n")
    threading.Thread(target=consumer.serve_forever, daemon=True).start()
    try:
        while True:
            webhook_id, event = consumer.work.get()
            act_on(webhook_id, event)
            if event.get("type") == options.until:
                return 0
    except KeyboardInterrupt:
        return 130


def act_on(webhook_id: str, event: dict) -> None:
    """Replace this with your own processing: a database row, a message, the next stage of a pipeline."""
    kind, data = event.get("type"), event.get("data", {})
    about = f"  {job.get('id')}  {job.get('url')}" if (job := data.get("snapshot")) else f", webhook-id {webhook_id}"
    print(f"✓ {kind}  (signature verified){about}", flush=True)
    if kind == "session.finished":
        print(describe_finish(event, data), flush=True)


def describe_finish(event: dict, data: dict) -> str:
    counts = ", ".join(f"{count} {state}" for state, count in data.get("counts", {}).items() if count)
    lines = [
        ("session", data.get("session")),
        ("batch", data.get("batch")),
        ("outcome", data.get("outcome")),
        ("jobs", counts or "none"),
        ("finished at", event.get("timestamp")),
    ]
    lines += [("failed", json.dumps(failure)) for failure in data.get("failures", [])]
    return "\n".join(f"    {name:<12} {value}" for name, value in lines)


def write_whole(file: Path, text: str) -> None:
    """Writes the file atomically, because another program waits for it to appear."""
    draft = file.with_name(file.name + ".new")
    draft.write_text(text, encoding="ascii")
    draft.replace(file)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Receives fetchd's webhooks, verifies them and prints them.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=9000, help="port to listen on; 0 takes a free one")
    parser.add_argument("--port-file", type=Path, metavar="FILE", help="write the port to FILE")
    parser.add_argument(
        "--secret-file", type=Path, metavar="FILE", required=True, help="the webhook's secrets (whsec_...), one on each line"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="append each verified event to FILE, as one JSON line")
    parser.add_argument("--until", metavar="TYPE", help="exit after the first event of this type, such as session.finished")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
