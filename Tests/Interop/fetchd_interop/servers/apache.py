"""Apache httpd."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..content import REALM
from ..environment import LOOPBACK, free_port
from ..passwords import write_basic, write_digest
from ..processes import serving
from ..server import Place, Server, Site

MODULES = Path("/usr/lib/apache2/modules")
NEEDED = """
    mpm_event authn_core authn_file authz_core authz_host authz_user auth_basic auth_digest alias deflate filter mime
    rewrite unixd
""".split()


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    file = place.folder / "apache.conf"
    file.write_text(configuration(place, port))
    with serving(["apache2", "-d", place.folder, "-f", file, "-DFOREGROUND"], port, place.folder):
        yield Site(f"http://{LOOPBACK}:{port}", port, place.content.expiry, large=place.content.large)


def modules(*names: str) -> str:
    """Debian compiles some of the modules into the program."""
    return "".join(f"LoadModule {name}_module {file}\n" for name in names if (file := MODULES / f"mod_{name}.so").exists())


def configuration(place: Place, port: int) -> str:
    basic = write_basic(place.folder / "passwords")
    digest = write_digest(place.folder / "digest-passwords")
    return f"""{modules(*NEEDED)}
ServerName {LOOPBACK}
Listen {LOOPBACK}:{port}
PidFile {place.folder}/apache.pid
ErrorLog {place.folder}/apache-error.log
DefaultRuntimeDir {place.folder}
Mutex file:{place.folder}
User www-data
Group www-data
DocumentRoot "{place.content.folder}"
<Directory "{place.content.folder}">
    Require all granted
</Directory>
TypesConfig /dev/null
AddType text/plain .txt
<Location /gzip/>
    SetOutputFilter DEFLATE
</Location>
<Location /basic/>
    AuthType Basic
    AuthName "{REALM}"
    AuthUserFile {basic}
    Require valid-user
</Location>
<Location /digest/>
    AuthType Digest
    AuthName "{REALM}"
    AuthDigestProvider file
    AuthUserFile {digest}
    Require valid-user
</Location>
RewriteEngine on
RewriteCond "{place.content.expiry}" -f
RewriteRule ^/expiring/ - [G]
Redirect 302 /redirect/1 /redirect/2
Redirect 307 /redirect/2 /redirect/3
Redirect 301 /redirect/3 /large.bin
"""


SERVER = Server("Apache", ("apache2",), start)
