"""microai's words for messages about its files."""

from __future__ import annotations

from typing import Final

from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.protocols import Action, May
from hookline.hooks.wording import NATIVE_ANSWERS, Wording


def _action_word(action: Action) -> str | None:
    return "command" if isinstance(action, RunProgram) else None


VARIABLES: Final = {
    "TOOL_NAME": "{{tool.name}}",
    "INPUT": "{{tool.input | json}}",
    "OUTPUT": "{{tool | output}}",
    "PROMPT": "{{prompt}}",
    "TIMESTAMP": "{{time | utc}}",
    "SESSION_ID": "{{session.id}}",
    "USER_NAME": "{{user.name}}",
    "PROJECT_ROOT": "{{workspace}}",
    "PLATFORM": "{{host.name}}",
    "AGENT_NAME": "{{agent.name}}",
}
WORDING: Final = Wording(
    dialect="microai",
    answers={**NATIVE_ANSWERS, May.DENY: "block"},
    facts={
        "tool.name": "TOOL_NAME",
        "tool.input": "INPUT",
        "tool.result": "OUTPUT",
        "prompt": "PROMPT",
        "user.name": "USER_NAME",
        "workspace": "PROJECT_ROOT",
    },
    action_word=_action_word,
    unit="ms",
    environment=VARIABLES,
    failures={
        "blocks": "continueOnFailure: false: a failure blocks",
        "ends": "continueOnFailure: false: a failure ends the remaining hooks",
        ResultFormat.ERROR: "continues",
    },
    run_earlier="move it up in the file",
    on_error="continueOnFailure",
    only_if="condition",
    own_tool='write "matcher": "*" and "condition": "test $TOOL_NAME = {0}{1}"',
)
