"""What must work behind a proxy."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urljoin

from fetchd_interop.gateway_checks.dashboard import names_in

from .environment import ENVIRONMENT, Fetchd, require
from .proxy_client import Client, events, require_line

# A job that stays queued until a check is over.
NEVER = "2999-01-01T00:00:00Z"
# Seconds. A proxy that collects an answer would deliver an event only with the heartbeat, or never. The heartbeat comes more
# often than the usual time limit of a proxy, 60 s.
HEARTBEAT = 35
PROMPT = 25
FILE_SIZE = 64 << 20


def serves(service: Fetchd, client: Client) -> None:
    """The proxy passes the token and the Host of the client on as they are."""
    status, _, body = client.ask("/readyz")
    require(status == 200, f"/readyz was answered with {status}: {body[:300]!r}")
    status, _, _ = replace(client, token="wrong").ask("/v1/stats")
    require(status == 401, f"a wrong token was answered with {status}")


def names_client(service: Fetchd, client: Client) -> None:
    """The audit log has the address of the client, and neither the proxy's nor one that the client invents."""
    replace(client, token="wrong").ask("/v1/stats", "--header", "X-Forwarded-For: 203.0.113.7")
    entries = service.json("GET", "/v1/audit")["entries"]
    addresses = {entry["address"] for entry in entries if entry["outcome"] == "refused"}
    require(addresses == {"127.0.0.1"}, f"the audit log names {addresses}")


def waits(service: Fetchd, client: Client) -> None:
    """A wait for 55 s: fetchd grants 30 s, and answers with the change, not at the end."""
    id = service.submit("rehearse:film.mkv?size=1", not_before=NEVER)
    status, fields, _ = client.ask(f"/v1/jobs/{id}")
    require(status == 200, f"the job was answered with {status}")
    threading.Timer(0.5, service.json, ("POST", f"/v1/jobs/{id}/pause")).start()
    start = time.monotonic()
    status, fields, body = client.ask(
        f"/v1/jobs/{id}", "--header", f"If-None-Match: {fields['etag']}", "--header", "Prefer: wait=55"
    )
    require(status == 200 and json.loads(body)["state"] == "paused", f"the wait was answered with {status}: {body[:300]!r}")
    require(fields.get("preference-applied") == "wait=30", f"the time is {fields.get('preference-applied')}")
    require(time.monotonic() - start < 25, "the answer came only at the end of the wait")
    service.json("POST", f"/v1/jobs/{id}/cancel")


def streams(service: Fetchd, client: Client) -> None:
    """An event arrives at once, although the stream does not end."""
    after = service.json("GET", "/v1/stats")["last_event"]
    with events(client, f"/v1/events?after={after}") as lines:
        threading.Timer(0.3, service.submit, ("rehearse:film.mkv?size=1",)).start()
        require_line(lines, "event: job.succeeded", PROMPT)


def submits(service: Fetchd, client: Client) -> None:
    """A batch of more than 2 MiB passes, and the answer of a mistake is that of fetchd."""
    job = {"session": "interop", "url": "rehearse:x?size=1", "not_before": NEVER, "metadata": {"text": "x" * 7000}}
    body = json.dumps({"jobs": [job] * 320}).encode()
    options = ("--request", "POST", "--header", "Content-Type: application/json", "--data-binary", "@-")
    status, _, content = client.ask("/v1/jobs/batch", *options, body=body)
    require(status == 201, f"{len(body)} bytes were answered with {status}: {content[:300]!r}")
    # As the dashboard sends it: fetchd compares the origin with the Host that the proxy passes on.
    origin = ("--header", f"Origin: https://{client.name}:{client.port}")
    status, fields, content = client.ask("/v1/jobs", *options, *origin, body=json.dumps(job).encode())
    require(status == 201, f"one job was answered with {status}: {content[:300]!r}")
    status, _, _ = client.ask(urljoin("/v1/jobs", fields["location"]))
    require(status == 200, f"the Location {fields['location']} was answered with {status}")
    service.json("POST", "/v1/sessions/interop/cancel")
    status, fields, content = client.ask("/v1/jobs", *options, body=b"{}")
    require(status == 422 and fields["content-type"] == "application/problem+json", f"a mistake was answered with {status}")


def sends_file(service: Fetchd, client: Client) -> None:
    """A file that is larger than the buffers of a proxy: as a whole, and a range of it."""
    job = service.download(f"rehearse:large.bin?size={FILE_SIZE}", digest="none")
    path = f"/v1/jobs/{job['id']}/file"
    with service.path(job).open("rb") as file:
        expected = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(FILE_SIZE // 2)
        middle = file.read(1000)
    process = subprocess.Popen(client.command(path, "--fail"), stdout=subprocess.PIPE, env=ENVIRONMENT)
    digest = hashlib.sha256()
    while block := process.stdout.read(1 << 20):
        digest.update(block)
    require(process.wait() == 0 and digest.hexdigest() == expected, "the file has other bytes, or curl failed")
    field = f"Range: bytes={FILE_SIZE // 2}-{FILE_SIZE // 2 + 999}"
    status, _, body = client.ask(path, "--header", field)
    require(status == 206 and body == middle, f"a range was answered with {status} and {len(body)} bytes")
    service.json("DELETE", f"/v1/jobs/{job['id']}?file=delete")


def shows_page(service: Fetchd, client: Client) -> None:
    """Every file that the page and its modules name is found below the path."""
    found: set[str] = set()
    wanted = {"/"}
    while remaining := wanted - found:
        path = remaining.pop()
        found.add(path)
        status, _, body = client.ask(path)
        require(status == 200, f"{path} was answered with {status}")
        if path == "/" or path.endswith((".js", ".css")):
            wanted |= {urljoin(path, name) for name in names_in(path, body)}
    require(len(found) > 5, f"only {sorted(found)} were found")


CHECKS = {
    "readiness and token": serves,
    "the address of the client": names_client,
    "a wait of 55 s": waits,
    "a stream": streams,
    "a batch of 2 MiB": submits,
    "a file of 64 MiB": sends_file,
    "the page": shows_page,
}


def wait_long(service: Fetchd, clients: list[Client]) -> None:
    """Longer than the usual time limit of a proxy, 60 s: heartbeats keep a stream, and a wait ends after 30 s."""
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(whole_wait, service, client) for client in clients]
        done += [pool.submit(silent_stream, service, client) for client in clients]
        for one in done:
            one.result()


def whole_wait(service: Fetchd, client: Client) -> None:
    id = service.submit("rehearse:film.mkv?size=1", not_before=NEVER)
    _, fields, _ = client.ask(f"/v1/jobs/{id}")
    start = time.monotonic()
    status, _, _ = client.ask(
        f"/v1/jobs/{id}", "--header", f"If-None-Match: {fields['etag']}", "--header", "Prefer: wait=55"
    )
    waited = time.monotonic() - start
    require(status == 304 and waited > 29, f"the wait was answered with {status} after {waited:.1f} s")


def silent_stream(service: Fetchd, client: Client) -> None:
    with events(client, "/v1/events?session=none") as process:
        timer = threading.Timer(95, process.kill)
        timer.start()
        start = time.monotonic()
        for _ in process.stdout:
            # The second heartbeat comes after 70 s.
            if time.monotonic() - start > 61:
                break
        timer.cancel()
        lasted = time.monotonic() - start
        require(lasted > 61 and process.poll() is None, f"the stream ended after {lasted:.1f} s")
