from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.errors import HooklineError
from hookline.hooks.tools import ToolKind
from hookline.runtime.models.provider_messages import offered_names
from hookline.runtime.tools.tool_definition import BuiltInTool, object_schema
from hookline.runtime.tools.toolbox import Toolbox, built_in_tools, module_tools


def tool(name: str) -> BuiltInTool:
    async def body(input: dict[str, Any], place: Any) -> str:
        return name

    return BuiltInTool(name, f"Does {name}.", object_schema(), ToolKind.OTHER, body)


NAMES = ("bash", "mcp.git.status", "mcp.slack.send_message", "notion.page.create", "memory.list")


@pytest.fixture
def box() -> Toolbox:
    return Toolbox(tool(name) for name in NAMES)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("bash", "bash"),
        ("mcp.git.status", "mcp.git.status"),
        ("mcp_git.status", "mcp.git.status"),
        ("mcp__git__status", "mcp.git.status"),
        ("git.status", "mcp.git.status"),
        ("slack.send_message", "mcp.slack.send_message"),
        ("notion.page.create", "notion.page.create"),
        ("notion__page__create", "notion.page.create"),
        ("memory__list", "memory.list"),
        ("Bash", None),
        ("status", None),
        ("mcp.git", None),
        ("", None),
    ],
)
def test_a_tool_is_found_by_each_of_its_names(box: Toolbox, name: str, own: str | None) -> None:
    found = box.find(name)
    assert (found and found.name) == own


def test_two_tools_of_one_name_are_refused(box: Toolbox) -> None:
    with pytest.raises(HooklineError, match="two tools have the name bash"):
        box.with_tools([tool("bash")])


def test_more_tools_are_a_new_box(box: Toolbox) -> None:
    assert box.with_tools([tool("new")]).find("new")
    assert box.find("new") is None


def test_tools_that_would_be_offered_by_one_name_have_two() -> None:
    box = Toolbox([tool("mcp.a.b__c"), tool("mcp.a__b.c")])
    assert [box.find(name).name for name in ("a.b__c", "a__b.c")] == ["mcp.a.b__c", "mcp.a__b.c"]
    first, second = (each.name for each in box.offered_tools())
    assert first != second
    assert {box.find(first).name, box.find(second).name} == {"mcp.a.b__c", "mcp.a__b.c"}


def test_an_own_name_counts_before_another_way_to_write_one() -> None:
    box = Toolbox([tool("mcp.git.status"), tool("git.status"), tool("mcp__git__status")])
    assert [box.find(name).name for name in ("git.status", "mcp__git__status")] == ["git.status", "mcp__git__status"]
    assert all(box.find(offered.name).description == offered.description for offered in box.offered_tools())


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (("bash",), ["bash"]),
        (("mcp.*",), ["mcp__git__status", "mcp__slack__send_message"]),
        (("mcp__git__*", "memory"), ["mcp__git__status", "memory__list"]),
        (("git.status",), ["mcp__git__status"]),
        (("mcp.slack",), ["mcp__slack__send_message"]),
        (("notion.*|bash",), ["bash", "notion__page__create"]),
        (("[b]ash", "nothing"), ["bash"]),
        ((), []),
    ],
)
def test_patterns_choose_what_is_offered(box: Toolbox, patterns: tuple[str, ...], names: list[str]) -> None:
    assert [offered.name for offered in box.offered_tools(patterns)] == names
    assert [each for each in box.tools if box.offers(each, patterns)] == [box.find(name) for name in names]


def test_a_pattern_that_cannot_be_read_is_an_error(box: Toolbox) -> None:
    with pytest.raises(HooklineError, match="invalid tool pattern"):
        box.offered_tools(("x" * 3000,))


def test_what_is_not_there_is_said_with_what_is(box: Toolbox) -> None:
    assert box.describe_missing("dom") == "there is no tool 'dom': there is no browser here"
    assert box.describe_missing("mcp.git.statsu") == "there is no tool 'mcp.git.statsu'; did you mean mcp__git__status?"
    assert box.describe_missing("zzz") == "there is no tool 'zzz'"


def test_what_does_the_same_is_offered_once() -> None:
    names = [offered.name for offered in Toolbox((*built_in_tools(), *module_tools())).offered_tools()]
    assert "read_file" in names
    assert "filesystem__read" not in names
    assert "filesystem__delete" in names
    box = Toolbox((*built_in_tools(), *module_tools()))
    assert [each.name for each in box.offered_tools(("filesystem.read",))] == ["filesystem__read"]
    assert box.offers(box.find("filesystem.read"), None)


@given(
    st.lists(
        st.text(max_size=80) | st.sampled_from(["a.b", "a__b", "a b", "a_b", "x" * 70, "x" * 64, "1", "-"]), unique=True
    )
)
def test_models_can_read_every_name(names: list[str]) -> None:
    offered = offered_names(names)
    assert list(offered) == names
    assert len(set(offered.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in offered.values())
