"""How the files of a folder are imported, and forgotten again."""

from __future__ import annotations

import gc
import marshal
import py_compile
import sys
from pathlib import Path

import pytest

from dialects.standard_agents.agent_folder import (
    HEAD,
    SHOUT,
    decide_system,
    error_codes,
    write_folder,
)
from hookline.project import load_file


def test_two_folders_may_have_files_of_one_name(tmp_path: Path) -> None:
    hooks = SHOUT.replace("text.upper()", "text + words.WORD") + "import words\n"
    one = load_file(write_folder(tmp_path / "one", hooks=hooks, words="WORD = '1'"), dialect="standard_agents")
    two = load_file(write_folder(tmp_path / "two", hooks=hooks, words="WORD = '2'"), dialect="standard_agents")
    assert (decide_system(one), decide_system(two)) == ("x1", "x2")
    assert "words" not in sys.modules
    assert str(tmp_path / "one") not in sys.path


def test_files_import_each_other_in_every_way(tmp_path: Path) -> None:
    ways = """
import deep.inside
import deep.inside as alias
from deep import inside
from deep.inside import WORD
from . import deep as relative
from .deep.inside import WORD as again
import json
assert alias is inside is deep.inside is relative.inside
assert json.dumps([WORD, again]) == '["!", "!"]'
"""
    shout = (
        SHOUT.replace("text.upper()", "late(text)")
        + "\ndef late(text):\n    import deep.inside as it\n    return text + it.WORD\n"
    )
    book = load_file(write_folder(tmp_path, hooks=shout + ways, deep__inside="WORD = '!'"), dialect="standard_agents")
    assert not error_codes(book.problems)
    assert decide_system(book) == "x!"


def test_a_file_cannot_stand_in_for_the_standard_library(tmp_path: Path) -> None:
    book = load_file(
        write_folder(
            tmp_path, hooks=SHOUT + "import json\nassert json.dumps(1) == '1'\n", json="raise ValueError('mine')"
        ),
        dialect="standard_agents",
    )
    assert decide_system(book) == "X"
    assert ["agents/json.py" in str(problem) or "json.py" in str(problem) for problem in book.problems] == [True]


def test_only_source_is_run(tmp_path: Path) -> None:
    """A compiled file that claims to need no check would be run by a plain import."""
    write_folder(
        tmp_path, hooks=SHOUT.replace("text.upper()", "words.WORD") + "import words\n", words="WORD = 'source'"
    )
    place = Path(py_compile.compile(str(tmp_path / "words.py"), doraise=True))
    other = marshal.dumps(compile("WORD = 'compiled'", "words.py", "exec"))
    place.write_bytes(place.read_bytes()[:4] + (1).to_bytes(4, "little") + bytes(8) + other)
    assert decide_system(load_file(tmp_path, dialect="standard_agents")) == "source"


def test_only_what_trust_covers_can_be_imported(tmp_path: Path) -> None:
    write_folder(tmp_path / "outside", evil="raise SystemExit('it ran')")
    agents = write_folder(tmp_path / "agents", hooks=SHOUT)
    for place in ("node_modules", "__pycache__"):
        write_folder(agents / place, evil="raise SystemExit('it ran')")
    (agents / "linked").symlink_to(tmp_path / "outside")
    for name in ("node_modules", "__pycache__", "linked"):
        write_folder(agents, **{f"from_{name.strip('_')}": f"import {name}.evil\n"})
    problems = error_codes(load_file(agents, dialect="standard_agents").problems)
    assert len(problems) == 3
    assert all("ModuleNotFoundError" in problem for problem in problems)


def test_a_file_that_fails_is_run_once_and_told_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    bad = f"open({str(count)!r}, 'a').write('x')\n{HEAD}define_hook(hook='after_system_message', id='x', execute=print)\n1 / 0\n"
    book = load_file(
        write_folder(tmp_path, a="import bad\n", b="from bad import y\n", bad=bad, hooks=SHOUT),
        dialect="standard_agents",
    )
    assert len(error_codes(book.problems)) == 1
    assert "bad.py:4" in error_codes(book.problems)[0]
    assert count.read_text() == "x"
    assert decide_system(book) == "X"


def test_a_secret_in_an_import_error_is_hidden(tmp_path: Path) -> None:
    book = load_file(write_folder(tmp_path, a="raise ValueError('password=hunter2')"), dialect="standard_agents")
    assert "hunter2" not in str(book.problems)


def test_a_file_that_exits_ends_nothing(tmp_path: Path) -> None:
    book = load_file(write_folder(tmp_path, a="raise SystemExit(3)", hooks=SHOUT), dialect="standard_agents")
    assert "SystemExit" in error_codes(book.problems)[0]
    assert decide_system(book) == "X"


def test_odd_names_of_files_are_imported(tmp_path: Path) -> None:
    (tmp_path / "my-hook.v2.py").write_text(SHOUT)
    assert decide_system(load_file(tmp_path, dialect="standard_agents")) == "X"


def test_what_files_print_stays_off_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = load_file(
        write_folder(tmp_path, hooks=SHOUT.replace("return", "print('run'); return") + "print('import')\n"),
        "standard_agents",
    )
    decide_system(book)
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "import\nrun\n")


def test_modules_are_forgotten_with_their_hooks(tmp_path: Path) -> None:
    def folder_modules() -> set[str]:
        gc.collect()
        return {name for name in sys.modules if name.startswith("_hookline_folder_")}

    before = folder_modules()
    book = load_file(write_folder(tmp_path, hooks=SHOUT), dialect="standard_agents")
    assert len(folder_modules() - before) == 2
    del book
    assert folder_modules() == before


def test_dataclasses_with_late_annotations_work(tmp_path: Path) -> None:
    late = "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
    late += "@dataclass\nclass A:\n    b: ClassVar[int] = 1\n    c: str = ''\n"
    assert not error_codes(load_file(write_folder(tmp_path, a=late, hooks=SHOUT), dialect="standard_agents").problems)
