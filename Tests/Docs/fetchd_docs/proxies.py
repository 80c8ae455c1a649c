"""examples/nginx.conf, examples/Caddyfile and examples/apache.conf: the real proxies over TLS, in front of a real fetchd.

The configurations are used as they are printed. Only the ports, the paths of the certificates and the path of the socket
are replaced, because the test needs neither root nor /etc.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urljoin

from fetchd_interop.gateway_checks.dashboard import names_in
from fetchd_interop.servers.apache import modules

from .environment import (
    ENVIRONMENT, EXAMPLES, LOOPBACK, Certificates, Failure, Fetchd, free_port, make_certificates, program, require, serving,
    until,
)  # fmt: skip
from .outcome import Report

ROOT_NAME, PATH_NAME = "downloads.example.org", "www.example.org"
SOCKET = "/run/fetchd/fetchd.sock"
CERTIFICATE = "/etc/ssl/certs/downloads.example.org.pem"
KEY = "/etc/ssl/private/downloads.example.org.key"
TOKEN = "correct-horse"
# A job that stays queued until a check is over.
NEVER = "2999-01-01T00:00:00Z"
# Seconds. A proxy that collects an answer would deliver an event only with the heartbeat, after 15 s, or never.
PROMPT = 8
FILE_SIZE = 64 << 20


@dataclass(frozen=True)
class Place:
    folder: Path
    certificates: Certificates
    socket: Path

    def adapted(self, example: str, replacements: dict[str, str]) -> str:
        text = (EXAMPLES / example).read_text()
        for old, new in ({SOCKET: str(self.socket)} | replacements).items():
            require(old in text, f"examples/{example} has no longer {old!r}")
            text = text.replace(old, new)
        return text

    @property
    def keys(self) -> dict[str, str]:
        return {CERTIFICATE: str(self.certificates.certificate), KEY: str(self.certificates.key)}


@contextlib.contextmanager
def nginx(place: Place) -> Iterator[tuple[int, Path]]:
    port = free_port()
    (place.folder / "temporary").mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"    {kind}_temp_path temporary/{kind};\n" for kind in kinds)
    example = place.adapted("nginx.conf", place.keys | {"listen 443": f"listen {LOOPBACK}:{port}"})
    (place.folder / "nginx.conf").write_text(f"""{"user root;" if os.geteuid() == 0 else ""}
daemon off;
pid nginx.pid;
events {{ }}
http {{
    access_log off;
{temporary}{example}
}}
""")
    command = ["nginx", "-p", f"{place.folder}/", "-c", "nginx.conf", "-e", "error.log"]
    with serving(command, port, place.folder):
        yield port, place.certificates.authority


@contextlib.contextmanager
def caddy(place: Place) -> Iterator[tuple[int, Path]]:
    """Caddy's own certificate authority, in place of Let's Encrypt, signs the certificates."""
    port = free_port()
    options = f"""{{
	admin off
	local_certs
	skip_install_trust
	auto_https disable_redirects
	http_port {free_port()}
	https_port {port}
	default_bind {LOOPBACK}
}}
"""
    file = place.folder / "Caddyfile"
    file.write_text(options + place.adapted("Caddyfile", {}))
    data = place.folder / "data"
    command = ["env", f"HOME={place.folder}", f"XDG_DATA_HOME={data}", "caddy", "run", "--config", file]
    with serving([*command, "--adapter", "caddyfile"], port, place.folder, "caddy"):
        authority = data / "caddy/pki/authorities/local/root.crt"
        # Caddy accepts connections before it has made its certificates.
        until("Caddy has certificates", lambda: all(has_certificate(port, authority, name) for name in (ROOT_NAME, PATH_NAME)))
        yield port, authority


def has_certificate(port: int, authority: Path, name: str) -> bool:
    try:
        context = ssl.create_default_context(cafile=str(authority))
        with socket.create_connection((LOOPBACK, port), 10) as connection, context.wrap_socket(connection, server_hostname=name):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def apache(place: Place) -> Iterator[tuple[int, Path]]:
    port = free_port()
    example = place.adapted("apache.conf", place.keys | {"<VirtualHost *:443>": f"<VirtualHost {LOOPBACK}:{port}>"})
    file = place.folder / "apache.conf"
    file.write_text(f"""{modules("mpm_event", "authz_core", "proxy", "proxy_http", "unixd", "ssl", "http2", "socache_shmcb")}
