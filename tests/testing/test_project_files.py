from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookline.testing import load_cases, run_case

GUARD = "#!/bin/sh\ngrep -q deny && { echo not this >&2; exit 2; } || exit 0\n"
CURSOR = json.dumps({"version": 1, "hooks": {"preToolUse": [{"command": ".cursor/hooks/guard.sh"}]}})
NATIVE = "hooks: [{id: a, on: tool.before, then: {run: ./scripts/guard.sh, reads: exit2}, on_error: open}]"


def _result(root: Path, file: str, more: str = "") -> str:
    case = root / "tests" / "hooks" / "guard.yaml"
    case.parent.mkdir(parents=True)
    event = "{name: tool.before, tool: {name: bash, input: {command: deny}}}"
    case.write_text(
        f"file: ../../{file}\nevent: {event}\nexpect: {{verdict: deny, reason: not this, failures: 0}}\n{more}"
    )
    (found,) = load_cases(case)
    return str(run_case(found))


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


@pytest.mark.parametrize(
    ("file", "files"),
    [
        (".cursor/hooks.json", {".cursor/hooks.json": CURSOR, ".cursor/hooks/guard.sh": GUARD}),
        (".clinerules/hooks/PreToolUse", {".clinerules/hooks/PreToolUse": "#!/bin/sh\ngrep -q deny && echo '{\"cancel\": true, \"errorMessage\": \"not this\"}'\n"}),
        ("hookline.yaml", {"hookline.yaml": NATIVE, "scripts/guard.sh": GUARD}),
        ("config/guards.yaml", {".git/HEAD": "", "config/guards.yaml": NATIVE, "scripts/guard.sh": GUARD}),
    ],
)  # fmt: skip
def test_a_hook_finds_the_scripts_of_its_project(tmp_path: Path, file: str, files: dict[str, str]) -> None:
    _write(tmp_path, files)
    assert "expected" not in _result(tmp_path, file)


def test_a_file_of_the_case_takes_the_place_of_a_script(tmp_path: Path) -> None:
    _write(tmp_path, {".cursor/hooks.json": CURSOR, ".cursor/hooks/guard.sh": GUARD})
    other = "#!/bin/sh\nexit 0\n"
    said = _result(tmp_path, ".cursor/hooks.json", f"files: {{.cursor/hooks/guard.sh: {json.dumps(other)}}}\n")
    assert "got       silent" in said
