"""The defaults of smolagents' tools."""

from __future__ import annotations

from typing import Any

from smolagents import Tool, tool

from hookline.frameworks.smolagents import _defaults_of


class Writing(Tool):
    name = "write"
    description = "Writes a file."
    inputs = {  # noqa: RUF012
        "content": {"type": "string", "description": "what to write"},
        "path": {"type": "string", "description": "the file", "nullable": True},
    }
    output_type = "string"

    def forward(self, content: str, path: str | None = ".env") -> str:
        return f"{content} {path}"


@tool
def write(content: str, path: str = ".env") -> str:
    """Writes a file.

    Args:
        content: what to write
        path: the file
    """
    return f"{content} {path}"


class OnServer(Tool):
    name = "write"
    description = "Writes a file."
    inputs = {  # noqa: RUF012
        "content": {"type": "string", "description": "what to write"},
        "path": {"type": "string", "description": "the file", "default": "told", "nullable": True},
    }
    output_type = "string"
    skip_forward_signature_validation = True

    def forward(self, *args: Any, **kwargs: Any) -> str:
        return "done"


def test_hooks_see_the_defaults_of_forward() -> None:
    for each in (Writing(), write):
        assert _defaults_of(each, each.forward).fill({"content": "x"}) == {"content": "x", "path": ".env"}
        assert each(content="x") == "x .env"


def test_hooks_see_the_defaults_in_the_inputs_of_a_tool_on_a_server() -> None:
    made = OnServer()
    assert _defaults_of(made, made.forward).fill({"content": "x"}) == {"content": "x", "path": "told"}
