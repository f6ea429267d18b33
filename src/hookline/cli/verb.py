"""What every verb has: --debug, and words for the names that people type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn

import click
from click.shell_completion import CompletionItem

_DEBUG: Final = "hookline.debug"


def _debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_DEBUG] = True


def debug_option() -> click.Option:
    text = "Show each hook's command, input, output and time on stderr."
    return click.Option(["--debug"], is_flag=True, expose_value=False, is_eager=True, callback=_debug, help=text)


class Verb(click.Command):
    """Its function returns the exit code, or None for 0."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.append(debug_option())

    def invoke(self, ctx: click.Context) -> Any:
        from hookline.cli.log import start_log

        start_log(debug=ctx.meta.get(_DEBUG, False))
        return super().invoke(ctx)


class Name(click.ParamType):  # type: ignore[type-arg]
    """One of a set of names that are known only when it is asked for."""

    def known(self) -> Iterable[str]:
        raise NotImplementedError

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in dict.fromkeys(self.known()) if name.startswith(incomplete)]

    def refuse(self, value: str, hint: str, at: tuple[click.Parameter | None, click.Context | None]) -> NoReturn:
        from hookline.config.problem import nearest, printable

        guess = nearest(value, self.known())
        self.fail(f"there is no {self.name} {printable(value)!r}. {f'Did you mean {guess}?' if guess else hint}", *at)


class EventName(Name):
    """An event by its own name or any dialect's; left as written, because only the dialect says what it means."""

    name = "event"

    def known(self) -> Iterable[str]:
        from hookline.hooks.events import all_names

        return all_names()

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from hookline.hooks.events import EVENTS, canonical

        if canonical(value) is None:
            self.refuse(value, f"The events are {', '.join(EVENTS)}.", (param, ctx))
        return value


class DialectName(Name):
    name = "dialect"

    def known(self) -> Iterable[str]:
        from hookline.dialects.table import NAMES

        return NAMES

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.known():
            self.refuse(value, f"The dialects are {', '.join(self.known())}.", (param, ctx))
        return value


dialect_option = click.option(
    "--dialect", type=DialectName(), metavar="NAME", help="Read the files as this dialect instead of recognising it."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
config_option = click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="PATH",
    type=click.Path(),
    help="Use this file instead of those in force here; may be given several times.",
)
