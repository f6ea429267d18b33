"""`hookline list`"""

from __future__ import annotations

from typing import Any

import click

from hookline.cli.output import err, out, out_json, table
from hookline.cli.place import book_of
from hookline.cli.verb import Verb, config_option, dialect_option, json_option
from hookline.hooks.actions.program import Run
from hookline.hooks.actions.untrusted import NotTrusted
from hookline.hooks.hook import Hook, Scope
from hookline.hooks.outcome import Outcome


@click.command(cls=Verb, short_help="The hooks in force here, in the order in which they are asked.")
@config_option
@dialect_option
@json_option
def verb(configs: tuple[str, ...], dialect: str | None, as_json: bool) -> None:
    """Show the hooks in force here in the order in which they are asked, with their file, scope and tags, and what
    counts when one fails: open lets the event proceed, closed denies it.

    \b
    hookline list
    hookline list --config hub.json --dialect flo --json
    """
    book = book_of(configs, dialect, importing=False)
    for problem in book.problems:
        err(str(problem))
    hooks = [hook for hook in book.hooks if dialect in (None, hook.origin.dialect)]
    if as_json:
        out_json([_described(hook) for hook in hooks])
    elif not hooks:
        out("No hooks are in force here. `hookline init` writes two.")
    else:
        head = ("order", "id", "event", "where", "scope", "tags", "on error", "")
        table(head, [_row(hook) for hook in hooks])


def _described(hook: Hook) -> dict[str, Any]:
    return {
        "id": hook.id,
        "event": hook.event,
        "order": hook.order,
        "file": hook.origin.file,
        "line": hook.origin.line,
        "dialect": hook.origin.dialect,
        "scope": _scope(hook.scope),
        "tags": list(hook.tags),
        "on_error": error_word(hook.on_error),
        "reads": _reads(hook),
        "timeout": hook.timeout.total_seconds(),
        "background": not hook.wait,
        "enabled": hook.enabled,
        "waits_for_trust": _waits_for_trust(hook),
    }


def _row(hook: Hook) -> tuple[str, ...]:
    scope = ", ".join(f"{key} {value}" for key, value in _scope(hook.scope).items())
    reads = _reads(hook)
    remarks = [
        "" if hook.enabled else "switched off",
        "" if hook.wait else "in the background",
        "waits for trust" if _waits_for_trust(hook) else "",
    ]
    return (
        str(hook.order),
        hook.id,
        hook.event,
        f"{hook.origin.file}:{hook.origin.line}",
        scope or "everywhere",
        " ".join(hook.tags),
        error_word(hook.on_error) + (f" (exit code: {reads})" if reads else ""),
        ", ".join(remark for remark in remarks if remark),
    )


def _scope(scope: Scope) -> dict[str, str]:
    held = {"agent": scope.agent, "prompt": scope.prompt, "session": scope.session}
    return {key: value for key, value in held.items() if value is not None}


def _reads(hook: Hook) -> str | None:
    """How its program's exit code is read, if it runs one: together with on_error it says what a failure means."""
    action = hook.then.action if isinstance(hook.then, NotTrusted) else hook.then
    return str(action.reading.how) if isinstance(action, Run) else None


def _waits_for_trust(hook: Hook) -> bool:
    return isinstance(hook.then, NotTrusted)


def error_word(outcome: Outcome) -> str:
    from hookline.dialects.native.actions import ON_ERROR, as_said

    said = as_said(outcome)
    return next((word for word, known in ON_ERROR.items() if known == said), said.verdict.word)
