#!/usr/bin/env python3
"""Tests/Client/generate.py DESCRIPTION FOLDER

Makes a Python client of an OpenAPI description with openapi-python-client, as the package that the folder's last component
names. Exits with 0 when it could be made whole: not if anything was left out with a warning.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


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
    return 1 if made.returncode or "arning" in said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
