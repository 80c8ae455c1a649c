"""Checks of the text alone: links, marks of the blocks, the index, and the page of symptoms."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

from .environment import ENVIRONMENT, ROOT, require
from .outcome import Report
from .pages import LANGUAGES, Page, all_pages, exists, page


def check(program: Path, folder: Path, report: Report, is_long: bool) -> None:
    pages = all_pages()
    with report.check(f"the links of {len(pages)} pages"):
        wrong = [f"{one.name}: {why}" for one in pages for link in one.links if (why := exists(link, one))]
        require(not wrong, "; ".join(wrong))
    with report.check("each block says its language, and each command is tested or an example"):
        wrong = [f"{block.place}: {why}" for one in pages for block in one.blocks if (why := unclear(block))]
        require(not wrong, "; ".join(wrong))
    with report.check("docs/README.md names each page"):
        index = page("docs/README.md")
        linked = {link.partition("#")[0] for link in index.links}
        missing = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name not in linked | {"README.md"})
        require(not missing, f"it does not name {', '.join(missing)}")
    with report.check("docs/troubleshooting.md names each failure, waiting reason and problem of openapi.yaml"):
        text = page("docs/troubleshooting.md").text
        missing = [name for name in described_names() if f"`{name}`" not in text]
        require(not missing, f"it does not name {', '.join(missing)}")
    with report.check("the sentences and log lines in docs/troubleshooting.md are those of the program"):
        require(not (missing := unknown_sentences(text)), f"no source has {'; '.join(missing)}")
    with report.check("docs/limits.md has the bounds of openapi.yaml"):
        require(not (missing := missing_bounds(page("docs/limits.md").text)), f"it lacks {'; '.join(missing)}")
    with report.check("docs/architecture.svg has the targets of Package.swift"):
        done = subprocess.run([ROOT / "scripts/architecture.py", "--check"], capture_output=True, text=True)
        require(done.returncode == 0, "; ".join(done.stdout.splitlines()) or done.stderr)
    with report.check("the commands and options in the pages exist"):
        require(not (wrong := unknown_options(program, pages)), "; ".join(wrong))


def unclear(block) -> str | None:
    if block.language not in LANGUAGES:
        return f"the block needs a language: one of {', '.join(sorted(LANGUAGES))}"
    if len(block.words) > 1 and not (block.language == "sh" and block.is_example):
        return f"'{' '.join(block.words[1:])}' has no meaning here; 'sh example' marks commands that no test runs"
    if block.tested_by and not is_test(block.tested_by):
        return f"there is no test or script called {block.tested_by}"
    return None


def is_test(name: str) -> bool:
    if (ROOT / name).is_file():
        return True
    return any(name == path.stem for path in (ROOT / "Tests").rglob("*.swift"))


def described_names() -> list[str]:
    """The failure codes, the reasons of a waiting job, the reasons of a restart, and the types of problems."""
    text = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    schemas = yaml.safe_load(text)["components"]["schemas"]
    names = [name for kind in ("FailureCode", "WaitReason", "RestartReason") for name in schemas[kind]["enum"]]
    return names + sorted(set(re.findall(r"/problems/[a-z-]+", text)))


# Schemas, or members of schemas, whose bounds a client meets.
BOUNDED = (
    "ActionResult.problems", "ConnectionsInput", "CredentialsInput.password", "DestinationInput.filename", "DirectoryInput",
    "DownloadURL", "HeadersInput", "JobInput.tags", "JobInput.urls", "JobIDs", "JobsInput.jobs", "Name",
    "RetryPolicyInput.max_attempts", "ServicePatch.allow_network", "ServicePatch.max_concurrent_jobs", "ServicePatch.schedule",
    "TokenInput.sessions",
)


def missing_bounds(text: str) -> list[str]:
    schemas = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))["components"]["schemas"]
    missing = []
    for name in BOUNDED:
        schema, _, member = name.partition(".")
        found = schemas[schema]["properties"][member] if member else schemas[schema]
        bound = next(found[key] for key in ("maxItems", "maxProperties", "maxLength", "maximum") if key in found)
        if not re.search(rf"(?<![\d,]){bound:,}(?![\d,]*\d)", text):
            missing.append(f"{bound:,} of {name}")
    return missing


def unknown_sentences(text: str) -> list[str]:
    """Parts of messages in the first column of the tables whose head says `contains`, without a source that has them."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Sources").rglob("*.swift"))
    # Long messages are in several lines of the source.
    sources = re.sub(r"\\\n\s*", "", sources)
    missing = []
    for table in re.findall(r"^\| the (?:line|sentence) contains .*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.MULTILINE):
        for row in table.splitlines():
            for quoted in re.findall(r"`([^`]+)`", row.split(" | ")[0]):
                parts = [part.strip() for part in re.split(r"\.\.\.|job_|dlv_", quoted)]
                missing += [quoted for part in parts if len(part) > 3 and part not in sources]
    return missing


def unknown_options(program: Path, pages: list[Page]) -> list[str]:
    """Commands of fetchd, in blocks and between backticks, with a subcommand or an option that its help does not have."""
    help_of: dict[tuple[str, ...], str] = {}

    def help_text(words: tuple[str, ...]) -> str:
        if words not in help_of:
            done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, env=ENVIRONMENT)
            help_of[words] = done.stdout if done.returncode == 0 else ""
        return help_of[words]

    wrong = []
    for one in pages:
        for command in commands(one):
            words = command.split()
            path: tuple[str, ...] = ()
            for word in words[1:]:
                if not re.fullmatch(r"[a-z][a-z0-9-]*", word) or not is_subcommand(help_text(path), word):
                    break
                path += (word,)
            if not path:
                if len(words) > 1 and re.fullmatch(r"[a-z][a-z-]+", words[1]) and words[1] not in ("help",):
                    wrong.append(f"{one.name}: there is no command '{words[1]}' ({command})")
                continue
            known = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", help_text(path))) | {"--help", "-h", "--version"}
            wrong += [
                f"{one.name}: fetchd {' '.join(path)} has no option {option}"
                for option in re.findall(r"(?<=\s)(--[a-z][a-z0-9-]*)", command)
                if option not in known
            ]
    return sorted(set(wrong))


def is_subcommand(text: str, word: str) -> bool:
    _, _, listed = text.partition("SUBCOMMANDS:")
    return bool(re.search(rf"^  {re.escape(word)}( |,|$)", listed, flags=re.MULTILINE))


def commands(one: Page) -> list[str]:
    """Command lines that begin with fetchd. Lines that end with a backslash are joined; quoted text is removed."""
    texts = [block.text for block in one.blocks if block.language == "sh"]
    texts += re.findall(r"(?<!`)`(fetchd [^`]+)`(?!`)", one.prose)
    found = []
    for text in texts:
        joined = text.replace("\\\n", " ")
        plain = re.sub(r"'[^']*'|\"[^\"]*\"", "TEXT", joined)
        for line in plain.splitlines():
            line = line.partition(" #")[0]
            for part in re.split(r"\||&&|;|\$\(|\bthen\b|\bdo\b|&(?!\d)", line):
                if match := re.match(r"\s*(?:\w+=\S* )*(?:sudo )?fetchd (.*)", part):
                    found.append(f"fetchd {match[1].rstrip(') ')}")
    return found
