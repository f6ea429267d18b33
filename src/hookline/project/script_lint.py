"""Finds scripts that cannot be parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from hookline.config.problem import Problem, Severity
from hookline.hooks.actions.chain import leaf_actions
from hookline.hooks.actions.script import RunScript
from hookline.hooks.hook import Hook
from hookline.project.hook_problem import hook_problem


def script_problems(hooks: Iterable[Hook]) -> Iterator[Problem]:
    """An error for each script with a syntax error. The bridge does not ask: compiling all scripts would slow its start,
    and a broken script holds the calls that it could have stopped.
    """
    for hook in hooks:
        for script in (action for action in leaf_actions(hook.then) if isinstance(action, RunScript)):
            error = _syntax_error(script.source)
            if error:
                what = f"{hook.id} {error}."
                yield hook_problem("bad-script", hook, what, severity=Severity.ERROR, about=script.source)


@lru_cache(maxsize=1024)
def _syntax_error(source: str) -> str:
    """What is wrong with it; "" if nothing is, or if JavaScript is not installed."""
    from hookline.runners.javascript import describe_syntax_error, syntax_error

    try:
        found = syntax_error(source)
    except ImportError:
        return ""
    return describe_syntax_error(*found) if found is not None else ""
