"""The documentation in the terminal: every page has a topic, and fits the width."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hookline.cli.help import TOPICS, find_pages
from hookline.cli.main import VERBS, cli

DOCS = Path(__file__).parents[2] / "docs"
PAGES = find_pages()


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, ["help", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_every_page_for_users_is_a_topic() -> None:
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if "decisions" not in page.parts}
    assert set(PAGES.values()) == pages - {"README.md", "api.md", "architecture.md"}
    assert all(page in pages for group in TOPICS.values() for page in group.values())
    assert len(PAGES) == len(set(PAGES.values()))


def test_without_a_topic_all_are_listed() -> None:
    listed = run()
    assert all(f"  {topic} " in listed for topic in PAGES)
    assert max(map(len, listed.splitlines())) <= 80


@pytest.mark.parametrize("topic", PAGES)
def test_a_page_fits_the_terminal(topic: str) -> None:
    text = run(topic)
    title = (DOCS / PAGES[topic]).read_text("utf-8").lstrip("# ").partition("\n")[0]
    assert text.startswith(title.upper().replace("`", ""))
    prose = [line for line in text.splitlines() if not line.startswith("    ") and " " in line.strip()]
    assert [line for line in prose if len(line) > 80] == []
    assert "](" not in "\n".join(prose)
    assert "<!--" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("verb", sorted(set(VERBS) - set(PAGES) - {"help"}))
def test_a_command_shows_its_help(verb: str) -> None:
    assert run(verb).startswith(f"Usage: cli {verb}")


def test_an_unknown_topic_gets_a_suggestion() -> None:
    done = CliRunner().invoke(cli, ["help", "conditons"])
    assert done.exit_code != 0
    assert "Did you mean conditions?" in done.output