ServerName {LOOPBACK}
Listen {LOOPBACK}:{port} https
PidFile {place.folder}/apache.pid
ErrorLog {place.folder}/apache-error.log
DefaultRuntimeDir {place.folder}
Mutex file:{place.folder}
User www-data
Group www-data
{example}
""")
    with serving(["apache2", "-d", place.folder, "-f", file, "-DFOREGROUND"], port, place.folder):
        yield port, place.certificates.authority


@dataclass(frozen=True)
class Proxy:
    name: str
    program: str
    start: Callable[[Place], contextlib.AbstractContextManager[tuple[int, Path]]]


PROXIES = [Proxy("nginx", "nginx", nginx), Proxy("Caddy", "caddy", caddy), Proxy("Apache", "apache2", apache)]


@dataclass(frozen=True)
class Client:
    """curl, as a client of one of the two hosts of a proxy."""

    port: int
    authority: Path
    name: str
    prefix: str
    options: tuple[str, ...] = ()
    token: str = TOKEN

    def command(self, path: str, *options: str) -> list[str]:
        return [
            "curl", "--silent", "--show-error", "--noproxy", "*", "--cacert", str(self.authority), "--resolve",
            f"{self.name}:{self.port}:{LOOPBACK}", "--header", f"Authorization: Bearer {self.token}", "--max-time", "100",
            *self.options, *options, f"https://{self.name}:{self.port}{self.prefix}{path}",
        ]  # fmt: skip

    def ask(self, path: str, *options: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        done = subprocess.run(self.command(path, "--include", *options), input=body, capture_output=True, env=ENVIRONMENT)
        if done.returncode:
            raise Failure(f"curl {path} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        while head.startswith(b"HTTP/1.1 100"):
            head, _, content = content.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        version = "HTTP/2 " if "--http2" in self.options else "HTTP/1.1 "
        require(lines[0].startswith(version), f"{path} was answered with {lines[0]}")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields, content


def check(fetchd: Path, folder: Path, report: Report, is_long: bool) -> None:
    # Servers that do not run as root must reach their files.
    folder.chmod(0o755)
    certificates = make_names(folder)
    for proxy in PROXIES:
        if program(proxy.program) is None:
            with report.check(f"fetchd behind {proxy.name}"):
                raise Failure(f"{proxy.program} is not installed; run scripts/install docs")
            continue
        own = folder / proxy.name
        own.mkdir()
        own.chmod(0o777)
        place = Place(own, certificates, own / "fetchd.sock")
        try:
            check_behind(fetchd, proxy, place, report, is_long)
        except Failure as failure:
            with report.check(f"fetchd behind {proxy.name}"):
                raise failure


def make_names(folder: Path) -> Certificates:
    """A certificate for both names, signed by an authority that exists only for this run."""
    return make_certificates(folder / "certificates", f"DNS:{ROOT_NAME},DNS:{PATH_NAME}")


def check_behind(fetchd: Path, proxy: Proxy, place: Place, report: Report, is_long: bool) -> None:
    options = ["--unix-socket", str(place.socket), "--unix-socket-mode", "0666", "--public-host", ROOT_NAME]
    with (
        Fetchd(fetchd, place.folder / "fetchd", *options, "--public-host", PATH_NAME, token=TOKEN) as service,
        proxy.start(place) as (port, authority),
    ):
        service.declare({})
        for version in ("--http1.1", "--http2"):
            root = Client(port, authority, ROOT_NAME, "", (version,))
            below = Client(port, authority, PATH_NAME, "/fetchd", (version,))
            for where, client in (("", root), (" below /fetchd/", below)):
                label = f"{proxy.name}, {version[2:]}{where}"
                for name, run in CHECKS.items():
                    with report.check(f"{label}: {name}"):
                        run(service, client)
        clients = [Client(port, authority, ROOT_NAME, "", ("--http2",)), Client(port, authority, PATH_NAME, "/fetchd", ("--http1.1",))]
        if is_long:
            with report.check(f"{proxy.name}: a whole wait, and a stream that is silent for longer than a minute"):
                wait_long(service, clients)


def serves(service: Fetchd, client: Client) -> None:
    """The proxy passes the token and the Host of the client on as they are."""
    status, _, body = client.ask("/readyz")
    require(status == 200, f"/readyz was answered with {status}: {body[:300]!r}")
    status, _, _ = replace(client, token="wrong").ask("/v1/stats")
    require(status == 401, f"a wrong token was answered with {status}")


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
    require(time.monotonic() - start < 20, "the answer came only at the end of the wait")
    service.json("POST", f"/v1/jobs/{id}/cancel")


def streams(service: Fetchd, client: Client) -> None:
    """An event arrives at once, although the stream does not end."""
    after = service.json("GET", "/v1/stats")["last_event"]
    with events(client, f"/v1/events?after={after}") as lines:
        threading.Timer(0.3, service.submit, ("rehearse:film.mkv?size=1",)).start()
        require_line(lines, "event: job.succeeded", PROMPT)


@contextlib.contextmanager
def events(client: Client, path: str) -> Iterator[subprocess.Popen]:
    command = client.command(path, "--no-buffer", "--header", "Accept: text/event-stream")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def require_line(process: subprocess.Popen, wanted: str, patience: float) -> None:
    """A line of the stream. A timer ends curl, so that reading cannot take longer."""
    timer = threading.Timer(patience, process.kill)
    timer.start()
    try:
        for line in process.stdout:
            if line.strip() == wanted:
                return
        errors = process.stderr.read().strip()
        raise Failure(f"{wanted!r} did not arrive within {patience:g} s. {errors}")
    finally:
        timer.cancel()


def submits(service: Fetchd, client: Client) -> None:
    """A batch of more than 2 MiB passes, and the answer of a mistake is that of fetchd."""
    job = {"session": "interop", "url": "rehearse:x?size=1", "not_before": NEVER, "metadata": {"text": "x" * 7000}}
    body = json.dumps({"jobs": [job] * 320}).encode()
    options = ("--request", "POST", "--header", "Content-Type: application/json", "--data-binary", "@-")
    status, _, content = client.ask("/v1/jobs/batch", *options, body=body)
    require(status == 201, f"{len(body)} bytes were answered with {status}: {content[:300]!r}")
    status, fields, _ = client.ask("/v1/jobs", *options, body=json.dumps(job).encode())
    require(status == 201, f"one job was answered with {status}")
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
    status, _, _ = client.ask(f"/v1/jobs/{id}", "--header", f"If-None-Match: {fields['etag']}", "--header", "Prefer: wait=55")
    waited = time.monotonic() - start
    require(status == 304 and waited > 29, f"the wait was answered with {status} after {waited:.1f} s")


def silent_stream(service: Fetchd, client: Client) -> None:
    with events(client, "/v1/events?session=none") as process:
        timer = threading.Timer(95, process.kill)
        timer.start()
        start = time.monotonic()
        for _ in process.stdout:
            # Heartbeats come every 15 s.
            if time.monotonic() - start > 61:
                break
        timer.cancel()
        lasted = time.monotonic() - start
        require(lasted > 61 and process.poll() is None, f"the stream ended after {lasted:.1f} s")
