"""A harness made with the protocol's reference SDK. It asks the backend in its arguments, and prints what came of each call."""

import json
import os
import sys

import anyio
from agenthooksprotocol import Hooks, Permission, capability, event, state

SUBSCRIPTION = {
    "events": ["tool.before"],
    "mode": "intercept",
    "timeoutMs": 30_000,
    "failurePolicy": "fail-closed",
    "content": {"default": "metadata"},
}
GRANTS = capability.ToolBeforeIntercept(allow=True, deny=True, ask=True, modify_input=capability.Modify.REPLACE)


async def main() -> None:
    transport = {"type": "stdio", "command": sys.argv[1], "args": sys.argv[2:], "lifecycle": "persistent"}
    backend = {"id": "dev.hookline", "transport": transport}
    if os.environ.get("SUBSCRIBE"):  # otherwise it adopts what the backend wants
        backend["subscriptions"] = [SUBSCRIPTION]
    async with Hooks(
        {"protocolVersion": "draft", "hooks": [backend]},
        source="urn:test:harness",
        harness=event.Harness(name="test", version="1"),
        capabilities=capability.HostCapabilities(tool_before=capability.ToolBeforeCapabilities(intercept=GRANTS)),
    ) as hooks:
        for skipped in hooks.configuration_diagnostics:
            print(json.dumps(skipped))
        for command in ("rm -rf /", "ls", "git push", "pwd"):
            call = event.ToolBeforeInput(
                call_id="c1", name="Bash", kind="shell", input={"command": command}, path="native", origin="native"
            )
            result = await hooks.tool_before(call, initial_state=state.initial(Permission.NONE))
            told = {"permission": str(result.permission.value), "input": dict(result.input)}
            print(json.dumps({**told, "diagnostics": len(result.diagnostics)}))


anyio.run(main)
