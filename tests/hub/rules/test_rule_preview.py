"""What rules would change is shown before they are saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookline.hooks.hook import Hook
from hookline.hub.explain import script_trial
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


def script_rule(source: str) -> tuple[Hook, ...]:
    rule = {"id": "s", "matcher": "Bash", "action": "script", "script": source}
    return check_rules(json.dumps({"hooks": {"PreToolUse": [rule]}}), "everyone").hooks


NO_PUSH = "if (toolInput.command.includes('push')) return {decision: 'deny', reason: 'No.'}"


@async_test
async def test_a_new_script_runs_about_what_was_recorded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = Writer()
    lines = [writer.start(), *(writer.call(command) for command in ("ls", "git push", "git pull"))]
    async with open_hub(tmp_path) as hub:
        await hub.intake.take(lines)
        with caplog.at_level("INFO", logger="hookline"):
            found = await hub.rule_preview.run(
                "everyone", script_rule(f"log('seen'); {NO_PUSH}"), 100, DecisionFilter()
            )
        assert (found["heard"], found["tightened"], found["unknown"]) == (3, 1, [])
        assert [(each["after"], each["hook"], each["what"]) for each in found["items"]] == [("deny", "s", "git push")]
        assert "seen" not in caplog.text


@pytest.mark.parametrize(
    "source",
    [
        "const read = await callTool('read_file', {path: 'a'}); return {decision: 'deny', reason: read.content}",
        "try { await callTool('bash', {command: 'touch ran'}) } catch {}; return null",
        "if (document.body.innerHTML) return {decision: 'deny'}",
        "while (true) {}",
    ],
)
@async_test
async def test_nobody_knows_what_a_script_says_that_needs_more_than_the_event(tmp_path: Path, source: str) -> None:
    writer = Writer()
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([writer.start(), *(writer.call("ls") for _ in range(4))])
        found = await hub.rule_preview.run("everyone", script_rule(source), 100, DecisionFilter())
        assert (found["unknown"], found["same"]) == (["s"], 4)


@async_test
async def test_a_script_that_fails_stops_the_call_if_the_rule_says_so(tmp_path: Path) -> None:
    writer = Writer()
    rule = {"id": "s", "action": "script", "script": "throw new Error('broken')", "continueOnError": False}
    hooks = check_rules(json.dumps({"hooks": {"PreToolUse": [rule]}}), "everyone").hooks
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([writer.start(), writer.call("ls")])
        found = await hub.rule_preview.run("everyone", hooks, 100, DecisionFilter())
        assert (found["tightened"], found["unknown"]) == (1, [])


@async_test
async def test_a_preview_runs_so_many_scripts_and_names_those_that_it_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script_trial, "_MAX_RUNS", 3)
    writer = Writer()
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([writer.start(), *(writer.call("git push") for _ in range(5))])
        found = await hub.rule_preview.run("everyone", script_rule(NO_PUSH), 100, DecisionFilter())
        assert (found["tightened"], found["unknown"]) == (3, ["s"])


@async_test
async def test_a_new_log_rule_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = Writer()
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([writer.start(), writer.call("git push")])
        with caplog.at_level("INFO", logger="hookline"):
            hooks = check_rules(RULE % "log", "everyone").hooks
            found = await hub.rule_preview.run("everyone", hooks, 100, DecisionFilter())
        assert (found["heard"], found["same"], found["unknown"]) == (1, 1, [])
        assert "git push" not in caplog.text


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
