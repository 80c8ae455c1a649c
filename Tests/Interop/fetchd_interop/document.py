"""docs/interop.md: the matrix of the last complete run, between two marks."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from .environment import ENVIRONMENT, ROOT
from .matrix import Matrix

PAGE = ROOT / "docs/interop.md"
BEGIN, END = "<!-- scripts/interop --write: begin -->", "<!-- end -->"

PACKAGES = [
    "nginx", "apache2-bin", "lighttpd", "caddy", "python3", "busybox", "python3-httpbin", "python3-tornado", "squid", "tinyproxy-bin", "haproxy",
]


def write(matrices: Sequence[Matrix]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{section(matrices)}\n{END}{after}", encoding="utf-8")


def section(matrices: Sequence[Matrix]) -> str:
    parts = [f"Versions: {versions()}."]
    for matrix in matrices:
        parts += [f"### {matrix.title}", matrix.markdown().rstrip(), matrix.reasons().rstrip()]
    return "\n\n".join(parts) + "\n"


def versions() -> str:
    lines = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\\n", *PACKAGES], env=ENVIRONMENT, text=True,
        capture_output=True,
    ).stdout.splitlines()  # fmt: skip
    return ", ".join(sorted(lines))
