"""Runs checks with one server after the other, each with a new fetchd."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .certificates import make_certificates
from .check import Check
from .content import Content
from .fetchd import Fetchd
from .gateway import GatewayServer
from .gateway_checks.streams import HEARTBEAT
from .matrix import Matrix
from .outcomes import Cell, Failure
from .server import Place, Server


class Run:
    def __init__(self, fetchd: Path, folder: Path, checks: Sequence[Check]):
        self.fetchd, self.folder = fetchd, folder
        # Servers that do not run as root must reach their files.
        folder.chmod(0o755)
        self.content = Content(folder / "content", any(check.is_long for check in checks))
        self.certificates = make_certificates(folder / "certificates")

    def downloads(self, servers: Sequence[Server], checks: Sequence[Check]) -> Matrix:
        matrix = Matrix("Downloads from", [check.name for check in checks])
        for server in servers:
            place = self.place()
            try:
                with server.start(place) as site, Fetchd(self.fetchd, place.folder / "fetchd") as service:
                    service.declare(site.configuration)
                    for check in checks:
                        self.record(matrix, server.name, check, service, site)
            except Failure as reason:
                self.fail_all(matrix, server.name, checks, str(reason))
        return matrix

    def gateways(self, servers: Sequence[GatewayServer], checks: Sequence[Check]) -> Matrix:
        matrix = Matrix("fetchd behind", [check.name for check in checks])
        for server in servers:
            place = self.place()
            try:
                options = ("--stream-heartbeat", str(HEARTBEAT))
                with Fetchd(self.fetchd, place.folder / "fetchd", *options) as service:
                    service.declare({})
                    with server.start(place, service.port) as gateway:
                        for check in checks:
                            self.record(matrix, server.name, check, service, gateway)
            except Failure as reason:
                self.fail_all(matrix, server.name, checks, str(reason))
        return matrix

    def place(self) -> Place:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        folder.chmod(0o777)
        return Place(folder, self.content, self.certificates)

    def record(self, matrix: Matrix, server: str, check: Check, *arguments: object) -> None:
        start = time.monotonic()
        cell = check.cell(*arguments)
        matrix.add(server, check.name, cell)
        print(f"{server:<24} {check.name:<20} {time.monotonic() - start:6.1f} s  {cell.text}", flush=True)

    def fail_all(self, matrix: Matrix, server: str, checks: Sequence[Check], reason: str) -> None:
        print(f"{server:<24} failed: {reason}", flush=True)
        for check in checks:
            if check.name not in matrix.rows.get(server, {}):
                matrix.add(server, check.name, Cell("failed", reason))
