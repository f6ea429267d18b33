"""Which hooks stop an event whenever their condition holds, and why the others may not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.chain import FAILURES_PATH, Chain
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.actions.notify import Log
from hookline.hooks.attempt import accept_outcome
from hookline.hooks.event import FactPath, touches
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import Action, May
from hookline.lazy_dataclasses import dataclass, field, replace

_WHOLE_EVENT: Final[tuple[FactPath, ...]] = ((),)
_TOOL_INPUT: Final[FactPath] = ("tool", "input")


@dataclass(slots=True)
class Guards:
    """The hooks of one event that can stop it."""

    sure: list[Hook] = field(default_factory=list)
    unsure: dict[int, str] = field(default_factory=dict)  # by id(): why
    sure_unless: list[tuple[Hook, tuple[Hook, ...]]] = field(default_factory=list)  # unsure only if one of these runs


def find_guards(hooks: Iterable[Hook], stopping: frozenset[Verdict]) -> Guards:
    """hooks: of one event, in the order in which they run; stopping: the verdicts that count."""
    found = Guards()
    changing: list[tuple[Hook, tuple[FactPath, ...]]] = []
    ending: dict[str, list[Hook]] = {}
    for hook in hooks:
        if not hook.enabled or not hook.wait:  # nobody waits for the answer of a background hook
            continue
        if hook.may_stop:
            why = _why_unsure(hook, stopping)
            before = () if why else _hooks_in_the_way(hook, changing, ending)
            if why is not None:
                found.unsure[id(hook)] = why
            elif before:
                found.sure_unless.append((hook, before))
                found.unsure[id(hook)] = f"{before[0].id} may change the event, or end the hooks of its file, before it"
            else:
                found.sure.append(hook)
        if hook.may_change:
            changing.append((hook, _changed_facts(hook)))
        if _may_end_group(hook):
            ending.setdefault(hook.group, []).append(hook)
    return found


def _why_unsure(hook: Hook, stopping: frozenset[Verdict]) -> str | None:
    answer = certain_answer(hook.then)
    if answer is None:
        return f"its answer comes from {hook.then.label}"
    if not _stops(answer, hook.event, stopping):
        return "it does not deny"
    if not fires_always(hook):
        return f"it does not fire every time ({', '.join(hook.limit.keys) or 'count'})"
    if hook.scope != GLOBAL_SCOPE:
        return "it is only for some agents, prompts or sessions"
    return None


def _hooks_in_the_way(
    hook: Hook, changing: list[tuple[Hook, tuple[FactPath, ...]]], ending: dict[str, list[Hook]]
) -> tuple[Hook, ...]:
    """Earlier hooks after which this one may not be asked about the event as it was, and those that may make them run."""
    if not changing and not ending:
        return ()
    found = {id(each): each for each in ending.get(hook.group, ())}
    todo = [hook, *found.values()]
    while todo:
        reads = tuple(todo.pop().when.reads())
        for other, paths in changing:
            if id(other) not in found and touches(reads, tuple((path, None) for path in paths)):
                found[id(other)] = other
                todo.append(other)
    return tuple(found.values())


def _changed_facts(hook: Hook) -> tuple[FactPath, ...]:
    """The facts that it may change; the whole event if that is not known before it runs.

    A field of a tool's input may be written under another name, and read for one that the call lacks: the whole input counts.
    """
    known = _known_changes(hook.then)
    if known is None:
        return _WHOLE_EVENT
    paths = (*known, *(path for path, _ in hook.on_error.changes))
    return tuple(dict.fromkeys(_TOOL_INPUT if path[:2] == _TOOL_INPUT else path for path in paths))


def _known_changes(action: Action) -> tuple[FactPath, ...] | None:
    if isinstance(action, Chain):
        steps = [_known_changes(step.action) for step in action.steps]
        return None if None in steps else (FAILURES_PATH, *(path for paths in steps for path in paths or ()))
    if isinstance(action, ChangeFacts | FixedAnswer) or not action.may & May.CHANGE:
        return tuple(action.changes())
    return None


def certain_answer(action: Action) -> Outcome | None:
    """The action's answer, but for its texts, if it is always the same and cannot fail."""
    if isinstance(action, FixedAnswer):
        return action.constant
    if isinstance(action, TemplateAnswer):
        return action.outcome
    if isinstance(action, Chain) and not action.stop_on_failure:
        for step in action.steps:
            answer = None if step.ends_chain else certain_answer(step.action)
            if answer is not None and (answer.verdict is Verdict.DENY or answer.halt):
                return answer
            if not isinstance(step.action, Log | FixedAnswer | TemplateAnswer):
                return None
    return None


def fires_always(hook: Hook) -> bool:
    """Whether it fires each time that its condition holds. Fires may be counted without a limit."""
    return hook.limit is UNLIMITED or replace(hook.limit, is_counted=False) == UNLIMITED


def _stops(answer: Outcome, event: str, stopping: frozenset[Verdict]) -> bool:
    accepted, rejection = accept_outcome(answer, event)
    return rejection is None and (accepted.verdict in stopping or accepted.halt)


def _may_end_group(hook: Hook) -> bool:
    """A deny ends its group too, but then the event is stopped."""
    answer = certain_answer(hook.then)
    return hook.on_error.final or (answer is not None and answer.final and answer.verdict is not Verdict.DENY)


def may_matter(hook: Hook) -> bool:
    """Whether its answer could stop or change the event, or keep other hooks from running."""
    return bool(hook.may & (May.DENY | May.ASK | May.HALT | May.CHANGE)) or hook.may_change or _may_end_group(hook)
