"""What each dialect calls its actions and conditions, for messages about what another dialect cannot express."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.python_function import CustomAction
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.conditions.logic import All, AnyOf, Never, Not
from hookline.hooks.conditions.numbers import Comparison, CustomCondition, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Matches, RecentMessagesContain
from hookline.hooks.event import FactPath
from hookline.hooks.outcome import NotePlace, Outcome
from hookline.hooks.protocols import Action, Condition
from hookline.hooks.tool_name import ToolName


def action_word(action: Action, dialect: str) -> str | None:
    """None if the dialect has no word for it that differs from ours."""
    word = _ACTION_WORDS.get(dialect)
    return None if word is None else word(action)


def condition_word(condition: Condition, dialect: str) -> str | None:
    return _digitorn_condition(condition) if dialect == "digitorn" else None


def _digitorn_condition(condition: Condition) -> str | None:
    match condition:
        case Comparison(path):
            return _THRESHOLD_WORDS.get(path)
        case Matches(ToolName()):
            return "tool_name"
        case Matches():
            return "error_type"
        case CustomCondition(name):
            return name
        case _:
            return next((word for kind, word in _CONDITION_WORDS if isinstance(condition, kind)), None)


_THRESHOLD_WORDS: Final[dict[FactPath, str]] = {
    ("context", "pressure"): "context_pressure",
    ("session", "tool_calls"): "tool_calls",
    ("messages",): "message_count",
    ("turn", "number"): "turn_count",
}
_CONDITION_WORDS: Final[tuple[tuple[type[Condition], str], ...]] = (
    (All, "all_of"),
    (AnyOf, "any_of"),
    (Not, "not"),
    (Never, "never"),
    (Equals, "tool_failed"),
    (MultipleOf, "turn_count"),
    (RecentMessagesContain, "content_contains"),
    (ExpressionCondition, "expression"),
)


def _digitorn_action(action: Action) -> str | None:
    match action:
        case FixedAnswer(Outcome(requests=(_,))):
            return "compact_context"
        case FixedAnswer(Outcome(notes=(note,))):
            return "transform_result" if note.place is NotePlace.RESULT else "inject_message"
        case FixedAnswer():
            return "gate"
        case RunProgram():
            return "shell"
        case CallTool(tell=TellWhen.NEVER):
            return "pipe" if action.is_quiet or action.literal else "pipe or module_action"
        case CallTool():
            return "module_action_inject"
        case ChangeFacts(edits):
            return "transform_result" if any(edit.path == ("tool", "result") for edit in edits) else "transform_params"
        case Diagnose():
            return "lsp_diagnose"
        case CustomAction(name):
            return name
        case _:
            return None


def _flo_action(action: Action) -> str | None:
    return "command" if isinstance(action, RunProgram) else None


def _claude_code_action(action: Action) -> str | None:
    words = ((RunProgram, "command"), (PostEvent, "http"), (CallTool, "mcp_tool"), (AskModel, "prompt"))
    return next((word for kind, word in words if isinstance(action, kind)), None)


_ACTION_WORDS: Final[dict[str, Callable[[Action], str | None]]] = {
    "digitorn": _digitorn_action,
    "flo": _flo_action,
    "microai": _flo_action,
    "ai_agents": _flo_action,
    "claude_code": _claude_code_action,
}
