"""Signed requests: the published test vector, and requests that a verifier must accept or refuse."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass, replace

SECRET = "whsec_" + base64.b64encode(b"the key of the documentation's tests").decode()
OTHER_SECRET = "whsec_" + base64.b64encode(b"a key that nothing has ever used!!").decode()


@dataclass(frozen=True)
class Signed:
    """The parts of a request, and the time at which it arrives, in seconds since 1970."""

    id: str
    timestamp: str
    signatures: str
    body: bytes
    secret: str = SECRET
    now: int = 0

    @property
    def headers(self) -> dict[str, str]:
        return {
            "webhook-id": self.id, "webhook-timestamp": self.timestamp, "webhook-signature": self.signatures,
            "content-type": "application/json",
        }  # fmt: skip


# From the tests of the libraries of github.com/standard-webhooks/standard-webhooks.
VECTOR = Signed(
    id="msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp="1614265330", body=b'{"test": 2432232314}',
    signatures="v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    now=1614265330,
)  # fmt: skip


def signature(id: str, timestamp: str, body: bytes, secret: str = SECRET) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    code = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(code).decode()


def signed(id: str, timestamp: int, body: bytes, secret: str = SECRET, now: int | None = None) -> Signed:
    text = str(timestamp)
    return Signed(id, text, signature(id, text, body, secret), body, now=timestamp if now is None else now)


def table(delivered: list[Signed]) -> list[tuple[str, Signed, bool]]:
    """Each row: what it is, the request, and whether a verifier must accept it. `delivered` are requests of fetchd."""
    rows = [(f"delivery {position} of fetchd", one, True) for position, one in enumerate(delivered)]
    rows += [("the published vector", VECTOR, True)] + around(VECTOR)
    for one in delivered[:1]:
        rows += around(one)
    return rows


def around(one: Signed) -> list[tuple[str, Signed, bool]]:
    time, now = int(one.timestamp), one.now
    other = signature(one.id, one.timestamp, one.body, OTHER_SECRET)
    old, future = (
        replace(one, timestamp=str(moment), signatures=signature(one.id, str(moment), one.body, one.secret))
        for moment in (now - 301, now + 301)
    )
    negative = replace(one, timestamp="-1", signatures=signature(one.id, "-1", one.body, one.secret))
    no_key = replace(one, secret="whsec_", signatures=signature(one.id, one.timestamp, one.body, "whsec_"))
    return [
        ("the secret without its prefix", replace(one, secret=one.secret.removeprefix("whsec_")), True),
        ("two signatures, the second of this secret", replace(one, signatures=f"{other} {one.signatures}"), True),
        ("two signatures, the first of this secret", replace(one, signatures=f"{one.signatures} {other}"), True),
        ("another version beside it", replace(one, signatures=f"v1a,AAAA {one.signatures}"), True),
        ("exactly 300 s old", replace(one, now=time + 300), True),
        ("exactly 300 s ahead", replace(one, now=time - 300), True),
        ("301 s old", replace(one, now=time + 301), False),
        ("301 s ahead", replace(one, now=time - 301), False),
        ("signed 301 s ago", old, False),
        ("signed for 301 s from now", future, False),
        ("a body with one more space", replace(one, body=one.body + b" "), False),
        ("a body with one bit changed", replace(one, body=one.body[:-1] + bytes([one.body[-1] ^ 1])), False),
        ("an empty body", replace(one, body=b""), False),
        ("another id", replace(one, id=one.id + "x"), False),
        ("another timestamp", replace(one, timestamp=str(time + 1)), False),
        ("another secret", replace(one, secret=OTHER_SECRET), False),
        ("a signature of another secret", replace(one, signatures=other), False),
        ("an empty secret", no_key, False),
        ("no signature", replace(one, signatures=""), False),
        ("only a comma", replace(one, signatures=","), False),
        ("the signature without a version", replace(one, signatures=one.signatures.removeprefix("v1,")), False),
        ("the signature as another version", replace(one, signatures=one.signatures.replace("v1,", "v2,")), False),
        ("a cut signature", replace(one, signatures=one.signatures[:-8]), False),
        ("a signature that is not base64", replace(one, signatures="v1,é€"), False),
        ("no timestamp", replace(one, timestamp=""), False),
        ("a timestamp in words", replace(one, timestamp="now"), False),
        ("a timestamp with a sign", replace(one, timestamp="+" + one.timestamp), False),
        ("a timestamp with a fraction", replace(one, timestamp=one.timestamp + ".0"), False),
        ("a negative timestamp", negative, False),
        ("a huge timestamp", replace(one, timestamp="9" * 40), False),
    ]
