"""What errors say, and their exit codes."""

from __future__ import annotations

import pytest

from hookline import errors
from hookline.config.problem import Problem
from hookline.errors import BadTemplate, ConfigError, Denied, Halted, HooklineError, MissingExtraError, extra_required
from hookline.extras import install_command


def test_only_a_deny_exits_with_2() -> None:
    codes = {
        name: each.exit_code
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, HooklineError)
    }
    assert {name for name, code in codes.items() if code == 2} == {"Denied", "Halted"}
    assert set(codes.values()) == {1, 2}


def test_a_config_error_shows_every_problem_on_its_line() -> None:
    problems = [Problem("a", "hooks.yaml", line, f"problem {line}") for line in (3, 7)]
    error = ConfigError(iter(problems))
    assert error.problems == tuple(problems)
    assert [line for line in str(error).splitlines() if "hooks.yaml" in line] == [str(each) for each in problems]


def test_a_halt_is_a_deny_with_its_reason_and_hook() -> None:
    with pytest.raises(Denied) as denied:
        raise Halted("Enough.", "stop")
    assert (str(denied.value), denied.value.reason, denied.value.by) == ("Enough.", "Enough.", "stop")


def test_a_missing_package_names_the_extra_to_install() -> None:
    with pytest.raises(MissingExtraError) as missing, extra_required("hookline run needs it", "run"):
        import package_that_does_not_exist.part  # type: ignore[import-not-found]  # noqa: F401
    assert "hookline run needs it" in str(missing.value)
    assert str(missing.value).endswith(f"Install it: {install_command('run')}")
    assert isinstance(missing.value, ImportError)


def test_a_missing_module_of_hookline_is_a_bug_and_not_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as missing, extra_required("it needs it", "run"):
        import hookline.module_that_does_not_exist  # type: ignore[import-not-found]  # noqa: F401
    assert not isinstance(missing.value, MissingExtraError)


@pytest.mark.parametrize(("hint", "text"), [("", "bad word"), ("Quote it.", "bad word. Quote it.")])
def test_a_bad_template_says_what_to_write(hint: str, text: str) -> None:
    error = BadTemplate("bad word", hint, 3)
    assert (str(error), error.position) == (text, 3)
