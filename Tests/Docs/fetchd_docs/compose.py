"""compose.yaml: its structure, and the command of its sample consumer with a real service."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import jsonschema
import yaml

from .environment import ENVIRONMENT, LOOPBACK, ROOT, Failure, Fetchd, free_port, require, serving, until
from .outcome import Report
from .signatures import SECRET

# The parts of the Compose specification that the file uses.
SERVICE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["image"],
    "properties": {
        "build": {"const": "."},
        "image": {"type": "string"},
        "profiles": {"type": "array", "items": {"type": "string"}},
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "user": {"type": "string"},
        "stop_grace_period": {"type": "string", "pattern": "^[0-9]+s$"},
        "ports": {"type": "array", "items": {"type": "string", "pattern": r"^127\.0\.0\.1:[0-9]+:[0-9]+$"}},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "command": {"type": "array", "items": {"type": "string"}},
        "volumes": {"type": "array", "items": {"type": "string", "pattern": "^[^:]+:/[^:]+(:ro)?$"}},
        "read_only": {"type": "boolean"},
        "tmpfs": {"type": "array", "items": {"type": "string", "pattern": "^/"}},
        "cap_drop": {"type": "array", "items": {"type": "string"}},
        "security_opt": {"type": "array", "items": {"type": "string"}},
    },
}
FILE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["services", "volumes"],
    "properties": {
        "services": {"type": "object", "additionalProperties": SERVICE},
        "volumes": {"type": "object", "additionalProperties": {"type": "null"}},
    },
}


def check(program: Path, folder: Path, report: Report, is_long: bool) -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    with report.check("compose.yaml: structure"):
        file = structure(text)
    if has_compose():
        with report.check("compose.yaml: docker compose config"):
            compose_config()
    else:
        print("– docker compose is not installed; only the structure of compose.yaml is checked", flush=True)
    with report.check("compose.yaml: the environment of the service has its settings"):
        require_settings(program, file["services"]["fetchd"]["environment"])
    with report.check("compose.yaml: the sample consumer receives from a service"):
        consume(program, folder, file["services"]["consumer"])


def structure(text: str) -> dict:
    file = yaml.safe_load(text)
    try:
        jsonschema.validate(file, FILE)
    except jsonschema.ValidationError as error:
        raise Failure(f"{error.json_path}: {error.message}") from None
    for name, service in file["services"].items():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            known = (ROOT / source).exists() if source.startswith(".") else source in file["volumes"]
            require(known, f"{name}: there is no volume or folder {source}")
    return file


def has_compose() -> bool:
    try:
        return subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def compose_config() -> None:
    done = subprocess.run(
        ["docker", "compose", "--profile", "consumer", "config", "--quiet"], cwd=ROOT, capture_output=True, text=True,
        env=ENVIRONMENT | {"FETCHD_TOKEN": "token", "WEBHOOK_SECRET": SECRET},
    )  # fmt: skip
    require(done.returncode == 0, done.stderr)


def require_settings(program: Path, environment: dict[str, str]) -> None:
    """Each FETCHD_ variable is a variable of an option of `fetchd serve`."""
    help_text = subprocess.run([program, "serve", "--help"], capture_output=True, text=True, env=ENVIRONMENT).stdout
    options = {f"FETCHD_{name.upper().replace('-', '_')}" for name in re.findall(r"--([a-z][a-z-]+)", help_text)}
    unknown = [name for name in environment if name.startswith("FETCHD_") and name not in options | {"FETCHD_TOKEN"}]
    require(not unknown, f"fetchd serve has no option for {', '.join(unknown)}")


def consume(program: Path, folder: Path, service: dict) -> None:
    """The command of the consumer, on this machine: other paths, another port, and loopback."""
    port = free_port()
    require("WEBHOOK_SECRET" in service["environment"], "the consumer does not get WEBHOOK_SECRET")
    command = [word.replace("/examples/", f"{ROOT}/examples/") for word in service["command"]]
    command = [str(port) if word == "9000" else LOOPBACK if word == "0.0.0.0" else word for word in command]
    folder = folder / "consumer"
    folder.mkdir()
    with (
        Fetchd(program, folder / "fetchd") as fetchd,
        serving(["env", f"WEBHOOK_SECRET={SECRET}", *command], port, folder, "consumer"),
    ):
        fetchd.declare({})
        webhook = {"url": f"http://{LOOPBACK}:{port}/", "secret": SECRET}
        fetchd.json("PUT", "/v1/sessions/interop/webhooks/consumer", webhook)
        fetchd.download("rehearse:film.mkv?size=1")
        log = folder / "consumer.log"
        until("the consumer prints the finish", lambda: "verified session.finished" in log.read_text())

