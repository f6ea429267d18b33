"""What hooks left of a request becomes the framework's messages again."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.frameworks.request_messages import MessageFormat, UnusableMessages, messages_after_hooks


class Native:
    def __init__(self, role: str, content: str, **more: Any) -> None:
        self.plain = {"role": role, "content": content, **more}

    def with_text(self, text: str) -> Native:
        return Native(**{**self.plain, "content": text})


FORM: MessageFormat[Native] = MessageFormat(
    lambda each: dict(each.plain),
    lambda each, text: each.with_text(text),
    Native,
)


CALLS = [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
HISTORY = [
    Native("user", "hello"),
    Native("assistant", "", tool_calls=CALLS),
    Native("tool", "ran", tool_call_id="c1", name="bash"),
    Native("assistant", "done"),
]
PLAIN = [FORM.read(each) for each in HISTORY]


def texts(left: list[Native]) -> list[str]:
    return [each.plain["content"] for each in left]


def test_unchanged_messages_are_the_same_objects() -> None:
    assert messages_after_hooks(HISTORY, PLAIN, list(PLAIN), FORM) == HISTORY


def test_changed_texts() -> None:
    left = [{**each, "content": f"{each['content']}!"} for each in PLAIN]
    made = messages_after_hooks(HISTORY, PLAIN, left, FORM)
    assert texts(made) == ["hello!", "!", "ran!", "done!"]
    assert made[1].plain["tool_calls"] == CALLS


def test_removed_messages_and_results_without_their_call() -> None:
    assert texts(messages_after_hooks(HISTORY, PLAIN, PLAIN[2:], FORM)) == ["done"]


def test_added_messages() -> None:
    left = [*PLAIN, {"role": "user", "content": "and now?"}]
    assert texts(messages_after_hooks(HISTORY, PLAIN, left, FORM))[-1] == "and now?"


@pytest.mark.parametrize(
    "left",
    [
        "nothing",
        [1],
        [PLAIN[0], PLAIN[1], PLAIN[3]],  # a call without its result
        [PLAIN[0], {**PLAIN[1], "tool_calls": []}, PLAIN[2], {**PLAIN[3], "role": "robot"}],
        [*PLAIN, {"role": "assistant", "content": "", "tool_calls": CALLS}],
        [{**PLAIN[0], "content": None}, *PLAIN[1:]],
    ],
)
def test_what_cannot_be_sent(left: Any) -> None:
    with pytest.raises(UnusableMessages):
        messages_after_hooks(HISTORY, PLAIN, left, FORM)
