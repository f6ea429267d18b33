"""A function with defaults, to make tools of: what hooks see must be what it runs with.

Not every framework reads annotations that are texts.
"""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field

from hookline.frameworks.tool_defaults import ToolDefaults
from hookline.hosts.python.guard import to_plain_value


class Options(BaseModel):
    force: bool = True
    names: list[str] = Field(default_factory=list)


OPTIONS = Options()
GIVEN: list[dict[str, Any]] = [
    {"content": "x"},
    {"content": "x", "path": "a", "limit": 3},
    {"content": "x", "options": {"force": False}},
    {"content": "x", "extra": {}},
    {"content": "x", "extra": {"names": ["a"]}, "options": {}},
]
PLAIN: list[dict[str, Any]] = GIVEN[:2]  # without values that have defaults of their own

SCHEMA = {
    "type": "object",
    "properties": {
        "content": {"type": "string"},
        "path": {"type": "string", "default": "told"},
        "mode": {"type": "string", "default": "w"},
        "extra": {"type": "object", "properties": {"force": {"type": "boolean", "default": True}}},
    },
    "required": ["content"],
}
"""Of a tool on a server: the defaults are what the server applies."""


def make_function(ran: list[dict[str, Any]]) -> Callable[..., str]:
    def write(
        content: str,
        path: str = ".env",
        limit: int | None = None,
        options: Options = OPTIONS,
        extra: Options | None = None,
    ) -> str:
        """Writes a file.

        Args:
            content: what to write
            path: the file
            limit: how much
            options: how
            extra: how else
        """
        ran.append({"content": content, "path": path, "limit": limit, "options": options, "extra": extra})
        return "done"

    return write


def check_defaults(defaults: ToolDefaults, given: dict[str, Any], ran: list[dict[str, Any]]) -> None:
    """Hooks see what the function ran with, and the tool is given what it was given."""
    shown = defaults.fill(given)
    assert [to_plain_value(each) for each in ran] == [shown]
    assert defaults.leave_out(shown, given) == given
