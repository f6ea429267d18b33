from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from hookline.project.packs import own_pack_names


def test_the_written_file_has_no_problem(hookline):
    assert hookline("init").exit_code == 0
    result = hookline("check", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "problems": [],
        "files": [{"file": "hookline.yaml", "dialect": "native", "hooks": 2}],
    }


def test_its_hooks_act_at_once(hookline):
    hookline("init")
    push = hookline("fire", "tool.before", "--tool", "bash", "--input", '{"command": "git -C a\\n push"}')
    secret = hookline(
        "fire", "PreToolUse", "--tool", "Write", "--input", '{"file_path": "a/.env", "content": "api_key=1"}'
    )
    edit = hookline(
        "fire", "PreToolUse", "--tool", "Edit", "--input", '{"file_path": ".env.local", "new_string": "TOKEN=1"}'
    )
    other = hookline(
        "fire", "PreToolUse", "--tool", "Write", "--input", '{"file_path": "a.environment", "content": "api_key=1"}'
    )
    assert [each.exit_code for each in (push, secret, edit, other)] == [3, 2, 2, 0]


def test_a_file_that_is_there_stays(hookline):
    Path("hookline.yaml").write_text("hooks: []")
    result = hookline("init")
    assert (result.exit_code, Path("hookline.yaml").read_text()) == (1, "hooks: []")
    assert "--force" in result.stderr


def test_force_overwrites_it(hookline):
    Path("hookline.yaml").write_text("hooks: []")
    assert hookline("init", "--force").exit_code == 0
    assert "no-secrets-in-env-files" in Path("hookline.yaml").read_text()


def test_a_directory_that_cannot_be_written_is_said(hookline, project):
    Path("hookline.yaml").mkdir()
    result = hookline("init", "--force")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("name", ["hookline.yaml", "hookline.schema.json"])
def test_a_link_is_not_followed(hookline, project, name):
    mine = project.parent / "mine"
    mine.write_text("mine")
    (project / name).symlink_to(mine)
    result = hookline("init", "--force")
    assert result.exit_code == 1
    assert f"{name} is a link to {mine}" in result.stderr
    assert mine.read_text() == "mine"


def test_packs_are_extended_and_act_at_once(hookline):
    result = hookline("init", "--pack", "recommended", "--pack", "production")
    assert result.exit_code == 0
    assert "extends: [hookline:recommended, hookline:production]" in Path("hookline.yaml").read_text()
    assert len(Path("hookline.yaml").read_text().splitlines()) == 3
    assert hookline("check").exit_code == 0
    assert hookline("fire", "tool.before", "--tool", "bash", "--input", '{"command": "rm -fr src"}').exit_code == 2
    assert hookline("fire", "tool.before", "--tool", "bash", "--input", '{"command": "npm publish"}').exit_code == 3


@pytest.mark.parametrize("pack", ["recommended", "secrets", "production", "workspace", "quality", "hookline:secrets"])
def test_the_pack_stops_the_command_that_is_suggested(hookline, pack):
    result = hookline("init", "--pack", pack)
    suggested = [
        shlex.split(line.split("hookline ")[1]) for line in result.stdout.splitlines() if "hookline fire" in line
    ]
    assert len(suggested) == (pack != "quality")
    for arguments in suggested:
        assert hookline(*arguments).exit_code in (2, 3)


@pytest.mark.parametrize("pack", own_pack_names())
def test_check_has_nothing_to_say_about_a_pack(hookline, pack):
    hookline("init", "--pack", pack)
    assert hookline("check").stdout.endswith("no problems\n")


def test_an_unknown_pack_is_refused_before_anything_is_written(hookline):
    result = hookline("init", "--pack", "recomended")
    assert result.exit_code == 1
    assert "Did you mean recommended?" in result.stderr
    assert not Path("hookline.yaml").exists()
