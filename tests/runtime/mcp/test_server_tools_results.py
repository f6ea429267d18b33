from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult

from hookline.runtime.mcp.server_tools import MAX_RESULT_LENGTH, parse_call_result

pytestmark = pytest.mark.slow


def answer(*texts: str, **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": [{"type": "text", "text": text} for text in texts], **more})


@pytest.mark.parametrize(
    ("given", "content"),
    [
        (answer("plain"), "plain"),
        (answer("one", "two"), "one\ntwo"),
        (answer('{"commit": {"sha": "a"}}'), {"commit": {"sha": "a"}}),
        (answer(" [1, 2]\n"), [1, 2]),
        (answer("[1, 2"), "[1, 2"),
        (answer("5"), "5"),
        (answer('{"a": 1}', structuredContent={"a": 1}), {"a": 1}),
        (answer("a text", structuredContent={"content": "a text"}), "a text"),
        (answer('{"kept": "as text"}', structuredContent={"content": '{"kept": "as text"}'}), '{"kept": "as text"}'),
        (answer("5", structuredContent={"result": 5}), "5"),
        (answer("a", "b", structuredContent={"result": ["a", "b"]}), ["a", "b"]),
        (answer('{"x": 1}', '{"x": 2}', structuredContent={"result": [{"x": 1}, {"x": 2}]}), [{"x": 1}, {"x": 2}]),
        (answer('{"result": {"x": 1}}', structuredContent={"result": {"x": 1}}), {"result": {"x": 1}}),
        (answer(structuredContent={"a": 1}), {"a": 1}),
        (answer("Sunny.", structuredContent={"degrees": 22, "wind": 3}), {"degrees": 22, "wind": 3, "text": "Sunny."}),
        (answer(), ""),
    ],
)
def test_data_stays_data_and_text_stays_text(given: CallToolResult, content: Any) -> None:
    result = parse_call_result(given)
    assert result.ok
    assert result.content == content


def test_what_must_stay_as_written_is_not_opened() -> None:
    assert parse_call_result(answer('{"a":   1}'), parse_json=False).content == '{"a":   1}'


def test_an_error_is_its_text() -> None:
    result = parse_call_result(answer("no paper", isError=True))
    assert (result.ok, result.error, result.content) == (False, "no paper", "no paper")
    assert parse_call_result(answer(isError=True)).error


def test_large_and_deep_results_are_bounded() -> None:
    assert len(parse_call_result(answer("x" * (MAX_RESULT_LENGTH + 10))).content) < MAX_RESULT_LENGTH + 100
    assert (
        len(parse_call_result(answer("", structuredContent={"a": "x" * MAX_RESULT_LENGTH, "b": 1})).content)
        < MAX_RESULT_LENGTH + 100
    )
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    assert parse_call_result(answer("short", structuredContent={"a": deep})).content == "short"
    assert parse_call_result(answer("[" * 5000 + "]" * 5000)).content.startswith("[[")


def test_files_come_beside_the_text() -> None:
    blob = {"uri": "file:///a/report.pdf", "mimeType": "application/pdf", "blob": "QQ=="}
    given = CallToolResult.model_validate(
        {
            "content": [
                {"type": "text", "text": "see there"},
                {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
                {"type": "resource", "resource": blob},
                {"type": "resource_link", "uri": "note://1", "name": "a note"},
            ]
        }
    )
    result = parse_call_result(given)
    assert result.content == "see there\na note: note://1"
    assert [(file["name"], file["mimeType"], file["data"]) for file in result.attachments] == [
        ("image-1.png", "image/png", "iVBORw=="),
        ("report.pdf", "application/pdf", "QQ=="),
    ]
