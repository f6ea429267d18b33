from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.errors import HooklineError
from hookline.runtime.models.turns import GO_ON, NO_RESULT, Answered, Call, Result, System, Told, User, turns


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str | None, *calls: str) -> dict[str, Any]:
    listed = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for id in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed or None}


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def test_neighbours_of_one_role_become_one_turn() -> None:
    told = turns([{"role": "system", "content": "Be brief."}, user("One"), user("Two"), answer("A"), answer("B")])
    assert told == (Told((System("Be brief."), User("One"), User("Two"))), Answered("A\n\nB"))


def test_results_stand_right_behind_their_calls_in_the_calls_order() -> None:
    told = turns([user("Go"), answer(None, "c1", "c2"), user("Hurry"), result("c2", "two"), result("c1", "one")])
    first, second = Call("c1", "bash", "{}"), Call("c2", "bash", "{}")
    assert told[1:] == (
        Answered("", (first, second)),
        Told((Result(first, "one"), Result(second, "two"), User("Hurry"))),
    )


def test_a_call_without_a_result_gets_one() -> None:
    told = turns([user("Go"), answer(None, "c1"), answer("Never mind.")])
    assert told[2] == Told((Result(Call("c1", "bash", "{}"), NO_RESULT),))


def test_a_result_without_its_call_is_left_out() -> None:
    assert turns([user("Go"), result("c0", "lost")]) == (Told((User("Go"),)),)


def test_a_result_behind_the_next_answer_is_not_taken_for_an_earlier_call_of_that_id() -> None:
    told = turns([user("Go"), answer(None, "c1"), result("c1", "one"), answer(None, "c1"), result("c1", "two")])
    results = [part.text for turn in told if isinstance(turn, Told) for part in turn.parts if isinstance(part, Result)]
    assert results == ["one", "two"]


def test_somebody_speaks_before_the_model_does() -> None:
    assert turns([answer("A")])[0] == Told((User(GO_ON),))
    assert turns([]) == (Told((User(GO_ON),)),)


def test_calls_may_be_json_text() -> None:
    text = '[{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]'
    assert turns([user("Go"), {"role": "assistant", "content": "", "tool_calls": text}])[1] == Answered(
        "", (Call("c1", "bash", "{}"),)
    )


@pytest.mark.parametrize("calls", ["{", "7", [7], [{"id": "c1"}], [{"id": "c1", "function": 7}]])
def test_calls_that_are_none_are_refused(calls: Any) -> None:
    with pytest.raises(HooklineError, match="tool_calls"):
        turns([user("Go"), {"role": "assistant", "content": "", "tool_calls": calls}])


MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.sampled_from(["", "hello"])),
        st.builds(lambda text: {"role": "system", "content": text}, st.sampled_from([None, "rule"])),
        st.builds(answer, st.sampled_from([None, "text"]), st.sampled_from(["c1", "c2"])),
        st.builds(answer, st.sampled_from([None, "", "text"])),
        st.builds(result, st.sampled_from(["c1", "c2", "c3"]), st.just("done")),
    ),
    max_size=12,
)


@settings(max_examples=300)
@given(MESSAGES)
def test_told_and_answered_alternate_and_every_call_has_its_result(messages: list[dict[str, Any]]) -> None:
    told = turns(messages)
    assert isinstance(told[0], Told)
    for before, after in pairwise(told):
        assert type(before) is not type(after)
    for before, after in pairwise((*told, Told(()))):
        if isinstance(before, Answered):
            assert isinstance(after, Told)
            assert [part.call for part in after.parts if isinstance(part, Result)] == list(before.calls)
    assert all(turn.parts if isinstance(turn, Told) else turn.text or turn.calls for turn in told)
