"""A backend made with the protocol's reference SDK. It runs in the environment of `make test-protocols`."""

import anyio
from agenthooksprotocol import effect
from agenthooksprotocol.server import hooks, stdio


async def before_tool(context):
    command = context.event["tool"]["input"].get("command", "")
    if "rm" in command:
        return hooks.ToolBeforeReply(effects=(effect.DenyEffect(reason="No rm."),))
    if command == "ls":
        return hooks.ToolBeforeReply(effects=(effect.replace_input({"command": "ls -a"}),))
    return hooks.ToolBeforeReply()


async def start_turn(context):
    if "secret" in str(context.event):
        return hooks.TurnStartReply(effects=(effect.DenyEffect(reason="No secrets."),))
    return hooks.TurnStartReply()


async def finish_turn(context):
    return hooks.TurnFinishBeforeReply(
        effects=(effect.ContinueFlowEffect(operation="continue", instruction="Run the tests."),)
    )


def record(context):
    with open("observed", "a") as file:
        file.write(context.event["type"] + "\n")


def silent(reply):
    async def answer(context):
        return reply()

    return answer


handlers = hooks.Handlers(
    intercept=hooks.InterceptHandlers(
        tool_before=before_tool,
        turn_start=start_turn,
        turn_finish_before=finish_turn,
        tool_after=silent(hooks.ToolAfterReply),
        session_start=silent(hooks.SessionStartReply),
        tool_permission_request=silent(hooks.ToolPermissionRequestReply),
        context_compact_before=silent(hooks.ContextCompactBeforeReply),
    ),
    observe=hooks.ObserveHandlers(session_end=record, model_error=record),
)
anyio.run(stdio.serve, handlers)
