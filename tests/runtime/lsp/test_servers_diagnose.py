"""What a hook makes of the two tools: the agent reads the lint in the result of what it wrote, by whatever tool."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.book import Book
from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.host import Notice, NullHost, ToolResult
from hookline.project import load_text
from hookline.runtime.lsp.servers import LanguageServers
from hookline.runtime.mcp.server_tools import McpServers
from mcp_test_server import office_server_config, tool_place

pytestmark = pytest.mark.slow


NATIVE = """
hooks:
  - id: lint
    on: tool.after
    when: {tool: write_file}
    then: {diagnose: true}
"""
DIGITORN = """
runtime:
  hooks:
    - id: lint
      on: tool_end
      condition: {type: tool_name, match: "mcp_office.create_or_update_file"}
      action: {type: lsp_diagnose}
"""
INJECT = """
runtime:
  hooks:
    - id: lint
      on: tool_end
      condition: {type: tool_name, match: "Write"}
      action:
        type: module_action_inject
        module: lsp
        action: diagnostics
        action_params: {path: "{{tool.params.path}}"}
        prefix: "[Lint] "
"""


class Desk(NullHost):
    """A host that has these tools and nothing else."""

    def __init__(self, workspace: Path, tools: Iterable[Any]) -> None:
        self.workspace = workspace
        self.tools = {tool.name: tool for tool in tools}
        self.notices: list[Notice] = []
        self._counts = FireCounts()

    @property
    def limits(self) -> FireCounts:
        return self._counts

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        result: ToolResult = await self.tools[name].perform(input, tool_place(self.workspace))
        return result

    async def publish(self, notice: Notice) -> None:
        self.notices.append(notice)

    async def use(self, book: Book, name: str, input: dict[str, Any]) -> Any:
        """A call as an agent makes it, and what the hooks made of its result."""
        result = await self.call_tool(name, input)
        tool = {"name": name, "kind": self.tools[name].kind.value, "input": input}
        facts = {**tool, "result": result.content, "ok": result.ok}
        return await book.decide(Event("tool.after", {"tool": facts, "workspace": str(self.workspace)}), host=self)


def used(workspace: Path, hooks: str, dialect: str, tool: str, **input: Any) -> tuple[Any, list[Notice]]:
    book = load_text(hooks, "app.yaml" if dialect == "digitorn" else "hookline.yaml", dialect)
    assert not book.problems

    async def run() -> tuple[Any, list[Notice]]:
        async with (
            asyncio.timeout(60),
            McpServers((office_server_config(),), workspace, os.environ) as servers,
            LanguageServers((), workspace, os.environ) as languages,
        ):
            desk = Desk(workspace, (*servers.tools(), *languages.tools()))
            return await desk.use(book, tool, input), desk.notices

    return asyncio.run(run())


@pytest.mark.parametrize("absolute", [False, True])
def test_an_mcp_write_comes_back_with_its_lint(tmp_path: Path, absolute: bool) -> None:
    path = str(tmp_path / "a.py") if absolute else "a.py"
    decision, notices = used(
        tmp_path, NATIVE, "native", "mcp.office.write_file", path=path, content="import os\n\nx = y\n"
    )
    assert not decision.failures
    first, *lint = decision.event.facts["tool"]["result"].splitlines()
    assert first == "wrote 17 characters"
    assert lint[0] == "[Diagnostics]"
    assert [line.split(": ")[:2] for line in lint[1:]] == [[f"{path}:1", "warning"], [f"{path}:3", "error"]]
    assert lint[1].endswith("(F401)")
    assert notices[0].channel == "diagnostics"


def test_data_keeps_its_shape_beside_the_lint(tmp_path: Path) -> None:
    content = "x = y\n"
    tool = "mcp.office.create_or_update_file"
    decision, _ = used(tmp_path, DIGITORN, "digitorn", tool, repo="r", path="a.py", content=content)
    result = decision.event.facts["tool"]["result"]
    assert result["commit"]["sha"] == "abc123"
    assert "Undefined name `y`" in result["diagnostics"]
    assert not decision.failures


def test_good_code_and_other_files_come_back_as_they_were(tmp_path: Path) -> None:
    for path, content in (("a.py", "x = 1\n"), ("a.md", "import os\n")):
        decision, _ = used(tmp_path, NATIVE, "native", "mcp.office.write_file", path=path, content=content)
        assert decision.event.facts["tool"]["result"] == f"wrote {len(content)} characters"
        assert not decision.failures


def test_diagnostics_can_be_injected_by_themselves(tmp_path: Path) -> None:
    decision, _ = used(tmp_path, INJECT, "digitorn", "mcp.office.write_file", path="a.py", content="x = y\n")
    assert [note.text.startswith("[Lint] ") and "F821" in note.text for note in decision.notes] == [True]
    decision, _ = used(tmp_path, INJECT, "digitorn", "mcp.office.write_file", path="b.py", content="x = 1\n")
    assert not decision.notes
