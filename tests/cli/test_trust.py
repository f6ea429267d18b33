from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _config(project):
    Path("check.sh").write_text("exit 1\n")
    Path("hookline.yaml").write_text("hooks: [{id: runs, on: stop, then: {run: 'sh ./check.sh'}, on_error: open}]")


def test_it_shows_the_commands_asks_and_accepts(hookline):
    assert hookline("fire", "stop").exit_code == 0
    result = hookline("trust", input="y\n")
    assert result.exit_code == 0
    assert "run: sh ./check.sh" in result.stdout
    assert "check.sh" in result.stdout.split("runs the file")[1]
    assert hookline("fire", "stop").exit_code == 2


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_without_a_yes_nothing_is_accepted(hookline, answer):
    assert hookline("trust", input=answer).exit_code == 3
    assert hookline("fire", "stop").exit_code == 0


def test_yes_accepts_without_a_question_until_a_file_changes(hookline):
    assert hookline("trust", "--yes").exit_code == 0
    assert "Nothing here needs your trust" in hookline("trust").stdout
    Path("check.sh").write_text("exit 0\n")
    assert hookline("trust", input="n\n").exit_code == 3


def test_a_hook_that_cannot_be_read_is_named(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: wall, on: tool.before, when: {comand: rm}, then: {deny: no}}]\n")
    result = hookline("trust", "--yes")
    assert "hookline.yaml:1" in result.stderr
    assert "comand" in result.stderr


def test_json_for_programs(hookline):
    asked = hookline("trust", "--json")
    assert asked.exit_code == 3
    (review,) = json.loads(asked.stdout)
    assert (review["file"], review["trusted"], review["names"]) == ("hookline.yaml", False, ["check.sh"])
    assert json.loads(hookline("trust", "--json", "--yes").stdout)[0]["trusted"] is True
    assert hookline("trust", "--json").stdout == "[]\n"


def test_what_a_failure_counts_as_is_shown(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: runs, on: stop, then: {run: 'sh ./check.sh'}, on_error: closed}]")
    assert "    if it fails, deny" in hookline("trust", input="n\n").stdout.splitlines()


def test_a_change_is_shown_and_what_was_accepted_stays_in_force(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: wall, on: tool.before, then: {deny: Not here.}}]\n")
    assert hookline("trust", "--yes").exit_code == 0
    assert "Nothing changed" in hookline("trust", "--diff").stdout
    Path("hookline.yaml").unlink()
    shown = hookline("trust", "--diff")
    assert shown.exit_code == 3
    assert "-hooks: [{id: wall, on: tool.before, then: {deny: Not here.}}]" in shown.stdout
    (change,) = json.loads(hookline("trust", "--diff", "--json").stdout)
    assert change["file"] == "hookline.yaml"
    assert "deny: Not here." in hookline("fire", "tool.before", "--tool", "bash").stdout
    asked = hookline("trust", input="n\n")
    assert "deleted since you trusted it" in asked.stdout
    assert "stays in force" in asked.stdout
    assert hookline("trust", "--yes").exit_code == 0
    assert hookline("fire", "tool.before", "--tool", "bash").exit_code == 0


def test_trust_can_be_withdrawn(hookline):
    assert "Nothing here was trusted" in hookline("trust", "--revoke").stdout
    hookline("trust", "--yes")
    assert hookline("trust", "--revoke").stdout == "No longer trusted: hookline.yaml\n"
    assert hookline("trust", input="n\n").exit_code == 3
    hookline("trust", "--yes")
    assert json.loads(hookline("trust", "--revoke", "--json").stdout) == ["hookline.yaml"]
    assert hookline("trust", "--revoke", "--yes").exit_code != 0


def test_a_file_that_was_never_trusted_has_no_difference(hookline):
    assert "was never trusted" in hookline("trust", "--diff").stdout


def test_a_file_that_cannot_be_read_cannot_be_trusted(hookline):
    hookline("trust", "--yes")
    Path("hookline.yaml").write_text("hooks: [")
    refused = hookline("trust", "--yes")
    assert refused.exit_code == 1
    assert "hookline.yaml: it cannot be read, so it cannot be trusted" in refused.stderr
    assert "Nothing here needs your trust" not in refused.stdout
    shown = hookline("trust", "--diff")
    assert shown.exit_code == 3
    assert "+hooks: [" in shown.stdout.splitlines()


def test_a_file_that_was_never_trusted_and_cannot_be_read_is_refused(hookline):
    Path("hookline.yaml").write_text("hooks: [")
    refused = hookline("trust", "--yes")
    assert refused.exit_code == 1
    assert "hookline.yaml: it cannot be read, so it cannot be trusted" in refused.stderr
    assert refused.stdout == ""


def test_a_pack_that_is_gone_is_shown_as_a_difference(hookline):
    Path("team.yaml").write_text("hooks: [{id: a, on: tool.before, then: deny}]\n")
    Path("hookline.yaml").write_text("extends: ./team.yaml\n")
    hookline("trust", "--yes")
    Path("team.yaml").unlink()
    assert "--- trusted/team.yaml" in hookline("trust", "--diff").stdout
