"""How a generated client and its story are compiled and started, for each language."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

STORIES = Path(__file__).with_name("stories")

# Debian's package of the annotations that the generated Java code has.
ANNOTATIONS = Path("/usr/share/java/geronimo-annotation-1.3-spec.jar")


@dataclass
class Language:
    """`compile` takes the folder of the client and a folder to work in, and returns the command that runs the story.
    It is None if the client's dependencies are neither in Debian nor on PyPI."""

    name: str
    programs: list[str]
    compile: Callable[[Path, Path], list[object]] | None
    is_short: bool = False

    @property
    def missing(self) -> list[str]:
        return [program for program in self.programs if shutil.which(program) is None]


class CompilationError(Exception):
    pass


def run(*command: object, folder: Path) -> None:
    outcome = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if outcome.returncode:
        raise CompilationError(f"{command[0]} failed:\n{(outcome.stdout + outcome.stderr)[-6000:]}")


def compile_python(client: Path, folder: Path) -> list[object]:
    story = folder / "story.py"
    shutil.copy(STORIES / "python/story.py", story)
    (folder / "fetchd").symlink_to(client / "fetchd")
    return [sys.executable, "-W", "error", story]


def compile_go(client: Path, folder: Path) -> list[object]:
    # The generated tests need a package that is not in the standard library; the client does not.
    shutil.rmtree(client / "test", ignore_errors=True)
    shutil.copy(STORIES / "go/main.go", folder)
    (folder / "go.mod").write_text(
        "module story\n\ngo 1.19\n\nrequire github.com/example/fetchd v0.0.0\n\n"
        f"replace github.com/example/fetchd => {client}\n"
    )
    run("go", "vet", ".", folder=client)
    run("go", "build", "-o", "story", ".", folder=folder)
    return [folder / "story"]


def compile_java(client: Path, folder: Path) -> list[object]:
    # The generator contains the libraries that the client needs (Jackson).
    import openapi_generator_cli

    libraries = [Path(openapi_generator_cli.__file__).with_name("openapi-generator.jar"), ANNOTATIONS]
    classpath = ":".join(str(library) for library in libraries)
    sources = [*(client / "src/main/java").rglob("*.java"), STORIES / "java/Story.java"]
    (folder / "sources").write_text("".join(f"{source}\n" for source in sources))
    run("javac", "-nowarn", "-cp", classpath, "-d", folder / "classes", "@sources", folder=folder)
    return ["java", "-cp", f"{classpath}:{folder / 'classes'}", "Story"]


def compile_typescript(client: Path, folder: Path) -> list[object]:
    (folder / "client").symlink_to(client)
    shutil.copy(STORIES / "typescript/story.ts", folder)
    # The generated code narrows types with `in`, which Debian's TypeScript 4.8 knows only without noImplicitAny.
    run(
        "tsc", "--strict", "--noImplicitAny", "false", "--target", "es2020", "--module", "commonjs", "--lib", "es2020,dom",
        "--outDir", "built", "--preserveSymlinks", "story.ts", folder=folder,
    )  # fmt: skip
    return ["node", folder / "built/story.js"]


def compile_swift(client: Path, folder: Path) -> list[object]:
    (folder / "Sources/Story").mkdir(parents=True)
    shutil.copy(STORIES / "swift/main.swift", folder / "Sources/Story")
    (folder / "Package.swift").write_text(
        "// swift-tools-version:6.0\nimport PackageDescription\n\nlet package = Package(\n"
        f'    name: "Story", dependencies: [.package(name: "FetchdClient", path: "{client}")],\n'
        '    targets: [.executableTarget(name: "Story", dependencies: ["FetchdClient"])])\n'
    )
    run("swift", "build", "--disable-index-store", folder=folder)
    return [folder / ".build/debug/Story"]


def compile_ruby(client: Path, folder: Path) -> list[object]:
    shutil.copy(STORIES / "ruby/story.rb", folder)
    return ["ruby", "-I", client / "lib", folder / "story.rb"]


def compile_php(client: Path, folder: Path) -> list[object]:
    (folder / "client").symlink_to(client)
    shutil.copy(STORIES / "php/story.php", folder)
    return ["php", "-d", "error_reporting=-1", folder / "story.php"]


LANGUAGES = [
    Language("python", [], compile_python, is_short=True),
    Language("go", ["go"], compile_go),
    Language("java", ["javac", "java"], compile_java),
    Language("typescript", ["tsc", "node"], compile_typescript),
    Language("swift", ["swift"], compile_swift),
    Language("ruby", ["ruby"], compile_ruby),
    Language("php", ["php"], compile_php),
    Language("rust", [], None),
]
