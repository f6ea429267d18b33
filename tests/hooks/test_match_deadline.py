"""No fact is large enough to delay a decision: what is not read in time is undecided."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from hookline.errors import UndecidedError
from hookline.hooks.match_deadline import NO_DEADLINE, SLOW, in_time, pop_in_time
from hookline.testing import fire

PASSED = 0.0
MANY = 60_000  # read in about a second
VERY_MANY = 200_000
GUARDS: list[dict[str, Any]] = [
    {"tool": ["write_file", "read_file", "edit_file"], "input": {"path": "secret"}},
    {"input": {"path": {"glob": "secret/**"}}},
    {"tool": "write_file", "not": {"input": {"path": "^a/"}}},
    {"outside": "workspace"},
    {"tool": "bash", "input": {"command": "secret"}},
    {"input": {"command": {"starts": "git push"}}},
    {"runs": "rm"},
    {"pipes": {"from": "curl", "to": "sh"}},
    {"input": {"data": "secret"}},
    {"input": {"data.*.n": "secret"}},
    {"input": {"data.*.n": {"exists": True}}},
    {"secrets": True},
]


def test_all_items_come_before_the_deadline() -> None:
    assert list(in_time(range(1_000), time.perf_counter() + 60)) == list(range(1_000))
    assert list(in_time(iter(range(1_000)), NO_DEADLINE)) == list(range(1_000))
    assert list(pop_in_time([1, 2], NO_DEADLINE)) == [2, 1]


def test_many_items_are_not_read_after_it() -> None:
    with pytest.raises(UndecidedError):
        list(in_time(range(1_000), PASSED))
    with pytest.raises(UndecidedError):
        list(pop_in_time(list(range(1_000)), PASSED))


def test_a_few_items_are_read_even_after_it() -> None:
    assert list(in_time([1, 2], PASSED, SLOW)) == [1, 2]
    assert list(in_time(iter([1, 2]), PASSED)) == [1, 2]


def deep(levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


def large_calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that take seconds to read completely."""
    yield "read_file", {"paths": [f"a/b{n}" for n in range(VERY_MANY)]}
    yield "write_file", {"path": [f"a/../b{n}" for n in range(VERY_MANY)], "content": "x"}
    yield "write_file", {"path": "a/../" * VERY_MANY + "b", "content": "x"}
    yield "edit_file", {"edits": [{"path": f"b{n}"} for n in range(VERY_MANY)]}
    yield "read_file", {"paths": json.dumps([f"b{n}" for n in range(VERY_MANY)])}
    yield "edit_file", {"patch": "".join(f"*** Update File: b{n}\n" for n in range(VERY_MANY))}
    yield "bash", {"command": [["echo", f"w{n}"] for n in range(VERY_MANY)]}
    yield "bash", {"commands": [f"echo {n}" for n in range(VERY_MANY)]}
    yield "bash", {f"k{n}": f"v{n}" for n in range(VERY_MANY)}
    yield "frobnicate", {"data": [{"n": f"v{n}"} for n in range(VERY_MANY)]}
    yield "frobnicate", {"data": deep(VERY_MANY)}
    yield "frobnicate", {"data": list(range(VERY_MANY))}


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("number", range(12))
def test_the_size_of_a_call_does_not_delay_a_decision(number: int, tmp_path: Any) -> None:
    """One guard at a time, then so many that they are looked up in an index."""
    tool, input = list(large_calls())[number]
    hooks = [
        {"id": f"guard-{n}", "on": "tool.before", "when": when, "then": {"deny": "no"}} for n, when in enumerate(GUARDS)
    ]
    many = [{**hook, "id": f"{hook['id']}-{n}"} for n in range(5) for hook in hooks]
    for config in [[hook] for hook in hooks] + [many]:
        call = {"name": "tool.before", "tool": {"name": tool, "input": input}, "cwd": str(tmp_path)}
        started = time.thread_time()
        fire({"hooks": config}, call)
        assert time.thread_time() - started < 1.5  # the budget is 0.1 s; this includes loading the file


@pytest.mark.timing
@pytest.mark.parametrize("count", [1, 40], ids=["one", "indexed"])
def test_what_is_not_read_in_time_is_undecided(count: int, tmp_path: Any) -> None:
    """A guard holds for it, an allow and a note do not: the path that a hook is about may be the last."""
    call = {"name": "tool.before", "tool": {"name": "read_file", "input": {"paths": [f"a/b{n}" for n in range(MANY)]}}}
    when = {"tool": "read_file", "input": {"path": "secret"}}
    for then, verdict in (
        ({"deny": "no"}, "deny"),
        ({"ask": "sure?"}, "ask"),
        ("allow", "silent"),
        ({"tell": "x"}, "silent"),
    ):
        hooks = [{"id": f"hook-{n}", "on": "tool.before", "when": when, "then": then} for n in range(count)]
        decision = fire({"hooks": hooks}, {**call, "cwd": str(tmp_path)})
        assert decision.verdict.name.lower() == verdict
        assert {failure.kind.value for failure in decision.failures} == {"timeout"}


def test_a_part_that_certainly_fails_counts_more_than_one_that_is_undecided() -> None:
    """A guard on the paths of another tool is not asked about this one."""
    when = {"all": [{"input": {"paths.*": "secret"}}, {"tool": "write_file"}]}
    call = {
        "name": "tool.before",
        "tool": {"name": "read_file", "input": {"paths": [f"b{n}" for n in range(20 * MANY)]}},
    }
    decision = fire({"hooks": [{"id": "guard", "on": "tool.before", "when": when, "then": {"deny": "no"}}]}, call)
    assert not decision.failures
    assert decision.verdict.name == "SILENT"
