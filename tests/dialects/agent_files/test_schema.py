"""The JSON Schema accepts the files of the cases that have no problem."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from hookline.dialects.dialect import AGENT_FILE_DIALECTS, get_dialect
from hookline.project import load_text
from hookline.testing import load_cases
from hookline.testing.case_runner import config_text, default_file_name

CASES = Path(__file__).parents[2] / "cases"


@pytest.mark.parametrize("name", sorted(AGENT_FILE_DIALECTS - {"cline", "kimi_code"}))
def test_a_file_without_problems_is_valid(name: str) -> None:
    validator = jsonschema.Draft202012Validator(get_dialect(name).schema())
    checked = 0
    for case in load_cases(CASES / name):
        if not isinstance(case.config, dict):
            continue
        if not load_text(config_text(case.config), default_file_name(name), name).problems:
            assert [error.message for error in validator.iter_errors(case.config)] == [], case.name
            checked += 1
    assert checked >= 8


def test_a_hook_without_a_command_is_not_valid() -> None:
    validator = jsonschema.Draft202012Validator(get_dialect("codex").schema())
    assert not validator.is_valid({"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}})
    assert not validator.is_valid({"hooks": {"PreToolUs": []}})
