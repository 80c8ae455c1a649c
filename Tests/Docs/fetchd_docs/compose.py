"""The compose files: their structure, and what they start, with a real service on this machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import jsonschema
import yaml

from .environment import ENVIRONMENT, EXAMPLES, LOOPBACK, ROOT, Failure, Fetchd, free_port, require, serving, until
from .outcome import Report
from .proxy_servers import serving_nginx
from .signatures import SECRET

# The parts of the Compose specification that the file uses.
SERVICE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["image"],
    "properties": {
        "build": {"const": "."},
        "image": {"type": "string"},
        "depends_on": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["condition"],
                "properties": {
                    "condition": {"enum": ["service_started", "service_healthy", "service_completed_successfully"]}
                },
            },
        },
        "healthcheck": {
            "type": "object",
            "additionalProperties": False,
            "required": ["test"],
            "properties": {
                "test": {"type": "array", "items": {"type": "string"}},
                "interval": {"type": "string", "pattern": "^[0-9]+s$"},
                "timeout": {"type": "string", "pattern": "^[0-9]+s$"},
                "retries": {"type": "integer"},
            },
        },
        "network_mode": {"const": "none"},
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
    # Extensions, for parts that services share.
    "patternProperties": {"^x-": {"type": "object"}},
    "required": ["services", "volumes"],
    "properties": {
        "services": {"type": "object", "additionalProperties": SERVICE},
        "volumes": {"type": "object", "additionalProperties": {"type": "null"}},
    },
}


def check(program: Path, folder: Path, report: Report, is_long: bool) -> None:
    files = {name: checked(name, program, report) for name in ("compose.yaml", "compose.cluster.yaml", "compose.bucket.yaml")}
    with report.check("compose.yaml: the sample consumer receives from a service"):
        consume(program, folder, files["compose.yaml"]["services"]["consumer"])
    with report.check("compose.cluster.yaml: its nodes differ only in their addresses and volumes"):
        require_equal_nodes(files["compose.cluster.yaml"]["services"])
    with report.check("compose.cluster.yaml: the service key makes a key once"):
        make_key(program, folder, files["compose.cluster.yaml"]["services"]["key"])
    with report.check("compose.cluster.yaml: nginx sends requests to the nodes that run"):
        balance(program, folder)
    with report.check("compose.bucket.yaml: a file becomes an object of the bucket"):
        keep(program, folder, files["compose.bucket.yaml"]["services"])


def checked(name: str, program: Path, report: Report) -> dict:
    file = {"services": {}}
    with report.check(f"{name}: structure"):
        file = structure((ROOT / name).read_text(encoding="utf-8"))
    if has_compose():
        with report.check(f"{name}: docker compose config"):
            compose_config(name)
    else:
        print(f"– docker compose is not installed; only the structure of {name} is checked", flush=True)
    with report.check(f"{name}: the environment of each service of fetchd has its settings"):
        for service in file["services"].values():
            if service["image"] == "fetchd":
                require_settings(program, service["environment"])
    return file


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
        for other in service.get("depends_on", {}):
            require(other in file["services"], f"{name}: there is no service {other}")
    return file


def has_compose() -> bool:
    try:
        return subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def compose_config(name: str) -> None:
    done = subprocess.run(
        ["docker", "compose", "--file", name, "--profile", "consumer", "config", "--quiet"], cwd=ROOT,
        capture_output=True, text=True,
        env=ENVIRONMENT | {"FETCHD_TOKEN": "token", "POSTGRES_PASSWORD": "password", "WEBHOOK_SECRET": SECRET},
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


def require_equal_nodes(services: dict) -> None:
    nodes = {name: service for name, service in services.items() if service["image"] == "fetchd"}
    require(len(nodes) == 3, f"there are {len(nodes)} nodes")
    forms = set()
    for name, node in nodes.items():
        number = name.removeprefix("node-")
        require(node["environment"]["FETCHD_NODE_URL"] == f"http://{name}:8080", f"{name} has the address of another node")
        own = [volume for volume in node["volumes"] if not volume.startswith("key:")]
        require(own == [f"data-{number}:/data", f"downloads-{number}:/downloads"], f"{name} has other volumes: {own}")
        environment = {key: value for key, value in node["environment"].items() if key != "FETCHD_NODE_URL"}
        forms.add(json.dumps(node | {"environment": environment, "volumes": []}, sort_keys=True))
    require(len(forms) == 1, "the nodes have different settings")


def make_key(program: Path, folder: Path, service: dict) -> None:
    """The command of the service twice, with another folder: the second run keeps the key, and fetchd takes it."""
    folder = folder / "key"
    folder.mkdir()
    # Only root may give a file to another user.
    script = service["command"][2].replace("/key", str(folder)).replace("chown -R 10001:10001", "test -d")
    keys = set()
    for _ in range(2):
        subprocess.run(["sh", "-c", script], check=True)
        keys.add((folder / "fetchd.key").read_text())
    require(len(keys) == 1, "the second run has replaced the key")
    with Fetchd(program, folder / "fetchd", "--key-file", str(folder / "fetchd.key")) as fetchd:
        fetchd.json("GET", "/v1/stats")


def balance(program: Path, folder: Path) -> None:
    """The configuration of nginx in front of three services, of which one is killed."""
    folder = folder / "balance"
    folder.mkdir(mode=0o755)
    port = free_port()
    text = (EXAMPLES / "cluster/nginx.conf").read_text().replace("listen 80;", f"listen {LOOPBACK}:{port};")
    with ExitStack() as stack:
        nodes = []
        for name in ("node-1", "node-2", "node-3"):
            node = stack.enter_context(Fetchd(program, folder / name))
            node.json("PUT", f"/v1/sessions/{name}", {})
            require(f"server {name}:8080 " in text, f"nginx does not know {name}")
            text = text.replace(f"server {name}:8080 ", f"server {LOOPBACK}:{node.port} ")
            nodes.append(node)
        stack.enter_context(serving_nginx(text, folder, port))
        require(len({answering(port) for _ in range(30)}) == 3, "not every node gets requests")
        nodes[0].kill()
        names = {answering(port) for _ in range(30)}
        require(names == {"node-2", "node-3"}, f"after the end of node-1, {names} answer")


def answering(port: int) -> str:
    """The name of the service that answers: each has a session of its name."""
    with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/v1/sessions", timeout=20) as answer:
        names = {session["id"] for session in json.load(answer)["sessions"]}
    return next(name for name in names if name != "default")


def keep(program: Path, folder: Path, services: dict) -> None:
    """The command that makes the bucket, and the settings of the service, with the same server on this machine."""
    folder = folder / "bucket"
    folder.mkdir()
    port = free_port()

    def here(text: str) -> str:
        return text.replace("//bucket:5000", f"//{LOOPBACK}:{port}")

    settings = {name: value for name, value in services["fetchd"]["environment"].items() if name != "FETCHD_TOKEN"}
    with serving([sys.executable, "-m", "moto.server", "-p", str(port)], port, folder, "bucket"):
        subprocess.run(["curl", *(here(word) for word in services["make-bucket"]["command"])], check=True)
        with Fetchd(program, folder / "fetchd", settings={name: here(value) for name, value in settings.items()}) as fetchd:
            fetchd.declare({"destination": {"location": "archive"}})
            job = fetchd.download("rehearse:film.mkv?size=1")
            require(job["file"]["url"] == here("http://bucket:5000/films/film.mkv"), f"the file is {job['file']}")
