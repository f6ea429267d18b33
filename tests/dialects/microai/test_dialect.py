"""microai: files, recognition, what a program gets, and the schema."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import jsonschema
import pytest
import yaml

from hookline.config.document import Document
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect, recognise_dialect
from hookline.dialects.microai.matcher import parse_matcher
from hookline.hooks.actions.run_program import RunProgram
from hookline.testing import fire

MICROAI = get_dialect("microai")
CASES = sorted((Path(__file__).parents[2] / "cases" / "microai").glob("*.yaml"))
ENTRY = {"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "true"}]}}


def read_document(value: object, file: str = "settings.json") -> Document:
    read, problems = read_text(value if isinstance(value, str) else json.dumps(value), file)
    assert read is not None, problems
    return read


def case_configs() -> list[tuple[str, str]]:
    """Every config of the cases, as text."""
    found = []
    for path in CASES:
        written = yaml.safe_load(path.read_text())
        for case in written.get("cases", [written]):
            given = case.get("config")
            texts = [given] if given is not None else [t for n, t in case["files"].items() if n.startswith(".microai/")]
            found += [(path.stem, text if isinstance(text, str) else json.dumps(text)) for text in texts]
    return found


@pytest.mark.parametrize(("name", "text"), case_configs(), ids=[name for name, _ in case_configs()])
def test_the_schema_accepts_what_loads_and_refuses_what_does_not(name: str, text: str) -> None:
    read, _ = read_text(text, "settings.json")
    if read is None:
        return
    found = MICROAI.load(read).problems
    wrong = [
        each for each in found if each.code not in ("never-applies", "not-read")
    ]  # which tools have what is more than a shape
    loads = not any(each.severity == "error" or each.code == "unknown-key" for each in wrong)
    if loads or "domain:" not in text:  # a host's name is more than a shape
        assert jsonschema.Draft202012Validator(MICROAI.schema()).is_valid(read.value) is loads


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"command": ""},
        {"command": 5},
        {"command": "a", "timeout": "5"},
        {"command": "a", "timeout": -1},
        {"command": "a", "timeout": 90_000_000},
        {"command": "a", "continueOnFailure": 1},
        {"command": "a", "matcher": "Bash("},
        {"command": "a", "matcher": "Bash(x"},
        {"command": "a", "matcher": "(x)"},
        {"command": "a", "matcher": "Bash(x)y"},
        {"hooks": [{"type": "command", "command": "a"}]},
        "a",
        None,
    ],
)
def test_a_bad_entry_is_refused_by_both(entry: object) -> None:
    value = {"hooks": {"PreToolUse": [entry, {"command": "true"}]}}
    found = MICROAI.load(read_document(value))
    runs = [hook.id for hook in found.hooks if isinstance(hook.then, RunProgram)]
    assert runs == ["settings.json:PreToolUse[1]"]
    assert found.problems
    assert not jsonschema.Draft202012Validator(MICROAI.schema()).is_valid(value)


@pytest.mark.parametrize(
    "value", [[], 5, "text", {"hooks": []}, {"hooks": {"PreToolUse": {}}}, {"hooks": {"Stop": []}}]
)
def test_a_bad_file_is_a_problem_and_no_traceback(value: object) -> None:
    found = MICROAI.load(read_document(json.dumps(value)))
    assert found.hooks == ()
    assert found.problems
    assert not jsonschema.Draft202012Validator(MICROAI.schema()).is_valid(value)


def test_a_file_of_microai_is_told_by_its_directory() -> None:
    assert recognise_dialect(read_document({"hooks": {}}, "/p/.microai/settings.json")) is MICROAI
    assert recognise_dialect(read_document({}, ".microai/settings.local.json")) is MICROAI


def test_a_file_of_claude_code_is_none_of_ours() -> None:
    assert not MICROAI.recognises(read_document(ENTRY, ".claude/settings.json"))


def test_a_file_of_microai_is_told_by_its_shape() -> None:
    assert MICROAI.recognises(read_document(ENTRY, "settings.json"))
    entry = {"matcher": "Bash(git:*)", "command": "true", "continueOnFailure": False}
    assert MICROAI.recognises(read_document({"hooks": {"PreToolUse": [entry]}}, "x.json"))
    assert MICROAI.recognises(
        read_document({"hooks": {"SessionStart": [{"command": "a"}], "PreToolUse": [entry]}}, "x.json")
    )


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": {"PreToolUse": [{"matcher": "x", "hooks": [{"type": "command", "command": "a"}]}]}},
        {"hooks": {"PreToolUse": [{"action": "deny"}]}},
        {"hooks": {"Stop": [{"command": "a"}]}},
        {"hooks": [{"id": "a", "on": "tool.before", "then": "deny"}]},
        {"hooks": {"PreToolUse": []}},
        {"hooks": {"PreToolUse": [{"matcher": "^bash$", "command": "a", "timeout": 5}]}},
        {},
    ],
)
def test_a_file_of_another_shape_is_none_of_ours(value: object) -> None:
    assert not MICROAI.recognises(read_document(value, "x.json"))


def test_a_hook_knows_its_line_and_its_times() -> None:
    text = (
        '{"hooks": {"PreToolUse": [\n  {"command": "a"},\n  {"command": "b", "timeout": 1500, "condition": "true"}\n]}}'
    )
    first, second = MICROAI.load(read_document(text)).hooks
    assert (first.origin.line, second.origin.line) == (2, 3)
    assert (first.timeout, second.timeout) == (timedelta(seconds=5), timedelta(seconds=2.5))
    assert (first.group, first.order, first.wait) == ("microai", 0, True)


MEASURE = """\
import json, os, sys
whole = json.load(sys.stdin)["tool"]["input"]["content"]
cut = os.environ["INPUT"]
sys.exit(f"{len(whole)} {len(cut.encode()) < 131072} {cut[-5:]}")
"""


def test_a_large_input_is_cut_in_the_environment_and_whole_on_stdin(tmp_path: Path) -> None:
    (tmp_path / "measure.py").write_text(MEASURE)
    config = {"hooks": {"PreToolUse": [{"command": "python3 measure.py", "continueOnFailure": False}]}}
    tool = {"name": "Write", "input": {"file_path": "a", "content": "ü" * 200_000}}
    decision = fire(config, {"name": "PreToolUse", "cwd": str(tmp_path), "tool": tool}, dialect="microai")
    assert decision.reason == "Hook blocked: 200000 True [cut]"


@pytest.mark.parametrize("text", ["Edit|Write", "mcp__*", "^Bash$", "Bash, Read", "Ba?h", "A\\B"])
def test_a_name_that_no_tool_has_is_a_warning(text: str) -> None:
    assert "compared literally" in parse_matcher(text).warning


def test_a_command_with_a_nul_byte_blocks_instead_of_running() -> None:
    config = {"hooks": {"PreToolUse": [{"command": "echo a\0b", "continueOnFailure": False}]}}
    decision = fire(config, {"name": "PreToolUse", "tool": {"name": "Bash", "input": {}}}, dialect="microai")
    assert decision.reason.startswith("Hook blocked: ")


def test_the_log_calls_a_condition_by_its_key(caplog: pytest.LogCaptureFixture) -> None:
    config = {"hooks": {"PreToolUse": [{"command": "true", "condition": "no-such-program"}]}}
    fire(config, {"name": "PreToolUse", "tool": {"name": "Bash", "input": {}}}, dialect="microai")
    assert "condition could not start" in caplog.text
