"""What reaches a tool is what hooks decided about, or is decided now."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.frameworks.agent_run import FrameworkCall
from hookline.frameworks.decided_call import DecidedCall, find_decided_call, new_undecided_call, without_hooks
from hookline.frameworks.framework_hooks import FrameworkHooks
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport

PAUSING = FrameworkSupport("made-up", "Made up", "made-up", "made-up", "1", "…", ALL_EVENTS, pauses=True)
HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {input: {command: {command: rm}}}, then: {deny: Not rm.}}
  - {id: push, on: tool.before, when: {input: {command: {command: git push}}}, then: {ask: This pushes.}}
  - {id: enough, on: tool.before, when: {input: {command: halt-me}}, then: {halt: Enough.}}
"""


def bash(command: str) -> FrameworkCall:
    return FrameworkCall("bash", {"command": command}, "c1")


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[FrameworkHooks]:
    file = tmp_path / "hookline.yaml"
    file.write_text(HOOKS)
    made = FrameworkHooks(PAUSING, {"config": file})
    yield made
    made.close()


@pytest.fixture
def decided(hooks: FrameworkHooks) -> DecidedCall:
    return DecidedCall(hooks.new_run(), bash("ls"), {"command": "ls"})


def answer(decided: DecidedCall, call: FrameworkCall) -> tuple[Any, str | None]:
    given = asyncio.run(decided.answer(call))
    return given.input, given.refusal


def test_the_call_that_was_decided_runs(decided: DecidedCall) -> None:
    assert answer(decided, bash("ls")) == ({"command": "ls"}, None)


def test_a_changed_call_is_decided(decided: DecidedCall) -> None:
    assert answer(decided, bash("ls -l")) == ({"command": "ls -l"}, None)
    input, refusal = answer(decided, bash("rm x"))
    assert input is None
    assert (refusal or "").startswith("Not rm.")
    assert decided.was_stopped


def test_another_name_is_another_call(decided: DecidedCall) -> None:
    assert answer(decided, FrameworkCall("sh", {"command": "rm x"}, "c1"))[0] is None


def test_a_change_in_place_is_seen(hooks: FrameworkHooks) -> None:
    given = {"command": "ls"}
    decided = DecidedCall(hooks.new_run(), bash("ls"), given)
    given["command"] = "rm x"
    assert answer(decided, FrameworkCall("bash", given, "c1"))[0] is None


@pytest.mark.parametrize("approved", [True, False])
def test_an_ask_is_asked_in_the_framework_s_own_way(hooks: FrameworkHooks, approved: bool) -> None:
    decided = DecidedCall(hooks.new_run(), bash("ls"), {"command": "ls"}, lambda question: approved)
    assert (decided.answer_sync(bash("git push")).input is not None) is approved


def test_without_a_way_to_ask_an_ask_is_a_no(decided: DecidedCall) -> None:
    assert answer(decided, bash("git push"))[0] is None


def test_a_halt_refuses_also_what_was_decided(decided: DecidedCall) -> None:
    answer(decided, bash("halt-me"))
    assert answer(decided, bash("ls"))[0] is None


def test_a_pending_call_is_found_also_in_a_thread_without_the_context(decided: DecidedCall) -> None:
    key, found = {"a": 1}, []
    assert find_decided_call(key) is None
    with decided.pending(key):
        assert find_decided_call() is decided
        thread = threading.Thread(target=lambda: found.append((find_decided_call(key), find_decided_call({"a": 1}))))
        thread.start()
        thread.join()
    assert found == [(decided, None)]
    assert find_decided_call(key) is None


def find_elsewhere(**about: Any) -> DecidedCall | None:
    """In a thread without the context."""
    found: list[DecidedCall | None] = []
    thread = threading.Thread(target=lambda: found.append(find_decided_call(**about)))
    thread.start()
    thread.join()
    return found[0]


