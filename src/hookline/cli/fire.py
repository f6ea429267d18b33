"""`hookline fire`"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import click

from hookline.cli.async_runner import run_async
from hookline.cli.context import current_directory, load_book
from hookline.cli.decision_text import exit_code, show_decision
from hookline.cli.dry_run import RecordingHost
from hookline.cli.facts_input import read_facts
from hookline.cli.options import EventName, Verb, config_option, dialect_option, json_option
from hookline.cli.output import err, out, out_json
from hookline.cli.problem_text import show_problems
from hookline.config.problem import errors_of
from hookline.engine.book import Book
from hookline.engine.decision import Decision, background_time
from hookline.engine.limits import FireCounts
from hookline.errors import MustWait
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS, event_named
from hookline.hooks.session_facts import SessionInfo, login_name, session_facts
from hookline.lazy_dataclasses import dataclass
from hookline.runners.local_host import LocalHost


@dataclass(frozen=True, slots=True)
class FireOptions:
    configs: tuple[str, ...]
    dialect: str | None
    facts: str | None
    tool: str | None
    input: str | None
    prompt: str | None
    dry_run: bool
    explain: bool
    as_json: bool


@click.command(cls=Verb, short_help="Send one event through the hooks and show the decision.")
@click.argument("event", type=EventName())
@config_option
@dialect_option
@click.option("--facts", metavar="JSON|@FILE|-", help="The event's facts as JSON: inline, @FILE, or - for stdin.")
@click.option("--tool", metavar="NAME", help="Name of the tool.")
@click.option("--input", metavar="JSON", help="Input of the tool.")
@click.option("--prompt", metavar="TEXT", help="Text of the user's prompt.")
@click.option("--dry-run", is_flag=True, help="Run no program, script or tool; print what would run.")
@click.option("--explain", is_flag=True, help="Explain every hook, including those that did not run.")
@json_option
def verb(event: str, **options: Any) -> int:
    """Send one event through the active hooks and show the decision and why. EVENT is an event's own name
    (tool.before) or a dialect's (PreToolUse). Facts that you leave out are filled in as in a session in this
    directory.

    \b
    hookline fire tool.before --tool bash --input '{"command": "git push"}'
    hookline fire UserPromptSubmit --prompt 'deploy it' --explain
    echo '{"tool": {"name": "bash", "input": {"command": "ls"}}}' | hookline fire PreToolUse --facts - --json

    Exit codes: 0 proceed, 1 a problem with the config or the call, 2 denied or halted, 3 a person must approve.
    """
    chosen = FireOptions(**options)
    given = read_facts(chosen.facts, chosen.tool, chosen.input, chosen.prompt)
    host = RecordingHost() if chosen.dry_run else LocalHost(FireCounts(), warm=False)
    book = load_book(chosen.configs, chosen.dialect, host=host)
    show_problems(book.problems)
    name = event_named(event, chosen.dialect) or event
    before = Event(name, session_facts(name, given, _new_session()))
    decision = _decide(book, before, host, chosen.explain)
    if chosen.as_json:
        out_json(decision.as_json())
    else:
        show_decision(decision, before, explain=chosen.explain, missing=_what_is_missing(book, before))
    if isinstance(host, RecordingHost):
        _print_requests(host, err if chosen.as_json else out)  # with --json, stdout is for the decision alone
    return exit_code(decision)


def _what_is_missing(book: Book, event: Event) -> str:
    if not book.hooks and errors_of(book.problems):
        return "The hooks are off because of the errors above."
    if not book.hooks:
        return "No hooks file applies here: `hookline init` writes one, --config FILE names one."
    if "tool.name" in EVENTS[event.name].facts and not event.facts.get("tool"):
        return "No tool was given: add --tool NAME and --input JSON."
    return ""


def _new_session() -> SessionInfo:
    return SessionInfo(f"fire-{os.urandom(6).hex()}", login_name(), current_directory(), time.time())


def _decide(book: Book, event: Event, host: RecordingHost | LocalHost, explain: bool) -> Decision:
    try:
        return book.decide_now(event, host, explain)  # most hooks need no event loop, which takes long to import
    except MustWait:
        return run_async(_decide_and_drain(book, event, host, explain))


async def _decide_and_drain(book: Book, event: Event, host: RecordingHost | LocalHost, explain: bool) -> Decision:
    decision = await book.decide(event, host, explain)
    await host.drain(background_time(decision))
    return decision


def _print_requests(host: RecordingHost, show: Callable[[str], None]) -> None:
    for request in host.requests:
        show(f"would {request['would']}: {request['text']}  [{request['hook']}]")
