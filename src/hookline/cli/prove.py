"""`hookline prove`"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hookline.cli.context import current_directory, load_book
from hookline.cli.options import EventName, Verb, config_option, dialect_option, json_option
from hookline.cli.output import Colour, out, out_json_line, out_labelled, wrap
from hookline.cli.problem_text import show_problems
from hookline.cli.progress import show_progress
from hookline.cli.record_options import quiet_hooks
from hookline.config.scalars import parse_duration
from hookline.engine.book import Book
from hookline.errors import HooklineError, extra_required
from hookline.hooks.events import event_named
from hookline.lazy_dataclasses import dataclass
from hookline.prove.properties import Property, parse_property
from hookline.testing.case import Case, load_cases
from hookline.testing.case_runner import open_case

if TYPE_CHECKING:
    from hookline.prove.prover import ProofAnswer

_REFUTED: Final = "counter-example"
_EXIT_CODES: Final = {"proved": 0, _REFUTED: 2, "not proved": 3}
_COLOURS: Final = {"proved": Colour.GREEN, _REFUTED: Colour.RED, "not proved": Colour.YELLOW}


def _read_timeout(context: click.Context, parameter: click.Parameter, value: str) -> timedelta:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@dataclass(frozen=True, slots=True)
class _Question:
    wanted: Property
    book: Book
    directory: Path
    label: str
    show_event: Callable[[str, dict[str, Any]], str]  # as the command that asks the same hooks


@click.command(cls=Verb, short_help="Prove that the hooks stop every event of a kind, or show one that passes.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]...")
@click.option("--denied", multiple=True, metavar="CONDITION", help="Every event for which this is true is denied.")
@click.option(
    "--stopped", multiple=True, metavar="CONDITION", help="Every event for which this is true is denied or asked."
)
@click.option("--event", type=EventName(), default="tool.before", show_default=True, help="Events of this name.")
@config_option
@dialect_option
@click.option(
    "--timeout",
    default="30s",
    show_default=True,
    metavar="TIME",
    callback=_read_timeout,
    help="Time for each property.",
)
@json_option
def verb(paths: tuple[Path, ...], denied: tuple[str, ...], stopped: tuple[str, ...], event: str, **options: Any) -> int:
    """Prove that the active hooks stop every event for which a condition is true, whatever its tool, its texts and the
    spelling of its paths are; or show an event that they let through. CONDITION is written as `when` in hookline.yaml.
    PATH is a case file, or a directory of them: what is under `properties` there is proved of the hooks of each case.
    Nothing is run.

    \b
    hookline prove --denied 'tool: [write_file, edit_file], input: {path: "\\.env$"}'
    hookline prove --stopped 'kind: shell, input: {command: git push}' --config hookline.yaml
    hookline prove tests/hooks

    Exit codes: 0 proved, 1 a problem with the config or an option, 2 a counter-example, 3 not proved.
    """
    if paths and not (denied or stopped):
        _refuse_options_of_conditions()
    name = event_named(event, options["dialect"]) or event
    wanted = [
        *(parse_property(text, event=name) for text in denied),
        *(parse_property(text, event=name, ask_is_enough=True) for text in stopped),
    ]
    cases = [case for path in paths for case in load_cases(path) if case.properties]
    if not wanted and not cases:
        raise HooklineError(
            "there is no property in these files. Write properties: [{id: no-sudo, never: {runs: sudo}}]."
            if paths
            else "there is nothing to prove. Write --denied 'tool: bash, input: {command: ^sudo}'."
        )
    with extra_required("hookline prove needs the solver z3", "prove"):
        import hookline.prove.prover  # noqa: F401
    codes = [0]
    with ExitStack() as opened:
        questions = _of_active_hooks(wanted, options["configs"], options["dialect"]) if wanted else []
        for each in (*questions, *(question for case in cases for question in _of_case(case, opened))):
            codes.append(_answer(each, options["timeout"], options["as_json"]))
    return min(filter(None, codes), default=0)


def _refuse_options_of_conditions() -> None:
    """A case names its own file: it would be believed that the properties are proved of the file in --config."""
    context = click.get_current_context()
    for name, option in (("configs", "--config"), ("dialect", "--dialect"), ("event", "--event")):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{option} is for --denied and --stopped. Properties in files are about each case's own."
            )


def _of_active_hooks(wanted: Iterable[Property], configs: tuple[str, ...], dialect: str | None) -> list[_Question]:
    book = load_book(configs, dialect)
    show_problems(book.problems)

    def show_event(event: str, facts: dict[str, Any]) -> str:
        from hookline.prove.example_event import fire_command

        return fire_command(event, facts, configs, dialect)

    return [_Question(each, book, current_directory(), _describe(each), show_event) for each in wanted]


def _of_case(case: Case, opened: ExitStack) -> Iterator[_Question]:
    book, directory = opened.enter_context(open_case(case))
    show_problems(book.problems)

    def show_event(event: str, facts: dict[str, Any]) -> str:
        from hookline.prove.example_event import case_command

        return case_command(event, facts, case.config_file, case.dialect)

    for each in case.properties:
        yield _Question(each, book, directory, f"{each.id} ({case.path}:{each.line})", show_event)


def _answer(question: _Question, timeout: timedelta, as_json: bool) -> int:
    """The exit code."""
    from hookline.prove.prover import prove

    steps = ["reading the hooks"]
    with quiet_hooks(), show_progress(lambda: steps[-1], f"of {timeout.total_seconds():.0f}"):
        answer = prove(question.book, question.wanted, question.directory, timeout, steps.append)
    is_refuted = answer.result == _REFUTED
    command = question.show_event(answer.wanted.event, answer.facts) if is_refuted else None
    if as_json:
        _show_json(answer, command)
    else:
        _show(answer, question.label, command)
    return _EXIT_CODES[answer.result]


def _show(answer: ProofAnswer, label: str, command: str | None) -> None:
    out_labelled(f"{answer.result}:", _COLOURS[answer.result], f" {label}")
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
            "id": answer.wanted.id,
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
