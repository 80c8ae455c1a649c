"""wrk: many clients that each send the next request as soon as the last one is answered."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .environment import ENVIRONMENT, LOOPBACK, fail
from .processes import cpu_seconds, peak_mib
from .results import Metric, Sample

METRICS = [
    Metric("rate", "requests/s", 0, is_compared=True, has_range=True),
    Metric("p50", "p50, ms", 2),
    Metric("p99", "p99, ms", 2, is_compared=True, has_range=True),
    Metric("cpu_each", "CPU a request, µs", 1, is_compared=True),
    Metric("cpu", "CPU, s", 2),
    Metric("peak", "peak RSS, MiB", 0),
]

SCRIPT = """
wrk.method = {0}
{1}
number = 0
local threads = 0
function setup(it) it:set("thread", threads) threads = threads + 1 end
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\\nRESULT {{"requests": %d, "microseconds": %d, "p50": %f, "p99": %f, "refused": %d, "lost": %d}}\\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
        errors.connect + errors.read + errors.write + errors.timeout))
end
"""

# Each body differs in a number that no other request has. The character @ is its place.
BODIES = """
local before, after = {0}, {1}
function request()
    number = number + 1
    return wrk.format(nil, nil, nil, before .. thread .. "-" .. number .. after)
end
"""


@dataclass(frozen=True)
class Request:
    path: str
    method: str = "GET"
    fields: dict[str, str] = field(default_factory=dict)
    body: str | None = None  # in which @ becomes a number of its own for each request


def run_wrk(request: Request, port: int, pid: int, folder: Path, seconds: float, clients: int = 64) -> Sample:
    """Runs wrk, and measures the server `pid`."""
    script = folder / "requests.lua"
    script.write_text(lua(request))
    command = [
        "wrk", "--threads", str(min(2, os.cpu_count() or 1)), "--connections", str(clients),
        "--duration", f"{max(1, round(seconds))}s", "--timeout", "10s", "--script", str(script),
        f"http://{LOOPBACK}:{port}{request.path}",
    ]  # fmt: skip
    cpu = cpu_seconds(pid)
    ended = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    used = cpu_seconds(pid) - cpu
    found = next((line for line in ended.stdout.splitlines() if line.startswith("RESULT ")), None)
    if ended.returncode or not found:
        fail(f"wrk failed: {ended.stdout[-1000:]}{ended.stderr[-1000:]}")
    return sample(json.loads(found.removeprefix("RESULT ")), used, peak_mib(pid), request)


def sample(result: dict[str, float], used: float, peak: float, request: Request) -> Sample:
    count = result["requests"]
    if result["refused"]:
        fail(f"{request.method} {request.path}: {result['refused']} of {count} requests were refused")
    found = Sample(rate=count / (result["microseconds"] / 1e6), cpu=used, peak=peak, requests=count)
    if count:
        found |= {"p50": result["p50"] / 1000, "p99": result["p99"] / 1000, "cpu_each": used * 1e6 / count}
    return found


def lua(request: Request) -> str:
    fields = dict(request.fields)
    bodies = ""
    if request.body is not None:
        fields["Content-Type"] = "application/json"
        before, _, after = request.body.partition("@")
        bodies = BODIES.format(json.dumps(before), json.dumps(after))
    headers = "\n".join(f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in fields.items())
    return SCRIPT.format(json.dumps(request.method), headers) + bodies
