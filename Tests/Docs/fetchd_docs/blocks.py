"""Runs the commands of each page in order, in one shell, and compares what they print with what the page shows."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

from . import sandbox
from .environment import ENVIRONMENT, LOOPBACK, ROOT, Failure, python, require
from .environment import program as installed
from .outcome import Report
from .pages import Block, Page, all_pages

# Seconds for all commands of one page.
PATIENCE = 300

CURL = """#!/bin/sh
case " $* " in
    *" -f"* | *" --fail"*) exec {program} "$@" ;;
    *) exec {program} --fail-with-body "$@" ;;
esac
"""


def check(program: Path, folder: Path, report: Report, is_long: bool) -> None:
    prefix = sandbox.prefix()
    for page in all_pages():
        blocks = [block for block in page.blocks if block.is_run]
        if blocks:
            with report.check(f"{page.name}: {len(blocks)} {'block' if len(blocks) == 1 else 'blocks'}"):
                run(page, blocks, program, folder / page.name.replace("/", "-"), prefix)


def run(page: Page, blocks: list[Block], program: Path, folder: Path, prefix: list[str]) -> None:
    for part in ("home", "bin", "work", "output"):
        (folder / part).mkdir(parents=True)
    (folder / "bin/fetchd").symlink_to(program)
    # As in an activated environment.
    (folder / "bin/python3").write_text(f'#!/bin/sh\nexec {python()} "$@"\n')
    (folder / "bin/python3").chmod(0o755)
    # So that a refused request ends the page.
    (folder / "bin/curl").write_text(CURL.format(program=installed("curl")))
    (folder / "bin/curl").chmod(0o755)
    (folder / "work/examples").symlink_to(ROOT / "examples")
    (folder / "script").write_text(script(blocks, folder))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*prefix, "/bin/bash", folder / "script"], cwd=folder / "work", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=environment(folder), start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # Services that the page has started in the background.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    require_success(status, blocks, folder)
    for block in blocks:
        if (shown := shown_output(page, block)) is not None:
            printed = (folder / f"output/{block.line}").read_text(errors="replace")
            require(matches(shown, printed), f"{block.place} shows\n{shown}\nbut the commands print\n{printed}")


def script(blocks: list[Block], folder: Path) -> str:
    """All blocks in one shell, which keeps variables and background jobs. Each block has a file for its output."""
    lines = ["set -euo pipefail"]
    if not any(re.search(r"^ *fetchd serve", block.text, flags=re.MULTILINE) for block in blocks):
        lines += [
            f"fetchd serve --enable-rehearsals --allow-network 127.0.0.0/8 2> {folder}/fetchd.log > /dev/null &",
            f"until curl -fs http://{LOOPBACK}:8080/readyz > /dev/null; do sleep 0.05; done",
        ]
    for block in blocks:
        lines += [f"exec > {folder}/output/{block.line} 2> {folder}/output/{block.line}.errors", block.text]
    return "\n".join([*lines, f"echo > {folder}/output/end"]) + "\n"


def environment(folder: Path) -> dict[str, str]:
    own = {
        # As the first block of the pages about the API sets them.
        "api": f"http://{LOOPBACK}:8080/v1", "json": "Content-Type: application/json",
        "HOME": f"{folder}/home", "PATH": f"{folder}/bin:{ENVIRONMENT['PATH']}", "XDG_DATA_HOME": f"{folder}/home/data",
        "XDG_CONFIG_HOME": f"{folder}/home/config", "FETCHD_DATA_DIR": f"{folder}/home/data/fetchd",
        "FETCHD_DOWNLOADS_DIR": f"{folder}/home/Downloads/fetchd", "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    return ENVIRONMENT | own


def require_success(status: int | None, blocks: list[Block], folder: Path) -> None:
    if status == 0 and (folder / "output/end").exists():
        return
    # The last block that has begun is the one that failed.
    begun = [block for block in blocks if (folder / f"output/{block.line}").exists()]
    where = begun[-1].place if begun else "the start of the service"
    texts = [folder / f"output/{begun[-1].line}", folder / f"output/{begun[-1].line}.errors"] if begun else []
    printed = "\n".join(file.read_text(errors="replace")[-1500:] for file in [*texts, folder / "log"])
    ending = f"did not end within {PATIENCE} s" if status is None else f"ended with {status}"
    raise Failure(f"{where} {ending}:\n{printed}")


def shown_output(page: Page, block: Block) -> str | None:
    following = page.blocks[page.blocks.index(block) + 1 :]
    return following[0].text if following and following[0].language == "output" else None


def matches(shown: str, printed: str) -> bool:
    parts = []
    for line in shown.rstrip("\n").split("\n"):
        parts.append(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n")
    return re.fullmatch("".join(parts), printed.rstrip("\n") + "\n") is not None

