from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.errors import ConfigError
from hookline.patterns.pattern import pattern
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import (
    SCRIPT_KEYS,
    STEP_KEYS,
    ModelScript,
    RequestMatcher,
    ScriptStep,
    parse_script,
)

pytestmark = pytest.mark.slow


WHOLE = """\
version: 1
context_limit: 8000
pace: 20ms
end: Good bye.
steps:
  - Hello.
  - say: Let me look.
    calls:
      - read_file: {path: a.py}
      - bash: {command: ls}
    delay: 200ms
    spend: {input: 1200, output: 80}
  - call: {status: }
  - error: rate_limit
  - {say: Half, error: {code: network, message: it broke, after: 2s}}
  - {when: denied, say: "Careful!", once: true}
  - {when: {last: a, prompt: b, system: c}, call: {bash: "{not json"}}
agents:
  reviewer:
    - Fine.
  planner: {system: 'plan(s|ned)', steps: [Planned.]}
"""


def test_every_key() -> None:
    script = parse_script(WHOLE)
    assert (script.context_limit, script.pace, script.end, script.loop) == (
        8_000,
        timedelta(milliseconds=20),
        "Good bye.",
        False,
    )
    assert script.steps == (
        ScriptStep("Hello."),
        ScriptStep(
            "Let me look.",
            (("read_file", {"path": "a.py"}), ("bash", {"command": "ls"})),
            delay=timedelta(milliseconds=200),
            spend=(1200, 80),
        ),
        ScriptStep(calls=(("status", {}),)),
        ScriptStep(error=ErrorCode.RATE_LIMIT),
        ScriptStep("Half", error=ErrorCode.NETWORK, message="it broke", after=timedelta(seconds=2)),
        ScriptStep("Careful!", when=RequestMatcher(last=pattern("denied")), once=True),
        ScriptStep(calls=(("bash", "{not json"),), when=RequestMatcher(pattern("a"), pattern("b"), pattern("c"))),
    )
    reviewer, planner = script.sections
    assert reviewer.system.search("You are the Reviewer.")
    assert not reviewer.system.search("You are previewers.")
    assert (planner.system, planner.steps) == (pattern("plan(s|ned)"), (ScriptStep("Planned."),))


def test_a_list_is_its_steps() -> None:
    assert parse_script("- One.\n- say: Two.\n") == ModelScript((ScriptStep("One."), ScriptStep("Two.")))


PROBLEMS = {
    "steps:\n  - sey: x": (2, "Did you mean say?"),
    "steps:\n  - delay: 1s": (2, "this step has no answer"),
    "steps:\n  - {say: x, delay: 200}": (2, "200ms for milliseconds"),
    "steps:\n  - call: {a: {}, b: {}}": (2, "a call names exactly one tool"),
    "steps:\n  - call: ls": (2, "not a mapping"),
    "steps:\n  - call: {bash: [ls]}": (2, "not a mapping"),
    "steps:\n  - error: ratelimit": (2, "Did you mean rate_limit?"),
    "steps:\n  - error: {message: x}": (2, "code is missing"),
    "steps:\n  - {say: x, when: '('}": (2, "is not a pattern"),
    "steps:\n  - {say: x, when: {}}": (2, "matches every request"),
    "steps:\n  - {say: x, when: {latest: x}}": (2, "Did you mean last?"),
    "steps:\n  - {say: x, once: true}": (2, "without `when`"),
    "steps:\n  - {say: x, spend: {input: -1}}": (2, "less than 0"),
    "steps: x": (1, "not a list"),
    "version: 2\nsteps: [x]": (1, "version: 2 is not known"),
    "loop: maybe\nsteps: [x]": (1, "not true or false"),
    "context_limit: 0\nsteps: [x]": (1, "less than 1"),
    "agents:\n  a: {system: x}": (2, "no steps"),
    "": (1, "has no steps"),
    "7": (1, "not a mapping"),
    "steps: [x": (1, "Close the list"),
}


@pytest.mark.parametrize("text", PROBLEMS)
def test_what_is_wrong_is_said_with_its_line(text: str) -> None:
    line, said = PROBLEMS[text]
    with pytest.raises(ConfigError) as error:
        parse_script(text, "demo.yaml")
    assert any(str(each).startswith(f"demo.yaml:{line}  ") and said in str(each) for each in error.value.problems), str(
        error.value
    )


KEYS = st.sampled_from([*SCRIPT_KEYS, *STEP_KEYS, "code", "last", "x"])
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from(["", "x", "(", "1s", "network"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_is_a_script_or_has_problems(value: object) -> None:
    with suppress(ConfigError):
        assert isinstance(parse_script(json.dumps(value)), ModelScript)


def test_every_key_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "runtime" / "models.md").read_text(encoding="utf-8")
    for keys in (SCRIPT_KEYS, STEP_KEYS):
        rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
        assert [row for row in rows if row in keys] == [*keys]
