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
    ],
)
def test_a_name_counts_only_with_the_fields_of_its_kind(name: str, fields: tuple[str, ...], kind: Kind) -> None:
    assert kind_by(name, schema(*fields)) is kind


def test_what_only_reads_does_not_write() -> None:
    assert kind_by("compare", schema("path", "content"), read_only=True) is Kind.OTHER
    assert kind_by("write_file", schema("path", "content"), read_only=True) is Kind.WRITE


@pytest.mark.parametrize("strange", [{}, {"properties": None}, {"properties": ["path", "content"]}])
def test_a_strange_schema_tells_nothing(strange: dict[str, Any]) -> None:
    assert kind_by("write_file", strange) is Kind.OTHER
