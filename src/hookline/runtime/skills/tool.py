"""The tool by which an agent reads a skill; with it, the skill's hooks begin to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.runtime.skills.found import Skills
from hookline.runtime.tools.tool import Place

if TYPE_CHECKING:
    from hookline.runtime.session import Session

NAME: Final = "skill"


class InvokeSkill:
    name = NAME
    kind = Kind.OTHER

    def __init__(self, skills: Skills, session: Session) -> None:
        self._skills = skills
        self._session = session

    @property
    def description(self) -> str:
        return (
            f"Reads the instructions of a skill before you do what it is for. The skills are:\n{self._skills.listed()}"
        )

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [skill.name for skill in self._skills]},
                "arguments": {"type": "string", "description": "What the skill shall be done with, if anything."},
            },
            "required": ["name"],
            "additionalProperties": False,
        }

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        name, arguments = input.get("name"), input.get("arguments", "")
        if not isinstance(name, str) or not isinstance(arguments, str):
            return ToolResult("", False, "name and arguments are texts")
        try:
            invoked = self._skills.invoke(name, arguments, place.agent, self._session.id)
        except HooklineError as error:
            return ToolResult("", False, str(error))
        if invoked.parts:
            await self._session.add_hooks(invoked.parts)
        return ToolResult(invoked.text)
