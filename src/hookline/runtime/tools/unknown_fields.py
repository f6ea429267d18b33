"""Fields that hooks add to a tool's input although the tool does not have them."""

from __future__ import annotations

from typing import Any

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.lazy_dataclasses import replace
from hookline.runtime.tools.tool_definition import Tool


def drop_unknown_fields(decision: Decision, tool: Tool, asked: dict[str, Any]) -> tuple[Decision, list[str]]:
    """The decision without fields that hooks added and the tool would refuse, and their names.

    What the caller itself asked for stays, so that the tool can say what is wrong with it.
    """
    left = decision.event.read(("tool", "input"))
    if (
        not isinstance(left, dict)
        or left.keys() <= asked.keys()
        or tool.schema.get("additionalProperties") is not False
    ):
        return decision, []
    known = tool.schema.get("properties", {})
    unknown = [name for name in left if name not in known and name not in asked]
    if not unknown:
        return decision, []
    facts = decision.event.facts
    kept = {name: value for name, value in left.items() if name not in unknown}
    event = Event(decision.event.name, {**facts, "tool": {**facts["tool"], "input": kept}})
    return replace(decision, event=event), unknown
