"""A minimal Debian in a folder, made with debootstrap and kept as an archive for the next run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def unpack_debian(folder: Path, archive: Path, suite: str, packages: str = "") -> None:
    """Puts the Debian of the archive into an empty folder. Makes the archive first, if it is missing.

    `packages` are installed, too: names separated by commas.
    """
    if archive.exists():
        _run("tar", "-xf", archive, "-C", folder)
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    include = [f"--include={packages}"] if packages else []
    _run("debootstrap", "--variant=minbase", *include, suite, folder)
    draft = archive.with_suffix(".new")
    _run("tar", "-cf", draft, "-C", folder, ".")
    draft.rename(archive)


def _run(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
