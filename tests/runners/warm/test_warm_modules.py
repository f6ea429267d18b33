"""The standard-library modules that a warm interpreter imports beforehand. Each test is a new interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hookline.runners.warm

pytestmark = pytest.mark.slow

FOLDER = Path(hookline.runners.warm.__file__).parent
START = """
import sys
sys.path.insert(0, {folder!r})
at_start = dict(sys.modules)
from warm_modules import PreloadedModules
preloaded = PreloadedModules(at_start)
sys.path.pop(0)
sys.modules.clear()
sys.modules.update(at_start)
"""


def run(source: str, cwd: Path) -> str:
    script = START.format(folder=str(FOLDER)) + source
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, cwd=cwd, timeout=60, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


IMPORT = "sys.meta_path.insert(0, preloaded)\nimport json\n"


def test_an_import_gives_the_preloaded_module_and_what_it_needs(tmp_path: Path) -> None:
    check = "print(json is preloaded.modules['json'], 'json.decoder' in sys.modules, json.dumps([1]))"
    assert run(IMPORT + check, tmp_path) == "True True [1]"


def test_what_was_not_imported_is_not_there(tmp_path: Path) -> None:
    assert run(IMPORT + "print('tomllib' in sys.modules, 'csv' in sys.modules)", tmp_path) == "False False"


def test_a_file_that_shadows_a_module_is_imported_instead(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("mine = True\n")
    assert run(f"sys.path.insert(0, {str(tmp_path)!r})\n" + IMPORT + "print(json.mine)", tmp_path) == "True"


def test_a_module_that_was_replaced_is_not_mixed_with_preloaded_ones(tmp_path: Path) -> None:
    source = "sys.modules['re'] = type(sys)('re')\nprint(preloaded.find_spec('json'))"
    assert run(source, tmp_path) == "None"


def test_something_attached_to_a_module_is_noticed(tmp_path: Path) -> None:
    source = IMPORT + "print(preloaded.holds_more())\njson.mine = 1\nprint(preloaded.holds_more())"
    assert run(source, tmp_path).split() == ["False", "True"]
