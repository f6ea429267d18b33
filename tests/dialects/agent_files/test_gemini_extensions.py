"""The hooks of Gemini CLI's extensions: which count, and what their commands may name."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hookline import Event
from hookline.config.problem import errors_of
from hookline.dialects.agent_files.gemini_extensions import extension_hooks_files
from hookline.hooks.outcome import Verdict
from hookline.project import Trust, find_sources, load_all

GUARD = {"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "bash ${extensionPath}${/}guard.sh"}]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    extension = tmp_path / "home/.gemini/extensions/guard"
    (extension / "hooks").mkdir(parents=True)
    (extension / "gemini-extension.json").write_text('{"name": "guard", "version": "1.0.0"}')
    (extension / "hooks/hooks.json").write_text(json.dumps({"hooks": {"BeforeTool": [GUARD]}}))
    (extension / "guard.sh").write_text("grep -q 'rm -r' && { echo not this >&2; exit 2; }; true")
    return tmp_path / "home"


def rules(home: Path, *overrides: str) -> None:
    (home / ".gemini/extensions/extension-enablement.json").write_text(json.dumps({"guard": {"overrides": overrides}}))


def test_a_guard_of_an_extension_acts(home: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    book = load_all(find_sources(tmp_path / "work", home), Trust(tmp_path / "state"))
    assert errors_of(book.problems) == []
    shell = {"name": "Bash", "kind": "shell", "input": {"command": "rm -r build"}}
    event = Event("tool.before", {"tool": shell, "workspace": str(tmp_path), "cwd": str(tmp_path)})
    decision = asyncio.run(book.decide(event))
    assert (decision.verdict, decision.reason.splitlines()[0]) == (Verdict.DENY, "not this")


@pytest.mark.parametrize(
    ("overrides", "counts"),
    [
        ([], True),
        (["!/work/*"], False),
        (["!/work/"], False),
        (["!/other/*"], True),
        (["!/*", "/work/*"], True),
        (["/work/*", "!/work/*"], False),
        (["!/wor"], True),
        ([5, "!/work/*"], False),
    ],
)
def test_the_last_rule_that_fits_counts(home: Path, overrides: list[str], counts: bool) -> None:
    rules(home, *overrides)
    assert bool(list(extension_hooks_files(home, [Path("/work")]))) is counts


def test_a_folder_without_a_manifest_is_no_extension(home: Path) -> None:
    (home / ".gemini/extensions/guard/gemini-extension.json").unlink()
    assert list(extension_hooks_files(home, [Path("/work")])) == []
