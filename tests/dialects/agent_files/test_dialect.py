"""Where the files of agents are found, and which file is whose."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect, recognise_dialect
from hookline.project import find_sources

FILES = {
    ".codex/hooks.json": "codex",
    ".codex/config.toml": "codex",
    ".gemini/settings.json": "gemini_cli",
    ".qwen/settings.json": "qwen_code",
    ".factory/settings.json": "droid",
    ".factory/hooks.json": "droid",
    ".cursor/hooks.json": "cursor",
    ".github/hooks/any.json": "copilot_cli",
    ".windsurf/hooks.json": "windsurf",
    ".kiro/agents/dev.json": "kiro",
    ".clinerules/hooks/PreToolUse": "cline",
}
OWN_FILES = {
    ".codex/hooks.json": "codex",
    ".cursor/hooks.json": "cursor",
    ".copilot/hooks/a.json": "copilot_cli",
    ".codeium/windsurf/hooks.json": "windsurf",
    ".kimi-code/config.toml": "kimi_code",
    "Documents/Cline/Hooks/PostToolUse": "cline",
}


def test_the_files_of_a_project_and_of_the_user_are_found(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    for base, files in ((project, FILES), (home, OWN_FILES)):
        for name in files:
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text("")
    found = {(source.is_from_project, source.dialect) for source in find_sources(project, home)}
    assert found == {(True, name) for name in FILES.values()} | {(False, name) for name in OWN_FILES.values()}


@pytest.mark.parametrize(("file", "name"), FILES.items())
def test_an_empty_file_belongs_to_its_place(file: str, name: str) -> None:
    document, _ = read_text("", file)
    assert document is not None
    assert getattr(recognise_dialect(document), "name", None) == name
    assert get_dialect(name).load(document).problems == ()
