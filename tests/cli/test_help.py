"""The documentation in the terminal: every page has a topic, and fits the width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hookline.cli.help import TOPICS, _complete_topics, find_pages
from hookline.cli.main import VERBS, cli
from hookline.dialects.dialect import DIALECT_NAMES
from hookline.dialects.native.actions import ACTIONS
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS
from hookline.dialects.native.keys import Key
from hookline.dialects.native.record import RECORD_KEYS
from hookline.dialects.native.value_tests import TESTS
from hookline.formatting import fold_word
from hookline.hooks.events import all_event_names
from hookline.hosts.agents import AGENT_NAMES
from hookline.project import load_text
from hookline.project.packs import own_pack_names

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


def keys_with_options(*tables: Mapping[str, Key]) -> Iterator[str]:
    for key in (key for table in tables for key in table.values()):
        yield key.name
        yield from keys_with_options(key.mapping, getattr(key, "options", {}))


NAMES = {
    *keys_with_options(FILE_KEYS, HOOK_KEYS, CONDITIONS, TESTS, ACTIONS, RECORD_KEYS),
    *all_event_names(),
    *DIALECT_NAMES,
    *AGENT_NAMES,
    *(name for pack in own_pack_names() for name in (pack, f"hookline:{pack}")),
    *(
        hook.id
        for pack in own_pack_names()
        for hook in load_text(f"extends: ['hookline:{pack}']", "hookline.yaml").hooks
        if ".after" not in hook.id
    ),
    *VERBS,
}


def test_every_name_is_explained() -> None:
    for name in sorted(NAMES):
        said = run(name)
        assert fold_word(name) in fold_word(said), name
        assert "These pages speak of it" not in said, name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rule", "THE NATIVE FORMAT"),
        ("rules", "THE NATIVE FORMAT"),
        ("config", "THE NATIVE FORMAT"),
        ("guard", "COOKBOOK"),
        ("examples", "COOKBOOK"),
        ("quickstart", "TUTORIAL"),
        ("getting started", "TUTORIAL"),
        ("Getting-Started", "TUTORIAL"),
        ("FAQ", "QUESTIONS"),
        ("docs/faq.md", "QUESTIONS"),
        ("event", "EVENTS"),
        ("condition", "CONDITIONS"),
        ("pack", "PACKS"),
        ("regex", "PATTERNS"),
        ("placeholder", "TEMPLATES"),
        ("windows", "Windows is not supported"),
        ("mac", "macOS should work"),
        ("upgrade", "INSTALL, UPGRADE, REMOVE"),
        ("claude", "CLAUDE CODE"),
        ("copilot", "COPILOT"),
        ("gemini", "GEMINI"),
        ("debug", "TROUBLESHOOTING"),
        ("performance", "SPEED"),
        ("team", "RUN THE HUB FOR A TEAM"),
        ("secret", "A secret is one of these"),
        ("slack", "Slack on deny"),
        ("undo", "Undo it"),
        ("langchain", "LangChain"),
        ("recommended", "hookline:recommended"),
        ("hookline:budget", "how many calls"),
        ("no-force-push", "is a hook of the pack hookline:recommended"),
        ("no_force_push", "is a hook of the pack hookline:recommended"),
        ("PreToolUse", "tool.before"),
        ("pretooluse", "tool.before"),
        ("runs", "its program, subcommand and flags"),
        ("count", "more than so many such events"),
        ("timeout", "native: Every key of a hook"),
        ("on_error", "what a failure counts as"),
        ("HOOKLINE_LOG", "HOOKLINE_LOG"),
        ("docker", "These pages speak of it"),
        ("rm -rf", "rm --recursive"),
        ("force push", "These pages speak of it"),
    ],
)
def test_a_newcomers_word_finds_its_page(words: str, said: str) -> None:
    assert said in run(*words.split())


@pytest.mark.parametrize(
    ("topic", "guess"),
    [
        ("conditons", "conditions"),
        ("recomended", "recommended"),
        ("tool.befor", "tool.before"),
        ("timeouts", "timeout"),
        ("no-froce-push", "no-force-push"),
        ("windws", "Windows"),
        ("tutorail", "tutorial"),
        ("doctr", "doctor"),
        ("xyzzy", ""),
    ],
)
def test_an_unknown_topic_gets_a_suggestion(topic: str, guess: str) -> None:
    done = CliRunner().invoke(cli, ["help", topic])
    assert done.exit_code != 0
    assert (f"Did you mean {guess}?" if guess else "hookline help lists the topics.") in done.output


def test_a_command_and_a_page_name_the_key_of_the_same_name() -> None:
    assert "See also log in: hookline help actions" in run("log")
    assert "See also run in: hookline help actions" in run("run")


def test_names_are_completed() -> None:
    found = [each.value for each in _complete_topics(click.Context(cli), click.Argument(["words"]), "no-fo")]
    assert found == ["no-force-push", "no-force-push-everywhere"]
    assert {"tutorial", "check"} <= {
        each.value for each in _complete_topics(click.Context(cli), click.Argument(["w"]), "")
    }
