"""`hookline fire`"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any

import click

from hookline.cli.async_runner import run_async
from hookline.cli.context import current_directory, load_book, user_name
from hookline.cli.decision_text import exit_code, show_decision
from hookline.cli.dry_run import RecordingHost
from hookline.cli.facts_input import read_facts
from hookline.cli.options import EventName, Verb, config_option, dialect_option, json_option
from hookline.cli.output import err, out_json
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.runners.local_host import LocalHost
from hookline.testing.case import event_named
from hookline.testing.scripted_host import background_time


@dataclass(frozen=True, slots=True)
class FireOptions:
    """The options of one call."""

    configs: tuple[str, ...]
    dialect: str | None
    facts: str | None
    tool: str | None
    input: str | None
    prompt: str | None
    dry_run: bool
    explain: bool
    as_json: bool


@click.command(cls=Verb, short_help="One event through the hooks in force: the decision and why.")
@click.argument("event", type=EventName())
@config_option
@dialect_option
@click.option("--facts", metavar="JSON|@FILE|-", help="The event's facts: JSON, a file with it, or - for stdin.")
@click.option("--tool", metavar="NAME", help="The tool's name.")
@click.option("--input", metavar="JSON", help="The tool's input.")
@click.option("--prompt", metavar="TEXT", help="The user's text.")
@click.option("--dry-run", is_flag=True, help="Run no program, script or tool; say what would be run.")
@click.option("--explain", is_flag=True, help="Account for every hook, also for those that were not asked.")
@json_option
def verb(event: str, **options: Any) -> int:
    """Send one event through the hooks in force here and show the decision and why. EVENT is an event's own name
    (tool.before) or any dialect's (PreToolUse). Facts that are not given are filled in as a session in this
    directory would have them.

    \b
    hookline fire tool.before --tool bash --input '{"command": "git push"}'
    hookline fire UserPromptSubmit --prompt 'deploy it' --explain
    echo '{"tool": {"name": "bash", "input": {"command": "ls"}}}' | hookline fire PreToolUse --facts - --json

    Exit codes: 0 proceed, 1 a problem with the config or the call, 2 denied or halted, 3 somebody must be asked.
    """
    asked = FireOptions(**options)
    given = read_facts(asked.facts, asked.tool, asked.input, asked.prompt)
    book = load_book(asked.configs, asked.dialect)
    for problem in book.problems:
        err(str(problem))
    name = event_named(event, asked.dialect) or event
    before = Event(name, session_facts(name, given, _new_session()))
    dry = RecordingHost() if asked.dry_run else None
    decision = run_async(_decide_and_drain(book, before, dry, asked.explain))
    if asked.as_json:
        out_json(decision.as_json())
    else:
        show_decision(decision, before, explain=asked.explain)
    _print_dry_run(dry, asked.as_json)
    return exit_code(decision)


def _new_session() -> SessionInfo:
    return SessionInfo(f"fire-{uuid.uuid4().hex[:12]}", user_name(), current_directory(), time.time())


async def _decide_and_drain(book: Book, event: Event, dry: RecordingHost | None, explain: bool) -> Decision:
    host = dry or LocalHost(FireCounts(), warm=False)
    decision = await book.decide(event, host, explain)
    await host.drain(background_time(decision))
    return decision


def _print_dry_run(dry: RecordingHost | None, as_json: bool) -> None:
    """On stderr where stdout belongs to a program."""
    from hookline.cli.output import out

    for each in dry.requests if dry else ():
        (err if as_json else out)(f"would {each['would']}: {each['text']}  [{each['hook']}]")
