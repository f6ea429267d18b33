from __future__ import annotations

import pytest

from dialect_conversion import load_hooks, write_hooks
from hookline.project import load_text


@pytest.mark.parametrize(
    "then",
    [
        {"ahp": ["policy", "serve"]},
        {"ahp": "https://policy.example/hooks", "headers": {"Authorization": "Bearer $T"}, "variables": ["T"]},
        {"ahp": "http://127.0.0.1:8080/", "versions": ["0.1"]},
    ],
)
def test_it_is_written_as_it_is_read(then: dict[str, object]) -> None:
    value = {"version": 1, "hooks": [{"id": "a", "on": "tool.before", "then": then, "on_error": "closed"}]}
    assert write_hooks("native", load_hooks("native", value, "hookline.json"))["hooks"][0]["then"] == then


@pytest.mark.parametrize(
    ("event", "then", "code"),
    [
        ("tool.before", "{ahp: policy serve}", "bad-backend"),
        ("tool.before", "{ahp: 'http://policy.example/'}", "bad-url"),
        ("tool.before", "{ahp: []}", "empty"),
        ("tool.before", "{ahp: [a], versions: '7'}", "unknown-word"),
        ("message.created", "{ahp: [a]}", "bad-backend"),
    ],
)
def test_what_is_no_backend(event: str, then: str, code: str) -> None:
    book = load_text(f"hooks: [{{id: a, on: {event}, then: {then}}}]", "hookline.yaml", "native")
    assert code in [problem.code for problem in book.problems]
