"""What `hookline fire` does, and how its common arguments are read without click."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from hookline.cli.context import are_hooks_off, current_directory, load_book
from hookline.cli.decision_text import exit_code, show_decision
from hookline.cli.facts_input import read_facts
from hookline.cli.output import err, out, out_json
from hookline.cli.problem_text import show_problems
from hookline.dialects.dialect import DIALECT_NAMES
from hookline.engine.book import Book
from hookline.engine.decision import Decision, background_time
from hookline.engine.limits import FireCounts
from hookline.errors import MustWait
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS, canonical_event, event_named
from hookline.hooks.inner_calls import has_inner_calls
from hookline.hooks.session_facts import SessionInfo, login_name, session_facts
from hookline.hosts.call_decision import decide_without_record
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_class
from hookline.runners.local_host import LocalHost

if TYPE_CHECKING:
    from hookline.cli.dry_run import RecordingHost
else:
    RecordingHost = lazy_class("hookline.cli.dry_run", "RecordingHost")

VALUE_OPTIONS: Final = ("dialect", "facts", "tool", "input", "prompt")
FLAGS: Final = {"--dry-run": "dry_run", "--explain": "explain", "--json": "as_json"}


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


def read_arguments(arguments: Sequence[str]) -> tuple[str, FireOptions] | None:
    """The event and the options; None if click must read the call, because it is wrong or of an uncommon form."""
    events: list[str] = []
    configs: list[str] = []
    values: dict[str, Any] = dict.fromkeys((*VALUE_OPTIONS, *FLAGS.values()))
    rest = iter(arguments)
    for argument in rest:
        name = argument[2:]
        if argument in FLAGS:
            values[FLAGS[argument]] = True
        elif not argument.startswith("-"):
            events.append(argument)
        elif argument[:2] == "--" and (name == "config" or name in VALUE_OPTIONS):
            value = next(rest, "-")
            if value.startswith("-"):
                return None
            if name == "config":
                configs.append(value)
            else:
                values[name] = value
        else:
            return None
    is_known_dialect = values["dialect"] is None or values["dialect"] in DIALECT_NAMES
    if len(events) != 1 or canonical_event(events[0]) is None or not is_known_dialect:
        return None
    flags = {name: bool(values[name]) for name in FLAGS.values()}
    return events[0], FireOptions(configs=tuple(configs), **{**values, **flags})


def fire(event: str, chosen: FireOptions) -> int:
    """Sends the event through the active hooks, shows the decision, and returns the exit code."""
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
    return 1 if are_hooks_off(book) else exit_code(decision)


def _what_is_missing(book: Book, event: Event) -> str:
    if are_hooks_off(book):
        return "The hooks are off because of the errors above."
    if not book.hooks:
        return "No hooks file applies here: `hookline init` writes one, --config FILE names one."
    if "tool.name" in EVENTS[event.name].facts and not event.facts.get("tool"):
        return "No tool was given: add --tool NAME and --input JSON."
    return ""


def _new_session() -> SessionInfo:
    return SessionInfo(f"fire-{os.urandom(6).hex()}", login_name(), current_directory(), time.time())


def _decide(book: Book, event: Event, host: RecordingHost | LocalHost, explain: bool) -> Decision:
    if not has_inner_calls(event.facts.get("tool")):
        try:
            return book.decide_now(event, host, explain)  # most hooks need no event loop, which takes long to import
        except MustWait:
            pass
    from hookline.cli.async_runner import run_async

    return run_async(_decide_and_drain(book, event, host, explain))


async def _decide_and_drain(book: Book, event: Event, host: RecordingHost | LocalHost, explain: bool) -> Decision:
    decision = await decide_without_record(book, event, host, explain)
    await host.drain(background_time(decision))
    return decision


def _print_requests(host: RecordingHost, show: Callable[[str], None]) -> None:
    for request in host.requests:
        show(f"would {request['would']}: {request['text']}  [{request['hook']}]")
