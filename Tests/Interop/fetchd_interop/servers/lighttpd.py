"""lighttpd."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..content import PASSWORD, REALM, USER
from ..environment import LOOPBACK, free_port
from ..passwords import write_digest
from ..processes import serving
from ..server import Place, Server, Site


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    file = place.folder / "lighttpd.conf"
    file.write_text(configuration(place, port))
    with serving(["lighttpd", "-D", "-f", file], port, place.folder):
        lacks = {"expiring": "lighttpd cannot refuse a path later without a restart"}
        yield Site(f"http://{LOOPBACK}:{port}", port, place.content.expiry, lacks=lacks, large=place.content.large)


def configuration(place: Place, port: int) -> str:
    (place.folder / "plain").write_text(f"{USER}:{PASSWORD}\n")
    digest = write_digest(place.folder / "digest-passwords")
    (place.folder / "cache").mkdir()
    return f"""
server.modules = ("mod_auth", "mod_authn_file", "mod_deflate", "mod_redirect")
server.bind = "{LOOPBACK}"
server.port = {port}
server.document-root = "{place.content.folder}"
server.errorlog = "{place.folder}/lighttpd-error.log"
mimetype.assign = (".txt" => "text/plain", "" => "application/octet-stream")
deflate.mimetypes = ("text/plain")
deflate.allowed-encodings = ("gzip")
url.redirect-code = 302
url.redirect = ("^/redirect/1$" => "/redirect/2", "^/redirect/2$" => "/redirect/3", "^/redirect/3$" => "/large.bin")
$HTTP["url"] =~ "^/basic/" {{
    auth.backend = "plain"
    auth.backend.plain.userfile = "{place.folder}/plain"
    auth.require = ("" => ("method" => "basic", "realm" => "{REALM}", "require" => "valid-user"))
}}
$HTTP["url"] =~ "^/digest/" {{
    auth.backend = "htdigest"
    auth.backend.htdigest.userfile = "{digest}"
    auth.require = ("" => ("method" => "digest", "realm" => "{REALM}", "require" => "valid-user"))
}}
"""


SERVER = Server("lighttpd", ("lighttpd",), start)
