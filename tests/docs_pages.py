"""The pages of the documentation and the fenced blocks in them.

The words after a fence say what a block is: `yaml native`, `json flo` and so on are hooks files of that dialect,
`yaml case` is a test case, `python` and `console` are run; `python framework=NAME` is run by `make test-frameworks`. `file=NAME` puts the block's text into that file for the
blocks after it; for a native file the default is hookline.yaml.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hookline.dialects.dialect import DIALECT_NAMES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TOP_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_FENCE = re.compile(r"^(```+)(.*)$")
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    words: tuple[str, ...]
    text: str

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def dialect(self) -> str | None:
        word = self.words[1] if len(self.words) > 1 else ""
        return word if self.language in ("yaml", "json") and word in DIALECT_NAMES else None

    @property
    def is_case(self) -> bool:
        return self.words[:2] == ("yaml", "case")

    @property
    def framework(self) -> str | None:
        """Its environment has this framework, and runs the block."""
        return next((word.removeprefix("framework=") for word in self.words if word.startswith("framework=")), None)

    @property
    def file(self) -> str | None:
        named = next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)
        return named or ("hookline.yaml" if self.dialect == "native" else None)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    return [*(ROOT / name for name in TOP_PAGES), *sorted(DOCS.rglob("*.md"))]


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    found: list[Block] = []
    inside: tuple[str, int, tuple[str, ...]] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if inside is None:
            if fence:
                inside, lines = (fence[1], number, tuple(fence[2].split())), []
        elif fence and fence[1] == inside[0] and not fence[2].strip():
            found.append(Block(page, inside[1], inside[2], "\n".join(lines) + "\n"))
            inside = None
        else:
            lines.append(line)
    assert inside is None, f"{page}:{inside and inside[1]}: this block is not closed"
    return tuple(found)


def all_blocks() -> list[Block]:
    return [block for page in pages() for block in blocks(page)]


def files_before(block: Block) -> dict[str, str]:
    """The files that the page has shown before this block; the last text for a file counts."""
    earlier = [each for each in blocks(block.page) if each.line < block.line and each.file]
    return {each.file: each.text for each in earlier if each.file}


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    lines: list[str] = []
    inside = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = _FENCE.match(line)
        if fence and not inside:
            inside = fence[1]
        elif fence and fence[1] == inside and not fence[2].strip():
            inside = ""
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def code_words(page: Path) -> set[str]:
    """Every word in code style in the page's prose."""
    return {word for code in _CODE.findall(prose(page)) for word in re.findall(r"-{0,2}[A-Za-z0-9_.-]+", code)}
