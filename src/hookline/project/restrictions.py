"""What a project's hooks may do until the user trusts them: deny, ask, log and notify, with constant text.

Their denies and asks count before a tool and for a prompt only. Their words are for the user: the agent is told a fixed
sentence, so that nothing in a cloned repository can give it instructions.
"""

from __future__ import annotations

import re
from typing import Final

from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.failing import UntrustedAction
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.conditions.past_events import Remember
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import SILENT, Audience, Note, Outcome, Verdict
from hookline.hooks.protocols import Action
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_pattern
from hookline.project.sources import HUB_RULES

_EVENTS: Final = frozenset(("tool.before", "prompt.submit"))
"""Where an untrusted deny or ask counts. At any other event it could make an agent go on, or end its session."""
UNTRUSTED_HOOK: Final = "A hook of this repository that nobody has trusted yet"
_UNTRUSTED_HUB_RULE: Final = "A rule of the hub that nobody has trusted yet"
_PLAIN_PATH: Final = lazy_pattern(r"[\w.-]{1,40}(?:/[\w.-]{1,40}){0,8}", re.ASCII)
"""A path that is too short to give an agent instructions."""


def restrict_hook(hook: Hook) -> Hook:
    restricted = _restrict_action(hook.then, hook)
    on_error = _restrict_outcome(hook.on_error, hook, failed=True)
    return replace(hook, then=restricted, on_error=on_error, is_trusted=False)


def is_restricted(hook: Hook) -> bool:
    """Whether the hook acts differently once it is trusted."""
    return hook.enabled and _restrict_action(hook.then, hook) != hook.then


def blocks_untrusted(hook: Hook) -> bool:
    """Whether the hook stops something by itself even if nobody trusts it."""
    return hook.enabled and hook.event in _EVENTS and _stops(_restrict_action(hook.then, hook))


def _stops(action: Action) -> bool:
    match action:
        case FixedAnswer(constant):
            return constant.verdict >= Verdict.ASK
        case Chain(steps):
            return any(_stops(step.action) for step in steps)
        case _:
            return False


def _restrict_action(action: Action, hook: Hook) -> Action:
    """A guard whose reason has placeholders still guards, and shows them unfilled."""
    match action:
        case FixedAnswer(constant):
            return _restrict_answer(action, constant, hook)
        case TemplateAnswer(outcome, reason) if outcome.verdict >= Verdict.ASK or outcome.halt:
            words = reason.source if reason else outcome.reason
            return _restrict_answer(action, replace(outcome, reason=words), hook)
        case Log(text) if text.constant:
            return action
        case Notify(message, title) if message.constant and title.constant:
            return action
        case Remember():
            return action
        case Chain(steps):
            return _restrict_chain(action, steps, hook)
        case _:
            return UntrustedAction(action)


def _restrict_answer(action: Action, outcome: Outcome, hook: Hook) -> Action:
    asks_for_more = outcome.verdict is Verdict.ALLOW or outcome.changes or outcome.requests
    stops = outcome.verdict >= Verdict.ASK or outcome.halt
    speaks_to_agent = any(not _is_for_user(note) for note in outcome.notes)
    if (stops and hook.event not in _EVENTS) or (not stops and (asks_for_more or speaks_to_agent)):
        return UntrustedAction(action)
    return FixedAnswer(_restrict_outcome(outcome, hook))


def _restrict_chain(action: Chain, steps: tuple[ChainStep, ...], hook: Hook) -> Action:
    restricted = [_restrict_step(step, hook) for step in steps]
    if any(isinstance(step.action, UntrustedAction) for step in restricted):
        return UntrustedAction(action)
    return replace(action, steps=tuple(restricted))


def _restrict_step(step: ChainStep, hook: Hook) -> ChainStep:
    on_error = None if step.on_error is None else _restrict_outcome(step.on_error, hook, failed=True)
    return replace(step, action=_restrict_action(step.action, hook), on_error=on_error)


def _restrict_outcome(outcome: Outcome, hook: Hook, *, failed: bool = False) -> Outcome:
    """Only a deny or an ask is left, with our own reason, and what the hook says to the user."""
    notes = tuple(note for note in outcome.notes if _is_for_user(note))
    verdict = Verdict.DENY if outcome.halt else outcome.verdict
    if verdict < Verdict.ASK or hook.event not in _EVENTS:
        return Outcome(notes=notes, applied=outcome.applied) if notes else SILENT
    if outcome.reason and not failed:
        notes = (Note(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {outcome.reason}", Audience.USER), *notes)
    return Outcome(verdict, _reason_for_agent(verdict, hook.origin), notes=notes, applied=outcome.applied)


def _reason_for_agent(verdict: Verdict, origin: Origin) -> str:
    does = "blocked this" if verdict is Verdict.DENY else "wants a person to approve this"
    what, where = UNTRUSTED_HOOK, origin.file if _PLAIN_PATH.fullmatch(origin.file) else "a hooks file"
    if origin.file == HUB_RULES:
        what, where = _UNTRUSTED_HUB_RULE, HUB_RULES
    return f"{what} {does} ({where}:{origin.line}). A person can review it with `hookline trust`."


def _is_for_user(note: Note) -> bool:
    """A note without text shows the failure's text, which hookline writes."""
    return note.audience is Audience.USER or not note.text
