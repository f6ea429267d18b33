"""`hookline help`: the documentation in the terminal. The pages are part of the package."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

import hookline
from hookline.cli.help_index import HelpEntry, HelpIndex
from hookline.cli.markdown_text import plain_text, render_page
from hookline.cli.options import Verb
from hookline.errors import HooklineError
from hookline.formatting import closest_match, fold_word, is_typo, printable

TOPICS: Final = {
    "Begin": {
        "tutorial": "tutorial.md",
        "cookbook": "cookbook.md",
        "packs": "packs.md",
        "installing": "install.md",
        "migrating": "migrating.md",
        "comparison": "comparison.md",
        "faq": "faq.md",
        "troubleshooting": "troubleshooting.md",
        "glossary": "glossary.md",
    },
    "Write hooks": {
        "native": "dialects/native.md",
        "events": "events.md",
        "conditions": "conditions.md",
        "actions": "actions.md",
        "templates": "templates.md",
        "patterns": "patterns.md",
        "tools": "tools.md",
        "python": "python.md",
        "testing": "testing.md",
        "prove": "prove.md",
    },
    "Formats": {
        "dialects": "dialects/README.md",
    },
    "Agents": {
        "agents": "hosts/README.md",
        "install": "hosts/install.md",
        "doctor": "hosts/doctor.md",
        "bridge": "hosts/bridge.md",
        "mcp": "hosts/mcp.md",
        "run": "runtime/run.md",
    },
    "How it works": {
        "commands": "verbs.md",
        "deciding": "deciding.md",
        "trust": "trust.md",
        "record": "record.md",
        "faults": "faults.md",
        "broken-config": "broken-config.md",
        "environment": "environment.md",
        "guarantees": "guarantees.md",
        "benchmarks": "benchmarks.md",
    },
}
"""By group: the topics with a name of their own, and their pages. All other pages are topics by their path."""
_SYNONYMS: Final = {
    "tutorial": ("quickstart", "quick-start", "getting-started", "start", "begin", "intro", "introduction"),
    "cookbook": ("example", "examples", "recipe", "recipes", "guard", "guards"),
    "native": ("hook", "rule", "rules", "yaml", "config", "configuration", "hookline.yaml", "syntax", "file", "format"),
    "packs": ("share", "sharing", "ruleset", "presets"),
    "patterns": ("regex", "regexp", "regular-expression", "wildcard"),
    "templates": ("placeholder", "placeholders", "variables"),
    "installing": ("upgrade", "update", "mac", "macos", "linux", "wsl", "pip", "pipx", "uv"),
    "environment": ("variable", "env-vars"),
    "troubleshooting": ("debug", "debugging", "problem", "problems", "not-working", "broken"),
    "benchmarks": ("performance", "speed", "fast", "latency"),
    "testing": ("ci",),
    "record": ("logs", "history", "telemetry", "opentelemetry"),
    "commands": ("command-line", "cli", "verbs", "usage"),
    "claude-code": ("claude",),
    "copilot-cli": ("copilot", "github-copilot"),
    "gemini-cli": ("gemini",),
    "frameworks": ("langgraph", "sdk"),
}
"""Topic → other words for it, which people try who do not know the topics."""
_FOLDERS: Final = {"dialects/": "Formats", "hosts/": "Agents"}
"""Folders whose pages are topics by their names alone, and their groups."""
_OTHERS: Final = "More"
_LEFT_OUT: Final = frozenset(("README.md", "api.md", "architecture.md", "decisions"))  # for those who change hookline
_UNINDEXED_TOPICS: Final = ("benchmarks",)  # its tables explain no names
_MIN_TYPO_LENGTH: Final = 5
_WIDTH: Final = 80


def find_topics() -> dict[str, dict[str, str]]:
    """All topics with their pages, by group."""
    listed = {page for group in TOPICS.values() for page in group.values()}
    found = {group: dict(topics) for group, topics in TOPICS.items()} | {_OTHERS: {}}
    taken = {topic for group in TOPICS.values() for topic in group}
    pages = sorted(page for page in _find_pages(_docs()) if page not in listed)
    for page in sorted(pages, key=lambda page: not page.startswith("hosts/")):  # `codex` is the agent, not its format
        path = page.removesuffix(".md").removesuffix("/README")
        folder, _, name = path.partition("/")
        group = _FOLDERS.get(f"{folder}/", _OTHERS)
        is_short = group != _OTHERS and "/" not in name and name not in taken
        found[group if is_short else _OTHERS][name if is_short else path] = page
        taken.add(name if is_short else path)
    return found


def find_pages() -> dict[str, str]:
    return {topic: page for group in find_topics().values() for topic, page in group.items()}


def _find_pages(directory: Traversable, prefix: str = "") -> Iterator[str]:
    for each in directory.iterdir():
        path = prefix + each.name
        if path in _LEFT_OUT:
            continue
        if each.is_dir():
            yield from _find_pages(each, f"{path}/")
        elif path.endswith(".md"):
            yield path


def _complete_topics(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from hookline.cli.verb_group import VERBS

    known = [*find_pages(), *VERBS, *(_index().names if incomplete else ())]
    return [CompletionItem(topic) for topic in dict.fromkeys(known) if topic.startswith(incomplete)]


@click.command(
    "help",
    cls=Verb,
    short_help="Read the documentation in the terminal.",
    context_settings={"ignore_unknown_options": True},  # hookline help rm -rf
)
@click.argument("words", nargs=-1, metavar="[TOPIC]", shell_complete=_complete_topics)
@click.pass_context
def verb(context: click.Context, words: tuple[str, ...]) -> None:
    """Read the documentation in the terminal.

    TOPIC is a page that `hookline help` lists, a command, or a name that a page explains: a key, a condition, an
    action, an event, a pack or one of its hooks, a variable of the environment.

    \b
    hookline help
    hookline help conditions
    hookline help runs
    """
    topic = " ".join(words)
    if not topic:
        click.echo(_list_topics())
        return
    command = _find_command(context, topic)
    page = find_pages().get(topic) or (None if command else _find_page(topic))
    if page is not None:
        _show(_read_page(page) + _see_also(topic, page))
    elif command is not None:
        with click.Context(command, info_name=topic, parent=context.parent) as inner:
            click.echo(command.get_help(inner))
        click.echo(render_page(_see_also(topic, "verbs.md")), nl=False)
    elif explanations := _index().explain(topic) or _index().explain(f"{topic}s"):
        _show(_format_explanations(explanations))
    else:
        _show_similar(context, topic)


def _find_page(topic: str) -> str | None:
    """The page of a topic or of a synonym. Case, `-`, `_`, spaces and the page's folder do not matter."""
    pages = find_pages()
    words = {word: pages[each] for each, others in _SYNONYMS.items() for word in others if each in pages}
    short = {each.rpartition("/")[2]: page for each, page in pages.items()}
    folded = {fold_word(each): page for each, page in (short | words | pages).items()}
    word = fold_word(topic.removeprefix("docs/").removesuffix(".md"))
    return folded.get(word) or folded.get(f"{word}s")


