"""Describes the machine and the versions, for the results."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from . import postgres
from .environment import ENVIRONMENT, ROOT


def describe(programs: Mapping[str, Path], work_dir: Path) -> str:
    cpu = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    file_system = output_of("findmnt", "--noheadings", "--output=FSTYPE", "--target", str(work_dir))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    versions = [version(name, str(program), "--version") for name, program in programs.items()]
    versions += [
        version("aria2", "aria2c", "--version"), version("curl", "curl", "--version"), version("nginx", "nginx", "-v"),
        version("wget2", "wget2", "--version"), version("wrk", "wrk", "-v"), version("PostgreSQL", postgres.program("postgres"), "--version"),
    ]  # fmt: skip
    commit = output_of("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    return (
        f"{os.cpu_count()} cores ({cpu[1] if cpu else platform.machine()}), {memory} GiB of memory, files on "
        f"{file_system}, Linux {platform.release()}; {', '.join(versions)}; commit {commit}; load at the start "
        f"{os.getloadavg()[0]:.1f}."
    )


def version(name: str, *command: str) -> str:
    found = re.search(r"\d+(\.\d+)+\S*", output_of(*command))
    return f"{name} {found[0] if found else '(no version)'}"


def output_of(*command: str) -> str:
    # Some tools print their version with a status other than 0.
    result = subprocess.run(
        command, check=False, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return result.stdout.strip()
