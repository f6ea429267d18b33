"""What the hook files of all agents have in common when they are read."""

from __future__ import annotations

import json

import pytest

from hookline.config.problem import Severity
from hookline.config.reader import read_text
from hookline.dialects.agent_files.format import FORMATS, Layout
from hookline.dialects.dialect import AGENT_FILE_DIALECTS, get_dialect
from hookline.project import load_text

IN_JSON = sorted(AGENT_FILE_DIALECTS - {"cline", "kimi_code"})
BEFORE = {"gemini_cli": "BeforeTool", "cursor": "preToolUse", "copilot_cli": "preToolUse", "kiro": "preToolUse", "windsurf": "pre_run_command"}  # fmt: skip
OWN = "/home/u/.local/share/hookline/bridge {} {}"


def load(name: str, *handlers: dict[str, object], **more: object):  # type: ignore[no-untyped-def]
    get_dialect(name)
    event = BEFORE.get(name, "PreToolUse")
    entries = [{"hooks": list(handlers)}] if FORMATS[name].layout is Layout.GROUPS else list(handlers)
    document, _ = read_text(json.dumps({"hooks": {event: entries, **more}}), "file.json")
    assert document is not None
    return get_dialect(name).load(document)


@pytest.mark.parametrize("name", IN_JSON)
def test_hookline_s_own_entry_is_not_a_hook(name: str) -> None:
    key = FORMATS[name].command_keys[0] if get_dialect(name) else ""
    own = {"type": "command", key: OWN.format(name.replace("_", "-"), BEFORE.get(name, "PreToolUse"))}
    loaded = load(name, own, {"type": "command", key: "exit 2"})
    assert len(loaded.hooks) == 1
    assert loaded.problems == ()


@pytest.mark.parametrize("name", IN_JSON)
def test_hooks_that_are_not_lists_leave_open_what_the_file_guards(name: str) -> None:
    get_dialect(name)
    for hooks in ("x", 5, [1], {BEFORE.get(name, "PreToolUse"): {"command": "x"}}):
        document, _ = read_text(json.dumps({"hooks": hooks}), "file.json")
        assert document is not None
        assert not get_dialect(name).load(document).is_readable


@pytest.mark.parametrize("name", IN_JSON)
def test_a_hook_says_its_event_and_unit_in_the_agents_words(name: str) -> None:
    (hook,) = load(name, {"type": "command", FORMATS[name].command_keys[0]: "true"}).hooks
    assert hook.event_name == BEFORE.get(name, "PreToolUse")
    assert hook.origin.wording.unit == ("ms" if name == "gemini_cli" else "s")
    assert hook.group == name


@pytest.mark.parametrize("name", ["cursor", "copilot_cli", "windsurf"])
@pytest.mark.parametrize("key", ["hook", "Hooks", "hooksss"])
def test_a_misspelled_list_of_hooks_is_an_error(name: str, key: str) -> None:
    document, _ = read_text(json.dumps({"version": 1, key: {BEFORE[name]: [{"command": "exit 2"}]}}), "hooks.json")
    assert document is not None
    assert [problem.severity for problem in get_dialect(name).load(document).problems] == [Severity.ERROR]


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize("written", [{"": 1}, ["command"], 5])
def test_a_type_that_is_no_text_is_a_problem(name: str, written: object) -> None:
    get_dialect(name)
    if FORMATS[name].layout is Layout.GROUPS:
        assert load(name, {"type": written, "command": "exit 2"}).problems


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (("lint", "guard shell"), ("lint", "guard shell")),
        (("lint", "lint"), ("BeforeTool[0]", "BeforeTool[0].hooks[1]")),
        (("lint", None), ("lint", "BeforeTool[0].hooks[1]")),
        (("BeforeTool[1]", "a\x1b[2J"), ("BeforeTool[0]", "BeforeTool[0].hooks[1]")),
    ],
)
def test_a_hook_is_called_by_its_name(names: tuple[str | None, ...], ids: tuple[str, ...]) -> None:
    handlers = [
        {"type": "command", "command": f"./{number}"} | ({"name": name} if name else {})
        for number, name in enumerate(names)
    ]
    text = json.dumps({"hooks": {"BeforeTool": [{"hooks": handlers}]}})
    hooks = load_text(text, ".gemini/settings.json", "gemini_cli").hooks
    assert [hook.id for hook in hooks] == [f".gemini/settings.json:{id}" for id in ids]
