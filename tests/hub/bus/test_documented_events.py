"""docs/hub/events.md names every type of event that the hub publishes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hookline.hub
from hookline.runtime import update_json

PAGE = Path(__file__).parents[3] / "docs" / "hub" / "events.md"
PUBLISHING = ("publish", "_publish", "tell", "_put")
NOT_PUBLISHED = {"question", "answer", "notice"}  # approvals and notifications have types of their own


def published_types() -> Iterator[str]:
    for file in Path(hookline.hub.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(ast.Attribute(attr=method), [ast.Constant(str(type)), *_]) if method in PUBLISHING:
                    yield type


def update_types() -> Iterator[str]:
    for node in ast.walk(ast.parse(Path(update_json.__file__).read_text())):
        match node:
            case ast.Dict([ast.Constant("type"), *_], [ast.Constant(str(type)), *_]):
                yield type


def test_every_type_of_event_is_documented() -> None:
    types = {*published_types(), *update_types()} - NOT_PUBLISHED - {"kill"}  # a page is told that, not the bus
    assert {"user", "session_ended", "approval_request", "text", "end"} <= types
    page = PAGE.read_text()
    assert [each for each in sorted(types) if f"| `{each}` |" not in page] == []
