"""The command line."""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from . import checks, document, gateway_checks, gateways, servers
from .check import Check
from .environment import ROOT
from .fetchd import default_program
from .gateway import GatewayServer
from .matrix import Matrix
from .runs import Run
from .server import Server

Named = TypeVar("Named", Server, GatewayServer, Check)


def main(manual: str) -> int:
    options = parsed(manual)
    # On SIGTERM, too, processes are stopped and folders are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not options.short:
        subprocess.run([ROOT / "scripts/setup", "interop"], check=True, stdout=sys.stderr)
    fetchd = default_program(ROOT)
    if not fetchd.exists():
        sys.exit(f"interop: {fetchd} is missing; run swift build")
    folder = Path(tempfile.mkdtemp(prefix="fetchd-interop."))
    try:
        matrices = run(fetchd, folder, options)
    finally:
        if options.keep:
            print(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return report(matrices, options)


def run(fetchd: Path, folder: Path, options: argparse.Namespace) -> list[Matrix]:
    wanted = [check for check in chosen(checks.ALL, options.check) if not (options.short and check.is_long)]
    behind = [check for check in chosen(gateway_checks.ALL, options.check) if not (options.short and check.is_long)]
    if options.check and not (wanted or behind):
        sys.exit(f"interop: no check is called {options.check[0]}")
    runner = Run(fetchd, folder, wanted)
    return [
        runner.downloads(present(servers.ALL, options), wanted),
        runner.gateways(present(gateways.ALL, options), behind),
    ]


def present(known: Sequence[Server] | Sequence[GatewayServer], options: argparse.Namespace) -> list:
    """The chosen servers. The short run leaves out those that are not installed or take long."""
    found = [server for server in chosen(known, options.server) if server.is_short or not options.short]
    if options.short:
        return [server for server in found if not server.missing]
    for server in found:
        if server.missing:
            sys.exit(f"interop: {', '.join(server.missing)} is missing; run scripts/setup interop")
    return found


def chosen(known: Sequence[Named], names: list[str] | None) -> list[Named]:
    return [one for one in known if not names or one.name in names]


def report(matrices: list[Matrix], options: argparse.Namespace) -> int:
    shown = [matrix for matrix in matrices if matrix.rows and matrix.checks]
    if not shown:
        sys.exit("interop: nothing was chosen; --help lists the servers and the checks")
    for matrix in shown:
        print(f"\n{matrix.text()}\n\n{matrix.reasons()}", end="")
    if options.write:
        document.write(matrices)
    return 1 if any(matrix.has_failed for matrix in shown) else 0


def parsed(manual: str) -> argparse.Namespace:
    if {"-h", "--help"} & set(sys.argv):
        print(manual, end="")
        print(f"\nServers:\n\n{names(servers.ALL)}\nReverse proxies:\n\n{names(gateways.ALL)}")
        print(f"Checks of downloads:\n\n{names(checks.ALL)}")
        print(f"Checks behind a reverse proxy:\n\n{names(gateway_checks.ALL)}", end="")
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/interop [--short] [--server NAME]... ; --help")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--server", action="append")
    parser.add_argument("--check", action="append")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.write and (options.short or options.server or options.check):
        parser.error("--write needs all servers and all checks")
    return options


def names(known: Sequence[Server] | Sequence[GatewayServer] | Sequence[Check]) -> str:
    return "".join(f"    {one.name}\n" for one in known)
