from __future__ import annotations

import json

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.reader import read_text
from hookline.dialects.claude_code.names import EVENTS, HANDLER_KEYS
from hookline.dialects.dialect import get_dialect
from hookline.dialects.settings_json import CLAUDE_ONLY_EVENTS

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**9), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "Bash", "Bash(rm *)", "Bash(", "(x)", "*", "command", "http", "http://a/b", "http://", "bash", "\0"]),
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=3), part, max_size=2),
    max_leaves=4,
)
KEYS = sorted({key for keys in HANDLER_KEYS.values() for key in keys})
HANDLER = st.builds(
    lambda type_, usual, odd: {"type": type_, **{k: usual[k] for k in usual if k in HANDLER_KEYS[type_]}, **odd},
    st.sampled_from(list(HANDLER_KEYS)),
    st.fixed_dictionaries({"command": st.just("true"), "url": st.just("http://a"), "prompt": st.just("p"), "server": st.just("s"), "tool": st.just("t")}),
    st.dictionaries(st.sampled_from((*KEYS, "other")), ANYTHING, max_size=1),
)  # fmt: skip
GROUP = st.fixed_dictionaries({"hooks": st.lists(HANDLER, max_size=2)}, optional={"matcher": SCALARS}) | ANYTHING
BEYOND_SHAPE = {"bad-pattern", "bad-template"}


@given(data=st.data())
def test_a_file_loads_without_unknown_keys_if_and_only_if_the_schema_accepts_it(data: st.DataObject) -> None:
    names = st.sampled_from([*EVENTS, *CLAUDE_ONLY_EVENTS[:2], "Other"])
    hooks = data.draw(st.dictionaries(names, st.lists(GROUP, max_size=2) | ANYTHING, max_size=2) | ANYTHING)
    value = data.draw(st.just({"hooks": hooks, "else": 1}) | st.just({"hooks": {}, "disableAllHooks": 1}) | ANYTHING)
    document, _ = read_text(json.dumps(value), "settings.json")
    if document is None or value is None:
        return
    problems = get_dialect("claude_code").load(document).problems
    errors = [problem for problem in problems if problem.severity == "error" or problem.code == "unknown-key"]
    if not any(problem.code in BEYOND_SHAPE for problem in errors):
        accepted = jsonschema.Draft202012Validator(get_dialect("claude_code").schema()).is_valid(value)
        assert accepted is not bool(errors), errors
