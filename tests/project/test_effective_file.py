from __future__ import annotations

from pathlib import Path

import pytest

from hookline.project.effective_file import EffectiveFile, folder_files
from hookline.project.parsed_file import CodeFolder, read_source
from hookline.project.referenced_files import TooManyReferencesError
from hookline.project.sources import named_source


def _effective(path: Path, text: str) -> EffectiveFile:
    path.write_text(text)
    parsed = read_source(named_source(path))
    return EffectiveFile(parsed, parsed.hooks, folders=parsed.folders)


def test_a_file_without_folders_stays_as_it_is(tmp_path: Path) -> None:
    effective = _effective(tmp_path / "hookline.yaml", "hooks: [{id: a, on: tool.before, then: {deny: no}}]")
    assert effective.import_folders() is effective
    assert effective.without_folders() == effective
    assert effective.is_valid
    assert [(file.shown_as, file.dialect) for file in effective.hook_files] == [
        (str(tmp_path / "hookline.yaml"), "native")
    ]


def test_a_folder_that_is_not_imported_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    effective = _effective(tmp_path / "hookline.yaml", "standard_agents: agents").without_folders()
    assert [problem.code for problem in effective.problems] == ["not-imported"]
    assert effective.folders == ()
    assert effective.is_valid


def test_a_folder_with_too_many_files_cannot_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hookline.errors import HooklineError

    def too_many(self: CodeFolder) -> tuple[Path, ...]:
        raise HooklineError("too many files")

    (tmp_path / "agents").mkdir()
    monkeypatch.setattr(CodeFolder, "files", too_many)
    effective = _effective(tmp_path / "hookline.yaml", "standard_agents: agents")
    with pytest.raises(TooManyReferencesError, match="too many files"):
        folder_files(effective.parsed.folders[0])
