"""Turns definitions into hooks: each hook runs for the prompts and agents that list it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Final, cast

from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import LoadResult
from hookline.dialects.standard_agents.calls import HookCall
from hookline.dialects.standard_agents.dialect import NAME, WORDING
from hookline.formatting import closest_match
from hookline.hooks.actions.python_function import RunPython
from hookline.hooks.conditions.logic import ALWAYS, AnyOf, Not
from hookline.hooks.conditions.text import Equals
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import Hook, Origin, Scope
from hookline.hooks.outcome import SILENT, Outcome, Verdict
from hookline.hooks.protocols import Condition
from hookline.standard_agents.definitions import (
    AgentDefinition,
    Definitions,
    HookDefinition,
    PromptDefinition,
    SourceLocation,
)
from hookline.standard_agents.signatures import HookName

DEFAULT_TIMEOUT: Final = timedelta(seconds=30)
ACTIVE_PROMPT: Final = ("agent", "prompt")
_DENY: Final = Outcome(Verdict.DENY)
_ON_ERROR: Final = {"before_create_message": _DENY, "before_update_message": _DENY}
_EVENTS: Final = events_by_name(NAME)

PathFormatter = Callable[[str], str]


def _keep_path(file: str) -> str:
    return file


def hooks_of(*parts: Definitions, format_path: PathFormatter = _keep_path) -> LoadResult:
    """The hooks that a prompt or agent lists, and a problem for each name in a list that is not defined.

    Several parts may list each other's hooks. `format_path` formats a file's path for messages. The hooks keep the joined
    definitions, because their functions load from them by name.
    """
    everything = parts[0] if len(parts) == 1 else Definitions.join(parts)
    problems: list[Problem] = []
    hooks: list[Hook] = []
    fallback = _prompt_declares_no_hooks(parts)
    for definitions in parts:
        for prompt in definitions.prompts.values():
            for hook in _listed_hooks(prompt, everything, problems, format_path):
                hooks.append(_build_hook(hook, Scope(prompt=prompt.name), ALWAYS, everything, format_path))
        for agent in definitions.agents.values():
            for hook in _listed_hooks(agent, everything, problems, format_path):
                hooks.append(_build_hook(hook, Scope(agent=agent.name), fallback, everything, format_path))
    problems += _unlisted_hook_problems(parts, format_path)
    return LoadResult(tuple(hooks), tuple(problems))


def _build_hook(
    definition: HookDefinition, scope: Scope, when: Condition, definitions: Definitions, format_path: PathFormatter
) -> Hook:
    file = format_path(definition.place.file)
    function = getattr(definition.execute, "__qualname__", type(definition.execute).__qualname__)
    return Hook(
        id=definition.id,
        event=_EVENTS[definition.hook],
        when=when,
        then=RunPython(
            f"{file}:{function}", HookCall(cast(HookName, definition.hook), definitions), definition.execute
        ),
        origin=Origin(file, definition.place.line, NAME, wording=WORDING),
        scope=scope,
        group=NAME,
        timeout=DEFAULT_TIMEOUT,
        on_error=_ON_ERROR.get(definition.hook, SILENT),
    )


def _prompt_declares_no_hooks(parts: Sequence[Definitions]) -> Condition:
    """An agent's hooks apply only while the active prompt declares no list of hooks, not even an empty one."""
    declaring = [prompt.name for part in parts for prompt in part.prompts.values() if prompt.hooks is not None]
    return Not(AnyOf(tuple(Equals(ACTIVE_PROMPT, name) for name in declaring))) if declaring else ALWAYS


def _listed_hooks(
    owner: PromptDefinition | AgentDefinition,
    definitions: Definitions,
    problems: list[Problem],
    format_path: PathFormatter,
) -> Iterator[HookDefinition]:
    """In the order of the list; an id that occurs twice counts once."""
    what = f"the {'prompt' if isinstance(owner, PromptDefinition) else 'agent'} {owner.name}"
    seen: set[str] = set()
    for id in owner.hooks or ():
        if id in seen:
            text = f"{what} lists the hook {id} twice; it runs once."
            problems.append(_problem_at("listed-twice", owner.place, format_path, text, severity=Severity.WARNING))
        elif id in definitions.hooks:
            yield definitions.hooks[id]
        else:
            guess = closest_match(id, definitions.hooks)
            hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(definitions.hooks) or 'none'}."
            problems.append(
                _problem_at(
                    "unknown-hook", owner.place, format_path, f"{what} lists {id!r}, but no hook has this id.", hint
                )
            )
        seen.add(id)


def _unlisted_hook_problems(parts: Sequence[Definitions], format_path: PathFormatter) -> Iterator[Problem]:
    owners: list[PromptDefinition | AgentDefinition] = []
    for part in parts:
        owners += [*part.prompts.values(), *part.agents.values()]
    listed = {id for owner in owners for id in owner.hooks or ()}
    for hook in (hook for part in parts for hook in part.hooks.values()):
        if hook.id not in listed:
            text = f"no prompt or agent lists the hook {hook.id}, so it never runs."
            hint = "Write its id in the hooks of a prompt or an agent."
            yield _problem_at("never-listed", hook.place, format_path, text, hint, Severity.WARNING)


def _problem_at(
    code: str,
    place: SourceLocation,
    format_path: PathFormatter,
    what: str,
    hint: str = "",
    severity: Severity = Severity.ERROR,
) -> Problem:
    return Problem(code, format_path(place.file), place.line, what, hint, severity)
