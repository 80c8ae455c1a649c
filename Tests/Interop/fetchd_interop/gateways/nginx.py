"""nginx as a reverse proxy: with plain HTTP, and with TLS and HTTP/2 for the client."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator
from functools import partial

from ..environment import LOOPBACK, free_port
from ..gateway import PREFIX, Gateway, GatewayServer
from ..processes import serving
from ..server import Place


@contextlib.contextmanager
def start(place: Place, fetchd: int, is_secure: bool = False) -> Iterator[Gateway]:
    port = free_port()
    (place.folder / "temporary").mkdir()
    (place.folder / "nginx.conf").write_text(configuration(place, port, fetchd, is_secure))
    command = ["nginx", "-p", f"{place.folder}/", "-c", "nginx.conf", "-e", "error.log"]
    context = ssl.create_default_context(cafile=str(place.certificates.authority)) if is_secure else None
    with serving(command, port, place.folder):
        yield Gateway(f"{'https' if is_secure else 'http'}://{LOOPBACK}:{port}", context=context)


def configuration(place: Place, port: int, fetchd: int, is_secure: bool) -> str:
    temporary = "".join(
        f"    {kind}_temp_path temporary/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    secure = f"""ssl_certificate {place.certificates.certificate};
        ssl_certificate_key {place.certificates.key};"""
    return f"""{"user root;" if os.geteuid() == 0 else ""}
daemon off;
pid nginx.pid;
events {{ }}
http {{
    access_log off;
{temporary}
    server {{
        listen {LOOPBACK}:{port}{" ssl http2" if is_secure else ""};
        {secure if is_secure else ""}
        location {PREFIX}/ {{
            proxy_pass http://{LOOPBACK}:{fetchd}/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""


SERVERS = [
    GatewayServer("nginx", ("nginx",), start, is_short=True),
    GatewayServer("nginx, TLS", ("nginx", "openssl"), partial(start, is_secure=True)),
]
