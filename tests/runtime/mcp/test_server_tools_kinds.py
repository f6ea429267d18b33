from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.tools import ToolKind
from hookline.runtime.mcp.server_tools import guess_kind

pytestmark = pytest.mark.slow


def schema(*fields: str) -> dict[str, Any]:
    return {"type": "object", "properties": {field: {"type": "string"} for field in fields}}


@pytest.mark.parametrize(
    ("name", "fields", "kind"),
    [
        ("write_file", ("path", "content"), ToolKind.WRITE),
        ("edit_file", ("path", "edits"), ToolKind.EDIT),
        ("read_file", ("path",), ToolKind.READ),
        ("fetch", ("url", "max_length"), ToolKind.FETCH),
        ("create_or_update_file", ("owner", "repo", "path", "content"), ToolKind.WRITE),
        ("put", ("file_path", "contents"), ToolKind.WRITE),
        ("create", ("title", "body"), ToolKind.OTHER),
        ("fetch", ("mailbox",), ToolKind.OTHER),
        ("move_file", ("source", "destination"), ToolKind.OTHER),
        ("write_file", (), ToolKind.OTHER),
        ("read_text_file", ("path", "tail", "head"), ToolKind.READ),
        ("read_media_file", ("path",), ToolKind.READ),
        ("read_multiple_files", ("paths",), ToolKind.READ),
        ("readTextFile", ("filePath",), ToolKind.READ),
        ("read-text-file", ("path",), ToolKind.READ),
        ("read_text_file", ("inbox",), ToolKind.OTHER),
        ("readiness", ("path",), ToolKind.OTHER),
        ("list_directory_with_sizes", ("path", "sortBy"), ToolKind.LIST),
        ("directory_tree", ("path", "excludePatterns"), ToolKind.LIST),
        ("list_files", ("path",), ToolKind.LIST),
        ("list_allowed_directories", (), ToolKind.OTHER),
        ("list_issues", ("path",), ToolKind.OTHER),
        ("search_files", ("path", "pattern", "excludePatterns"), ToolKind.GLOB),
        ("search_files", ("path", "regex"), ToolKind.GREP),
        ("edit_text_file", ("path", "edits"), ToolKind.EDIT),
        ("append_to_file", ("path", "data"), ToolKind.WRITE),
        ("create_directory", ("path",), ToolKind.OTHER),
        ("get_file_info", ("path",), ToolKind.OTHER),
    ],
)
def test_a_name_counts_only_with_the_fields_of_its_kind(name: str, fields: tuple[str, ...], kind: ToolKind) -> None:
    assert guess_kind(name, schema(*fields)) is kind


def test_what_only_reads_does_not_write() -> None:
    assert guess_kind("compare", schema("path", "content"), read_only=True) is ToolKind.OTHER
    assert guess_kind("write_file", schema("path", "content"), read_only=True) is ToolKind.WRITE
    assert guess_kind("edit_preview", schema("path", "edits"), read_only=True) is ToolKind.OTHER


@pytest.mark.parametrize("strange", [{}, {"properties": None}, {"properties": ["path", "content"]}])
def test_a_strange_schema_tells_nothing(strange: dict[str, Any]) -> None:
    assert guess_kind("write_file", strange) is ToolKind.OTHER
