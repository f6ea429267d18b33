"""`hookline list`"""

from __future__ import annotations

from typing import Any

import click

from hookline.cli.agent_options import AgentName, machine
from hookline.cli.context import load_book
from hookline.cli.options import Verb, config_option, dialect_option, json_option
from hookline.cli.output import out, out_json, print_table
from hookline.cli.problem_text import show_problems
from hookline.hooks.actions.failing import UntrustedAction
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.actions.wrapper import ActionWrapper
from hookline.hooks.conditions.past_events import is_observer
from hookline.hooks.hook import Hook, Scope
from hookline.hooks.outcome import Outcome
from hookline.lazy_dataclasses import replace


@click.command(cls=Verb, short_help="List the active hooks in the order in which they run.")
@config_option
@dialect_option
@click.option("--tools", is_flag=True, help="List the tools of coding agents instead, and what each is taken for.")
@click.option("--agent", type=AgentName(), help="With --tools: only this agent's.")
@json_option
def verb(configs: tuple[str, ...], dialect: str | None, tools: bool, agent: str | None, as_json: bool) -> None:
    """List the active hooks in the order in which they run, with their file, scope and tags, and what happens when
    one fails: open lets the event proceed, closed denies it.

    \b
    hookline list
    hookline list --config hub.json --dialect flo --json
    hookline list --tools --agent cline
    """
    if agent is not None and not tools:
        raise click.UsageError("--agent needs --tools.")
    if tools:
        _list_tools(agent, as_json)
        return
    book = load_book(configs, dialect, importing=False)
    show_problems(book.problems)
    hooks = [hook for hook in book.hooks if dialect in (None, hook.origin.dialect) and not is_observer(hook)]
    if as_json:
        out_json([_hook_json(hook) for hook in hooks])
    elif not hooks:
        is_incomplete = any(problem.code == "not-imported" for problem in book.problems)
        out("No hooks can be shown." if is_incomplete else "No active hooks. `hookline init` writes two.")
    else:
        head = ("id", "event", "where", "order", "only for", "tags", "on error", "")
        print_table(head, [_table_row(hook) for hook in hooks])


def _list_tools(agent: str | None, as_json: bool) -> None:
    from hookline.hosts.agents import AGENT_NAMES
    from hookline.hosts.agents.agent_tools import tools_of_agent

    here = machine()
    found = [tool for name in ([agent] if agent else AGENT_NAMES) for tool in tools_of_agent(name, here)]
    if as_json:
        out_json([tool.as_json() for tool in found])
    else:
        rows = [(tool.agent, tool.name, str(tool.kind), tool.native_name, tool.why) for tool in found]
        print_table(("agent", "tool", "kind", "matched by", "why"), rows)


def _hook_json(hook: Hook) -> dict[str, Any]:
    return {
        "id": hook.id,
        "event": hook.event,
        "event_name": hook.event_name,
        "order": hook.order,
        "file": hook.origin.file,
        "line": hook.origin.line,
        "dialect": hook.origin.dialect,
        "scope": _scope_json(hook.scope),
        "tags": list(hook.tags),
        "on_error": error_word(hook.on_error),
        "reads": _exit_code_format(hook),
        "timeout": hook.timeout.total_seconds(),
        "background": not hook.wait,
        "enabled": hook.enabled,
        "waits_for_trust": _waits_for_trust(hook),
    }


def _table_row(hook: Hook) -> tuple[str, ...]:
    scope = ", ".join(f"{key} {value}" for key, value in _scope_json(hook.scope).items())
    remarks = [
        "" if hook.enabled else "disabled",
        "" if hook.wait else "background",
        "not trusted yet" if _waits_for_trust(hook) else "",
    ]
    return (
        hook.id,
        hook.event_name,
        f"{hook.origin.file}:{hook.origin.line}",
        _order_text(hook),
        scope,
        " ".join(hook.tags),
        _failure_text(hook),
        ", ".join(remark for remark in remarks if remark),
    )


def _order_text(hook: Hook) -> str:
    words = hook.origin.wording
    order = words.order(hook.order)
    return order if words.order_key == "order" or not order else f"{words.order_key} {order}"


def _failure_text(hook: Hook) -> str:
    """Empty for an answer that cannot fail."""
    if hook.then.constant is not None:
        return ""
    reads = _exit_code_format(hook)
    if own := hook.origin.wording.failure(hook.on_error, reads):
        return own
    return error_word(hook.on_error) + (f" (exit code: {reads})" if reads else "")


def _scope_json(scope: Scope) -> dict[str, str]:
    parts = {"agent": scope.agent, "prompt": scope.prompt, "session": scope.session}
    return {key: value for key, value in parts.items() if value is not None}


def _exit_code_format(hook: Hook) -> str | None:
    """How the exit code of its program is read, if it runs one. With on_error, this says what a failure means."""
    action = hook.then.action if isinstance(hook.then, ActionWrapper) else hook.then
    return str(action.result_parser.format) if isinstance(action, RunProgram) else None


def _waits_for_trust(hook: Hook) -> bool:
    return isinstance(hook.then, UntrustedAction)


def error_word(outcome: Outcome) -> str:
    from hookline.dialects.native.on_error import ON_ERROR, undo_withhold_result

    answer = undo_withhold_result(outcome)
    answers = (answer, replace(answer, reason=""))  # a hook that is not trusted yet has a reason of ours
    return next((word for word, known in ON_ERROR.items() if known in answers), answer.verdict.word)
