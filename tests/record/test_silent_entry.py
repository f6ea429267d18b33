"""The quick way to a silent decision's record writes what the long way writes, and leaves the rest to it."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, Note, Verdict
from hookline.hooks.record_settings import RecordedFacts
from hookline.record.entry import decision_entry
from hookline.record.facts import RecordableFacts, environment_secrets
from hookline.record.silent_entry import SilentEntries

MASKED = RecordedFacts.MASKED
HOOKS = "ab" * 32


class Color(StrEnum):
    RED = "red"


def event(**facts: Any) -> Event:
    known = {"session": {"id": "s-1"}, "tool": {"name": "Bash", "id": "t-1"}, "time": "2026-11-16T20:01:35Z"}
    return Event("tool.before", {**known, **facts})


def quick(entries: SilentEntries, asked: Event, seconds: float = 0.25) -> Any:
    text = entries.encode(asked, Decision(asked), seconds, HOOKS)
    return None if text is None else json.loads("{" + text)


def long(asked: Event, seconds: float = 0.25) -> Any:
    entry = decision_entry(asked, Decision(asked), seconds, RecordableFacts(MASKED, masks=True))
    return json.loads(json.dumps({**entry, "hooks": HOOKS}))


def _canonical(entry: Any) -> str:
    """Tells 1, 1.0 and true apart, which are equal in Python."""
    return json.dumps(entry, sort_keys=True)


texts = st.text(max_size=12)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
sessions = [{"id": "a", "tool_calls": number} for number in (1, 2, True, 1.0, "1")]
few = st.sampled_from(
    [0, 1, True, False, 1.0, "1", "", None, {"id": 1}, {"id": True}, {"id": "a"}, {"name": ""}, *sessions]
)
names = st.sampled_from(["host", "session", "thread", "agent", "user", "cwd", "time", "x"])
facts = st.dictionaries(names, st.one_of(few, values), max_size=5)
tools = st.fixed_dictionaries(
    {"name": texts},
    optional={
        "id": st.one_of(texts, st.integers()),
        "caller": texts,
        "input": st.dictionaries(texts, values, max_size=3),
    },
)


@given(st.lists(st.tuples(facts, tools), min_size=1, max_size=6))
def test_it_says_what_the_long_way_says(given: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    entries = SilentEntries(environment_secrets())
    for each, tool in given:
        asked = Event("tool.before", {"time": "2026-11-16T20:01:35Z", **each, "tool": tool})
        said = quick(entries, asked)
        assert said is None or _canonical(said) == _canonical(long(asked))


def test_most_records_are_written_the_quick_way() -> None:
    entries = SilentEntries(environment_secrets())
    for number in range(3):
        asked = event(cwd="/home/ann", tool={"name": "Bash", "id": f"t-{number}", "input": {"command": f"ls {number}"}})
        assert quick(entries, asked) == long(asked)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"kind": "shell", "id": "1", "name": "Bash"}, {"kind": "shell", "id": "1", "name": "Read"}),
        (
            {"name": "Bash", "id": "1", "input": {}},
            {"name": "Bash", "id": "1", "input": {"command": "PASSWORD=hunter2"}},
        ),
        ({"name": "Bash", "id": "1"}, {"name": "Bash", "id": "ghp_" + "a" * 36}),
        (
            {"name": "Bash", "input": {"argv": ["curl", {"a": "b", "id": "1"}]}},
            {"name": "Bash", "input": {"argv": ["curl", {"a": "b", "id": "1"}, "-b", "s=1"]}},
        ),
    ],
)
def test_what_is_known_of_one_call_is_not_said_of_another(first: dict[str, Any], second: dict[str, Any]) -> None:
    entries = SilentEntries(environment_secrets())
    for tool in (first, first, second, first):
        asked = event(tool=tool)
        said = quick(entries, asked)
        assert said is None or _canonical(said) == _canonical(long(asked))


def test_values_that_are_equal_but_differ_in_json_are_told_apart() -> None:
    entries = SilentEntries(environment_secrets())
    for value in (1, True, 1.0, {"a": 1}, {"a": True}, {"a": 1.0}, {"a": "1"}):
        said = quick(entries, event(x=value))
        assert repr(said["facts"]["x"]) == repr(value)


def test_a_session_that_counts_its_calls_is_written_the_quick_way() -> None:
    entries = SilentEntries(environment_secrets())
    for session in ("s-1", "s-1", "s-2", "s-1", ""):
        for count in (1, 2, True, 2.0, 10**30):
            asked = event(session={"id": session, "tool_calls": count})
            assert _canonical(quick(entries, asked)) == _canonical(long(asked))


def test_a_fact_that_its_owner_changes_is_encoded_anew() -> None:
    entries, agent = SilentEntries(environment_secrets()), {"id": "a"}
    assert quick(entries, event(agent=agent))["agent"] == "a"
    agent["id"] = "b"
    assert quick(entries, event(agent=agent)) == long(event(agent=agent))


@pytest.mark.parametrize(
    "secret", ["password=hunter2", "Bearer abcdef", "ghp_" + "a" * 36, "https://u:pw@host/", "curl -u ann:pw"]
)
def test_what_may_be_secret_is_left_to_the_long_way(secret: str) -> None:
    entries = SilentEntries(environment_secrets())
    for _ in range(2):
        assert quick(entries, event(cwd=secret)) is None
        assert quick(entries, event(tool={"name": "Bash", "input": {"command": secret}})) is None
        assert quick(entries, event(session={"id": secret})) is None
        assert quick(entries, event(session={"id": secret, "tool_calls": 2})) is None
        assert quick(entries, event(**{secret: "x"})) is None
    assert quick(entries, event(cwd="/home/ann")) is not None


def test_long_texts_are_left_to_the_long_way() -> None:
    assert quick(SilentEntries(environment_secrets()), event(cwd="x" * 5000)) is None


@pytest.mark.parametrize("value", [float("nan"), object(), b"bytes", {1, 2}])
def test_values_that_are_not_json_are_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        quick(SilentEntries(environment_secrets()), event(tool={"name": "Bash", "input": {"x": value}}))


def test_a_text_of_another_class_is_a_text() -> None:
    entries = SilentEntries(environment_secrets())
    assert quick(entries, event(cwd="red")) == quick(entries, event(cwd=Color.RED))


def test_a_decision_on_which_a_hook_spoke_is_left_to_the_long_way() -> None:
    asked = event()
    spoken = [
        Decision(asked, Verdict.DENY),
        Decision(asked, Verdict.ALLOW),
        Decision(asked, halt=True),
        Decision(asked, notes=(Note("x", Audience.USER),)),
        Decision(asked, reason="x"),
        Decision(asked, by="hook"),
    ]
    assert [SilentEntries(environment_secrets()).encode(asked, each, 0.0, HOOKS) for each in spoken] == [None] * 6
