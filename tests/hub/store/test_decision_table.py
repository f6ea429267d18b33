from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.hub.context.running_hub import Hub
from hookline.hub.store.decision_table import DecisionFilter, first_outcome
from hub.hub_sandbox import Writer, async_test, open_hub


async def fill(hub: Hub) -> None:
    writer, other = Writer(), Writer("b" * 16)
    await hub.intake.take(
        [writer.start("box"), writer.call("ls", call="c1"), writer.call("rm -rf x", "deny", hook="no-rm")]
    )
    after = {"tool": {"name": "Bash", "input": {"command": "ls"}, "ok": True}}
    await hub.intake.take(
        [writer.line(kind="outcome", event="tool.after", session="s1", call="c1", tool="Bash", facts=after)]
    )
    later = "2026-11-16T21:00:00.000000Z"
    await hub.intake.take(
        [
            other.start("laptop"),
            other.line(
                at=later,
                event="prompt.submit",
                host="codex",
                session="s2",
                verdict="silent",
                facts={"prompt": "Größe 100%"},
            ),
            other.line(
                at=later,
                event="tool.before",
                host="codex",
                session="s2",
                tool="Edit",
                verdict="ask",
                hook="ask",
                agent="a1",
            ),
        ]
    )


async def found(hub: Hub, **filter: Any) -> list[str]:
    rows, _ = await hub.decisions.page(DecisionFilter(**filter), None, 50)
    return [f"{row['host']} {row['verdict']}" for row in rows]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({}, ["codex ask", "codex silent", "claude-code deny", "claude-code silent"]),
        ({"host": "codex"}, ["codex ask", "codex silent"]),
        ({"machine": "box"}, ["claude-code deny", "claude-code silent"]),
        ({"session": "s2", "event": "tool.before"}, ["codex ask"]),
        ({"agent": "a1"}, ["codex ask"]),
        ({"tool": "Bash", "verdict": "deny"}, ["claude-code deny"]),
        ({"hook": "no-rm"}, ["claude-code deny"]),
        ({"hooks": ("no-rm", "ask")}, ["codex ask", "claude-code deny"]),
        ({"hooks": ()}, []),
        ({"call": "c1"}, ["claude-code silent"]),
        ({"q": "RM x"}, ["claude-code deny"]),
        ({"q": "größe 100%"}, ["codex silent"]),
        ({"q": "1_0"}, []),
        ({"q": "%"}, ["codex silent"]),
        ({"since": 1794862800.0}, ["codex ask", "codex silent"]),
        ({"until": 1794862800.0}, ["claude-code deny", "claude-code silent"]),
        ({"session": "\0"}, []),
    ],
)
@async_test
async def test_decisions_are_found(filter: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await fill(hub)
        assert await found(hub, **filter) == expected


@async_test
async def test_pages_follow_each_other(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        await hub.intake.take([writer.call(str(number)) for number in range(7)])
        seen: list[str] = []
        before: int | None = None
        while True:
            rows, before = await hub.decisions.page(DecisionFilter(), before, 3)
            seen += [row["what"] for row in rows]
            if before is None:
                break
        assert seen == ["6", "5", "4", "3", "2", "1", "0"]


@async_test
async def test_a_row_tells_what_came_of_its_call(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await fill(hub)
        rows, _ = await hub.decisions.page(DecisionFilter(host="claude-code"), None, 50)
        assert [(row["what"], row.get("outcome"), row["machine"]) for row in rows] == [
            ("rm -rf x", None, "box"),
            ("ls", "ok", "box"),
        ]


def test_the_outcome_of_an_approved_call_is_how_it_ended() -> None:
    assert first_outcome([]) is None
    assert first_outcome(["approved"]) == "approved"
    assert first_outcome(["approved", "failed"]) == "failed"
    assert first_outcome(["refused", "ok"]) == "refused"


@async_test
async def test_earlier_decisions_of_a_session_and_counts(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await fill(hub)
        last = await hub.decisions.find("a" * 16 + "-3")
        assert last is not None
        assert [each["id"] for each in await hub.decisions.earlier_in_session(last, 10)] == ["a" * 16 + "-2"]
        assert await hub.decisions.counts("verdict", 0) == {"silent": 2, "deny": 1, "ask": 1}
        assert await hub.decisions.find("nonsense") is None
        assert await hub.decisions.find("a-" + "9" * 30) is None
        assert await hub.decisions.size() == 7
