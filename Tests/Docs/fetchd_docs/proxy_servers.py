"""The reverse proxies with the configurations of examples.

The configurations are used as they are printed. Only the ports, the paths of the certificates and the path of the socket are
replaced, because the test needs neither root nor /etc.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fetchd_interop.servers.apache import modules

from .environment import EXAMPLES, LOOPBACK, Certificates, free_port, require, serving, until

ROOT_NAME, PATH_NAME = "downloads.example.org", "www.example.org"
SOCKET = "/run/fetchd/fetchd.sock"
CERTIFICATE = "/etc/ssl/certs/downloads.example.org.pem"
KEY = "/etc/ssl/private/downloads.example.org.key"


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
    example = place.adapted("nginx.conf", place.keys | {"listen 443": f"listen {LOOPBACK}:{port}"})
    with serving_nginx(example, place.folder, port):
        yield port, place.certificates.authority


@contextlib.contextmanager
def serving_nginx(configuration: str, folder: Path, port: int) -> Iterator[None]:
    """nginx with this file in place of those in conf.d."""
    (folder / "temporary").mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"    {kind}_temp_path temporary/{kind};\n" for kind in kinds)
    (folder / "nginx.conf").write_text(f"""{"user root;" if os.geteuid() == 0 else ""}
daemon off;
pid nginx.pid;
events {{ }}
http {{
    access_log off;
{temporary}{configuration}
}}
""")
    command = ["nginx", "-p", f"{folder}/", "-c", "nginx.conf", "-e", "error.log"]
    with serving(command, port, folder):
        yield


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
        names = (ROOT_NAME, PATH_NAME)
        until("Caddy has certificates", lambda: all(has_certificate(port, authority, name) for name in names))
        yield port, authority


def has_certificate(port: int, authority: Path, name: str) -> bool:
    try:
        context = ssl.create_default_context(cafile=str(authority))
        with socket.create_connection((LOOPBACK, port), 10) as connection:
            context.wrap_socket(connection, server_hostname=name).close()
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
