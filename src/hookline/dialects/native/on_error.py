"""`on_error:` says what a failure of a hook or of a step counts as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node
from hookline.dialects.native.keys import TEXT, Schema, enum_schema, object_schema
from hookline.hooks.event import REMOVED, FactPath, overlaps
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import SILENT, Audience, Note, Outcome, Verdict, withheld_text
from hookline.hooks.protocols import Action, May
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_class

if TYPE_CHECKING:
    from hookline.hooks.actions.chain import Chain
    from hookline.hooks.actions.change import Append, ChangeFacts
    from hookline.hooks.actions.diagnose import Diagnose
else:
    Chain = lazy_class("hookline.hooks.actions.chain", "Chain")
    Append = lazy_class("hookline.hooks.actions.change", "Append")
    ChangeFacts = lazy_class("hookline.hooks.actions.change", "ChangeFacts")
    Diagnose = lazy_class("hookline.hooks.actions.diagnose", "Diagnose")

ON_ERROR: Final = {
    "open": SILENT,
    "closed": Outcome(Verdict.DENY),
    "ask": Outcome(Verdict.ASK),
    "stop": Outcome(final=True),
    "tell": Outcome(notes=(Note(""),)),
    "tell_user": Outcome(notes=(Note("", Audience.USER),)),
}
_REASON_HELP: Final = "the reason; `{failure}` in it is what happened"
_WITH_REASON: Final = {"deny": ON_ERROR["closed"], "ask": ON_ERROR["ask"]}
ON_ERROR_SCHEMA: Final[Schema] = {
    "anyOf": [
        enum_schema(ON_ERROR),
        *(
            object_schema(
                {word: {"description": _REASON_HELP, "examples": ["The check failed: {failure}"], **TEXT}}, (word,)
            )
            for word in _WITH_REASON
        ),
    ]
}
_RESULT_PATH: Final[FactPath] = ("tool", "result")
_ERROR_PATH: Final[FactPath] = ("tool", "error")
_OK_PATH: Final[FactPath] = ("tool", "ok")


def parse_on_error(at: Node, _: object = None) -> Outcome | None:
    """A word, or `{deny: reason}`; `{failure}` in the reason is what happened."""
    if isinstance(at.value, dict):
        return _parse_on_error_reason(at)
    word = at.one_of(ON_ERROR, hint="open lets the event proceed when the hook fails; closed denies it.")
    return None if word is None else ON_ERROR[word]


def _parse_on_error_reason(at: Node) -> Outcome | None:
    at.check_keys(_WITH_REASON, "on_error")
    reasons = [(word, place.text()) for word, place in at.entries() if word in _WITH_REASON]
    if len(reasons) != 1 or len(at.value) != 1:
        at.add_problem("wrong-type", f"{at.location}: one answer is expected.", "Write on_error: {deny: reason}.")
        return None
    word, reason = reasons[0]
    return None if reason is None else replace(_WITH_REASON[word], reason=reason)


def write_on_error(outcome: Outcome) -> Any:
    outcome = undo_withhold_result(outcome)
    for word, known in ON_ERROR.items():
        if outcome == known:
            return word
    for word, known in _WITH_REASON.items():
        if outcome == replace(known, reason=outcome.reason):
            return {word: outcome.reason}
    from hookline.dialects.conversion import NotExpressible

    raise NotExpressible("an on_error of another kind")


def fails_closed(on_error: Outcome | None) -> bool:
    """Whether a failure of an action that could stop the event is not let through. None: on_error is not written."""
    return on_error is None or on_error.verdict >= Verdict.ASK


def withholds(on_error: Outcome | None, event: str) -> bool:
    """Whether it is written that a failure withholds a result."""
    return on_error is not None and withhold_result(on_error, event, "") != on_error


def withhold_result(on_error: Outcome, event: str, hook_id: str) -> Outcome:
    """After a tool has run it is too late to deny: there, `closed` gives the agent an error instead of the result.

    Where nobody can be asked about the event, `ask` counts as `closed`.
    """
    if on_error is SILENT:
        return on_error
    kind = EVENTS[event]
    if cannot_ask(on_error, event):
        on_error = replace(on_error, verdict=Verdict.DENY)
    if on_error.verdict is not Verdict.DENY or kind.accepts & May.DENY or not kind.accepts_change(_RESULT_PATH):
        return on_error
    text = withheld_text(hook_id)
    instead = {_RESULT_PATH: text, _ERROR_PATH: text, _OK_PATH: False}
    changes = tuple((path, instead.get(path, REMOVED)) for path in kind.changeable)
    return replace(on_error, verdict=Verdict.SILENT, changes=changes)


def cannot_ask(on_error: Outcome, event: str) -> bool:
    """Whether it asks about an event that can only be denied, or whose result can only be withheld."""
    if on_error.verdict is not Verdict.ASK:
        return False
    kind = EVENTS[event]
    can_hold = kind.accepts & May.DENY or kind.accepts_change(_RESULT_PATH)
    return not kind.accepts & May.ASK and bool(can_hold)


def redacts(action: Action, event: str) -> bool:
    """Whether it changes a tool's result in another way than by adding to it."""
    if not EVENTS[event].accepts_change(_RESULT_PATH):
        return False
    if isinstance(action, Chain):
        return any(redacts(step.action, event) for step in action.steps)
    if isinstance(action, ChangeFacts):
        paths = [edit.path for edit in action.edits if not isinstance(edit, Append)]
        return any(overlaps(path, place) for path in paths for place in (_RESULT_PATH, _ERROR_PATH))
    return bool(action.may & May.CHANGE) and not isinstance(action, Diagnose)  # adds its diagnostics


def undo_withhold_result(on_error: Outcome) -> Outcome:
    """The on_error as it was written."""
    withholds = any(path == _RESULT_PATH for path, _ in on_error.changes)
    return replace(on_error, verdict=Verdict.DENY, changes=()) if withholds else on_error
