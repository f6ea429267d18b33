from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.reader import read_text
from hookline.dialects.claude_code import DIALECT
from hookline.dialects.dialect import LoadResult
from hookline.hooks.outcome import Verdict


def load_rules(permissions: Any) -> LoadResult:
    document, _ = read_text(json.dumps({"permissions": permissions}), ".claude/settings.json")
    assert document is not None
    return DIALECT.load(document)


def test_only_rules_that_deny_or_ask_are_read() -> None:
    found = load_rules({"deny": ["Bash"], "ask": ["Read", "Edit"], "allow": ["Bash(ls)"], "defaultMode": "plan"})
    assert [(hook.id, hook.then.constant.verdict) for hook in found.hooks if hook.then.constant] == [
        (".claude/settings.json:permissions.deny[0]", Verdict.DENY),
        (".claude/settings.json:permissions.ask[0]", Verdict.ASK),
        (".claude/settings.json:permissions.ask[1]", Verdict.ASK),
    ]
    assert found.problems == ()


@pytest.mark.parametrize("permissions", [[], {"deny": "Bash"}, {"deny": [5]}, {"ask": ["(x)"]}, {"deny": [""]}])
def test_a_rule_that_cannot_be_read_is_an_error_and_the_others_hold(permissions: Any) -> None:
    assert any(problem.severity == "error" for problem in load_rules(permissions).problems)
    assert len(load_rules({"deny": ["(x)", "Bash"]}).hooks) == 1
