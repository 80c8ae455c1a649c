"""What scripts/check openapi-live tells schemathesis beyond openapi.yaml.

Some rules no schema can tell: that a session has been declared, that a cursor was given by a list. Requests that the
description allows, and that are to be accepted for that reason, are made to obey them here, each for the reason given.
What openapi.yaml forbids is left as it is. So are answers; each exchange is written down for scripts/check openapi-recorded.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from itertools import count
from typing import Any, Callable
from urllib.parse import unquote_to_bytes

import schemathesis
from schemathesis import Case, GenerationMode, HookContext, Response

# The last event when the service was handed over: numbers up to it name events that there are.
LAST_EVENT = int(os.environ["FETCHD_CHECK_LAST_EVENT"])
SESSIONS = json.loads(os.environ["FETCHD_CHECK_SESSIONS"])
JOBS = json.loads(os.environ["FETCHD_CHECK_JOBS"])
EXCHANGES = os.environ["FETCHD_CHECK_EXCHANGES"]
# The folder of the dashboard's files.
DASHBOARD = os.environ["FETCHD_CHECK_DASHBOARD"]

# Of each kind, so many waits are waited out, for this many seconds; the others are for as long as no time.
REAL_WAITS = 3
LONGEST_WAIT = 1

LARGEST_BATCH = 100

# A file with certificates that the service can read: its own system's.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"

AUTHORITY = re.compile(r"^((?:https?|socks5)://(?:[^/?#@]*@)?)([^/?#@:\[\]]+)", re.IGNORECASE)
# The characters of a host in openapi.yaml. Which international names there are, it cannot tell.
NAME = re.compile(r"[A-Za-z0-9._~+%\x80-\U0010ffff-]+")
WAIT = re.compile(r"\b(wait\s*=\s*)\"?\d+\"?", re.IGNORECASE)
DEVICE = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9\xb9\xb2\xb3])\s*([.:]|$)", re.IGNORECASE)
BRACKETS = re.compile(r"^([a-z0-9]+://(?:[^/?#@]*@)?)\[[^\]]*\]", re.IGNORECASE)


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Schemathesis parses YAML before it compares it with the schema, which is a text for generated clients."""
    content = raw_schema["paths"]["/openapi.yaml"]["get"]["responses"]["200"]["content"]
    content["application/yaml"]["schema"] = {"type": ["string", "object"]}


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    keep_waits_short(case)
    if case.operation.path in ACTIONS_ON_MANY and isinstance(case.body, dict):
        spare_the_jobs(case.body)
    if case.operation.path == "/v1/jobs/import" and case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        import_a_list(case)
    if isinstance(case.body, (dict, list)):
        is_download = case.operation.path.startswith("/v1/jobs")
        case.body = changed(case.body, keep_from_downloading if is_download else keep_at_home)
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        obey_what_no_schema_tells(case)


def keep_waits_short(case: Case) -> None:
    """Nothing happens while one request is made after the other, so that most waits are waited out."""
    query, headers = case.query or {}, case.headers or {}
    if re.fullmatch(r"0*([1-9]|[12]\d|30)", str(query.get("wait")), re.ASCII):
        query["wait"] = seconds_to_wait("wait")
    # A request that must not have a header would be given those of all requests again, were others changed.
    is_without_token = case.meta is not None and getattr(case.meta.phase.data, "parameter", None) == "Authorization"
    if isinstance(prefer := headers.get("Prefer"), str) and WAIT.search(prefer) and not is_without_token:
        headers["Prefer"] = WAIT.sub(rf"\g<1>{seconds_to_wait('Prefer')}", prefer)


# A list of each media type, with one job that fails at once.
LISTS = {
    "application/x-ndjson": '{"url": "http://192.0.2.1/%d"}\n',
    "text/tab-separated-values": "url\nhttp://192.0.2.1/%d\n",
    "text/uri-list": "http://192.0.2.1/%d\n",
    "application/metalink4+xml": "<metalink><file name='%d'><url>http://192.0.2.1/</url></file></metalink>",
    "application/octet-stream": "http://192.0.2.1/%d\n",
}


