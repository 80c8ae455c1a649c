"""The pages of the documentation: their code blocks, headings and links.

The first word after the three backticks of a block is its language. A block in `sh` is run by a test, unless one of these
says otherwise:

- the second word `example`: the reader must change it first, or it needs a machine that a test does not have;
- a comment above the block, `<!-- tested by NAME -->`: a test or a script of this name runs it.

A block in `output` shows the standard output of the block before it. `…` stands for any text in a line, and a line that
consists of `…` for any number of lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .environment import ROOT

TESTED_BY = re.compile(r"<!-- tested by ([\w./ -]+?) -->")
LANGUAGES = {"go", "http", "ini", "js", "json", "mermaid", "output", "python", "ruby", "sh", "swift", "text", "yaml"}


@dataclass(frozen=True)
class Block:
    page: str
    # The line of the opening backticks, from 1.
    line: int
    words: tuple[str, ...]
    text: str
    tested_by: str | None

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def is_example(self) -> bool:
        return self.words[1:] == ("example",)

    @property
    def is_run(self) -> bool:
        return self.language == "sh" and not self.is_example and not self.tested_by

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Page:
    name: str
    text: str

    @property
    def blocks(self) -> list[Block]:
        blocks: list[Block] = []
        opened: tuple[int, str, int] | None = None
        content: list[str] = []
        previous = ""
        tested_by: str | None = None
        for number, line in enumerate(self.text.splitlines(), 1):
            bare = line.lstrip()
            if opened is None and bare.startswith("```"):
                opened, content = (number, bare[3:].strip(), len(line) - len(bare)), []
                found = TESTED_BY.fullmatch(previous.strip())
                tested_by = found[1] if found else None
            elif opened and bare.startswith("```"):
                start, info, _ = opened
                blocks.append(Block(self.name, start, tuple(info.split()), "\n".join(content) + "\n", tested_by))
                opened = None
            elif opened:
                content.append(line[opened[2]:] if line[: opened[2]].isspace() or not opened[2] else line)
            if bare:
                previous = line
        return blocks

    @property
    def prose(self) -> str:
        """The page without its blocks."""
        return re.sub(r"^ *```.*?^ *```$", "", self.text, flags=re.MULTILINE | re.DOTALL)

    @property
    def anchors(self) -> set[str]:
        """The names that GitHub gives to the headings."""
        found: set[str] = set()
        for heading in re.findall(r"^#{1,6} +(.+?) *#*$", self.prose, flags=re.MULTILINE):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            count = 0
            while (name := f"{anchor}-{count}" if count else anchor) in found:
                count += 1
            found.add(name)
        return found

    @property
    def links(self) -> list[str]:
        without_code = re.sub(r"`[^`\n]*`", "`code`", self.prose)
        return re.findall(r"\]\(([^)\s]+)\)", without_code)


def all_pages() -> list[Page]:
    names = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"]
    names += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    return [page(name) for name in names]


def page(name: str) -> Page:
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


def exists(link: str, page: Page) -> str | None:
    """Why a link between pages leads nowhere; None if it is right or leaves the repository."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (ROOT / page.name).parent / path if path else ROOT / page.name
    if not target.exists():
        return f"{link} does not exist"
    if anchor and target.suffix == ".md":
        found = Page(str(target), target.read_text(encoding="utf-8"))
        if anchor not in found.anchors:
            return f"{link}: there is no such heading"
    return None
