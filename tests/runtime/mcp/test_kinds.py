from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.tools import Kind
from hookline.runtime.mcp.kinds import kind_by


def schema(*fields: str) -> dict[str, Any]:
    return {"type": "object", "properties": {field: {"type": "string"} for field in fields}}


@pytest.mark.parametrize(
    ("name", "fields", "kind"),
    [
        ("write_file", ("path", "content"), Kind.WRITE),
        ("edit_file", ("path", "edits"), Kind.EDIT),
        ("read_file", ("path",), Kind.READ),
        ("fetch", ("url", "max_length"), Kind.FETCH),
        ("create_or_update_file", ("owner", "repo", "path", "content"), Kind.WRITE),
        ("put", ("file_path", "contents"), Kind.WRITE),
        ("create", ("title", "body"), Kind.OTHER),
        ("fetch", ("mailbox",), Kind.OTHER),
        ("move_file", ("source", "destination"), Kind.OTHER),
        ("write_file", (), Kind.OTHER),
        ("read_text_file", ("path", "tail", "head"), Kind.READ),
        ("read_media_file", ("path",), Kind.READ),
        ("read_multiple_files", ("paths",), Kind.READ),
        ("readTextFile", ("filePath",), Kind.READ),
        ("read-text-file", ("path",), Kind.READ),
        ("read_text_file", ("inbox",), Kind.OTHER),
        ("readiness", ("path",), Kind.OTHER),
        ("list_directory_with_sizes", ("path", "sortBy"), Kind.LIST),
        ("directory_tree", ("path", "excludePatterns"), Kind.LIST),
        ("list_files", ("path",), Kind.LIST),
        ("list_allowed_directories", (), Kind.OTHER),
        ("list_issues", ("path",), Kind.OTHER),
        ("search_files", ("path", "pattern", "excludePatterns"), Kind.GLOB),
        ("search_files", ("path", "regex"), Kind.GREP),
        ("edit_text_file", ("path", "edits"), Kind.EDIT),
        ("append_to_file", ("path", "data"), Kind.WRITE),
        ("create_directory", ("path",), Kind.OTHER),
        ("get_file_info", ("path",), Kind.OTHER),
    ],
)
def test_a_name_counts_only_with_the_fields_of_its_kind(name: str, fields: tuple[str, ...], kind: Kind) -> None:
    assert kind_by(name, schema(*fields)) is kind


def test_what_only_reads_does_not_write() -> None:
    assert kind_by("compare", schema("path", "content"), read_only=True) is Kind.OTHER
    assert kind_by("write_file", schema("path", "content"), read_only=True) is Kind.WRITE
    assert kind_by("edit_preview", schema("path", "edits"), read_only=True) is Kind.OTHER


@pytest.mark.parametrize("strange", [{}, {"properties": None}, {"properties": ["path", "content"]}])
def test_a_strange_schema_tells_nothing(strange: dict[str, Any]) -> None:
    assert kind_by("write_file", strange) is Kind.OTHER
