"""Everything is documented, every example runs, every table is current, every link has a target."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import docs_tables
from docs_pages import DOCS, ROOT, Block, all_blocks, code_words, files_before, pages, prose
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.hosts.agents import AGENT_NAMES
from hookline.project import load_text
from hookline.project.lint import lint_hooks
from hookline.testing import load_cases, run_case

BLOCKS = all_blocks()
CHECKED_LANGUAGES = {"yaml", "json", "python", "console"}
UNCHECKED_LANGUAGES = {"text", "sh", "javascript"}
SKIPPED_COMMANDS = ("make ", "pip ", "git ", "source ")  # they need a checkout, a network or an interactive shell


def _block_params(blocks: list[Block]) -> list[object]:
    return [pytest.param(block, id=str(block), marks=_block_marks(block)) for block in blocks]


def _block_marks(block: Block) -> tuple[pytest.MarkDecorator, ...]:
    """Commands start processes, and the examples of our own agent start it: each takes a second or more."""
    runs_agent = block.language == "python" and str(block).startswith("docs/runtime/")
    runs_commands = block.language == "console" and not str(block).startswith(("README.md", "docs/tutorial.md"))
    return (pytest.mark.slow,) if runs_agent or runs_commands else ()


def _page_tests() -> list[Any]:
    """The page about packs is slow: some thousand commands are tried for its tables."""
    names = [(page, str(page.relative_to(ROOT))) for page in pages()]
    return [pytest.param(page, id=name, marks=[pytest.mark.slow] * (name == "docs/packs.md")) for page, name in names]


@pytest.mark.parametrize("page", _page_tests())
def test_tables_are_current(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert docs_tables.replace_tables(text) == text, "run `python tests/docs_tables.py`"


def test_every_table_is_shown_somewhere() -> None:
    shown = {name for page in pages() for name in docs_tables.names_in(page.read_text(encoding="utf-8"))}
    assert shown == set(docs_tables.TABLES)


@pytest.mark.parametrize(
    ("place", "words"), docs_tables.documented_words(), ids=lambda each: each if isinstance(each, str) else ""
)
def test_everything_is_documented(place: str, words: list[str]) -> None:
    assert not sorted(set(words) - code_words(DOCS / place))


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_agents_page_says_what_hooks_do_not_see(name: str) -> None:
    text = (DOCS / "hosts" / f"{name}.md").read_text("utf-8")
    assert re.search(r"^## What hooks do not see or cannot stop\n+\S", text, re.M)


@pytest.mark.parametrize("name", docs_tables.verb_names())
def test_every_option_of_a_verb_is_documented(name: str) -> None:
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", (DOCS / "verbs.md").read_text("utf-8"), re.S | re.M)
    assert section, f"verbs.md has no section {name}"
    missing = [option for option in docs_tables.options_of(name) if f"`{option}" not in section[1]]
    assert not missing


def test_examples_in_tables_are_hooks() -> None:
    for event, hook in docs_tables.examples():
        book = load_text(f"hooks:\n  - {{on: {event}, {hook}, on_error: open}}\n", "hookline.yaml", "native")
        assert not book.problems, hook


@pytest.mark.parametrize("block", _block_params(BLOCKS))
def test_every_block_says_what_it_is(block: Block) -> None:
    assert block.language in CHECKED_LANGUAGES | UNCHECKED_LANGUAGES
    assert len(block.words) == 1 or block.dialect or block.is_case or block.file or block.framework, (
        "its second word is not a dialect"
    )


@pytest.mark.parametrize("block", _block_params([block for block in BLOCKS if block.language in ("yaml", "json")]))
def test_data_can_be_read(block: Block) -> None:
    document, problems = read_text(block.text, f"block.{block.language}")
    assert document is not None, problems


@cache
def schema_validator(dialect: str) -> Any:
    schema = get_dialect(dialect).schema()
    found = jsonschema.validators.validator_for(schema)
    found.check_schema(schema)
    return found(schema)


@pytest.mark.parametrize("block", _block_params([block for block in BLOCKS if block.dialect]))
def test_hooks_file_loads(block: Block) -> None:
    book = load_text(block.text, block.file or f"hooks.{block.language}", block.dialect)
    assert not [str(problem) for problem in (*book.problems, *lint_hooks(book.hooks))]
    assert book.hooks
    document, _ = read_text(block.text, f"block.{block.language}")
    assert document is not None
    schema_validator(block.dialect or "").validate(document.value)


@pytest.fixture
def scratch(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A project with the files that the page has shown before this block."""
    block: Block = request.getfixturevalue("block")
    if "hookline prove" in block.text or "\nproperties:" in block.text:
        pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")
    project = tmp_path / "project"
    (tmp_path / "home").mkdir()
    project.mkdir()
    for name, text in files_before(block).items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return project


def _run(argv: list[str], project: Path) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("HOOKLINE", "XDG_", "DIGITORN"))
    }
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = {**inherited, "HOME": str(project.parent / "home"), "PATH": path}
    return subprocess.run(
        argv,
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "block",
    _block_params([each for each in BLOCKS if each.language == "python" and not each.file and not each.framework]),
)
def test_python_runs(block: Block, scratch: Path) -> None:
    done = _run([sys.executable, "-c", block.text], scratch)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("block", _block_params([each for each in BLOCKS if each.is_case]))
def test_case_passes(block: Block, scratch: Path) -> None:
    file = scratch / (block.file or "case.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    failed = [str(result) for case in load_cases(file) if not (result := run_case(case)).ok]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("block", _block_params([each for each in BLOCKS if each.language == "console"]))
def test_console_prints_what_is_shown(block: Block, scratch: Path) -> None:
    code = 0
    for command, expected in _commands(block.text):
        if command.startswith(SKIPPED_COMMANDS):
            continue
        done = _run(["bash", "-c", f"(exit {code}); {command}"], scratch)
        code = done.returncode
        assert _contains(done.stdout.splitlines(), expected), f"$ {command}\n{done.stdout}"


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """Each command, and the lines of output below it."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1] + line, [])
        else:
            assert found, f"this is not the output of a command: {line}"
            found[-1][1].append(line)
    return found


def _contains(lines: list[str], expected: list[str]) -> bool:
    """True if the lines contain the expected ones, in this order; `…` matches any text, alone on a line any lines."""
    rest = iter(lines)
    patterns = [
        re.compile(".*".join(map(re.escape, line.rstrip().split("…")))) for line in expected if line.strip("… ")
    ]
    return all(any(pattern.fullmatch(line.rstrip()) for line in rest) for pattern in patterns)


_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_targets(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if link.startswith(("http:", "https:")):
            continue
        name, _, part = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not part or part in _anchors(target), link


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        links = [link.partition("#")[0] for link in _LINK.findall(prose(page))]
        waiting += [(page.parent / link).resolve() for link in links if link and not link.startswith("http")]
    assert not [str(page) for page in pages() if page not in reached]


def _anchors(page: Path) -> set[str]:
    """The names of the headings, as links use them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
