"""Options that verbs share, and the parameter types for names of events and dialects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from hookline.config.problem import OnProblem

_DEBUG_KEY: Final = "hookline.debug"


def _set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_DEBUG_KEY] = True


def debug_option() -> click.Option:
    text = "Show each hook's command, input, output and time on stderr."
    return click.Option(["--debug"], is_flag=True, expose_value=False, is_eager=True, callback=_set_debug, help=text)


class Verb(click.Command):
    """A command with --debug. Its function returns the exit code, or None for 0."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.append(debug_option())

    def invoke(self, ctx: click.Context) -> Any:
        from hookline.cli.logging_setup import start_log

        start_log(debug=ctx.meta.get(_DEBUG_KEY, False))
        return super().invoke(ctx)


class NameParameter(click.ParamType):  # type: ignore[type-arg]
    """One of a set of names. The set is imported only when a value is parsed or completed."""

    def known_names(self) -> Iterable[str]:
        raise NotImplementedError

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in dict.fromkeys(self.known_names()) if name.startswith(incomplete)]

    def guess(self, value: str) -> str | None:
        from hookline.formatting import closest_match

        return closest_match(value, self.known_names())

    def fail_unknown(self, value: str, hint: str, at: tuple[click.Parameter | None, click.Context | None]) -> NoReturn:
        from hookline.formatting import printable

        guess = self.guess(value)
        self.fail(f"unknown {self.name} {printable(value)!r}. {f'Did you mean {guess}?' if guess else hint}", *at)


class EventName(NameParameter):
    """An event's own name or a dialect's. It stays as typed: what it means depends on --dialect."""

    name = "event"

    def known_names(self) -> Iterable[str]:
        from hookline.hooks.events import all_event_names

        return all_event_names()

    def guess(self, value: str) -> str | None:
        from hookline.hooks.events import closest_event

        return closest_event(value)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from hookline.hooks.events import EVENTS, canonical_event

        if canonical_event(value) is None:
            self.fail_unknown(value, f"The events are {', '.join(EVENTS)}.", (param, ctx))
        return value


class DialectName(NameParameter):
    name = "dialect"

    def known_names(self) -> Iterable[str]:
        from hookline.dialects.dialect import DIALECT_NAMES

        return DIALECT_NAMES

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.known_names():
            self.fail_unknown(value, f"The dialects are {', '.join(self.known_names())}.", (param, ctx))
        return value


def complete_hook(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The ids of the hooks that apply here. Nothing of the project is imported or run."""
    import logging

    from hookline.cli.context import load_book
    from hookline.errors import HooklineError
    from hookline.hooks.conditions.past_events import is_observer

    logging.disable()  # a warning would end up in the middle of the command line
    try:
        hooks = load_book((), None, importing=False).hooks
        ids = dict.fromkeys(hook.id for hook in hooks if not is_observer(hook))
    except HooklineError:
        return []
    finally:
        logging.disable(logging.NOTSET)
    return [id for id in ids if id.startswith(typed) and id.isprintable() and " " not in id]


dialect_option = click.option(
    "--dialect", type=DialectName(), metavar="NAME", help="Read the files as this dialect instead of detecting it."
)
keep_going_option = click.option(
    "--keep-going", is_flag=True, help="Start although a config file has errors, without the hooks that cannot be used."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
config_option = click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="PATH",
    type=click.Path(),
    help="Use this file instead of the ones found here; can be repeated.",
)


def on_problem(keep_going: bool) -> OnProblem:
    return "warn" if keep_going else "raise"


@contextmanager
def explain_refusal() -> Iterator[None]:
    """Adds to the errors of a config how to start anyway."""
    from hookline.errors import ConfigError, HooklineError

    try:
        yield
    except ConfigError as error:
        hint = "Fix the errors above, or add --keep-going to start without the hooks that cannot be used."
        raise HooklineError(f"the config has errors.\n{error}\n{hint}") from error
