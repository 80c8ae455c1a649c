#!/usr/bin/env python3
"""Tests/GeneratedClients/generate.py DESCRIPTION FOLDER

Makes a Python client of an OpenAPI description with openapi-python-client, as the package that the folder's last component
names. Exits with 0 if nothing was left out, with a warning or without, and each module can be imported.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
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
    return 1 if missing or not imported(Path(folder)) else 0


def imported(folder: Path) -> bool:
    """Imports every module of the client; a module that no other one imports can be wrong without a warning."""
    sys.path.insert(0, str(folder.parent))
    client, is_whole = importlib.import_module(folder.name), True
    for module in pkgutil.walk_packages(client.__path__, f"{folder.name}."):
        try:
            importlib.import_module(module.name)
        except Exception as fault:  # noqa: BLE001
            print(f"{module.name} cannot be imported: {fault}")
            is_whole = False
    return is_whole


def without_types(description: Path, folder: Path) -> list[str]:
    """The schemas of objects and enumerations that the client has no class for."""
    schemas = yaml.safe_load(description.read_text(encoding="utf-8"))["components"]["schemas"]
    exported = set(re.findall(r'"(\w+)"', (folder / "models/__init__.py").read_text(encoding="utf-8")))
    wanted = [name for name, schema in schemas.items() if schema.get("type") == "object" or "enum" in schema]
    return [name for name in wanted if name not in exported]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
