"""A server as the checks see it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from .certificates import Certificates
from .content import FOREIGN_NAME, Content
from .environment import program
from .outcomes import NotOffered


@dataclass(frozen=True)
class Place:
    """What a server needs to start."""

    folder: Path
    content: Content
    certificates: Certificates


@dataclass
class Site:
    """A running server. `paths` are the resources by name: those of `STANDARD`, unless the server has others.
    `lacks` gives a reason for each feature that the server does not have."""

    url: str
    port: int
    # While this file exists, the server refuses everything below /expiring/.
    expiry: Path
    paths: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)
    # The configuration of the session, such as the certificate authority.
    configuration: dict = field(default_factory=dict)
    # Whether the server continues a download: it supports ranges and sends a strong validator.
    can_resume: bool = True
    # Whether it answers a range that is the whole file with 206, by which fetchd knows that it has ranges.
    shows_ranges: bool = True
    protocol: str = "HTTP/1.1"
    # The bytes of `large`; None for a server whose content the check reads itself.
    large: bytes | None = None

    def require_offered(self, name: str) -> None:
        if name in self.lacks:
            raise NotOffered(self.lacks[name])

    def address(self, name: str) -> str:
        self.require_offered(name)
        return self.url + (self.paths.get(name) or STANDARD[name])


STANDARD = {
    "large": "/large.bin",
    "empty": "/empty.bin",
    "sparse": "/sparse.bin",
    "gzip": "/gzip/text.txt",
    "foreign name": f"/{quote(FOREIGN_NAME)}",
    "missing": "/missing.bin",
    "basic": "/basic/large.bin",
    "digest": "/digest/large.bin",
    "expiring": "/expiring/large.bin",
    "redirect": "/redirect/1",
}


@dataclass(frozen=True)
class Server:
    name: str
    # The programs that must be installed.
    programs: tuple[str, ...]
    start: Callable[[Place], AbstractContextManager[Site]]
    # Whether the short run includes the server, if it is installed.
    is_short: bool = False

    @property
    def missing(self) -> list[str]:
        return [name for name in self.programs if program(name) is None]
