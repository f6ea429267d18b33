import pytest


@pytest.mark.parametrize("home", ["", "here"])
def test_a_home_that_is_no_absolute_path_is_refused(hookline, monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    result = hookline("install", "cursor", "--dry-run")
    assert result.exit_code == 1
    assert "HOME is not an absolute path" in result.stderr
