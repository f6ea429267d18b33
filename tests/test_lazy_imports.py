from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import pytest

from hookline import lazy_imports
from hookline.lazy_imports import json, lazy_class, lazy_logger, lazy_pattern

_HEAVY = [
    "asyncio",
    "dataclasses",
    "hashlib",
    "inspect",
    "json",
    "logging",
    "pydantic",
    "regex",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "uuid",
]

_DECIDE = """
import pathlib, sys
from hookline import Event, load
pathlib.Path("{file}").write_text('''{text}''')
event = Event("tool.before", {{"tool": {{"name": "bash", "input": {{"command": "rm -rf build"}}}}}})
assert load("{file}").decide_now(event).denied
loaded = set(sys.modules)
"""
_NATIVE = r"""hooks:
  - id: no-recursive-delete
    on: tool.before
    when: {tool: bash, input: {command: '(?i)\\brm\\s(.*\\s)?(-\\w*r|--recursive)'}}
    then: {deny: Deleting whole directories is not allowed here.}
"""


def _modules_after(code: str, directory: Any) -> set[str]:
    script = f"{code}\nprint(' '.join(sorted(loaded)))"
    environment = {**os.environ, "HOME": str(directory / "home")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=directory, env=environment
    )
    return set(done.stdout.split())


def test_loading_a_file_and_deciding_imports_nothing_that_it_does_not_use(tmp_path: Any) -> None:
    loaded = _modules_after(_DECIDE.format(file="hookline.yaml", text=_NATIVE), tmp_path)
    assert sorted(loaded & {*_HEAVY, "yaml"}) == []
    dialects = {name.split(".")[2] for name in loaded if name.startswith("hookline.dialects.") and name.count(".") == 2}
    assert not dialects & {"ai_agents", "claude_code", "digitorn", "flo", "microai", "standard_agents"}
    unused = ("hookline.runners.process", "hookline.project.trust", "hookline.shell.", "hookline.dialects.conversion")
    assert not {name for name in loaded if name.startswith(unused)}
    actions = {name.split(".")[3] for name in loaded if name.startswith("hookline.hooks.actions.")}
    assert actions == {"answer"}


def test_a_json_file_needs_no_yaml(tmp_path: Any) -> None:
    text = '{{"hooks": {{"PreToolUse": [{{"matcher": "^bash$", "action": "deny"}}]}}}}'.replace("{{", "{").replace(
        "}}", "}"
    )
    loaded = _modules_after(_DECIDE.format(file="hub.json", text=text), tmp_path)
    assert sorted(loaded & {*_HEAVY, "yaml"} - {"json"}) == []


def test_fire_imports_no_event_loop_and_no_other_dialect(tmp_path: Any) -> None:
    (tmp_path / "hookline.yaml").write_text(_NATIVE.replace("\\\\", "\\"))
    code = (
        "import sys\n"
        "from hookline.cli.main import cli\n"
        "call = ['fire', 'tool.before', '--tool', 'bash', '--input', '{\"command\": \"rm -rf x\"}']\n"
        "assert cli.main(call, standalone_mode=False) == 2\n"
        "loaded = set(sys.modules)\n"
    )
    loaded = _modules_after(code, tmp_path)
    assert sorted(loaded & {"asyncio", "concurrent.futures", "dataclasses", "pydantic", "regex", "socket"}) == []
    assert "hookline.dialects.native" in loaded
    assert not {f"hookline.dialects.{name}" for name in ("ai_agents", "claude_code", "digitorn", "flo")} & loaded


def test_a_lazy_module_is_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    import json as real

    assert json.dumps([1]) == "[1]"
    monkeypatch.setattr(real, "dumps", lambda value: "patched")
    assert json.dumps([1]) == "patched"
    with pytest.raises(AttributeError, match="dmps"):
        json.dmps  # type: ignore[attr-defined]  # noqa: B018


def test_a_lazy_class_has_no_objects_before_its_module_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "fractions", raising=False)
    lazy = lazy_class("fractions", "Fraction")
    assert not isinstance(1, lazy)
    assert "fractions" not in sys.modules
    half = lazy(1, 2)
    assert isinstance(half, lazy)
    assert isinstance(half, (str, lazy))
    assert (half.numerator, half.denominator) == (1, 2)  # type: ignore[attr-defined]
    assert not isinstance("1/2", lazy)


def test_a_lazy_pattern_does_what_a_pattern_does() -> None:
    lazy, real = lazy_pattern("(?P<word>[a-z]+)(x)?", re.IGNORECASE), re.compile("(?P<word>[a-z]+)(x)?", re.IGNORECASE)
    assert lazy.pattern == real.pattern
    assert (lazy.flags, lazy.groups, lazy.groupindex) == (real.flags, real.groups, real.groupindex)
    for name in ("match", "fullmatch", "search"):
        assert getattr(lazy, name)("Ab").span() == getattr(real, name)("Ab").span()
    assert lazy.sub("-", "a1b") == real.sub("-", "a1b")
    assert lazy.findall("a b") == real.findall("a b")
    assert [found[0] for found in lazy.finditer("a b")] == ["a", "b"]
    assert lazy.split("1a2") == real.split("1a2")


def test_a_lazy_pattern_is_compiled_when_it_is_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.match("a")


def test_a_lazy_logger_is_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    lazy_logger("hookline").warning("seen %s", "here")
    assert caplog.messages == ["seen here"]


def test_every_name_can_be_imported() -> None:
    assert [name for name in lazy_imports.__all__ if not hasattr(lazy_imports, name)] == []
