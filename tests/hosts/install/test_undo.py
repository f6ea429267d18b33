"""For any file, however it is formatted: undo removes what install added, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.json_edit import Addition, addition_splices, apply_splices, parse_object
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import hook_command
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install.undo import InstallRecord, is_own_entry, own_entry_paths, restore_text

pytestmark = pytest.mark.slow


MACHINE = Machine(Path("/home/user"), Path("/home/user/project"))
AGENT = "claude-code"
CALL = hook_command(AGENT, MACHINE, InstallScope.USER)
EVENTS = ("Start", "PreToolUse", "Stop")
ADDITIONS = tuple(
    Addition(
        ("hooks", event), {"hooks": [{"type": "command", "command": CALL.shell_command(agent_event(event, "stop"))}]}
    )
    for event in EVENTS
)
KEYS = {"version": 1}

texts = st.text(st.sampled_from('ab "\\/*,{}[]:é\U0001f600\t\n'), max_size=6)
scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
groups = st.lists(
    st.dictionaries(
        st.sampled_from(("matcher", "command", "hooks")), scalars | st.lists(scalars, max_size=2), max_size=2
    ),
    max_size=2,
)
hooks = st.dictionaries(st.sampled_from((*EVENTS, "Other")), groups, max_size=3)
roots = st.dictionaries(texts.filter(lambda key: key not in ("hooks", "version")), values, max_size=3)
gaps = st.sampled_from(("", "", " ", "\n", "\n  ", "\r\n\t", " // } note\n", "/* , */", '\n/*\n{*/ // "x\n '))


@st.composite
def files(draw: st.DrawFn) -> str:
    value = draw(roots)
    if draw(st.booleans()):
        items = list(value.items())
        items.insert(draw(st.integers(0, len(items))), ("hooks", draw(hooks)))
        value = dict(items)
    return draw(st.sampled_from(("", "\ufeff"))) + draw(gaps) + json_text(draw, value) + draw(gaps)


def json_text(draw: st.DrawFn, value: Any) -> str:
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}{draw(gaps)}:{draw(gaps)}{json_text(draw, item)}" for key, item in value.items()]
    else:
        parts = [json_text(draw, item) for item in value]
    inside = ",".join(draw(gaps) + part + draw(gaps) for part in parts)
    trailing = "," + draw(gaps) if parts and draw(st.booleans()) else ""
    return opening + (inside or draw(gaps)) + trailing + closing


def record(original: str | None) -> InstallRecord:
    splices = addition_splices(original or "", "settings.json", KEYS, ADDITIONS)
    return InstallRecord("claude-code", InstallScope.USER, MACHINE.project, Path("settings.json"), original, splices)


def without_own_entries(text: str) -> Any:
    """The value of a text without our entries and our key, and without empty lists of hooks."""
    value = dict(parse_object(text, "settings.json").value)
    value.pop("version", None)
    kept = {
        event: [entry for entry in entries if not is_own_entry(entry, AGENT)]
        for event, entries in value.pop("hooks", {}).items()
    }
    return value, {event: entries for event, entries in kept.items() if entries}


@given(files())
def test_entries_are_added_and_the_rest_is_unchanged(text: str) -> None:
    installed = record(text).installed_text
    document = parse_object(installed, "settings.json")
    assert sorted(path[1] for path in own_entry_paths(document, AGENT)) == sorted(EVENTS)
    assert without_own_entries(installed) == without_own_entries(text)
    assert restore_text(installed, "settings.json", AGENT, record(text)) == text


@given(files(), st.data())
def test_after_an_edit_exactly_hooklines_entries_are_removed(text: str, data: st.DataObject) -> None:
    kept = record(text)
    installed = kept.installed_text
    at = data.draw(st.integers(0, len(installed)))
    edited = installed[:at] + data.draw(st.sampled_from((" ", "\n", "/* new */"))) + installed[at:]
    try:
        before = without_own_entries(edited)
    except Exception:  # the edit broke the file; then nothing is promised but an error
        return
    result = restore_text(edited, "settings.json", AGENT, kept)
    assert result is not None
    still_ours = list(own_entry_paths(parse_object(edited, "settings.json"), AGENT))
    if len(still_ours) == len(EVENTS):
        assert without_own_entries(result) == before
    assert not list(own_entry_paths(parse_object(result, "settings.json"), AGENT))


@given(files())
def test_edited_entries_leave_the_original_text(text: str) -> None:
    kept = record(text)
    older = kept.installed_text.replace("/.local/share/hookline/bridge", "/tools/hookline/bridge")
    edited = older.replace('"type": "command",', '"type": "command", "timeout": 7,', 1)
    for each in (older, edited):
        assert restore_text(each, "settings.json", AGENT, kept) == text
    noted = edited.replace('"timeout": 7,', '"timeout": 7, // mine\n')
    assert "// mine" not in (restore_text(noted, "settings.json", AGENT, kept) or "// mine")


@given(files())
def test_without_a_record_exactly_hooklines_entries_are_removed(text: str) -> None:
    installed = record(text).installed_text
    result = restore_text(installed, "settings.json", AGENT, None)
    if result is None:  # nothing else was in it
        assert without_own_entries(installed) == ({}, {})
        return
    assert without_own_entries(result) == without_own_entries(installed)
    assert not list(own_entry_paths(parse_object(result, "settings.json"), AGENT))


@given(files())
def test_a_text_without_its_splices_is_the_original(text: str) -> None:
    kept = record(text)
    pieces = sorted(kept.splices, key=lambda splice: splice.at, reverse=True)
    assert apply_splices(text, pieces) == kept.installed_text
    assert len(kept.installed_text) == len(text) + sum(len(splice.text) for splice in pieces)


def test_a_new_file_is_removed_unless_the_user_added_something() -> None:
    kept = record(None)
    assert restore_text(kept.installed_text, "settings.json", AGENT, kept) is None
    assert (
        restore_text(kept.installed_text.replace('"version": 1', '"version":  1'), "settings.json", AGENT, kept) is None
    )
    used = kept.installed_text.replace('"version": 1', '"version": 1, "mine": true')
    assert json.loads(restore_text(used, "settings.json", AGENT, kept) or "") == {"version": 1, "mine": True}
