"""nginx: HTTP/1.1, and over TLS HTTP/1.1 or HTTP/2."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import partial

from ..content import REALM
from ..environment import LOOPBACK, free_port
from ..passwords import write_basic
from ..processes import serving
from ..server import Place, Server, Site

NO_DIGEST = "nginx has no module for digest"


@contextlib.contextmanager
def start(place: Place, is_secure: bool = False, has_http2: bool = False) -> Iterator[Site]:
    port = free_port()
    (place.folder / "temporary").mkdir()
    (place.folder / "nginx.conf").write_text(configuration(place, port, is_secure, has_http2))
    command = ["nginx", "-p", f"{place.folder}/", "-c", "nginx.conf", "-e", "error.log"]
    with serving(command, port, place.folder):
        yield Site(
            f"{'https' if is_secure else 'http'}://{LOOPBACK}:{port}",
            port,
            place.content.expiry,
            lacks={"digest": NO_DIGEST},
            configuration={"tls": {"ca_file": str(place.certificates.authority)}} if is_secure else {},
            protocol="HTTP/2" if has_http2 else "HTTP/1.1",
            large=place.content.large,
        )


def configuration(place: Place, port: int, is_secure: bool, has_http2: bool) -> str:
    passwords = write_basic(place.folder / "passwords")
    temporary = "".join(
        f"    {kind}_temp_path temporary/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    secure = f"""ssl_certificate {place.certificates.certificate};
        ssl_certificate_key {place.certificates.key};"""
    # As root, nginx would run its workers as another user.
    return f"""{"user root;" if os.geteuid() == 0 else ""}
daemon off;
pid nginx.pid;
worker_processes 1;
events {{ }}
http {{
    access_log off;
    sendfile on;
    default_type application/octet-stream;
    types {{ text/plain txt; }}
{temporary}
    server {{
        listen {LOOPBACK}:{port}{" ssl" if is_secure else ""}{" http2" if has_http2 else ""};
        {secure if is_secure else ""}
        root "{place.content.folder}";
        location /gzip/ {{ gzip on; gzip_types text/plain; }}
        location /basic/ {{ auth_basic "{REALM}"; auth_basic_user_file {passwords}; }}
        location /expiring/ {{ if (-f "{place.content.expiry}") {{ return 410; }} }}
        location = /redirect/1 {{ return 302 /redirect/2; }}
        location = /redirect/2 {{ return 307 /redirect/3; }}
        location = /redirect/3 {{ return 301 /large.bin; }}
    }}
}}
"""


SERVERS = [
    Server("nginx", ("nginx",), start, is_short=True),
    Server("nginx, TLS", ("nginx", "openssl"), partial(start, is_secure=True)),
    Server("nginx, TLS, HTTP/2", ("nginx", "openssl"), partial(start, is_secure=True, has_http2=True)),
]
