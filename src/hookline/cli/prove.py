"""`hookline prove`"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import click

from hookline.cli.context import current_directory, load_book
from hookline.cli.options import EventName, Verb, config_option, dialect_option, json_option
from hookline.cli.output import Colour, err_line, out, out_json_line, out_labelled, wrap
from hookline.cli.problem_text import show_problems
from hookline.cli.record_options import quiet_hooks
from hookline.config.scalars import parse_duration
from hookline.errors import HooklineError, extra_required
from hookline.hooks.events import event_named
from hookline.prove.properties import Property, parse_property

if TYPE_CHECKING:
    from hookline.prove.prover import ProofAnswer

_FIRST_PROGRESS_SECONDS: Final = 1.0
_PROGRESS_SECONDS: Final = 5.0
_REFUTED: Final = "counter-example"
_EXIT_CODES: Final = {"proved": 0, _REFUTED: 2, "not proved": 3}
_COLOURS: Final = {"proved": Colour.GREEN, _REFUTED: Colour.RED, "not proved": Colour.YELLOW}


def _read_timeout(context: click.Context, parameter: click.Parameter, value: str) -> timedelta:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command(cls=Verb, short_help="Prove that the hooks stop every event of a kind, or show one that passes.")
@click.option("--denied", multiple=True, metavar="CONDITION", help="Every event for which this is true is denied.")
@click.option(
    "--stopped", multiple=True, metavar="CONDITION", help="Every event for which this is true is denied or asked."
)
@click.option("--event", type=EventName(), default="tool.before", show_default=True, help="The event.")
@config_option
@dialect_option
@click.option("--timeout", default="30s", show_default=True, metavar="TIME", callback=_read_timeout, help="For each.")
@json_option
def verb(denied: tuple[str, ...], stopped: tuple[str, ...], event: str, **options: Any) -> int:
    """Prove that the active hooks stop every event for which a condition is true, whatever its tool, its texts and the
    spelling of its paths are; or show an event that they let through. CONDITION is written as `when` in hookline.yaml.
    Nothing is run.

    \b
    hookline prove --denied 'tool: [write_file, edit_file], input: {path: "\\.env$"}'
    hookline prove --stopped 'kind: shell, input: {command: git push}' --config hookline.yaml

    Exit codes: 0 proved, 1 a problem with the config or the call, 2 a counter-example, 3 not proved.
    """
    name = event_named(event, options["dialect"]) or event
    wanted = [
        *(parse_property(text, event=name) for text in denied),
        *(parse_property(text, event=name, ask_is_enough=True) for text in stopped),
    ]
    if not wanted:
        raise HooklineError("there is nothing to prove. Write --denied 'tool: bash, input: {command: ^sudo}'.")
    with extra_required("hookline prove needs the solver z3", "prove"):
        from hookline.prove.prover import prove
    configs: tuple[str, ...] = options["configs"]
    book = load_book(configs, options["dialect"])
    show_problems(book.problems)
    worst = 0
    for each in wanted:
        with quiet_hooks(), _progress(options["timeout"]) as progress:
            answer = prove(book, each, current_directory(), options["timeout"], progress)
        command = _fire_command(answer, configs, options["dialect"])
        (_show_json if options["as_json"] else _show)(answer, command)
        worst = min(filter(None, (worst, _EXIT_CODES[answer.result])), default=0)
    return worst


@contextmanager
def _progress(limit: timedelta) -> Iterator[Callable[[str], None]]:
    """Tells a terminal what is being done and for how long. The solver may need all of the time for one question."""
    step, ended, begun = "reading the hooks", Event(), time.monotonic()

    def begin_step(name: str) -> None:
        nonlocal step
        step = name

    def report() -> None:
        pause = _FIRST_PROGRESS_SECONDS
        while not ended.wait(pause):
            err_line(f"{time.monotonic() - begun:.0f} of {limit.total_seconds():.0f} s: {step}")
            pause = _PROGRESS_SECONDS

    reporter = Thread(target=report, name="hookline-progress", daemon=True)
    if sys.stderr.isatty():
        reporter.start()
    try:
        yield begin_step
    finally:
        ended.set()
        if reporter.is_alive():
            reporter.join()


def _show(answer: ProofAnswer, command: str | None) -> None:
    out_labelled(f"{answer.result}:", _COLOURS[answer.result], f" {_describe(answer.wanted)}")
    if command is not None:
        out(f"  {command}")
    if answer.is_vacuous:
        out("  No event meets this condition, whatever the hooks are: check how it is written.")
    for reason in answer.reasons:
        out(wrap(reason, "  "))


def _describe(wanted: Property) -> str:
    return f"{wanted.text} is {'denied or asked' if wanted.ask_is_enough else 'denied'}"


def _show_json(answer: ProofAnswer, command: str | None) -> None:
    out_json_line(
        {
            "property": answer.wanted.text,
            "event": answer.wanted.event,
            "expect": "denied or asked" if answer.wanted.ask_is_enough else "denied",
            "result": str(answer.result),
            "facts": answer.facts if answer.result == _REFUTED else None,
            "command": command,
            "vacuous": answer.is_vacuous,
            "reasons": list(answer.reasons),
            "rounds": answer.rounds,
            "seconds": round(answer.seconds, 3),
        }
    )


def _fire_command(answer: ProofAnswer, configs: tuple[str, ...], dialect: str | None) -> str | None:
    if answer.result != _REFUTED:
        return None
    from hookline.prove.example_event import fire_command

    return fire_command(answer.wanted.event, answer.facts, configs, dialect)
