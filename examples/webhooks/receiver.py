#!/usr/bin/env python3
"""A receiver of fetchd's webhooks in Python, with the standard library only.

    WEBHOOK_SECRET=whsec_... python3 examples/webhooks/receiver.py 9000 [HOST]

It verifies each request and prints its event. To use it in your program, copy `is_genuine`.
examples/webhook_receiver.py also stores each event before it answers.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Seconds. Older requests are refused, so that a recorded request cannot be used again later.
TOLERANCE = 300
LARGEST_BODY = 1 << 20


def is_genuine(secret: str, id: str, timestamp: str, signatures: str, body: bytes, now: float) -> bool:
    """Whether fetchd has signed this body. The arguments after the secret are the values of webhook-id,
    webhook-timestamp and webhook-signature, and the unchanged bytes of the body."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12):
        return False
    if abs(now - int(timestamp)) > TOLERANCE:
        return False
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        return False
    if not key:
        return False
    content = f"{id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    # During a rotation, there is one signature for each secret. compare_digest needs the same time for all of them.
    return any([hmac.compare_digest(expected, signature.encode()) for signature in signatures.split(" ")])


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    secret = ""
    # A table with a unique key in your program: it must survive a restart.
    seen: set[str] = set()

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > LARGEST_BODY:
            return self.answer(413)
        body = self.rfile.read(int(length))
        id, timestamp, signatures = (self.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        if not is_genuine(self.secret, id, timestamp, signatures, body, time.time()):
            return self.answer(401)
        # fetchd delivers at least once, and repeats the id.
        if id not in self.seen:
            self.seen.add(id)
            print("verified", json.loads(body)["type"], flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
            self.send_header("connection", "close")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


if __name__ == "__main__":
    Receiver.secret = os.environ.get("WEBHOOK_SECRET") or sys.exit("receiver: set WEBHOOK_SECRET")
    host = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
    server = ThreadingHTTPServer((host, int(sys.argv[1])), Receiver)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
