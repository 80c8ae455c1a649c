"""httpbin, whose files are small and come from its addresses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..content import PASSWORD, USER
from ..environment import LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site

LIMIT = 102_400  # of /range

LACKS = {
    "sparse": f"httpbin's largest file has {LIMIT} bytes",
    "expiring": "the addresses of httpbin never change",
    "foreign name": "httpbin has no file names",
}


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    command = ["/usr/bin/python3", "-m", "httpbin.core", "--host", LOOPBACK, "--port", str(port)]
    paths = {
        "large": f"/range/{LIMIT}",
        "empty": "/bytes/0",
        "gzip": "/gzip",
        "missing": "/status/404",
        "basic": f"/basic-auth/{USER}/{PASSWORD}",
        "digest": f"/digest-auth/auth/{USER}/{PASSWORD}/SHA-256",
        "redirect": f"/redirect-to?url=/redirect-to%3Furl%3D/redirect-to%253Furl%253D/range/{LIMIT}",
    }
    with serving(command, port, place.folder, "httpbin"):
        # Its entity tags have no quotes, so they are not valid (RFC 9110, section 8.8.3).
        yield Site(
            f"http://{LOOPBACK}:{port}", port, place.content.expiry, paths=paths, lacks=LACKS, can_resume=False
        )


SERVER = Server("httpbin", ("python3",), start)
