"""Webhooks of the service, as their receivers see them (Standard Webhooks 1.0.0)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Dict, Mapping, Sequence, Union

from .errors import WebhookError


def verify_webhook(
    headers: Mapping[str, str], body: Union[bytes, str], secret: Union[str, Sequence[str]], tolerance: float = 300.0
) -> Dict[str, Any]:
    """Returns the event of a request, or raises WebhookError.

    headers: those of the request, in any case. body: its bytes as they arrived. secret: ``whsec_...``, or several of them while
    the secret changes. tolerance: the largest age of the request in seconds.

    The same event can arrive more than once, with the same ``webhook-id``.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, timestamp, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = abs(time.time() - int(timestamp))
    except (KeyError, ValueError) as error:
        raise WebhookError("the request lacks the headers of a webhook") from error
    if age > tolerance:
        raise WebhookError("the request is too old, or the clock of this machine is wrong")
    data = body.encode() if isinstance(body, str) else body
    signed = f"{identifier}.{timestamp}.".encode() + data
    expected = [_signature(signed, one) for one in ([secret] if isinstance(secret, str) else secret)]
    given_signatures = [part[3:] for part in signatures.split(" ") if part.startswith("v1,")]
    if not any(hmac.compare_digest(one.encode(), other.encode()) for one in expected for other in given_signatures):
        raise WebhookError("no signature of the request is of this secret")
    try:
        event = json.loads(data)
    except ValueError as error:
        raise WebhookError("the body is no JSON") from error
    if not isinstance(event, dict):
        raise WebhookError("the body is no object")
    return event


def _signature(signed: bytes, secret: str) -> str:
    try:
        key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret, validate=True)
    except ValueError as error:
        raise WebhookError("the secret is not base64") from error
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
