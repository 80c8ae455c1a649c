"""The real proxies over TLS, with the configurations of examples, in front of a real fetchd."""

from __future__ import annotations

from pathlib import Path

from .environment import Certificates, Failure, Fetchd, make_certificates, program
from .outcome import Report
from .proxy_checks import CHECKS, HEARTBEAT, wait_long
from .proxy_client import TOKEN, Client
from .proxy_servers import PATH_NAME, PROXIES, ROOT_NAME, Place, Proxy


def check(fetchd: Path, folder: Path, report: Report, is_long: bool) -> None:
    # Servers that do not run as root must reach their files.
    folder.chmod(0o755)
    certificates = make_names(folder)
    for proxy in PROXIES:
        if program(proxy.program) is None:
            with report.check(f"fetchd behind {proxy.name}"):
                raise Failure(f"{proxy.program} is not installed; run scripts/setup docs")
            continue
        own = folder / proxy.name
        own.mkdir()
        own.chmod(0o777)
        place = Place(own, certificates, own / "fetchd.sock")
        try:
            check_behind(fetchd, proxy, place, report, is_long)
        except Failure as failure:
            with report.check(f"fetchd behind {proxy.name}"):
                raise failure


def make_names(folder: Path) -> Certificates:
    """A certificate for both names, signed by an authority that exists only for this run."""
    return make_certificates(folder / "certificates", f"DNS:{ROOT_NAME},DNS:{PATH_NAME}")


def check_behind(fetchd: Path, proxy: Proxy, place: Place, report: Report, is_long: bool) -> None:
    options = ["--unix-socket", str(place.socket), "--unix-socket-mode", "0666", "--public-host", ROOT_NAME]
    options += ["--stream-heartbeat", str(HEARTBEAT), "--trusted-proxy", "unix"]
    with (
        Fetchd(fetchd, place.folder / "fetchd", *options, "--public-host", PATH_NAME, token=TOKEN) as service,
        proxy.start(place) as (port, authority),
    ):
        service.declare({})
        for version in ("--http1.1", "--http2"):
            root = Client(port, authority, ROOT_NAME, "", (version,))
            below = Client(port, authority, PATH_NAME, "/fetchd", (version,))
            for where, client in (("", root), (" below /fetchd/", below)):
                label = f"{proxy.name}, {version[2:]}{where}"
                for name, run in CHECKS.items():
                    with report.check(f"{label}: {name}"):
                        run(service, client)
        clients = [
            Client(port, authority, ROOT_NAME, "", ("--http2",)),
            Client(port, authority, PATH_NAME, "/fetchd", ("--http1.1",)),
        ]
        if is_long:
            with report.check(f"{proxy.name}: a whole wait, and a stream that is silent for longer than a minute"):
                wait_long(service, clients)