def test_a_tool_that_a_pending_call_may_run_is_found_in_another_thread(decided: DecidedCall) -> None:
    tool = object()
    with decided.pending("call", [tool, object()]):
        assert find_elsewhere(key="".join(("ca", "ll"))) is decided
        assert find_elsewhere(tool=tool) is decided
        assert find_elsewhere(tool=object()) is None
    assert find_elsewhere(tool=tool) is None


def test_the_innermost_call_of_a_tool_counts(hooks: FrameworkHooks, decided: DecidedCall) -> None:
    tool, around = object(), new_undecided_call(hooks.new_run(), "c1")
    with around.pending(object(), [tool]):
        with decided.pending(object(), [tool]):
            assert find_elsewhere(tool=tool) is decided
        assert find_elsewhere(tool=tool) is around


def test_threads_of_a_running_tool_belong_to_it(hooks: FrameworkHooks, decided: DecidedCall) -> None:
    tool, around = object(), new_undecided_call(hooks.new_run(), "c1")
    other = DecidedCall(hooks.new_run(), FrameworkCall("bash", {}, "c2"), {})
    with around.pending(object(), [tool]), decided.pending(object(), [tool]):
        with decided.running(bash("ls"), {"command": "ls"}):
            assert find_elsewhere(tool=tool) is None
            with other.pending(object(), [tool]):
                assert find_elsewhere(tool=tool) is other
        assert find_elsewhere(tool=tool) is decided


def test_a_tool_in_the_thread_of_another_pending_call_is_not_part_of_it(decided: DecidedCall) -> None:
    tool = object()
    with decided.pending(object(), [tool]):
        assert contextvars.Context().run(find_decided_call, tool=tool) is None


def test_an_agent_without_hooks_is_not_part_of_a_pending_call(decided: DecidedCall) -> None:
    tool, found = object(), []

    def run() -> None:
        with without_hooks():
            found.append(find_decided_call(tool=tool))

    with decided.pending(object(), [tool]):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        with without_hooks():  # code around the call that runs another agent
            assert find_decided_call() is decided
    assert found == [None]


def test_calls_that_a_tool_makes_itself_are_not_decided_again(hooks: FrameworkHooks, decided: DecidedCall) -> None:
    inner, key = DecidedCall(hooks.new_run(), bash("ls"), {}), object()
    with decided.pending(key), decided.running(bash("ls -l"), {"command": "ls -l"}):
        assert find_decided_call(key) is None
        with inner.pending(object()):
            assert find_decided_call() is inner
    assert decided.has_run
    assert decided.call.input == {"command": "ls -l"}


def test_a_call_of_another_tool_does_not_replace_the_call(decided: DecidedCall) -> None:
    with decided.running(FrameworkCall("other", {}, "c2"), {}):
        pass
    assert decided.call == bash("ls")


@pytest.mark.parametrize("id", ["c1", None])
def test_a_call_that_nothing_was_decided_about_is_decided(hooks: FrameworkHooks, id: str | None) -> None:
    undecided = new_undecided_call(hooks.new_run(), id)
    assert not undecided.was_reached
    assert answer(undecided, FrameworkCall("bash", {}, "c2"))[0] == {}
    assert answer(undecided, bash("rm x"))[0] is None
    assert undecided.was_stopped
    undecided.mark_running(FrameworkCall("bash", {"command": "ls"}, "c2"), {"command": "ls"})
    assert undecided.was_reached
    assert not undecided.was_stopped
    assert (undecided.call.name, undecided.call.input) == ("bash", {"command": "ls"})
    assert undecided.call.id == (id or "c2")


def test_a_call_inside_of_another_leaves_the_other_one(hooks: FrameworkHooks, decided: DecidedCall) -> None:
    """For a thread without the context, after the inner one has ended."""
    key, around = object(), new_undecided_call(hooks.new_run(), "c1")
    found: list[Any] = []
    with around.pending(key):
        with decided.pending(key):
            pass
        thread = threading.Thread(target=lambda: found.append(find_decided_call(key)))
        thread.start()
        thread.join()
    assert found == [around]
    assert find_decided_call(key) is None
