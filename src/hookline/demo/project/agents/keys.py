"""standard_agents: the agent of the demo, and a hook in Python that keeps keys out of its history."""

import re
from typing import Any

from hookline.standard_agents import define_agent, define_hook, define_prompt
from hookline.standard_agents.state import ThreadState

KEY = re.compile(r"\bsk-[a-z]+-\w+")


@define_hook(hook="before_store_tool_result", id="redact_keys")
async def redact_keys(state: ThreadState, tool_call: dict[str, Any], result: dict[str, Any]) -> dict[str, Any] | None:
    text = result.get("result")
    if not isinstance(text, str) or not KEY.search(text):
        return None
    return {**result, "result": KEY.sub("[redacted key]", text)}


define_prompt(
    name="engineer",
    prompt="You look after this project. Be brief.",
    tools=["bash", "read_file", "write_file"],
)
define_agent(name="engineer", side_a={"prompt": "engineer"}, hooks=["redact_keys"])
