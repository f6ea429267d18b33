"""digitorn's words for messages about its files."""

from __future__ import annotations

from typing import Final

from hookline.dialects.digitorn.templates import NUMBER_FACTS
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.notify import Notify
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.python_function import CustomAction
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.conditions.logic import All, AnyOf, Never, Not
from hookline.hooks.conditions.numbers import Comparison, CustomCondition, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Matches, RecentMessagesContain
from hookline.hooks.event import FactPath
from hookline.hooks.outcome import NotePlace, Outcome
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.tool_name import ToolName
from hookline.hooks.wording import NATIVE_ANSWERS, Wording

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


def _condition_word(condition: Condition) -> str | None:
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


def _action_word(action: Action) -> str | None:
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
        case Notify():
            return "notify"
        case Chain(steps) if all(_action_word(step.action) == "transform_result" for step in steps):
            return "transform_result"
        case CustomAction(name):
            return name
        case _:
            return None


WORDING: Final = Wording(
    dialect="digitorn",
    answers={
        **NATIVE_ANSWERS,
        May.DENY: "gate",
        May.NOTES: "inject_message or another text for the agent",
        May.COMPACT: "compact_context",
    },
    facts={
        "tool.ok": "tool_failed",
        "tool.kind": "tool_name",
        "tool.input": "tool.params",
        "error.code": "error_code",
        "context.pressure": "context_pressure",
        "session.tool_calls": "tool_calls",
        "messages": "message_count",
        "turn.number": "turn_count",
    },
    phrases={
        "tool.ok is true, not false": "the tool did not fail",
        "tool.ok is absent, not false": "there is no result yet",
        "tool.ok is false": "tool_failed",
    },
    placeholders={
        "result.text": "{{tool.result}}",
        **{fact.replace(" ", ""): f"{{{name}}}" for name, fact in NUMBER_FACTS.items()},
    },
    action_word=_action_word,
    condition_word=_condition_word,
    unit="s",
    order_key="priority",
    default_order=100,
    failures=dict.fromkeys(("", *ResultFormat), "logged") | {"tells": "on_error: inject: the agent is told"},
    run_earlier="give it a lower priority",
)
