"""Which hook files may run in a forked child."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hookline.runners.warm

SOURCE = Path(hookline.runners.warm.__file__).with_name("warm_child.py")


def load() -> ModuleType:
    """The module as the warm interpreter imports it: by path, without hookline."""
    spec = importlib.util.spec_from_file_location("warm_child_in_test", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHILD = load()


@pytest.mark.parametrize(
    "source",
    [
        b"import sys; sys._getframe()",
        b"import inspect; inspect.stack()",
        b"warnings.warn('x', stacklevel=2)",
        b"# -*- coding: latin-1 -*-\n",
        b"#!/usr/bin/python3\n# vim: set fileencoding=latin-1 :\n",
        b"x = 1\0",
        b"#" * (CHILD.LARGEST_SOURCE + 1),
    ],
)
def test_a_file_that_could_notice_the_fork_is_refused(source: bytes) -> None:
    with pytest.raises(CHILD.NotForkableError):
        CHILD.check_source(source)


def test_a_plain_file_is_accepted() -> None:
    source = b"import json\nprint(json.dumps(1))\n# coding: too late\n"
    assert CHILD.check_source(source) == source


@pytest.mark.parametrize("source", [b"def", b"x = '\\d'", b"assert (1, 'always true')"])
def test_source_with_an_error_or_a_warning_to_show_is_refused(source: bytes) -> None:
    with pytest.raises(CHILD.NotForkableError):
        CHILD.compile_source(source, "hook.py")


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("x = 1")
    assert CHILD.read_hook_source(str(tmp_path / "hook.py")) == b"x = 1"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CHILD.NotForkableError):
        CHILD.read_hook_source(str(tmp_path / "pipe"))


@pytest.mark.parametrize(
    ("code", "status"),
    [(None, 0), (0, 0), (3, 3), (255, 255), ("message", 1), (256, None), (-1, None), (True, None), ([], None)],
)
def test_an_exit_code_is_known_only_if_it_is_certain(code: Any, status: int | None) -> None:
    assert CHILD.exit_status(code) == status


def test_a_variable_is_set_and_removed_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    import posix

    monkeypatch.setenv("HOOKLINE_TEST_VARIABLE", "before")
    CHILD.set_variable("HOOKLINE_TEST_VARIABLE", "after")
    assert os.environ["HOOKLINE_TEST_VARIABLE"] == "after"
    assert posix.environ[b"HOOKLINE_TEST_VARIABLE"] == b"after"
    CHILD.set_variable("HOOKLINE_TEST_VARIABLE", None)
    assert "HOOKLINE_TEST_VARIABLE" not in os.environ
    assert b"HOOKLINE_TEST_VARIABLE" not in posix.environ
