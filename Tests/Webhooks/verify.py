#!/usr/bin/env python3
"""Tests/Webhooks/verify.py

Reads a request to a webhook as JSON from standard input: `headers`, `body` (base64), `secret` and `keys`. Verifies it with the libraries
that receivers use: cryptography for v1a, standardwebhooks and svix for v1, cloudevents for the body. Prints what each has found.
"""

from __future__ import annotations

import base64
import json
import sys

from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError as StandardError
from svix.webhooks import Webhook as SvixWebhook
from svix.webhooks import WebhookVerificationError as SvixError


def main() -> None:
    request = json.load(sys.stdin)
    headers = {name.lower(): value for name, value in request["headers"].items()}
    body = base64.b64decode(request["body"])
    found = {
        "cryptography": [key for key in request["keys"] if is_signed(headers, body, key)],
        "standardwebhooks": accepts(StandardWebhook(request["secret"]), headers, body, StandardError),
        "svix": accepts(SvixWebhook(request["secret"]), headers, body, SvixError),
    }
    if headers["content-type"].startswith("application/cloudevents+json"):
        event = from_http_event(HTTPMessage(headers, body))
        found["cloudevents"] = [event.get_id(), event.get_type(), event.get_source(), event.get_data()["session"]]
    print(json.dumps(found))


def is_signed(headers: dict[str, str], body: bytes, key: str) -> bool:
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key.removeprefix("whpk_")))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    for signature in headers["webhook-signature"].split(" "):
        if signature.startswith("v1a,"):
            try:
                public.verify(base64.b64decode(signature[4:]), signed)
                return True
            except InvalidSignature:
                continue
    return False


def accepts(webhook: StandardWebhook | SvixWebhook, headers: dict[str, str], body: bytes, refusal: type[Exception]) -> bool:
    try:
        webhook.verify(body, headers)
    except refusal:
        return False
    return True


if __name__ == "__main__":
    main()
