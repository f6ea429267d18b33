from __future__ import annotations

from typing import Any

from hookline.record.hook_stats import HookStats, count_hooks
from hookline.record.hooks_then import HookPaths
from hookline.record.segment import RecordDirectory


def ran(hook: str, outcome: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {"hook": hook, "file": "a.yaml", "line": 3, "outcome": outcome, "ms": 1.0, **more}


def test_what_hooks_said(directory: RecordDirectory) -> None:
    records: list[dict[str, Any]] = [
        {"hook": "a", "trace": [ran("a", {"verdict": "deny"}), ran("b", {"verdict": "ask"})]},
        {"trace": [ran("a", {"verdict": "silent"}, ms=5.0), ran("c", {"verdict": "silent", "notes": []})]},
        {"hook": "a", "trace": [ran("a", None, failure={"kind": "crash"}, line=4)]},
    ]
    found = count_hooks(records, HookPaths(directory).find)
    a, b, c = (found["a.yaml", id] for id in "abc")
    assert (a.ran, a.spoke, a.denied, a.asked, a.failed, a.overridden, a.line) == (3, 1, 1, 0, 1, 0, 4)
    assert (b.asked, b.overridden, b.is_always_overridden) == (1, 1, True)
    assert (c.spoke, c.is_always_overridden) == (1, False)
    assert (a.percentile(50), a.percentile(95)) == (1.0, 5.0)


def test_an_allow_is_overridden_by_a_deny_but_not_by_another_allow(directory: RecordDirectory) -> None:
    stopped = {"hook": "c", "verdict": "deny", "trace": [ran("a", {"verdict": "allow"}), ran("c", {"verdict": "deny"})]}
    allowed = {"hook": "b", "verdict": "allow", "trace": [ran(id, {"verdict": "allow"}) for id in "db"]}
    found = count_hooks([stopped, stopped, allowed], HookPaths(directory).find)
    assert [(found["a.yaml", id].overridden, found["a.yaml", id].is_always_overridden) for id in "abcd"] == [
        (2, True),
        *[(0, False)] * 3,
    ]
    again = count_hooks([stopped, {**stopped, "hook": "a", "verdict": "allow"}], HookPaths(directory).find)
    assert not again["a.yaml", "a"].is_always_overridden


def test_a_hook_that_runs_again_after_a_change_counts_once(directory: RecordDirectory) -> None:
    asked, denied = ran("a", {"verdict": "ask"}), ran("a", {"verdict": "deny"})
    found = count_hooks(
        [{"hook": "a", "trace": [asked, asked]}, {"hook": "a", "trace": [asked, denied]}], HookPaths(directory).find
    )
    a = found["a.yaml", "a"]
    assert (a.ran, a.spoke, a.asked, a.denied, a.overridden, a.times) == (2, 2, 1, 1, 0, [2.0, 2.0])


def test_a_halt_that_denies_counts_as_a_deny(directory: RecordDirectory) -> None:
    halts = ran("a", {"verdict": "silent", "halt": True})
    denied = {"hook": "b", "verdict": "deny", "halt": True, "trace": [ran("b", {"verdict": "deny"}), halts]}
    ended = {"hook": "a", "verdict": "silent", "halt": True, "trace": [halts]}
    a = count_hooks([denied, ended], HookPaths(directory).find)["a.yaml", "a"]
    assert (a.ran, a.spoke, a.denied, a.is_always_overridden) == (2, 2, 1, False)


def test_percentiles_are_times_that_so_many_do_not_exceed() -> None:
    stats = HookStats("a", "f", times=[float(each) for each in range(20, 0, -1)])
    assert (stats.percentile(50), stats.percentile(95), stats.percentile(100)) == (10.0, 19.0, 20.0)
    assert HookStats("a", "f", times=[96.0, 27.0]).percentile(50) == 27.0


def test_a_hook_that_never_ran() -> None:
    assert HookStats("a", "f").percentile(50) == 0.0
