"""What a dialect has no words for."""

from __future__ import annotations

from typing import Final

from hookline.hooks.action import Action, May
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.call import Call
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.change import Change
from hookline.hooks.actions.custom import Custom
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.http import PostEvent
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.program import Run
from hookline.hooks.actions.script import RunScript
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.condition import Condition


class Unsaid(Exception):
    """Its text names the thing, for the one who converts a file."""


_WORDS: Final[dict[type, str]] = {
    Call: "call",
    Chain: "chain",
    Change: "change",
    Custom: "custom",
    Diagnose: "diagnose",
    Judge: "judge",
    Log: "log",
    Notify: "notify",
    PostEvent: "post",
    Run: "run",
    RunScript: "script",
}


def unsaid_action(action: Action) -> Unsaid:
    if isinstance(action, (Answer, Say)):
        return Unsaid(f"an answer of its own ({_answered(action.may)})")
    return Unsaid(f"the action {_WORDS[type(action)]}" if type(action) in _WORDS else "its action")


def _answered(may: May) -> str:
    words = {May.DENY: "deny", May.ASK: "ask", May.ALLOW: "allow", May.HALT: "halt", May.COMPACT: "compact"}
    return next((word for flag, word in words.items() if flag in may), "tell")


def unsaid_condition(condition: Condition) -> Unsaid:
    return Unsaid(f"the condition that {condition}")
