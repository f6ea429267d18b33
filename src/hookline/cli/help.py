"""`hookline help`: the documentation in the terminal. The pages are part of the package."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

import hookline
from hookline.cli.markdown_text import plain_text, render_page
from hookline.cli.options import Verb
from hookline.errors import HooklineError
from hookline.formatting import closest_match, printable

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
_FOLDERS: Final = {"dialects/": "Formats", "hosts/": "Agents"}
"""Folders whose pages are topics by their names alone, and their groups."""
_OTHERS: Final = "More"
_LEFT_OUT: Final = frozenset(("README.md", "api.md", "architecture.md", "decisions"))  # for those who change hookline
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
    return [CompletionItem(topic) for topic in find_pages() if topic.startswith(incomplete)]


@click.command("help", cls=Verb, short_help="Read the documentation in the terminal.")
@click.argument("topic", required=False, shell_complete=_complete_topics)
@click.pass_context
def verb(context: click.Context, topic: str | None) -> None:
    """Read a page of the documentation in the terminal. TOPIC is one of those that `hookline help` lists, or a command.

    \b
    hookline help
    hookline help conditions
    """
    pages = find_pages()
    if topic is None:
        click.echo(_list_topics())
    elif topic in pages:
        columns = min(shutil.get_terminal_size((_WIDTH, 24)).columns, 100)
        is_terminal = sys.stdout.isatty()
        text = render_page(_read_page(pages[topic]), columns if is_terminal else _WIDTH, styled=is_terminal)
        click.echo_via_pager(text) if is_terminal else click.echo(text, nl=False)
    else:
        _show_command(context, topic)


def _list_topics() -> str:
    width = max(map(len, find_pages())) + 2
    lines = [
        "hookline help TOPIC shows a page of the documentation.",
        "hookline help COMMAND is hookline COMMAND --help.",
    ]
    for group, topics in find_topics().items():
        lines += ["", f"{group}:"]
        lines += [f"  {topic.ljust(width)}{_title(page)}"[:_WIDTH] for topic, page in topics.items()]
    return "\n".join(lines)


def _title(page: str) -> str:
    """The heading of the page."""
    first = _read_page(page).lstrip().partition("\n")[0]
    return plain_text(first.removeprefix("#").strip())


def _show_command(context: click.Context, name: str) -> None:
    group = context.parent.command if context.parent else None
    command = group.get_command(context, name) if isinstance(group, click.Group) else None
    if command is None:
        from hookline.cli.main import VERBS

        guess = closest_match(name, [*find_pages(), *VERBS])
        hint = f"Did you mean {guess}?" if guess else "hookline help lists the topics."
        raise click.UsageError(f"There is no topic or command {printable(name)!r}. {hint}", context)
    with click.Context(command, info_name=name, parent=context.parent) as inner:
        click.echo(command.get_help(inner))


def _read_page(page: str) -> str:
    return _docs().joinpath(*page.split("/")).read_text("utf-8")


def _docs() -> Traversable:
    """The documentation in the package, or in the checkout from which hookline runs."""
    checkout = Path(__file__).parents[3] / "docs"
    for directory in (files(hookline) / "docs", checkout):
        if directory.joinpath("faq.md").is_file():
            return directory
    raise HooklineError("The documentation is not part of this installation.")
