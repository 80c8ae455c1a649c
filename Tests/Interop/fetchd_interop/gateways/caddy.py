"""Caddy as a reverse proxy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..environment import LOOPBACK, free_port
from ..gateway import PREFIX, Gateway, GatewayServer
from ..processes import serving
from ..server import Place


@contextlib.contextmanager
def start(place: Place, fetchd: int) -> Iterator[Gateway]:
    port = free_port()
    file = place.folder / "Caddyfile"
    file.write_text(f"""{{
    admin off
    auto_https off
}}
http://{LOOPBACK}:{port} {{
    handle_path {PREFIX}/* {{
        reverse_proxy {LOOPBACK}:{fetchd}
    }}
}}
""")
    command = ["env", f"HOME={place.folder}", f"XDG_DATA_HOME={place.folder}", "caddy", "run", "--config", file]
    with serving([*command, "--adapter", "caddyfile"], port, place.folder, "caddy"):
        yield Gateway(f"http://{LOOPBACK}:{port}")


SERVER = GatewayServer("Caddy", ("caddy",), start)
