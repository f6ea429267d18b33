"""A tool of ours: what it is called, what it takes, and what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Failed
from hookline.hooks.tools import Kind
from hookline.runtime.tools.checked import wrong_input
from hookline.runtime.tools.tool import Place

Body = Callable[[dict[str, Any], Place], Awaitable[Any]]
"""Returns a ToolResult, or the content of one; a HooklineError or Failed that it raises is a result that is not ok."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    name: str
    description: str
    schema: dict[str, Any]
    kind: Kind
    body: Body = field(repr=False)

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        wrong = wrong_input(self.schema, input)
        if wrong is not None:
            return failed(wrong)
        try:
            answer = await self.body(input, place)
        except (HooklineError, Failed) as error:
            return failed(str(error))
        return answer if isinstance(answer, ToolResult) else ToolResult(answer)

    def called(self, name: str) -> BuiltIn:
        """The same tool by another name."""
        return replace(self, name=name)


def failed(why: str, content: Any = None) -> ToolResult:
    return ToolResult(content, ok=False, error=why)


def takes(*required: str, **fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of an input with these fields and no others."""
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def whole_number(description: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}
