"""What is read of a folder without running it: what `check` reports and `list` shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialects.standard_agents.agent_folder import HEAD
from hookline.config.problem import Problem
from hookline.project import load_file

HOOK = "@define_hook(hook='filter_messages', id='{id}')\nasync def {id}(state, messages): ...\n"
ONE, TWO = HEAD + HOOK.format(id="one"), HEAD + HOOK.format(id="two")


def read(tmp_path: Path, **folders: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The hooks and the problems of a file that names the folders, without importing them."""
    for name, text in folders.items():
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "hooks.py").write_text(f"{text}\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    (tmp_path / "hookline.yaml").write_text(f"standard_agents: [{', '.join(folders)}]\n")
    book = load_file(tmp_path / "hookline.yaml", importing=False)
    assert not (tmp_path / "ran").exists()
    problems = [_short(tmp_path, each) for each in book.problems if each.code != "not-imported"]
    return [f"{hook.id} {hook.scope.agent or hook.scope.prompt}" for hook in book.hooks], problems


def _short(tmp_path: Path, problem: Problem) -> tuple[str, str]:
    return problem.code, f"{Path(problem.file).relative_to(tmp_path)}:{problem.line}"


def test_hooks_are_shown_as_they_are_listed(tmp_path: Path) -> None:
    text = f"{ONE}define_prompt(name='p', hooks=['one'])\ndefine_agent(name='a', hooks=('one',))\n"
    assert read(tmp_path, a=text) == (["one p", "one a"], [])


@pytest.mark.parametrize("importing", [True, False])
@pytest.mark.parametrize(
    "define",
    [
        "@define_hook(hook='filter_messages', id='one')\nasync def keep_all(state, messages): ...\n",
        "async def keep_all(state, messages): ...\ndefine_hook(hook='filter_messages', id='one', execute=keep_all)\n",
        "async def keep_all(state, messages): ...\ndefine_hook('filter_messages', 'one', keep_all)\n",
    ],
)
def test_a_hook_is_shown_with_its_function(tmp_path: Path, define: str, importing: bool) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hooks.py").write_text(f"{HEAD}{define}define_agent(name='a', hooks=['one'])\n")
    (hook,) = load_file(tmp_path / "agents", "standard_agents", importing=importing).hooks
    assert dict(hook.then.describe())["python"].endswith("hooks.py:keep_all")


def test_two_folders_list_each_others_hooks(tmp_path: Path) -> None:
    mine = f"{ONE}define_agent(name='a', hooks=['two', 'one'])\n"
    assert read(tmp_path, a=mine, b=f"{TWO}define_agent(name='b', hooks=['one'])\n") == (
        ["two a", "one a", "one b"],
        [],
    )
    book = load_file(tmp_path / "hookline.yaml")
    assert [hook.id for hook in book.hooks] == ["two", "one", "one"]
    assert not book.problems


@pytest.mark.parametrize("owner", ["define_agent", "define_prompt"])
def test_a_typo_in_a_list_is_found(tmp_path: Path, owner: str) -> None:
    hooks, problems = read(tmp_path, a=f"{ONE}{owner}(name='a', hooks=['one', 'onne'])\n")
    assert hooks == ["one a"]
    assert problems == [("unknown-hook", "a/hooks.py:4")]


def test_a_problem_is_reported_once_when_the_folder_is_imported(tmp_path: Path) -> None:
    read(tmp_path, a=f"{ONE}define_agent(\n    name='a',\n    hooks=['one', 'onne'],\n)\n")
    assert [each.code for each in load_file(tmp_path / "hookline.yaml").problems] == ["unknown-hook"]


@pytest.mark.parametrize("execute", ["None", "3", "'text'"])
def test_an_execute_that_is_no_function_is_found(tmp_path: Path, execute: str) -> None:
    text = (
        f"{HEAD}define_hook(hook='filter_messages', id='x', execute={execute})\ndefine_agent(name='a', hooks=['x'])\n"
    )
    assert ("bad-definition", "a/hooks.py:2") in read(tmp_path, a=text)[1]


def test_an_id_of_two_folders_is_found(tmp_path: Path) -> None:
    uses = "define_agent(name='{}', hooks=['one'])\n"
    _, problems = read(tmp_path, a=ONE + uses.format("a"), b=ONE + uses.format("b"))
    assert problems == [("bad-definition", "b/hooks.py:2")]
    assert [each.code for each in load_file(tmp_path / "hookline.yaml").problems] == ["bad-definition"]


@pytest.mark.parametrize(
    "dynamic",
    [
        "for id in ('x', 'y'):\n    define_hook(hook='filter_messages', id=id)(one)\n",
        "define_hook(**{'hook': 'filter_messages', 'id': 'x'})(one)\n",
    ],
)
def test_what_is_not_written_as_a_constant_is_not_doubted(tmp_path: Path, dynamic: str) -> None:
    assert read(tmp_path, a=f"{ONE}{dynamic}define_agent(name='a', hooks=['one', 'x'])\n") == (["one a"], [])


@pytest.mark.parametrize("hooks", ["[*HOOKS]", "HOOKS", "['one'] + HOOKS"])
def test_a_list_that_is_computed_is_not_doubted(tmp_path: Path, hooks: str) -> None:
    assert read(tmp_path, a=f"{ONE}HOOKS = list(('one',))\ndefine_agent(name='a', hooks={hooks})\n")[1] == []


@pytest.mark.parametrize(
    "hooks", ["HOOKS", "[*HOOKS]", "('two', *HOOKS)[1:]", "[] + HOOKS", "ALL", "[h for h in HOOKS]", "MORE", "CHANGED"]
)
def test_a_list_with_a_name_is_read_unless_something_could_change_it(tmp_path: Path, hooks: str) -> None:
    lists = "HOOKS: list[str] = ['one']\nALL = HOOKS + []\nMORE = []\nMORE += ['one']\nCHANGED = []\nCHANGED.append('one')\n"
    read_hooks, problems = read(tmp_path, a=f"{ONE}{lists}define_agent(name='a', hooks={hooks})\n")
    is_known = hooks in ("HOOKS", "[*HOOKS]", "[] + HOOKS", "ALL")
    assert (read_hooks, problems) == (["one a"] if is_known else [], [])


def test_a_typo_in_a_list_with_a_name_is_found(tmp_path: Path) -> None:
    text = f"{ONE}HOOKS = ['one', 'onne']\ndefine_agent(name='a', hooks=HOOKS)\n"
    assert read(tmp_path, a=text) == (["one a"], [("unknown-hook", "a/hooks.py:5")])
