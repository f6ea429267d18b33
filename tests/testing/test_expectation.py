"""What a case may expect, and how a difference is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.testing import load_cases, run_case
from hookline.testing.expectation import is_same, is_subset


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def result_of(path: Path, text: str):
    (case,) = load_cases(write(path / "case.yaml", text))
    return run_case(case)


def keys_of(result) -> list[str]:
    return [difference.key for _, difference in result.differences]


EVERY_KEY = """\
config: |
  hooks:
    - {id: say, on: tool.before, when: {tool: bash}, then: {tell: hi}}
    - {id: set, on: tool.before, when: {tool: bash}, then: {set: {input.a: 1}, remove: [input.b]}}
    - {id: tool, on: tool.before, when: {tool: bash}, then: {call: other, with: {x: 1}}, on_error: open}
    - {id: shout, on: tool.before, when: {tool: bash}, then: {notify: {message: m, title: t}}, on_error: open}
    - {id: log, on: tool.before, when: {tool: bash}, then: {log: written}}
    - {id: file, on: tool.before, when: {tool: bash}, then: {run: 'echo "$NAME" > f', reads: never}, on_error: open}
    - {id: fails, on: tool.before, when: {tool: bash}, then: {call: missing}, on_error: open}
    - {id: short, on: tool.before, when: {tool: bash}, then: {compact: {keep_recent: 3}}}
    - {id: asks, on: tool.before, when: {tool: bash}, then: {ask: sure?}}
tools: {other: {content: 1}}
env: {NAME: value}
event: {name: tool.before, tool: {name: bash, input: {b: 2, c: 3}}}
expect:
"""
AS_IT_IS = {
    "verdict": ("ask", "deny"),
    "reason": ("sure?", "sure"),
    "reason_contains": ("[su, re]", "[su, no]"),
    "by": ("asks", "null"),
    "halt": ("false", "true"),
    "facts": ("{tool: {input: {a: 1, c: 3}}}", "{tool: {input: {a: true}}}"),
    "removed": ("[tool.input.b]", "[tool.input.b, tool.input.c]"),
    "notes": ("[{for: agent, text: hi}]", "0"),
    "notes_contain": ("h", "[h, x]"),
    "requests": ("[{keep_recent: 3}]", "[{keep_recent: 4}]"),
    "asked": ("[say, set, tool, shout, log, file, fails, short, asks]", "[say, set]"),
    "not_asked": ("[nobody]", "[say]"),
    "failures": ("[{hook: fails, kind: unavailable}]", "0"),
    "called": ("[{tool: other, input: {x: 1}}]", "[{tool: other, input: {x: 2}}]"),
    "published": ("[{message: m, title: t, hook: shout}]", "[{message: n}]"),
    "log_contains": ("'[log] written'", "unwritten"),
    "files": ('{f: "value\\n"}', "{f: value}"),
    "no_files": ("[g]", "[f]"),
}


@pytest.mark.parametrize("key", AS_IT_IS)
def test_each_key_holds_for_what_happened_and_only_for_that(tmp_path, key):
    true, false = AS_IT_IS[key]
    assert keys_of(result_of(tmp_path, f"{EVERY_KEY}  {key}: {true}\n")) == []
    assert keys_of(result_of(tmp_path, f"{EVERY_KEY}  {key}: {false}\n")) == [key]


def test_same_means_the_same_type_too():
    assert is_same({"a": [1, "x"]}, {"a": (1, "x")})
    assert not is_same(1, True)
    assert not is_same({"a": [1]}, {"a": [True]})
    assert is_subset({"a": {}}, {"a": {"b": 1}, "c": 2})
    assert not is_subset({"a": [1]}, {"a": [1, 2]})
