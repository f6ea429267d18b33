"""In a condition that counts as usual, the lint finds no error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.problem import Severity
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import All
from hookline.hooks.conditions.text import Matches
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import FIELD_NAMES, NATIVE, VOCABULARIES, Vocabulary
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import BadPattern, pattern
from hookline.project.condition_lint import errors_in_condition, lint_condition
from hookline.project.usual_conditions import is_usual

ODD_PARTS = ("^", "$", r"\A", r"\z", "[]", "(?!", "(?<!", "{{cwd}}", "%USERPROFILE%", "~/", "\x08", "\t", "\u200b", "*")


def errors_in(when: Condition) -> list[str]:
    deny = FixedAnswer(Outcome(Verdict.DENY, "no"))
    hook = Hook(id="x", event="tool.before", when=when, then=deny, origin=Origin("hookline.yaml", 1, "native"))
    found = [problem for problem in lint_condition(hook) if problem.severity is Severity.ERROR]
    return [problem.what for problem in (*found, *errors_in_condition(hook))]


@pytest.mark.parametrize("vocabulary", VOCABULARIES.values(), ids=lambda each: each.name)
def test_known_tools_are_usual_and_have_no_errors(vocabulary: Vocabulary) -> None:
    tools = [name for names in vocabulary.names.values() for name in names]
    conditions = [Matches(ToolName(vocabulary), shorthand("tool", name)) for name in tools]
    assert [str(when) for when in conditions if not is_usual(when) or errors_in(when)] == []


def test_known_fields_are_usual_and_have_no_errors() -> None:
    fields = {name for of_kind in FIELD_NAMES.values() for name in of_kind}
    conditions = [Matches(ToolField((name,)), pattern("x")) for name in fields]
    assert [str(when) for when in conditions if not is_usual(when) or errors_in(when)] == []


@given(
    st.lists(st.one_of(st.sampled_from(ODD_PARTS), st.sampled_from("ab./-|()?+ "), st.characters()), max_size=6),
    st.sampled_from(("command", "path", "content", "comand", "tool.input.path")),
)
def test_a_usual_pattern_has_no_errors(parts: list[str], field: str) -> None:
    try:
        when = Matches(ToolField((field,)), pattern("".join(parts)))
    except BadPattern:
        return
    assert not is_usual(when) or not errors_in(when)


@pytest.mark.parametrize(
    "when",
    [
        Matches(ToolName(NATIVE), shorthand("tool", "raed_file")),
        Matches(ToolName(NATIVE), pattern("bash")),
        Matches(ToolField(("comand",)), pattern("x")),
        Matches(ToolField(("command",)), pattern("a^b")),
        Matches(ToolField(("command",)), shorthand("glob", "*rm*")),
        All(
            (
                Matches(ToolName(NATIVE), shorthand("tool", "bash")),
                Matches(ToolName(NATIVE), shorthand("tool", "read_file")),
            )
        ),
    ],
    ids=str,
)
def test_these_are_for_the_lint(when: Condition) -> None:
    assert not is_usual(when)
