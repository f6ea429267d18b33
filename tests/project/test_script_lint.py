"""A script that cannot be parsed is refused like any other broken guard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hookline
from hookline.errors import ConfigError
from hookline.project import load_file
from hookline.project.script_lint import script_problems

BROKEN = "if (toolInput.command.includes('rm') {\n return {decision: 'deny'}\n}"


def write(path: Path, *rules: dict[str, object]) -> Path:
    path.write_text(json.dumps({"hooks": {"PreToolUse": list(rules)}}))
    return path


def rule(script: str) -> dict[str, object]:
    return {"id": "guard", "action": "script", "script": script}


@pytest.mark.parametrize("rules", [[rule(BROKEN)], [{"id": "guard", "hooks": [{"type": "action", **rule(BROKEN)}]}]])
def test_a_syntax_error_is_found_also_in_a_list(tmp_path: Path, rules: list[dict[str, object]]) -> None:
    file = write(tmp_path / "hub.json", *rules)
    assert [problem.code for problem in script_problems(load_file(file).hooks)] == ["bad-script"]


def test_load_and_session_refuse_it(tmp_path: Path) -> None:
    file = write(tmp_path / "hub.json", rule(BROKEN))
    with pytest.raises(ConfigError, match="syntax error on line 1"):
        hookline.load(file)
    with pytest.raises(ConfigError, match="syntax error on line 1"):
        hookline.session(tmp_path, config=file)
    assert hookline.load(file, on_problem="warn").hooks


def test_a_script_that_can_be_parsed_is_fine(tmp_path: Path) -> None:
    file = write(tmp_path / "hub.json", rule("return await callTool('bash', {command: 'ls'})"))
    assert hookline.load(file).hooks
