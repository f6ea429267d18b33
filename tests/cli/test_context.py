import pytest


@pytest.mark.parametrize("home", ["", "here"])
def test_a_relative_home_is_an_error(hookline, monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    result = hookline("install", "cursor", "--dry-run")
    assert result.exit_code == 1
    assert "HOME is not an absolute path" in result.stderr
