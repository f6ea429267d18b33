"""The format's words for messages about its files."""

from __future__ import annotations

from typing import Final

from hookline.dialects.hook_interchange.names import NAME
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.protocols import Action
from hookline.hooks.wording import OK_PHRASES, Wording


def _action_word(action: Action) -> str | None:
    if isinstance(action, AskModel):
        return "agent" if action.investigates else "prompt"
    words = ((RunProgram, "command"), (PostEvent, "http"))
    return next((word for kind, word in words if isinstance(action, kind)), None)


WORDING: Final = Wording(
    dialect=NAME,
    facts={
        "tool.name": "tool_name",
        "tool.input": "tool_input",
        "tool.result": "tool_response",
        "tool.error": "error",
    },
    phrases=OK_PHRASES,
    action_word=_action_word,
    unit="s",
    failures={
        ResultFormat.INTERCHANGE: "exit code 2 blocks, another failure is shown",
        ResultFormat.INTERCHANGE_ADVISORY: "blocking: false: a failure is shown",
    },
    run_earlier="move it up in the file",
    wait="Remove `async` if its answer should count.",
    on_error="timeout_action",
    input_rule='A matcher is only compared with names. Write "matcher": "{0}" and test the input in the program.',
)