@schemathesis.serializer(*LISTS)
def as_it_is(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


METALINK = (
    '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file"><url>https://host.invalid/file</url></file></metalink>'
)


def import_a_list(case: Case) -> None:
    """The description cannot tell what a line is. The format of the type fits, and only octets need its name."""
    query = case.query or {}
    query.pop("base", None)
    query.pop("format", None)
    if "session" in query and query["session"] not in SESSIONS:
        query["session"] = SESSIONS[len(str(query["session"])) % len(SESSIONS)]
    if case.media_type == "application/octet-stream":
        case.query = query | {"format": "urls"}
    # Schemathesis judges a changed body by its schema, by which bytes are no text.
    case.body = LISTS[case.media_type] % next(request_numbers)


ACTIONS_ON_MANY = {f"/v1/jobs/{action}" for action in ("pause", "resume", "cancel", "retry", "change", "move", "remove")}


def spare_the_jobs(body: dict[str, Any]) -> None:
    """The other requests name them."""
    if body.get("all") is True and body.get("filter") is None:
        del body["all"]
        body["filter"] = {}
    if isinstance(body.get("filter"), dict):
        body["filter"]["tag"] = "of no job"


waits: Counter[str] = Counter()


def seconds_to_wait(kind: str) -> int:
    waits[kind] += 1
    return LONGEST_WAIT if waits[kind] <= REAL_WAITS else 0


def keep_from_downloading(name: str | None, value: Any) -> Any:
    """To an address for documentation (RFC 5737), which fetchd refuses: a job that fails at once makes no work."""
    return AUTHORITY.sub(lambda match: f"{match[1]}192.0.2.1", value) if isinstance(value, str) else value


def keep_at_home(name: str | None, value: Any) -> Any:
    """Addresses are made up, but somebody may live there. Nobody ever will below `invalid` (RFC 6761, section 6.4)."""
    return AUTHORITY.sub(away, value) if isinstance(value, str) else value


def away(match: re.Match) -> str:
    start, host = match.groups()
    return f"{start}host.invalid" if NAME.fullmatch(host) and len(host) <= 253 else match.group()


def obey_what_no_schema_tells(case: Case) -> None:
    query = case.query or {}
    # A cursor is one that the list itself gave.
    if "cursor" in query and not cursors.known(case):
        del query["cursor"]
    # An event that is still to come is no place to begin at.
    if "after" in query:
        query["after"] = present_event(query["after"])
    # A job that is made up is none; two out of three times it is one that there is. What is forgotten has its own.
    if case.operation.path.startswith("/v1/jobs/{id}") and case.method != "DELETE" and (turn := next(job_numbers)) % 3:
        # The first jobs have succeeded, and only such a job has a file.
        case.path_parameters["id"] = JOBS[turn % (4 if case.operation.path.endswith("/file") else len(JOBS))]
    # Of the hashes that the description allows, one is that of the files.
    if case.operation.path == "/dashboard/{version}/{file}" and next(dashboard_numbers) % 2:
        case.path_parameters["version"] = DASHBOARD
        case.path_parameters["file"] = "main.js"
    # Only a file in a bucket has an address of its own, and these are in a folder.
    if case.operation.path == "/v1/jobs/{id}/file":
        query.pop("redirect", None)
    # A revision that is made up is another one, for which nothing is done; every second time it is any.
    if case.headers and "If-Match" in case.headers and next(tag_numbers) % 2:
        case.headers["If-Match"] = "*"
    # A key that was used for another request is refused.
    if case.headers and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = f"{next(request_numbers)} {case.headers['Idempotency-Key']}"[:255]
    if isinstance(case.body, dict):
        case.body = changed(case.body, obeying)
        pin_the_host_of_the_webhook(case.body)
        if case.operation.path == "/v1/jobs/move":
            choose_one_place(case.body)
        if case.operation.path == "/v1/tokens":
            make_the_token_possible(case.body)
        if case.operation.path == "/v1/service":
            make_the_settings_possible(case.body)


def choose_one_place(body: dict[str, Any]) -> None:
    """Jobs are moved to one place."""
    given = [name for name in ("to", "before", "after", "position") if body.get(name) is not None]
    for name in given[1:]:
        del body[name]
    if not given:
        body["to"] = "top"


def make_the_settings_possible(body: dict[str, Any]) -> None:
    """The rules of networks, hosts, ports and schedules are longer than a pattern, and would keep the other requests out.

    Made-up limits of disk space and times would remove what the other requests name.
    """
    for name, value in body.items():
        if isinstance(value, list):
            body[name] = []
        elif name.endswith(("_bytes", "_size", "_parts", "_retention")):
            body[name] = None


def make_the_token_possible(body: dict[str, Any]) -> None:
    """A token expires in the future, and an administrator's is bound to nothing."""
    if isinstance(body.get("expires_at"), str):
        body["expires_at"] = "2999-12-31T00:00:00Z"
    if body.get("scope") == "admin":
        body.pop("sessions", None)
        body.pop("locations", None)


def pin_the_host_of_the_webhook(body: dict[str, Any]) -> None:
    """A webhook has one URL, and can pin the keys of its host only."""
    url, tls = body.get("url"), body.get("tls")
    if isinstance(url, str) and isinstance(tls, dict) and (pins := tls.get("pinned_public_keys")):
        host = AUTHORITY.match(url)
        tls["pinned_public_keys"] = {host[2]: next(iter(pins.values()))} if host else {}


request_numbers, tag_numbers, job_numbers, dashboard_numbers = count(1), count(1), count(1), count(1)


def obeying(name: str | None, value: Any) -> Any:
    match name, value:
        case ("through" | "after" | "from"), (int() | float()):
            return present_event(value)
        case ("events" | "given_up"), list():
            return [present_event(item) or 1 if isinstance(item, (int, float)) else item for item in value]
        # The largest batches are LargestBatchTests' own; here they would take most of the time.
        case "jobs", list():
            return value[:LARGEST_BATCH]
        # Sessions are declared before they are given jobs.
        case "session", str():
            return value if value in SESSIONS else SESSIONS[len(value) % len(SESSIONS)]
        # The limit is one of bytes.
        case "tags", list():
            return [tag for tag in value if not isinstance(tag, str) or len(tag.encode()) <= 128]
        # Invisible characters, names of devices and the last character of a component are beyond a pattern.
        case ("directory" | "filename"), str() if not all(map(is_plain_component, value.split("/"))) or len(value.encode()) > 255:
            return "plain"
        # Locations are declared before jobs name them.
        case "location", str():
            return "default"
        # A deadline is in the future.
        case "deadline", str():
            return "2999-12-31T00:00:00Z"
        # fetchd reads it when it is told of it.
        case "ca_file", str():
            return CERTIFICATES
        # Which names there are beyond ASCII, the description cannot tell.
        case "pinned_public_keys", dict():
            return {f"host{index}.invalid": keys for index, keys in enumerate(value.values())}
        # What is an address and no name, and that a rule limits something, the description cannot tell.
        case "hosts", list():
            return [
                rule | {"host": f"*.host{index}.invalid", "connections": rule.get("connections") or 1}
                for index, rule in enumerate(value)
            ]
        # How many bytes a digest has, depends on its algorithm.
        case "pieces", dict() if "digests" in value:
            return value | {"algorithm": "md5", "digests": "AAAAAAAAAAAAAAAAAAAAAA=="}
        # What a Metalink is, the description cannot tell.
        case "metalink", str():
            return METALINK
        # Whether the URL of a job has a name to look for in a list of checksums, the description cannot tell.
        case "checksum", {"url": str()}:
            return value | {"file": value.get("file") or "file"}
        case ("url" | "proxy"), str():
            return made_possible(value)
        case "urls", list():
            return [made_possible(url) if isinstance(url, str) else url for url in value]
    return value


def made_possible(url: str) -> str:
    # The members of a rehearsal's query depend on each other; docs/sessions.md has them.
    if url.lower().startswith("rehearse:"):
        name = url[len("rehearse:") :].partition("?")[0]
        return f"rehearse:{name if is_component(name) else 'file'}"
    # The labels of a name have 253 characters together.
    url = AUTHORITY.sub(lambda match: f"{match[1]}host.invalid" if len(match[2]) > 253 else match[0], url)
    # What is in brackets is an address.
    return BRACKETS.sub(r"\g<1>[2001:db8::1]", url)


def is_component(encoded: str) -> bool:
    """Whether the percent-encoded name of a rehearsal is one component of a path, of at most 200 bytes of UTF-8."""
    try:
        name = unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        return False
    return name not in (".", "..") and len(name.encode()) <= 200 and not re.search(r"[/\x00-\x1f\x7f]", name)


def is_plain_component(name: str) -> bool:
    """Whether fetchd accepts the component of a path for certain. It refuses more names than the pattern can say."""
    return name.isprintable() and name == name.strip(" ") and not name.endswith((".", ".part")) and not DEVICE.match(name)


def present_event(number: Any) -> Any:
    """Texts come from queries, numbers with a fraction of nothing from bodies."""
    return int(float(number)) % (LAST_EVENT + 1) if re.fullmatch(r"\d+(\.0+)?", str(number)) else number


def changed(value: Any, change: Callable[[str | None, Any], Any], name: str | None = None) -> Any:
    """Each value of a document, with the member that it is of, the inner ones first."""
    if isinstance(value, dict):
        value = {member: changed(inner, change, member) for member, inner in value.items()}
    elif isinstance(value, list):
        value = [changed(inner, change) for inner in value]
    return change(name, value)


class Cursors:
    """Those that lists gave."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()

    def known(self, case: Case) -> bool:
        return (case.operation.path, str(case.query["cursor"])) in self._known

    def learn(self, case: Case, response: Response) -> None:
        if response.status_code == 200 and case.operation.path in ("/v1/jobs", "/v1/sessions/{session}/webhooks/{webhook}/deliveries"):
            if cursor := response.json().get("next_cursor"):
                self._known.add((case.operation.path, cursor))


cursors = Cursors()


@schemathesis.hook
def after_call(context: HookContext, case: Case, response: Response) -> None:
    cursors.learn(case, response)
    request = response.request
    body = request.body
    line = {
        "method": request.method,
        "path": request.path_url,
        "request": {"headers": list(request.headers.items()), "body": text(body)},
        "status": response.status_code,
        "response": {
            "headers": [(name, value) for name, values in response.headers.items() for value in values],
            "body": text(response.content),
        },
    }
    with open(EXCHANGES, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def text(body: Any) -> str | None:
    return body.decode("utf-8", errors="replace") if isinstance(body, bytes) else body


# A type that schemathesis does not read by itself.


@schemathesis.deserializer("multipart/byteranges")
def as_text(context: Any, response: Response) -> str:
    return response.text
