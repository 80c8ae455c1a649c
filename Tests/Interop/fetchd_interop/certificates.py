"""A certificate authority of this run, and a certificate of a server."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificates:
    authority: Path
    certificate: Path
    key: Path

    @property
    def combined(self) -> Path:
        """Certificate and key in one file, as HAProxy and lighttpd read them."""
        return self.certificate.with_name("combined.pem")


def make_certificates(folder: Path, names: str = "IP:127.0.0.1,DNS:localhost") -> Certificates:
    """`names` are those of the server, as OpenSSL writes them in subjectAltName."""
    folder.mkdir()
    made = Certificates(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    new_key = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl([*new_key, "-x509", "-days", "2", "-subj", "/CN=interop", "-keyout", folder / "ca.key", "-out", made.authority])
    openssl([*new_key, "-subj", "/CN=127.0.0.1", "-keyout", made.key, "-out", folder / "server.csr"])
    (folder / "names").write_text(f"subjectAltName={names}\n")
    openssl([
        "x509", "-req", "-in", folder / "server.csr", "-CA", made.authority, "-CAkey", folder / "ca.key", "-CAcreateserial",
        "-days", "2", "-extfile", folder / "names", "-out", made.certificate,
    ])  # fmt: skip
    made.combined.write_text(made.certificate.read_text() + made.key.read_text())
    for file in folder.iterdir():
        file.chmod(0o644)
    return made


def openssl(arguments: list[str | Path]) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
