"""Container images by buildah, which needs no container engine: built in a chroot, with base images made by debootstrap."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .debian import unpack_debian

DEBIAN = "docker.io/library/debian:bookworm-slim"
SUITE = "bookworm"


class Images:
    def __init__(self, store: Path, is_fresh: bool):
        """A store of images in a folder."""
        if is_fresh:
            subprocess.run(["rm", "-rf", "--one-file-system", store], check=True)
        store.mkdir(parents=True, exist_ok=True)
        self._archives = store.parent
        self._global = ["--root", str(store / "root"), "--runroot", str(store / "run"), "--storage-driver", "vfs"]
        self._containers: list[str] = []

    def build(self, source: Path, name: str, program: Path | None) -> None:
        """Builds the Dockerfile of a folder. With a program, the result of its first stage is this program."""
        dockerfile = (source / "Dockerfile").read_text()
        self._require_base(DEBIAN)
        command = ["bud", "--isolation", "chroot", "--format", "docker", "--pull-never", "--tag", name]
        if not program:
            swift = re.search(r"^FROM (\S+) AS build", dockerfile, re.MULTILINE)[1]
            self._require_base(swift)
            mounts = [word for path in toolchain_mounts() for word in ("--volume", f"{path}:{path}:ro")]
            self._buildah(*command, *mounts, str(source), shows=True)
            return
        with tempfile.TemporaryDirectory(prefix="fetchd-staging.") as staging:
            (Path(staging) / "staging").mkdir()
            subprocess.run(["strip", "-o", f"{staging}/staging/fetchd", program.resolve()], check=True)
            later = Path(staging) / "Dockerfile"
            later.write_text(dockerfile[dockerfile.index(f"FROM {DEBIAN}") :])
            self._buildah(*command, "--build-context", f"build={staging}", "--file", str(later), str(source), shows=True)

    def mounted(self, name: str) -> Path:
        """The root folder of a new container of the image."""
        container = self._buildah("from", "--pull-never", name).strip()
        self._containers.append(container)
        return Path(self._buildah("mount", container).strip())

    def configuration(self, name: str) -> dict:
        return json.loads(self._buildah("inspect", "--type", "image", name))["Docker"]["config"]

    def write(self, name: str, archive: Path) -> None:
        archive.unlink(missing_ok=True)
        self._buildah("push", name, f"docker-archive:{archive.resolve()}:{name}:latest")

    def remove_containers(self) -> None:
        for container in self._containers:
            self._buildah("rm", container)

    def _require_base(self, name: str) -> None:
        """A minimal Debian under the name of an official image. The toolchain is mounted when it is used."""
        if self._buildah("images", "--quiet", "--filter", f"reference={name}").strip():
            return
        print(f"  making a base image for {name}", flush=True)
        container = self._buildah("from", "scratch").strip()
        root = Path(self._buildah("mount", container).strip())
        # What the official Swift image has, beside the toolchain.
        tools = "binutils,ca-certificates,g++,git,libncurses6,libxml2,tzdata,zlib1g-dev" if "swift" in name else ""
        unpack_debian(root, self._archives / ("debian-swift.tar" if tools else "debian.tar"), SUITE, tools)
        if "swift" in name:
            path = f"{toolchain() / 'bin'}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            self._buildah("config", "--env", f"PATH={path}", container)
        self._buildah("commit", "--format", "docker", container, name)
        self._buildah("rm", container)

    def _buildah(self, *arguments: str, shows: bool = False) -> str:
        done = subprocess.run(
            ["buildah", *self._global, *arguments], stdout=None if shows else subprocess.PIPE,
            stderr=None if shows else subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"image: buildah {' '.join(arguments)} failed:\n{done.stderr or ''}")
        return done.stdout or ""


def toolchain() -> Path:
    """The folder that contains bin/swift."""
    program = shutil.which("swift") or sys.exit("image: there is no 'swift' on the PATH")
    return Path(program).resolve().parent.parent


def toolchain_mounts() -> list[str]:
    """The folder of the toolchain, and local copies of repositories that the configuration of git names."""
    mounts = [str(toolchain())]
    listed = subprocess.run(
        ["git", "config", "--system", "--get-regexp", r"^url\..*\.insteadof$"], capture_output=True, text=True).stdout
    local = {found[1] for found in re.finditer(r"^url\.(/\S+?)/?\.insteadof ", listed, re.MULTILINE)}
    if local:
        mounts += [*sorted(local), "/etc/gitconfig"]
    return mounts
