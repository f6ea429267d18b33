"""Settings files of any shape: no traceback, and the schema knows what loads."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.reader import read_text
from hookline.dialects.ai_agents import GROUP_KEYS, HOOK_KEYS
from hookline.dialects.dialect import get_dialect
from hookline.dialects.microai.dialect import ENTRY_KEYS

BEYOND_SHAPE = {"bad-pattern"}  # problems of a text's meaning, which no schema can see

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**9), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "Bash", "Bash(", "Bash(git:*)", "Bash()", "a(b)c", "*", "(x)", "command", "true", "x\n(y)\n", "\0"]),
)  # fmt: skip
ANYTHING = st.recursive(SCALARS, lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=3), part, max_size=2), max_leaves=4)  # fmt: skip


def entry(keys: tuple[str, ...], value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from((*keys, "other")), value, max_size=4)


def usual(keys: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional=keys)


HOOK = usual({"type": st.just("command"), "command": st.just("true"), "timeout": SCALARS})
GROUP = usual({"matcher": SCALARS, "hooks": st.lists(HOOK | entry(HOOK_KEYS, ANYTHING), max_size=2)})
ENTRY = usual({"matcher": SCALARS, "command": st.just("true"), "timeout": SCALARS, "condition": SCALARS})
PARTS = {
    "ai_agents": GROUP | entry(GROUP_KEYS, ANYTHING) | ANYTHING,
    "microai": ENTRY | entry(ENTRY_KEYS, ANYTHING) | ANYTHING,
}
EVENTS = st.sampled_from(["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Other"])


@pytest.mark.parametrize("name", PARTS)
@given(data=st.data())
def test_a_file_loads_if_and_only_if_the_schema_accepts_it(name: str, data: st.DataObject) -> None:
    listed = st.lists(PARTS[name], max_size=2) | ANYTHING
    hooks = data.draw(st.dictionaries(EVENTS, listed, max_size=2) | ANYTHING)
    value = data.draw(st.just({"hooks": hooks, "else": 1}) | ANYTHING)
    document, _ = read_text(json.dumps(value), "settings.json")
    if document is None or value is None:  # an empty document is no file at all
        return
    problems = get_dialect(name).load(document).problems
    errors = [problem for problem in problems if problem.severity == "error"]
    if not any(problem.code in BEYOND_SHAPE for problem in errors):
        accepted = jsonschema.Draft202012Validator(get_dialect(name).schema()).is_valid(value)
        assert accepted is not bool(errors), errors
