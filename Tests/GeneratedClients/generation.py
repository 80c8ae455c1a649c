"""Generates clients from openapi.yaml with openapi-generator, and judges its messages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

CONFIGURATIONS = Path(__file__).with_name("generators")

# Messages that do not affect the client: the reason for each.
HARMLESS = [
    # Every description of OpenAPI 3.1 gets this message.
    r"OpenAPI 3\.1 support is still in beta",
    # A schema without a type, such as the `json` of a job, is any JSON value.
    r"Failed to get the schema name: null",
    r"Codegen property is null \(e\.g\. map/dict of undefined type\)\. Default to typing\.Any",
    # The parameters `type`, `range` and `file` get another name in languages that reserve these words.
    r"(type|range|until) \(reserved word\) cannot be used as (parameter|model) name",
    r"(Type|Range|File) \((reserved word|model name matches existing language type)\) cannot be used as (a )?model name",
    # Members whose name Rust reserves, and names that the generator tries but does not use, such as media types.
    r"AbstractRustCodegen - .* cannot be used as a (model|field/variable|parameter|enum variant) name",
    # It affects only the examples in the documentation of the client.
    r"Ignoring complex example on request body",
]


def generate(description: Path, language: str, folder: Path) -> list[str]:
    """Generates the client into the folder. Returns the faults: none if the client is complete."""
    run = subprocess.run(
        [
            Path(sys.executable).with_name("openapi-generator-cli"), "generate", "--input-spec", description,
            "--config", CONFIGURATIONS / f"{language}.yaml", "--output", folder,
        ],
        capture_output=True,
        text=True,
        # The compiler that starts first is enough, because the generator runs for a few seconds.
        env=os.environ | {"JAVA_OPTS": "-XX:TieredStopAtLevel=1"},
    )  # fmt: skip
    lines = (run.stdout + run.stderr).splitlines()
    faults = Counter(line for line in lines if is_fault(line))
    if run.returncode:
        faults["\n".join(lines[-20:])] = 1
    return [f"{count} × {line}" for line, count in faults.items()]


def is_fault(line: str) -> bool:
    if not re.search(r"\b(WARN|ERROR)\b|Exception", line) or "] INFO" in line:
        return False
    return not any(re.search(pattern, line) for pattern in HARMLESS)
