#!/usr/bin/env python3
"""Tests/Client/generate.py DESCRIPTION FOLDER

Makes a Python client of an OpenAPI description with openapi-python-client, as the package that the folder's last component
names. Exits with 0 when it could be made whole: not if anything was left out, be it with a warning or without.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml


def main(description: str, folder: str) -> int:
    programs = Path(sys.executable).parent
    made = subprocess.run(
        [
            sys.executable, "-m", "openapi_python_client", "generate", "--path", description, "--output-path", folder,
            "--meta", "none", "--config", Path(__file__).with_name("generator.yaml"), "--fail-on-warning",
        ],
        # It formats what it makes with ruff, which is beside it.
        env=os.environ | {"PATH": f"{programs}:{os.environ.get('PATH', '')}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )  # fmt: skip
    said = made.stdout + made.stderr
    print(said, end="")
    if made.returncode or "arning" in said:
        return 1
    missing = without_types(Path(description), Path(folder))
    print("".join(f"{name} has no type of its own\n" for name in missing), end="")
    return 1 if missing else 0


def without_types(description: Path, folder: Path) -> list[str]:
    """The schemas of objects and enumerations that the client has no class for."""
    schemas = yaml.safe_load(description.read_text(encoding="utf-8"))["components"]["schemas"]
    exported = set(re.findall(r'"(\w+)"', (folder / "models/__init__.py").read_text(encoding="utf-8")))
    wanted = [name for name, schema in schemas.items() if schema.get("type") == "object" or "enum" in schema]
    return [name for name in wanted if name not in exported]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