def _find_command(context: click.Context, name: str) -> click.Command | None:
    group = context.parent.command if context.parent else None
    return group.get_command(context, name) if isinstance(group, click.Group) else None


def _show(markdown: str) -> None:
    columns = min(shutil.get_terminal_size((_WIDTH, 24)).columns, 100)
    is_terminal = sys.stdout.isatty()
    text = render_page(markdown, columns if is_terminal else _WIDTH, styled=is_terminal)
    click.echo_via_pager(text) if is_terminal else click.echo(text, nl=False)


def _format_explanations(found: Sequence[HelpEntry]) -> str:
    parts = [
        each.markdown if each.is_section else f"## {each.topic}: {each.heading}\n\n{each.markdown}" for each in found
    ]
    return "\n\n".join((*parts, f"More: {_name_topics(found)}\n"))


def _see_also(topic: str, page: str) -> str:
    """A line that names the other pages which explain a key, an action or an event of this name; else empty."""
    pages = find_pages()
    others = [each for each in _index().explain(topic) if pages[each.topic] != page]
    return f"\n\nSee also {topic} in: {_name_topics(others)}\n" if others else ""


def _name_topics(found: Iterable[HelpEntry]) -> str:
    return ", ".join(dict.fromkeys(f"hookline help {each.topic}" for each in found))


def _show_similar(context: click.Context, topic: str) -> None:
    """Lists the pages that use the word. If a topic was probably mistyped, raises UsageError with a hint instead."""
    from hookline.cli.verb_group import VERBS

    known = dict.fromkeys((*find_pages(), *VERBS, *_index().names))
    guess = _find_singular(topic, known) or _find_typo(topic, known)
    places = [] if guess else _index().places(topic)
    if places:
        lines = [f"No topic is named {printable(topic)}. These pages speak of it:", *(f"- {each}" for each in places)]
        click.echo(render_page("\n\n".join((lines[0], "\n".join(lines[1:])))), nl=False)
        return
    guess = guess or closest_match(topic, known, cutoff=0.75)
    hint = f"Did you mean {guess}?" if guess else "hookline help lists the topics."
    raise click.UsageError(f"There is no topic or command {printable(topic)!r}. {hint}", context)


def _find_typo(topic: str, known: Iterable[str]) -> str | None:
    """None for a short word: those are alike by chance."""
    return next((each for each in known if is_typo(topic, each)), None) if len(topic) >= _MIN_TYPO_LENGTH else None


def _find_singular(topic: str, known: Iterable[str]) -> str | None:
    return next((each for each in known if f"{fold_word(each)}s" == fold_word(topic)), None)


def _list_topics() -> str:
    width = max(map(len, find_pages())) + 2
    lines = [
        "hookline help TOPIC shows a page of the documentation.",
        "hookline help COMMAND is hookline COMMAND --help.",
        "hookline help NAME explains a key, condition, action, event, pack or hook.",
    ]
    for group, topics in find_topics().items():
        lines += ["", f"{group}:"]
        lines += [f"  {topic.ljust(width)}{_title(page)}"[:_WIDTH] for topic, page in topics.items()]
    return "\n".join(lines)


def _title(page: str) -> str:
    """The heading of the page."""
    first = _read_page(page).lstrip().partition("\n")[0]
    return plain_text(first.removeprefix("#").strip())


def _read_page(page: str) -> str:
    return _docs().joinpath(*page.split("/")).read_text("utf-8")


@cache
def _index() -> HelpIndex:
    from hookline.dialects.native.actions import ACTIONS
    from hookline.dialects.native.conditions import CONDITIONS
    from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS

    packs = {each.name.removesuffix(".yaml"): each.read_text("utf-8") for each in (files(hookline) / "packs").iterdir()}
    pages = {topic: _read_page(page) for topic, page in find_pages().items() if topic not in _UNINDEXED_TOPICS}
    return HelpIndex(pages, packs, {"native": {**FILE_KEYS, **HOOK_KEYS}, "conditions": CONDITIONS, "actions": ACTIONS})


def _docs() -> Traversable:
    """The documentation in the package, or in the checkout from which hookline runs."""
    checkout = Path(__file__).parents[3] / "docs"
    for directory in (files(hookline) / "docs", checkout):
        if directory.joinpath("faq.md").is_file():
            return directory
    raise HooklineError("The documentation is not part of this installation.")
