"""The examples of examples/webhooks: with deliveries of a real fetchd, and with requests that are not from fetchd."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from . import languages
from .environment import ENVIRONMENT, LOOPBACK, Fetchd, require, stop, until
from .languages import Verifier
from .outcome import Report
from .recorder import Recorder
from .signatures import OTHER_SECRET, SECRET, Signed, signed, table

EXPECTED = ["job.created", "job.failed", "job.succeeded", "session.finished"]


def check(program: Path, folder: Path, report: Report, is_long: bool) -> None:
    verifiers = []
    for language in languages.ALL:
        if language.is_long and not is_long:
            report.skip(f"webhooks in {language.name}", "only with --long, because the build takes more than a minute")
            continue
        with report.check(f"webhooks in {language.name}: build"):
            require(not language.is_missing, f"{language.program} is not installed; run scripts/setup docs")
            verifiers.append(language.prepare(folder))
    with Recorder() as recorder, contextlib.ExitStack() as running:
        receivers = {
            verifier.language: running.enter_context(receiving(verifier, folder))
            for verifier in verifiers
            if verifier.receiver
        }
        with report.check("webhooks: deliveries of a real fetchd"):
            deliver(program, folder / "fetchd", {name: port for name, (port, _) in receivers.items()}, recorder)
        delivered = recorder.requests
        for name, (port, log) in receivers.items():
            with report.check(f"webhooks in {name}: receives from fetchd"):
                require_received(log)
            with report.check(f"webhooks in {name}: refuses what is not from fetchd"):
                require_refusals(port, delivered[0])
    for verifier in verifiers:
        with report.check(f"webhooks in {verifier.language}: {len(table(delivered))} cases"):
            require_verdicts(verifier, delivered)
        if verifier.filter:
            with report.check(f"webhooks in {verifier.language}: the program"):
                require_filter(verifier.filter, delivered[0])


def deliver(program: Path, folder: Path, ports: dict[str, int], recorder: Recorder) -> None:
    """One batch, whose events go to each receiver; fetchd must count all of them as acknowledged."""
    addresses = {name.lower(): f"http://{LOOPBACK}:{port}/" for name, port in ports.items()}
    addresses["recorder"] = f"http://{LOOPBACK}:{recorder.port}/"
    with Fetchd(program, folder, "--webhook-retry-delays", "0,1,1,1") as service:
        service.declare({})
        for name, address in addresses.items():
            webhook = {"url": address, "secret": SECRET, "events": EXPECTED}
            service.json("PUT", f"/v1/sessions/interop/webhooks/{name}", webhook)
        urls = ["rehearse:film.mkv?size=1000", "rehearse:lost.mkv?status=404"]
        service.json("POST", "/v1/jobs/batch", {"jobs": [{"url": url, "session": "interop"} for url in urls]})
        for name in addresses:
            path = f"/v1/sessions/interop/webhooks/{name}/deliveries"

            def acknowledged(path: str = path) -> bool:
                states = [one["state"] for one in service.json("GET", path)["deliveries"]]
                return len(states) == 5 and set(states) == {"acknowledged"}

            until(f"{name} has accepted all five events", acknowledged)


@contextlib.contextmanager
def receiving(verifier: Verifier, folder: Path) -> Iterator[tuple[int, Path]]:
    """Starts a receiver on a free port: the port that it prints, and the file with its output."""
    log = folder / f"receiver-{verifier.language}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*(verifier.receiver or []), "0"], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder,
            env=ENVIRONMENT | {"WEBHOOK_SECRET": SECRET, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip

    def port() -> int | None:
        text = log.read_text(errors="replace")
        require(process.poll() is None, f"the receiver has ended: {text[-1000:]}")
        found = re.search(r"listening on port ([0-9]+)\n", text)
        return int(found[1]) if found else None

    try:
        yield until(f"the receiver in {verifier.language} listens", port), log
    finally:
        stop(process)


def require_received(log: Path) -> None:
    lines = [line for line in log.read_text().splitlines() if line.startswith("verified ")]
    wanted = sorted(f"verified {type}" for type in [*EXPECTED, "job.created"])
    require(sorted(lines) == wanted, f"the receiver has printed {lines}")


def require_refusals(port: int, delivered: Signed) -> None:
    """Requests over HTTP, at the present time: repetitions are accepted, everything else is refused."""
    now = int(time.time())
    body = delivered.body
    genuine = signed("dlv_new", now, body)
    accepted = {"a repetition": delivered, "a new event": genuine}
    refused = {
        "another secret": signed("dlv_other", now, body, OTHER_SECRET),
        "a request of six minutes ago": signed("dlv_old", now - 360, body),
        "a request from the future": signed("dlv_future", now + 360, body),
        "another body": replace(delivered, body=body.replace(b"job_", b"jobs")),
        "another id": replace(delivered, id="dlv_another"),
        "a newer timestamp": replace(delivered, timestamp=str(int(delivered.timestamp) + 1)),
        "no signature": replace(delivered, signatures=""),
    }
    for name, one in accepted.items():
        require((status := post(port, one.headers, one.body)) == 204, f"{name} was answered with {status}")
    for name, one in refused.items():
        require((status := post(port, one.headers, one.body)) == 401, f"{name} was answered with {status}")
    require((status := post(port, {}, body)) == 401, f"a request without the three fields was answered with {status}")


def post(port: int, headers: dict[str, str], body: bytes) -> int:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=20)
    try:
        connection.request("POST", "/", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def require_verdicts(verifier: Verifier, delivered: list[Signed]) -> None:
    rows = table(delivered)
    given = "".join(json.dumps(members(one)) + "\n" for _, one, _ in rows)
    done = subprocess.run(
        verifier.cases, input=given.encode(), capture_output=True, env=ENVIRONMENT, timeout=60
    )  # fmt: skip
    require(done.returncode == 0, f"it ended with {done.returncode}: {done.stderr[-1000:].decode(errors='replace')}")
    answers = done.stdout.decode().split()
    require(len(answers) == len(rows), f"{len(answers)} answers to {len(rows)} cases")
    wrong = [name for (name, _, is_genuine), answer in zip(rows, answers) if answer != str(is_genuine).lower()]
    require(not wrong, f"the verdict is wrong for: {'; '.join(wrong)}")


def members(one: Signed) -> dict[str, object]:
    body = base64.b64encode(one.body).decode()
    return {
        "secret": one.secret, "id": one.id, "timestamp": one.timestamp, "signatures": one.signatures, "body": body,
        "now": one.now,
    }  # fmt: skip


def require_filter(command: list[str], delivered: Signed) -> None:
    def outcome(one: Signed) -> tuple[int, str]:
        done = subprocess.run(
            [*command, one.id, one.timestamp, one.signatures], input=one.body, capture_output=True, timeout=60,
            env=ENVIRONMENT | {"WEBHOOK_SECRET": SECRET},
        )  # fmt: skip
        return done.returncode, done.stdout.decode().strip()

    status, text = outcome(delivered)
    require(status == 0 and text.startswith("verified "), f"it ended with {status}: {text}")
    status, text = outcome(replace(delivered, body=delivered.body + b" "))
    require(status == 1 and text == "refused", f"a forged body ended with {status}: {text}")
