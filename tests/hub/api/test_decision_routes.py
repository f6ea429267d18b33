from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from hub.hub_sandbox import Client, Writer, async_test, open_client


async def fill(client: Client) -> None:
    writer = Writer()
    await client.hub.intake.take(
        [
            writer.start("box"),
            writer.call("ls", call="c1"),
            writer.line(
                kind="answer", event="tool.before", session="s1", call="c1", tool="Bash", approved=True, by="ann"
            ),
            writer.call("=cmd|' /C calc'!A0", "deny", hook="no-cmd", reason="No."),
        ]
    )


@async_test
async def test_a_page_of_rows(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await fill(client)
        first = (await client.get("/decisions?limit=1")).json()
        assert [row["verdict"] for row in first["items"]] == ["deny"]
        second = (await client.get(f"/decisions?limit=1&before={first['next']}")).json()
        assert [(row["what"], row["outcome"]) for row in second["items"]] == [("ls", "approved")]
        assert (await client.get("/decisions?verdict=deny&q=NO-CMD&since=2026-01-01")).json()["items"] == first["items"]


@async_test
async def test_one_decision_with_all_that_is_known_about_its_call(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await fill(client)
        found = (await client.get(f"/decisions/{'a' * 16}-2")).json()
        assert found["record"]["facts"]["tool"]["input"] == {"command": "ls"}
        assert [each["kind"] for each in found["related"]] == ["answer"]
        assert (found["outcome"], found["machine"]) == ("approved", "box")
        for id in ("a" * 16 + "-1", "a" * 16 + "-9", "nothing", "%00", "a-1e5"):
            assert (await client.get(f"/decisions/{id}")).status_code == 404


@async_test
async def test_all_decisions_are_exported(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await fill(client)
        lines = (await client.get("/decisions/export?host=claude-code")).text.splitlines()
        assert [json.loads(line)["verdict"] for line in lines] == ["deny", "silent"]
        exported = await client.get("/decisions/export?format=csv")
        rows = list(csv.DictReader(exported.text.splitlines()))
        assert rows[0]["what"] == "'=cmd|' /C calc'!A0"  # no spreadsheet runs it
        assert rows[1]["what"] == "ls"
        assert exported.headers["content-disposition"] == 'attachment; filename="decisions.csv"'


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=501", "before=-1", "before=x", "since=someday", "verdict=maybe", "q=" + "x" * 201, "format=xml"],
)
@async_test
async def test_a_wrong_filter_is_refused(query: str, tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        path = "/decisions/export" if "format" in query else "/decisions"
        assert (await client.get(f"{path}?{query}")).status_code == 422


@pytest.mark.parametrize(
    "query", ["since=0001-01-01T00:00:00%2B14:00", "until=9999-12-31T23:59:59-14:00", "session=%00", "q=%00%20%25"]
)
@async_test
async def test_odd_values_find_nothing_or_everything_but_break_nothing(query: str, tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await fill(client)
        assert (await client.get(f"/decisions?{query}")).status_code in (200, 422)


@async_test
async def test_a_decision_is_explained_and_replayed(tmp_path: Path) -> None:
    deny = '{"hooks": {"PreToolUse": [{"matcher": "Bash", "action": "deny", "reason": "no"}]}}'
    async with open_client(tmp_path) as client:
        await fill(client)
        id = "a" * 16 + "-2"
        assert (await client.get(f"/decisions/{id}/why")).json()["under"] == "then"
        replayed = (await client.post(f"/decisions/{id}/replay", {"text": deny})).json()
        assert (replayed["difference"], replayed["decision"]["reason"]) == ("tightened", "no")
        assert (await client.post(f"/decisions/{id}/replay", {})).json()["under"] == "now"
        wrong = await client.post(f"/decisions/{id}/replay", {"text": deny.replace("deny", "dney")})
        assert (wrong.status_code, wrong.json()["detail"][0]["line"]) == (422, 1)
        assert (await client.get("/decisions/nothing/why")).status_code == 404


@async_test
async def test_a_decision_without_facts_is_not_explained(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await client.hub.intake.take([Writer().line(event="tool.before", verdict="deny")])
        for answer in (
            await client.get(f"/decisions/{'a' * 16}-1/why"),
            await client.post(f"/decisions/{'a' * 16}-1/replay", {}),
        ):
            assert (answer.status_code, "not recorded" in answer.json()["error"]) == (409, True)
