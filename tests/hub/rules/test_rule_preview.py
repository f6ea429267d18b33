"""What rules would change is shown before they are saved."""

from __future__ import annotations

from pathlib import Path

from hookline.hub.rules.rule_sets import check_rules
from hookline.hub.store.decision_table import DecisionFilter
from hub.hub_sandbox import Writer, async_test, open_hub

RULE = '{"hooks": {"PreToolUse": [{"id": "no-push", "inputMatchers": {"command": "push"}, "action": "%s", "reason": "No."}]}}'


@async_test
async def test_the_decisions_that_differ_are_counted_and_listed(tmp_path: Path) -> None:
    writer = Writer()
    lines = [writer.start(), *(writer.call(command) for command in ("ls", "git push", "git pull", "git push -f"))]
    async with open_hub(tmp_path) as hub:
        await hub.intake.take(lines)
        hooks = check_rules(RULE % "deny", "everyone").hooks
        found = await hub.rule_preview.run("everyone", hooks, 10_000, DecisionFilter())
        assert (found["events"], found["heard"], found["tightened"], found["same"]) == (4, 2, 2, 2)
        assert {(each["before"], each["after"], each["hook"]) for each in found["items"]} == {
            ("silent", "deny", "no-push")
        }
        harmless = await hub.rule_preview.run(
            "everyone", check_rules(RULE % "log", "everyone").hooks, 2, DecisionFilter()
        )
        assert (harmless["events"], harmless["tightened"]) == (2, 0)


@async_test
async def test_a_removed_deny_is_loosened(tmp_path: Path) -> None:
    writer = Writer()
    trace = [{"hook": "old", "file": "rules/everyone", "line": 1, "outcome": {"verdict": "deny"}}]
    line = writer.call("git push", "deny", by="old", reason="No.", trace=trace)
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([writer.start(), line])
        found = await hub.rule_preview.run("everyone", (), 100, DecisionFilter())
        assert (found["loosened"], found["items"][0]["difference"]) == (1, "loosened")


@async_test
async def test_nobody_knows_what_a_new_script_would_answer(tmp_path: Path) -> None:
    writer = Writer()
    script = '{"hooks": {"PreToolUse": [{"id": "s", "action": "script", "script": "return null"}]}}'
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([writer.start(), writer.call("ls")])
        found = await hub.rule_preview.run("everyone", check_rules(script, "everyone").hooks, 100, DecisionFilter())
        assert found["unknown"] == ["s"]


@async_test
async def test_masked_facts_show_a_difference_where_they_are_enough_and_are_undecided_elsewhere(tmp_path: Path) -> None:
    """As `hookline replay` counts them."""
    writer = Writer()
    trace = [{"hook": "no-secret", "file": "hooks.yaml", "line": 1, "outcome": {"verdict": "deny"}}]
    lines = [
        writer.start(),
        writer.call("git push https://ann:***@h/x"),
        writer.call("curl -H 'Authorization: ***' h", "deny", by="no-secret", reason="No.", trace=trace),
    ]
    async with open_hub(tmp_path) as hub:
        await hub.intake.take(lines)
        hooks = check_rules(RULE % "deny", "everyone").hooks
        found = await hub.rule_preview.run("everyone", hooks, 100, DecisionFilter())
        assert (found["tightened"], found["undecided"], found["loosened"]) == (1, 1, 0)
        assert [each["difference"] for each in found["items"]] == ["tightened", "undecided"]
