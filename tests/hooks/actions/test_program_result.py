"""How a finished program's end is read, for each way to read it and each kind of event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import Event
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import SILENT, ActionError, Audience, FailureKind, Note, Outcome, Verdict

BEFORE, AFTER, PROMPT = (Event(name, {}) for name in ("tool.before", "tool.after", "prompt.submit"))


def ended(code: int = 0, out: str = "", err: str = "", dropped: int = 0) -> ProgramResult:
    return ProgramResult(code, out, err, dropped, is_cut=bool(dropped))


TELLING_FORMATS = tuple(ResultFormat)[: tuple(ResultFormat).index(ResultFormat.CLAUDE) + 1]
"""Ours and Claude Code's. The cases of the other agents' dialects say what a plain text means there."""


def answered(answer: Any, event: Event = BEFORE, how: ResultFormat = ResultFormat.JSON) -> Outcome:
    return ResultParser(how, Audience.USER).parse(ended(out=json.dumps(answer)), event)


def failed(answer: Any, event: Event) -> ActionError:
    with pytest.raises(ActionError) as raised:
        answered(answer, event)
    return raised.value


@pytest.mark.parametrize("how", TELLING_FORMATS)
@pytest.mark.parametrize("to", [None, Audience.USER, Audience.AGENT])
def test_a_good_end_tells_its_stdout(how: ResultFormat, to: Audience | None) -> None:
    outcome = ResultParser(how, to).parse(ended(out="a\nb\n\n"), BEFORE)
    assert outcome == (SILENT if to is None else Outcome(notes=(Note("a\nb", to),)))


@pytest.mark.parametrize("how", ResultFormat)
def test_a_good_end_without_words_tells_nothing(how: ResultFormat) -> None:
    assert ResultParser(how, Audience.USER).parse(ended(out=" \n"), BEFORE) == SILENT


def test_never_reads_no_exit_code() -> None:
    assert ResultParser(ResultFormat.NEVER).parse(ended(3, err="x"), BEFORE) == SILENT


def test_an_error_is_a_failure() -> None:
    with pytest.raises(ActionError) as raised:
        ResultParser(ResultFormat.ERROR).parse(ended(3, err="x\n"), BEFORE)
    assert (raised.value.failure.kind, raised.value.failure.text) == (FailureKind.EXIT, "x (exit code 3)")


@pytest.mark.parametrize(
    ("reason", "finished", "said"),
    [
        ("{output} (exit code {exit_code})", ended(3, "out", "err"), "err (exit code 3)"),
        ("{output} (exit code {exit_code})", ended(3), "exit code 3"),
        ("No: {output}", ended(3, "out"), "No: out"),
        ("No: {output}", ended(3), "No: exit code 3"),
        ("No: {output}", ended(3, err="{output} {exit_code}"), "No: {output} {exit_code}"),
    ],
)
def test_nonzero_denies_with_the_reason(reason: str, finished: ProgramResult, said: str) -> None:
    assert ResultParser(ResultFormat.NONZERO, reason=reason).parse(finished, BEFORE) == Outcome(Verdict.DENY, said)


@pytest.mark.parametrize("how", [ResultFormat.EXIT2, ResultFormat.JSON])
class TestExitTwo:
    def test_it_denies_where_the_event_can_be_denied(self, how: ResultFormat) -> None:
        for event in (BEFORE, PROMPT):
            outcome = ResultParser(how, Audience.USER).parse(ended(2, '{"decision":"allow"}', "no\n"), event)
            assert outcome == Outcome(Verdict.DENY, "no")

    def test_after_the_fact_it_tells_the_agent(self, how: ResultFormat) -> None:
        assert ResultParser(how).parse(ended(2, "x", "lint\n"), AFTER) == Outcome(notes=(Note("lint"),))

    def test_without_words_somebody_still_hears_of_it(self, how: ResultFormat) -> None:
        assert ResultParser(how).parse(ended(2), BEFORE) == Outcome(Verdict.DENY)
        assert ResultParser(how).parse(ended(2), AFTER).notes[0].text.startswith("Blocked by hook")

    def test_another_code_is_a_failure(self, how: ResultFormat) -> None:
        for event in (BEFORE, AFTER, PROMPT):
            with pytest.raises(ActionError) as raised:
                ResultParser(how).parse(ended(1, '{"decision":"deny"}', "e\n"), event)
            assert (raised.value.failure.kind, raised.value.failure.text) == (FailureKind.EXIT, "e")

    def test_a_flood_is_cut(self, how: ResultFormat) -> None:
        assert len(ResultParser(how).parse(ended(2, err="x" * 100_000), BEFORE).reason) == 20_000


def test_exit_two_alone_reads_no_json() -> None:
    assert answered({"decision": "deny"}, how=ResultFormat.EXIT2).verdict is Verdict.SILENT


class TestJson:
    @pytest.mark.parametrize("word", ["deny", "block"])
    def test_deny_and_block_are_one(self, word: str) -> None:
        assert answered({"decision": word, "reason": "r"}) == Outcome(Verdict.DENY, "r")
        assert answered({"decision": word, "reason": "r"}, PROMPT) == Outcome(Verdict.DENY, "r")
        assert answered({"decision": word, "reason": "r"}, AFTER) == Outcome(notes=(Note("r"),))

    def test_allow_and_ask(self) -> None:
        assert answered({"decision": "allow", "reason": "r"}) == Outcome(Verdict.ALLOW, "r")
        assert answered({"decision": "ask"}) == Outcome(Verdict.ASK)

    @pytest.mark.parametrize("word", ["approve", "Deny", "", "yes", 5, True, [], {}])
    def test_another_word_before_a_tool_is_a_question(self, word: Any) -> None:
        failure = failed({"decision": word}, BEFORE).failure
        assert failure.kind is FailureKind.UNREADABLE_ANSWER
        assert failure.answer is not None
        assert failure.answer.verdict is Verdict.ASK
        assert [note.audience for note in failure.answer.notes] == [Audience.USER]

    @pytest.mark.parametrize(("event", "word"), [(AFTER, "allow"), (AFTER, "maybe"), (PROMPT, "ask"), (PROMPT, "x")])
    def test_another_word_elsewhere_is_passed_over(self, event: Event, word: str) -> None:
        answer = failed({"decision": word, "additionalContext": "c"}, event).failure.answer
        assert answer is not None
        assert answer.verdict is Verdict.SILENT
        assert answer.notes[0] == Note("c")

    @pytest.mark.parametrize("event", [BEFORE, AFTER, PROMPT])
    def test_continue_false_beats_every_decision(self, event: Event) -> None:
        for word in ("allow", "deny", "ask", "nonsense", None):
            outcome = answered({"continue": False, "stopReason": "s", "decision": word, "reason": "r"}, event)
            assert outcome == Outcome(reason="s", notes=(Note("s", Audience.USER),), halt=True)

    @pytest.mark.parametrize("value", [True, None])
    def test_true_stops_nothing(self, value: Any) -> None:
        assert answered({"continue": value}) == SILENT

    @pytest.mark.parametrize("value", ["false", 0, 1, "true", []])
    def test_a_continue_that_is_no_boolean_asks(self, value: Any) -> None:
        """It may have meant false."""
        counts_as = failed({"continue": value, "decision": "allow"}, BEFORE).failure.answer
        assert counts_as is not None
        assert counts_as.verdict is Verdict.ASK
        assert answered({"continue": value, "decision": "deny", "reason": "r"}) == Outcome(Verdict.DENY, "r")

    def test_context_is_for_the_agent_unless_denied(self) -> None:
        assert answered({"additionalContext": "c"}, PROMPT) == Outcome(notes=(Note("c"),))
        assert answered({"decision": "block", "additionalContext": "c"}, PROMPT) == Outcome(Verdict.DENY)
        assert answered({"additionalContext": 5}, PROMPT) == SILENT

    def test_an_object_is_never_shown(self) -> None:
        for answer in ({}, {"suppressOutput": True}, {"suppressOutput": False}, {"unknown": 1}):
            assert answered(answer) == SILENT

    @pytest.mark.parametrize("text", ["[]", "5", '"x"', '{"a": 1} x', "x {}", "{", '{"a": 1}{}', "null"])
    def test_anything_but_one_object_is_text(self, text: str) -> None:
        outcome = ResultParser(ResultFormat.JSON, Audience.USER).parse(ended(out=text), BEFORE)
        assert outcome == Outcome(notes=(Note(text, Audience.USER),))

    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_an_answer_that_was_cut_is_unreadable(self, mark: str) -> None:
        with pytest.raises(ActionError) as raised:
            ResultParser(ResultFormat.JSON).parse(
                ended(out=f'{mark}{{"decision": "deny", "reason": "xxx', dropped=5), BEFORE
            )
        assert raised.value.failure.kind is FailureKind.UNREADABLE_ANSWER
        assert raised.value.failure.answer is not None
        assert raised.value.failure.answer.verdict is Verdict.ASK

    def test_text_that_was_cut_is_text(self) -> None:
        assert (
            ResultParser(ResultFormat.JSON, Audience.USER).parse(ended(out="xx", dropped=5), BEFORE).notes[0].text
            == "xx"
        )


TWICE = (
    '{"decision": "deny", "decision": "allow"}',
    '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}',
    '{"continue": false, "continue": true}',
)


@pytest.mark.parametrize("how", [ResultFormat.JSON, ResultFormat.CLAUDE])
@pytest.mark.parametrize("text", TWICE)
def test_an_answer_that_says_a_key_twice_cannot_be_read(how: ResultFormat, text: str) -> None:
    with pytest.raises(ActionError, match="twice") as raised:
        ResultParser(how).parse(ended(out=text), BEFORE)
    failure = raised.value.failure
    assert failure.kind is FailureKind.UNREADABLE_ANSWER
    assert failure.answer is not None
    assert failure.answer.verdict is Verdict.ASK


@pytest.mark.parametrize("how", [ResultFormat.JSON, ResultFormat.CLAUDE])
def test_where_nobody_can_be_asked_about_such_an_answer_it_blocks(how: ResultFormat) -> None:
    with pytest.raises(ActionError, match="twice") as raised:
        ResultParser(how).parse(ended(out='{"decision": "block", "decision": null}'), PROMPT)
    assert raised.value.failure.answer is not None
    assert raised.value.failure.answer.verdict is Verdict.DENY


def test_one_that_is_for_later_by_its_first_line_alone_is_read_whole() -> None:
    with pytest.raises(ActionError, match="twice"):
        ResultParser(ResultFormat.CLAUDE).parse(ended(out='{"async": false, "async": true}'), BEFORE)
