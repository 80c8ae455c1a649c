"""The languages of examples/webhooks: how to run each receiver, and the program that asks its verifier about cases."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .environment import ENVIRONMENT, EXAMPLES, ROOT, Failure, program, python

WEBHOOKS = EXAMPLES / "webhooks"
DRIVERS = Path(__file__).parent / "drivers"


@dataclass(frozen=True)
class Verifier:
    """`cases` reads requests from standard input. `receiver` gets a port as its argument; Swift has none."""

    language: str
    cases: list[str]
    receiver: list[str] | None = None
    # Gets three header fields as arguments, and the body on standard input.
    filter: list[str] | None = None


@dataclass(frozen=True)
class Language:
    name: str
    program: str
    prepare: Callable[[Path], Verifier]
    # Whether the preparation takes more than a minute.
    is_long: bool = False

    @property
    def is_missing(self) -> bool:
        return program(self.program) is None


def run(command: list[str | Path], folder: Path, patience: float = 540, **environment: str) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=ENVIRONMENT | environment, capture_output=True, text=True, timeout=patience,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise Failure(f"{' '.join(words)} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")


def in_python(folder: Path) -> Verifier:
    command = [python(), "-B"]
    return Verifier(
        "Python", [*command, str(DRIVERS / "cases.py"), str(WEBHOOKS)], [*command, str(WEBHOOKS / "receiver.py")]
    )


def in_javascript(folder: Path) -> Verifier:
    return Verifier(
        "JavaScript", ["node", str(DRIVERS / "cases.mjs"), str(WEBHOOKS)], ["node", str(WEBHOOKS / "receiver.mjs")]
    )


def in_go(folder: Path) -> Verifier:
    built, source = folder / "receiver-go", folder / "go"
    source.mkdir()
    for file in (WEBHOOKS / "receiver.go", DRIVERS / "cases.go"):
        shutil.copy(file, source)
    run(["go", "build", "-o", built, "receiver.go", "cases.go"], source, GOFLAGS="-mod=mod")
    return Verifier("Go", [str(built), "cases"], [str(built)])


def in_ruby(folder: Path) -> Verifier:
    command = ["ruby", "-w"]
    return Verifier("Ruby", [*command, str(DRIVERS / "cases.rb"), str(WEBHOOKS)], [*command, str(WEBHOOKS / "receiver.rb")])


def in_swift(folder: Path) -> Verifier:
    """Builds the example together with the program that reads cases. The products stay for the next run."""
    package = ROOT / ".build/webhook-signature"
    shutil.copytree(WEBHOOKS / "swift", package, dirs_exist_ok=True)
    (package / "Sources/cases").mkdir(exist_ok=True)
    shutil.copy(DRIVERS / "cases.swift", package / "Sources/cases/main.swift")
    manifest = (WEBHOOKS / "swift/Package.swift").read_text()
    addition = '        .executableTarget(name: "cases", dependencies: ["WebhookSignature"]),\n    ])'
    (package / "Package.swift").write_text(manifest.replace("    ])", addition))
    run(["swift", "build", "--quiet"], package)
    products = package / ".build/debug"
    return Verifier("Swift", [str(products / "cases")], filter=[str(products / "verify")])


ALL = [
    Language("Python", "python3", in_python),
    Language("JavaScript", "node", in_javascript),
    Language("Go", "go", in_go),
    Language("Ruby", "ruby", in_ruby),
    Language("Swift", "swift", in_swift, is_long=True),
]
