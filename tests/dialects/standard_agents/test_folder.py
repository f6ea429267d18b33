"""Which Python files a folder contributes, read without importing them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dialects.standard_agents.agent_folder import (
    HEAD,
    SHOUT,
    decide_system,
    error_codes,
    write_folder,
)
from hookline.dialects.standard_agents import DIALECT
from hookline.dialects.standard_agents.folder import MAX_FILES, list_files
from hookline.project import load_file


def test_files_are_found_in_order_without_what_is_hidden(tmp_path: Path) -> None:
    names = ["b.py", "a.py", "sub/c.py", ".hidden.py", ".git/x.py", "__pycache__/y.py", "node_modules/z.py", "a.txt"]
    for name in [*names, "t.ts", "t.d.ts", "sub/u.tsx"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.py")
    found = list_files(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found.python] == ["a.py", "b.py", "sub/c.py"]
    assert [path.name for path in found.typescript] == ["u.tsx", "t.ts"]


def test_a_folder_with_too_many_files_is_not_read(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"f{number}.py").touch()
    book = load_file(tmp_path, dialect="standard_agents")
    assert [problem.code for problem in book.problems] == ["too-large"]


@pytest.mark.parametrize(
    "text",
    [
        "x = (" * 5000,
        "(" * 50_000,
        "\0",
        "# coding: nonsense\n",
        "\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "=",
        "1" * 10_000,
    ],
)
def test_no_text_can_crash_the_reader(tmp_path: Path, text: str) -> None:
    write_folder(tmp_path, bad=text, good=SHOUT)
    assert len(error_codes(DIALECT.check(tmp_path, "agents"))) == 1
    book = load_file(tmp_path, dialect="standard_agents")
    assert len(error_codes(book.problems)) == 1
    assert decide_system(book) == "X"


def test_looking_imports_nothing(tmp_path: Path) -> None:
    write_folder(
        tmp_path, a=f"open({str(tmp_path / 'ran')!r}, 'w')\n{HEAD}define_hook(hook='nope', id='x', execute=print)\n"
    )
    found = DIALECT.check(tmp_path, "agents")
    assert [(problem.code, problem.file, problem.line) for problem in found] == [("bad-definition", "agents/a.py", 3)]
    assert not (tmp_path / "ran").exists()


def test_an_id_may_stand_twice_where_one_of_the_two_is_reached(tmp_path: Path) -> None:
    branch = "define_hook(hook='after_system_message', id='x', execute=print)\n"
    write_folder(tmp_path, a=f"{HEAD}if True:\n    {branch}else:\n    {branch}")
    assert not error_codes(DIALECT.check(tmp_path, "agents"))
    write_folder(tmp_path, b=f"{HEAD}{branch}", c=f"{HEAD}{branch}")
    assert [error for error in error_codes(DIALECT.check(tmp_path, "agents")) if "agents/c.py:2" in error]


def test_a_plain_function_is_found_without_importing(tmp_path: Path) -> None:
    hook = '@define_hook(hook="{}", id="{}")\n{}def f(state, x):\n    return x\n'
    plain = hook.format("filter_messages", "plain", "")
    fine = hook.format("filter_messages", "fine", "async ") + hook.format("after_system_message", "allowed", "")
    write_folder(tmp_path, a=f"{HEAD}{fine}{plain}")
    errors = [problem.what for problem in DIALECT.check(tmp_path, "agents") if problem.code == "bad-definition"]
    assert errors == ["the hook plain: execute is not an async function. Write async def."]
