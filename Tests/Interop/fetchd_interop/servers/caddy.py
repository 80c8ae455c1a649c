"""Caddy."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from ..content import PASSWORD, REALM, USER
from ..environment import ENVIRONMENT, LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    file = place.folder / "Caddyfile"
    file.write_text(configuration(place, port))
    # Caddy keeps its state below HOME.
    command = ["env", f"HOME={place.folder}", f"XDG_DATA_HOME={place.folder}", "caddy", "run", "--config", file]
    with serving([*command, "--adapter", "caddyfile"], port, place.folder, "caddy"):
        lacks = {"digest": "Caddy has no module for digest"}
        yield Site(f"http://{LOOPBACK}:{port}", port, place.content.expiry, lacks=lacks, large=place.content.large)


def password_hash() -> str:
    return subprocess.run(
        ["caddy", "hash-password", "--plaintext", PASSWORD], env=ENVIRONMENT | {"HOME": os.devnull}, text=True,
        capture_output=True, check=True,
    ).stdout.strip()  # fmt: skip


def configuration(place: Place, port: int) -> str:
    return f"""{{
    admin off
    auto_https off
}}
http://{LOOPBACK}:{port} {{
    root * "{place.content.folder}"
    encode /gzip/* gzip
    basicauth /basic/* bcrypt {REALM} {{
        {USER} {password_hash()}
    }}
    @expired {{
        path /expiring/*
        file /{place.content.expiry.name}
    }}
    respond @expired 410
    redir /redirect/1 /redirect/2 302
    redir /redirect/2 /redirect/3 307
    redir /redirect/3 /large.bin 301
    file_server
}}
"""


SERVER = Server("Caddy", ("caddy",), start)
