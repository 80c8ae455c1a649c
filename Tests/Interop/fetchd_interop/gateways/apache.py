"""Apache httpd as a reverse proxy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..environment import LOOPBACK, free_port
from ..gateway import PREFIX, Gateway, GatewayServer
from ..processes import serving
from ..server import Place
from ..servers.apache import modules


@contextlib.contextmanager
def start(place: Place, fetchd: int) -> Iterator[Gateway]:
    port = free_port()
    file = place.folder / "apache.conf"
    file.write_text(f"""{modules("mpm_event", "authz_core", "proxy", "proxy_http", "unixd")}
ServerName {LOOPBACK}
Listen {LOOPBACK}:{port}
PidFile {place.folder}/apache.pid
ErrorLog {place.folder}/apache-error.log
DefaultRuntimeDir {place.folder}
Mutex file:{place.folder}
User www-data
Group www-data
ProxyPreserveHost On
ProxyPass {PREFIX}/ http://{LOOPBACK}:{fetchd}/
ProxyPassReverse {PREFIX}/ http://{LOOPBACK}:{fetchd}/
""")
    with serving(["apache2", "-d", place.folder, "-f", file, "-DFOREGROUND"], port, place.folder):
        yield Gateway(f"http://{LOOPBACK}:{port}")


SERVER = GatewayServer("Apache", ("apache2",), start)
