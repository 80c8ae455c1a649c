"""The server that jobs download from: three ports, every habit of servers, and the troubles of `resource.py`.

It lies in ways that a client can find out, and in no others: a body without a length is never cut off in silence, and a
strong validator is never kept for other bytes (docs/transfers.md, "What cannot be detected").
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import time
from email.utils import formatdate
from urllib.parse import parse_qs, urlsplit

from .content import Pool, Version
from .listener import Conversation, Listener, Request, Reset, head
from .resource import PASSWORD, RANGE_TROUBLE, USER, Resource
from .tally import Tally

PORTS = 3
PIECE = 16_384
# Seconds, beyond every `request_seconds` of the soak.
SILENCE = 8


class Origin:
    def __init__(self, seed: object, tally: Tally):
        self.pool = Pool(seed)
        self._tally = tally
        self.resources: dict[str, Resource] = {}
        self.listeners = [Listener(self._converse) for _ in range(PORTS)]
        self._is_calm = False

    def add(self, rng: random.Random) -> Resource:
        listener = rng.choice(self.listeners)
        resource = Resource.random(rng, self.pool, f"{len(self.resources):06}.bin", listener.port)
        if self._is_calm:
            resource.calm()
        self.resources[resource.name] = resource
        return resource

    def twin(self, resource: Resource) -> Resource:
        """A mirror of a file, which shares its versions."""
        port = next(listener.port for listener in self.listeners if listener.port != resource.port)
        twin = Resource(f"{len(self.resources):06}.bin", port, resource.habits, resource.versions)
        self.resources[twin.name] = twin
        return twin

    def calm(self) -> None:
        """Stops all faults. Missing files, passwords and expired links remain."""
        self._is_calm = True
        for listener in self.listeners:
            listener.open()
        for resource in list(self.resources.values()):
            resource.calm()

    def _converse(self, conversation: Conversation) -> None:
        while (request := conversation.request()) is not None:
            if not Answer(self, self._tally, conversation, request).send():
                return

    @property
    def is_calm(self) -> bool:
        return self._is_calm


class Answer:
    """One answer to one request."""

    def __init__(self, origin: Origin, tally: Tally, conversation: Conversation, request: Request):
        self._origin = origin
        self._tally = tally
        self._conversation = conversation
        self._request = request

    def send(self) -> bool:
        """Sends the answer. Returns whether the connection stays open."""
        target = urlsplit(self._request.target)
        folder, _, name = target.path.lstrip("/").partition("/")
        resource = self._origin.resources.get(name)
        self._tally.count("origin: requests")
        if resource is None or resource.habits.is_missing:
            return self._refuse("404 Not Found")
        if folder == "moved":
            location = f"/files/{name}?{target.query}"
            return self._refuse("302 Found", {"Location": location})
        if resource.habits.needs_password and not self._has_password():
            return self._refuse("401 Unauthorized", {"WWW-Authenticate": 'Basic realm="soak"'})
        if not resource.admits(parse_qs(target.query).get("key", [""])[0]):
            self._tally.count("origin fault: expired link")
            return self._refuse("403 Forbidden")
        return self._meet(resource.next_trouble(), resource)

    def _meet(self, trouble: str, resource: Resource) -> bool:
        span = self._span(resource)
        if trouble in RANGE_TROUBLE and (span is None or span[0] == 0):
            trouble = "none"
        if trouble == "truncation" and resource.habits.framing == "close":
            trouble = "reset"
        if trouble != "none":
            self._tally.count(f"origin fault: {trouble}")
        match trouble:
            case "503":
                names_time = len(resource.troubles) % 2
                return self._refuse("503 Service Unavailable", {"Retry-After": "1"} if names_time else {})
            case "429":
                return self._refuse("429 Too Many Requests", {"Retry-After": formatdate(time.time() + 1, usegmt=True)})
            case "500":
                return self._refuse("500 Internal Server Error")
            case "404":
                return self._refuse("404 Not Found")
            case "reset before the head":
                raise Reset
            case "no HTTP":
                self._conversation.send(b"220 mail.example ESMTP\r\n")
                return False
            case "silence":
                return self._be_silent()
        return self._send_file(trouble, resource, span)

    def _send_file(self, trouble: str, resource: Resource, span: tuple[int, int] | None) -> bool:
        version, habits = resource.version, resource.habits
        fields = self._validators(resource, version)
        if habits.suggested_name:
            fields["Content-Disposition"] = f'attachment; filename="{habits.suggested_name}"'
        if habits.has_digest or trouble == "wrong digest":
            content = version.content if trouble != "wrong digest" else b"something else"
            digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
            fields["Repr-Digest"] = f"sha-256=:{digest}:"
        if span is None or trouble == "range ignored":
            return self._send_body("200 OK", fields, version.content, resource, trouble)
        first, end, total = span[0], span[1], version.size
        match trouble:
            case "416":
                fields["Content-Range"] = f"bytes */{total}"
                return self._refuse("416 Range Not Satisfiable", fields)
            case "range begins earlier":
                first = max(0, first - 1000)
            case "range begins later":
                first = min(first + 1000, end - 1)
            case "range ends early":
                end = first + max(1, (end - first) // 2)
            case "range of another total":
                total += 7
        if trouble == "ranges in parts":
            fields["Content-Type"] = "multipart/byteranges; boundary=soak"
        elif trouble != "range without a name":
            fields["Content-Range"] = f"bytes {first}-{end - 1}/{total}"
        return self._send_body("206 Partial Content", fields, version.content[first:end], resource, trouble)

    def _send_body(
        self, status: str, fields: dict[str, str], body: memoryview, resource: Resource, trouble: str
    ) -> bool:
        framing = resource.habits.framing if resource.habits.framing != "close" or status[0:3] == "200" else "length"
        match framing:
            case "length":
                fields["Content-Length"] = str(len(body))
            case "chunked":
                fields["Transfer-Encoding"] = "chunked"
            case "close":
                fields["Connection"] = "close"
        self._conversation.send(head(status, fields))
        stop = len(body) * 3 // 5 if trouble in ("reset", "truncation", "stall") else len(body)
        self._send_bytes(body[:stop], framing == "chunked", resource.habits.bytes_per_second)
        match trouble:
            case "reset":
                raise Reset
            case "truncation":
                # In an empty body only the last chunk can be missing.
                return False
            case "stall":
                return self._be_silent()
        if framing == "chunked":
            self._conversation.send(b"0\r\n\r\n")
        return framing != "close"

    def _send_bytes(self, body: memoryview, is_chunked: bool, rate: int | None) -> None:
        if self._origin.is_calm:
            rate = None
        for start in range(0, len(body), PIECE):
            piece = body[start : start + PIECE]
            self._conversation.send(b"%x\r\n%b\r\n" % (len(piece), bytes(piece)) if is_chunked else piece)
            if rate and not self._origin.is_calm:
                time.sleep(len(piece) / rate)

    def _validators(self, resource: Resource, version: Version) -> dict[str, str]:
        fields = {"Date": formatdate(usegmt=True), "Content-Type": "application/octet-stream"}
        match resource.habits.validators:
            case "strong":
                fields |= {"ETag": version.etag, "Last-Modified": version.last_modified}
            case "weak":
                fields["ETag"] = f"W/{version.etag}"
            case "date":
                fields["Last-Modified"] = version.last_modified
        return fields

    def _span(self, resource: Resource) -> tuple[int, int] | None:
        """The first requested byte and the end; None if the whole file is sent."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self._request.headers.get("range", ""))
        version = resource.version
        if not asked or not resource.habits.has_ranges or self._request.method != "GET":
            return None
        condition = self._request.headers.get("if-range")
        validators = self._validators(resource, version)
        if condition and condition not in (validators.get("ETag"), validators.get("Last-Modified")):
            return None
        first, end = int(asked[1]), min(version.size, int(asked[2]) + 1 if asked[2] else version.size)
        return (first, end) if first < end else None

    def _has_password(self) -> bool:
        expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return self._request.headers.get("authorization") == f"Basic {expected}"

    def _refuse(self, status: str, fields: dict[str, str] | None = None) -> bool:
        page = b"This is no part of any file.\n"
        self._conversation.send(head(status, (fields or {}) | {"Content-Length": str(len(page))}) + page)
        return True

    def _be_silent(self) -> bool:
        """Stays silent, and then ends with a reset. Otherwise a body without a length would look complete."""
        self._conversation.be_silent(SILENCE)
        raise Reset
