from pathlib import Path

import pytest


@pytest.mark.parametrize("home", ["", "here"])
def test_a_relative_home_is_an_error(hookline, monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    result = hookline("install", "cursor", "--dry-run")
    assert result.exit_code == 1
    assert "HOME is not an absolute path" in result.stderr


@pytest.mark.parametrize(
    "verb", [("list",), ("prove", "--denied", "tool: bash"), ("fire", "stop")], ids=lambda verb: verb[0]
)
def test_a_named_file_of_which_errors_leave_no_hook_is_an_error(hookline, verb):
    Path("h.yaml").write_text("version: 99\nhooks: [{id: a, on: stop, then: deny}]")
    result = hookline(*verb, "--config", "h.yaml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("hookline: h.yaml:1  version: 99 is not known.")
