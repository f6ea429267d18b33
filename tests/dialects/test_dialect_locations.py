from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from hookline.dialects import dialect as dialects
from hookline.dialects.dialect import CONFIG_LOCATIONS, DIALECT_BY_FILE_NAME, DIALECT_NAMES, get_dialect


def test_every_dialect_has_its_locations_in_the_order_of_the_dialects() -> None:
    assert tuple(CONFIG_LOCATIONS) == DIALECT_NAMES
    assert all(get_dialect(name).name == name for name in CONFIG_LOCATIONS)


@pytest.mark.parametrize("name", DIALECT_BY_FILE_NAME)
@pytest.mark.parametrize(
    "folder", ["", ".claude", ".microai", ".ai_agents", ".flo", "sub/.hookline", ".config/hookline"]
)
def test_a_file_name_belongs_to_one_dialect_in_every_directory(name: str, folder: str) -> None:
    path = PurePath(folder, name)
    owners = {
        dialect for dialect, places in CONFIG_LOCATIONS.items() if any(path.match(place.pattern) for place in places)
    }
    assert owners - {"native" if folder.endswith(".hookline") else ""} <= {DIALECT_BY_FILE_NAME[name]}
    assert DIALECT_BY_FILE_NAME[name] in owners


def test_plugins_are_only_looked_for_where_some_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    select = next(place.selector for place in CONFIG_LOCATIONS["claude_code"] if place.selector is not None)
    monkeypatch.setattr(dialects, "import_module", None)
    assert list(select(tmp_path, ())) == []
    (tmp_path / ".claude/plugins").mkdir(parents=True)
    (tmp_path / ".claude/plugins/installed_plugins.json").write_text("{}")
    monkeypatch.undo()
    assert list(select(tmp_path, ())) == []
