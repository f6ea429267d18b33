"""Claude Code's words for messages about its files."""

from __future__ import annotations

from typing import Final

from hookline.dialects.claude_code.names import HOOK_ENVIRONMENT, NAME
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.protocols import Action, May
from hookline.hooks.wording import NATIVE_ANSWERS, OK_PHRASES, Wording


def _action_word(action: Action) -> str | None:
    if isinstance(action, AskModel):
        return "agent" if action.investigates else "prompt"
    words = ((RunProgram, "command"), (PostEvent, "http"), (CallTool, "mcp_tool"))
    return next((word for kind, word in words if isinstance(action, kind)), None)


WORDING: Final = Wording(
    dialect=NAME,
    answers={**NATIVE_ANSWERS, May.DENY: "block"},
    facts={
        "tool.name": "tool_name",
        "tool.input": "tool_input",
        "tool.result": "tool_response",
        "tool.error": "error",
        "session.source": "source",
        "session.reason": "reason",
        "notification.type": "notification_type",
        "notification.message": "message",
        "subagent.name": "agent_type",
        "stop.active": "stop_hook_active",
    },
    phrases=OK_PHRASES,
    action_word=_action_word,
    unit="s",
    environment={**HOOK_ENVIRONMENT, "CLAUDE_PLUGIN_ROOT": None},
    failures={
        "blocks": "onFailure: block",
        ResultFormat.JSON: "exit code 2 blocks, another failure is shown",
        ResultFormat.CLAUDE: "exit code 2 blocks, another failure is shown",
    },
    run_earlier="move it up in the file",
    wait="Remove `async` if its answer should count.",
    on_error="onFailure",
    variables_key="allowedEnvVars",
    input_rule='This is only compared with names. Write "matcher": "{0}" and, beside command, "if": "{1}".',
)
