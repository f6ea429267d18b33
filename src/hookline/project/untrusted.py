"""What a project's hooks may do before the user has accepted them: deny, ask, log and notify, with constant text."""

from __future__ import annotations

from dataclasses import replace

from hookline.hooks.action import Action
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.actions.untrusted import NotTrusted
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict


def restricted(hook: Hook) -> Hook:
    if not needs_trust(hook):
        return hook
    return replace(hook, then=_permitted_part(hook.then), on_error=harmless(hook.on_error))


def _permitted_part(action: Action) -> Action:
    """A guard whose reason has placeholders still guards: it shows its reason as it was written."""
    if permitted(action):
        return action
    if isinstance(action, Say) and (action.outcome.verdict >= Verdict.ASK or action.outcome.halt):
        said = action.reason.source if action.reason else action.outcome.reason
        return Answer(replace(harmless(action.outcome), reason=said))
    return NotTrusted(action)


def needs_trust(hook: Hook) -> bool:
    """A constant answer cannot fail, so its hook's on_error never counts."""
    fails_harmlessly = hook.then.constant is not None or hook.on_error == harmless(hook.on_error)
    return not (permitted(hook.then) and fails_harmlessly)


def permitted(action: Action) -> bool:
    match action:
        case Answer(constant):
            return constant == harmless(constant)
        case Log(text):
            return text.constant
        case Notify(message, title):
            return message.constant and title.constant
        case Chain(steps):
            return all(permitted(step.action) and _harmless_failure(step) for step in steps)
        case _:
            return False


def _harmless_failure(step: Step) -> bool:
    return step.on_error is None or step.on_error == harmless(step.on_error)


def harmless(outcome: Outcome) -> Outcome:
    """Without what could open a door: an allow, changes, words for the agent, requests, silencing other hooks."""
    return replace(
        outcome,
        verdict=outcome.verdict if outcome.verdict >= Verdict.ASK else Verdict.SILENT,
        changes=(),
        notes=tuple(note for note in outcome.notes if _for_people(note)),
        requests=(),
        final=False,
    )


def _for_people(note: Note) -> bool:
    """A note without text takes a failure's words, which are ours."""
    return note.audience is Audience.USER or not note.text
