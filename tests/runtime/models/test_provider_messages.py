from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.errors import HooklineError
from hookline.runtime.models.provider_messages import (
    FILLER_PROMPT,
    INTERRUPTED_RESULT,
    CallPart,
    RequestMessage,
    ResponseMessage,
    ResultPart,
    SystemPart,
    UserPart,
    build_conversation,
)

pytestmark = pytest.mark.slow


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str | None, *calls: str) -> dict[str, Any]:
    listed = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for id in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed or None}


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def test_neighbours_of_one_role_become_one_turn() -> None:
    told = build_conversation(
        [{"role": "system", "content": "Be brief."}, user("One"), user("Two"), answer("A"), answer("B")]
    )
    assert told == (
        RequestMessage((SystemPart("Be brief."), UserPart("One"), UserPart("Two"))),
        ResponseMessage("A\n\nB"),
    )


def test_results_stand_right_behind_their_calls_in_the_calls_order() -> None:
    told = build_conversation(
        [user("Go"), answer(None, "c1", "c2"), user("Hurry"), result("c2", "two"), result("c1", "one")]
    )
    first, second = CallPart("c1", "bash", "{}"), CallPart("c2", "bash", "{}")
    assert told[1:] == (
        ResponseMessage("", (first, second)),
        RequestMessage((ResultPart(first, "one"), ResultPart(second, "two"), UserPart("Hurry"))),
    )


def test_a_call_without_a_result_gets_one() -> None:
    told = build_conversation([user("Go"), answer(None, "c1"), answer("Never mind.")])
    assert told[2] == RequestMessage((ResultPart(CallPart("c1", "bash", "{}"), INTERRUPTED_RESULT),))


def test_a_result_without_its_call_is_left_out() -> None:
    assert build_conversation([user("Go"), result("c0", "lost")]) == (RequestMessage((UserPart("Go"),)),)


def test_a_result_behind_the_next_answer_is_not_taken_for_an_earlier_call_of_that_id() -> None:
    told = build_conversation(
        [user("Go"), answer(None, "c1"), result("c1", "one"), answer(None, "c1"), result("c1", "two")]
    )
    results = [
        part.text
        for turn in told
        if isinstance(turn, RequestMessage)
        for part in turn.parts
        if isinstance(part, ResultPart)
    ]
    assert results == ["one", "two"]


def test_somebody_speaks_before_the_model_does() -> None:
    assert build_conversation([answer("A")])[0] == RequestMessage((UserPart(FILLER_PROMPT),))
    assert build_conversation([]) == (RequestMessage((UserPart(FILLER_PROMPT),)),)


def test_calls_may_be_json_text() -> None:
    text = '[{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]'
    assert build_conversation([user("Go"), {"role": "assistant", "content": "", "tool_calls": text}])[
        1
    ] == ResponseMessage("", (CallPart("c1", "bash", "{}"),))


@pytest.mark.parametrize("calls", ["{", "7", [7], [{"id": "c1"}], [{"id": "c1", "function": 7}]])
def test_calls_that_are_none_are_refused(calls: Any) -> None:
    with pytest.raises(HooklineError, match="tool_calls"):
        build_conversation([user("Go"), {"role": "assistant", "content": "", "tool_calls": calls}])


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


@given(MESSAGES)
def test_told_and_answered_alternate_and_every_call_has_its_result(messages: list[dict[str, Any]]) -> None:
    told = build_conversation(messages)
    assert isinstance(told[0], RequestMessage)
    for before, after in pairwise(told):
        assert type(before) is not type(after)
    for before, after in pairwise((*told, RequestMessage(()))):
        if isinstance(before, ResponseMessage):
            assert isinstance(after, RequestMessage)
            assert [part.call for part in after.parts if isinstance(part, ResultPart)] == list(before.calls)
    assert all(turn.parts if isinstance(turn, RequestMessage) else turn.text or turn.calls for turn in told)
