"""Rules are checked, versioned and in force without a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.config.problem import Severity
from hookline.errors import HooklineError
from hookline.hub.rules.rule_sets import EMPTY_TEXT, BadRules, RuleConflict, RuleSets, check_rules, parse_set_id
from hookline.hub.store.rule_table import RuleTable
from hub.hub_sandbox import async_test, open_hub

DENY = '{"hooks": {"PreToolUse": [{"id": "no-shell", "matcher": "bash", "action": "deny", "reason": "No."}]}}'


def test_the_empty_text_has_no_problem() -> None:
    assert check_rules(EMPTY_TEXT, "everyone").problems == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "rules/everyone"),
        ('{"hooks": {"PreToolUse": [{"matcher": "(", "action": "deny"}]}}', "matcher"),
        ('{"hooks": {"PreToolUse": [{"action": "script", "script": ""}]}}', "script"),
        ('{"hooks": {"PreToolUse": [{"action": "script", "script": "retrun 1;"}]}}', "syntax error on line 1"),
        ('{"hooks": {"PreToolUse": [{"command": "touch /tmp/x"}]}}', "cannot run a command"),
        ('{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "id"}]}]}}', "cannot run a command"),
    ],
)
def test_errors_are_told_with_their_line(text: str, says: str) -> None:
    checked = check_rules(text, "everyone")
    assert checked.has_errors
    assert any(says in str(problem) for problem in checked.problems)


def test_an_error_is_told_once_on_the_line_of_its_value() -> None:
    rule = '{"hooks": {"PreToolUse": [{"id": "a",\n"matcher": "^bahs$",\n"action": "deny"}]}}'
    assert [(each.code, each.line) for each in check_rules(rule, "everyone").problems] == [("unknown-tool", 2)]


def test_a_rule_that_never_acts_is_warned_about() -> None:
    text = '{"hooks": {"PreToolUse": [{"id": "a", "action": "deny"}, {"id": "b", "action": "deny"}]}}'
    checked = check_rules(text, "everyone")
    assert [(each.line, each.severity) for each in checked.problems] == [(1, Severity.WARNING)]


@pytest.mark.parametrize("id", ["", "nobody", "agent:", "workspace:relative", "agent:" + "x" * 200])
def test_other_sets_do_not_exist(id: str) -> None:
    with pytest.raises(HooklineError):
        parse_set_id(id)


@async_test
async def test_saved_rules_are_in_force_for_those_whom_they_concern(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        here, elsewhere = Path("/work/a"), Path("/work/b")
        assert hub.rules.extra_hooks(here) == ()
        await hub.rules.save("workspace:/work/a", DENY, 0, "maria", "first")
        assert [hook.id for each in hub.rules.extra_hooks(here) for hook in each.layer.hooks] == ["no-shell"]
        assert hub.rules.extra_hooks(here) is hub.rules.extra_hooks(here)
        assert hub.rules.extra_hooks(elsewhere) == ()
        await hub.rules.save("everyone", DENY, 0, "maria", "")
        assert len(hub.rules.extra_hooks(here)) == 2
        await hub.rules.save("agent:helper", DENY, 0, "maria", "")
        assert len(hub.rules.extra_hooks(elsewhere, "helper")) == 2


@async_test
async def test_a_second_editor_does_not_overwrite_the_first(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await hub.rules.save("everyone", DENY, 0, "maria", "")
        with pytest.raises(RuleConflict):
            await hub.rules.save("everyone", EMPTY_TEXT, 0, "otto", "")
        with pytest.raises(BadRules):
            await hub.rules.save("everyone", "{", 1, "otto", "")
        assert hub.rules.text("everyone") == DENY


@async_test
async def test_another_hub_on_the_database_sees_them(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        other = RuleSets(RuleTable(hub.database))
        await hub.rules.save("everyone", DENY, 0, "maria", "")
        await other.load()
        assert other.text("everyone") == DENY
        assert other.head("everyone") == 1
