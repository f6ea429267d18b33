from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dialects.flo.flo_file import build_config, load
from hookline.config.problem import Severity
from hookline.dialects.flo import DIALECT
from hookline.hooks.actions.answer import FixedAnswer

CASES = Path(__file__).parents[2] / "cases" / "flo"


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ({"action": "deny", "command": "true"}, "two-actions"),
        ({"action": "deny", "hooks": [{"action": "log"}]}, "two-actions"),
        ({"command": "true", "reason": "x"}, "two-actions"),
        ({"command": "true", "script": "x"}, "two-actions"),
        ({"action": "deny", "script": "x"}, "no-script"),
        ({"script": "x"}, "no-action"),
        ({"hooks": []}, "no-action"),
        ({"hooks": {}}, "wrong-type"),
        ({"hooks": [5]}, "wrong-type"),
        ({"hooks": [{"type": "command", "action": "log"}]}, "missing-key"),
        ({"hooks": [{"type": "shell", "command": "x"}]}, "unknown-word"),
        ({"action": "deny", "priority": "high"}, "wrong-type"),
        ({"action": "deny", "priority": 1.5}, "wrong-type"),
        ({"action": "deny", "enabled": "yes"}, "wrong-type"),
        ({"action": "deny", "continueOnError": 1}, "wrong-type"),
        ({"action": "deny", "id": ""}, "empty"),
        ({"action": "deny", "reason": 5}, "wrong-type"),
        ({"action": "deny", "matcher": ["bash"]}, "wrong-type"),
        ({"action": "deny", "inputMatchers": ["x"]}, "wrong-type"),
        ({"action": "deny", "inputMatchers": {"path": 5}}, "wrong-type"),
        ({"action": "Deny"}, "unknown-word"),
        ({"action": None}, "no-action"),
        ({"action": "script", "script": ""}, "empty"),
        ({"command": ""}, "empty"),
        ({"command": ["ls"]}, "wrong-type"),
        ({"command": "x", "timeout": 0}, "out-of-range"),
        ({"command": "x", "timeout": "5s"}, "wrong-type"),
        ({"command": "x", "timeout": True}, "wrong-type"),
        ({"command": "x", "timeout": 1e12}, "out-of-range"),
    ],
)
def test_what_is_refused_is_refused_by_the_schema_too(rule: dict[str, Any], code: str) -> None:
    value = build_config(rule, {"action": "deny"})
    found = load(value)
    assert code in [problem.code for problem in found.problems]
    assert sum(isinstance(hook.then, FixedAnswer) for hook in found.hooks) == 1
    assert not _matches_schema(value)


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": []},
        {"hooks": {"PreToolUse": {}}},
        {"hooks": {"PreToolUse": ["deny"]}},
        {"hooks": {"BeforeTool": []}},
        {"matcher": "x"},
        [],
        5,
    ],
)
def test_files_of_another_shape_are_refused_by_both(value: Any) -> None:
    assert any(problem.severity is Severity.ERROR for problem in load(value).problems)
    assert not _matches_schema(value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"port": 5},
        {"hooks": {}, "port": 5},
        build_config(),
        build_config({"action": "deny", "reason": ""}),
        build_config({"action": "log", "reason": "unused", "timeout": 5}),
        build_config(
            {"hooks": [{"action": "log"}, {"type": "command", "command": "true", "timeout": 1}], "enabled": False}
        ),
        build_config({"action": "script", "script": "return", "timeout": 0.5e3, "continueOnError": False}),
        build_config(
            {"matcher": "", "inputMatchers": {}, "priority": -5, "id": "x", "command": "true"}, event="AgentEnd"
        ),
        build_config({"action": "deny", "priority": 1.0}),
        {"matcher": "x", "hooks": [{"action": "deny"}]},
        {"command": "true"},
    ],
)
def test_what_loads_fits_the_schema(value: Any) -> None:
    assert [problem for problem in load(value).problems if problem.severity is Severity.ERROR] == []
    assert _matches_schema(value)


def test_every_good_case_fits_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(DIALECT.schema())
    checked = 0
    for path in CASES.glob("*.yaml"):
        written = yaml.safe_load(path.read_text())
        for case in written.get("cases", [written]):
            config = case.get("config")
            if isinstance(config, dict) and not _has_error(config):
                validator.validate(config)
                checked += 1
    assert checked > 50


def _has_error(config: Any) -> bool:
    found = load(config).problems
    return any(problem.severity is Severity.ERROR or problem.code == "unknown-key" for problem in found)


def _matches_schema(value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(DIALECT.schema()).is_valid(value))
