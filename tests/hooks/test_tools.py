"""The table of tools' kinds, names and fields."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.tools import FIELD_NAMES, VOCABULARIES, ToolKind, is_known_name, kind_of_name, main_field, tool_kind


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ({"name": "Bash"}, ToolKind.SHELL),
        ({"name": "Bash", "kind": "read"}, ToolKind.READ),
        ({"name": "Bash", "kind": "nonsense"}, ToolKind.SHELL),
        ({"name": "write_bash"}, ToolKind.SHELL),
        ({"name": "anything", "kind": "shell"}, ToolKind.SHELL),
        ({"name": "anything"}, ToolKind.OTHER),
        ({"name": 5}, ToolKind.OTHER),
        ("bash", ToolKind.OTHER),
    ],
)
def test_a_tool_has_its_declared_kind_or_the_one_of_its_name(tool: Any, kind: ToolKind) -> None:
    assert tool_kind(tool) is kind


def test_every_kind_but_other_has_a_main_field() -> None:
    assert [kind for kind in ToolKind if main_field(kind) is None] == [ToolKind.OTHER]


def test_fields_but_paths_are_known_in_camel_case_too() -> None:
    assert {"oldStr", "oldString"} <= set(FIELD_NAMES[ToolKind.EDIT]["old_string"])
    assert "targetFile" not in FIELD_NAMES[ToolKind.WRITE]["path"]
    assert FIELD_NAMES[ToolKind.SHELL]["timeout"] == ()
    assert all(ours not in others for fields in FIELD_NAMES.values() for ours, others in fields.items())


def test_no_name_means_two_kinds_that_guards_tell_apart() -> None:
    """A name that two vocabularies use for different kinds would be judged as the wrong one."""
    kinds: dict[str, set[ToolKind]] = {}
    for vocabulary in VOCABULARIES.values():
        for kind, names in vocabulary.names.items():
            for name in names:
                kinds.setdefault(name, set()).add(kind)
    both = {ToolKind.WRITE, ToolKind.EDIT}  # agents with one tool for both; their adapters say which a call is
    assert {name: found for name, found in kinds.items() if len(found) > 1} == dict.fromkeys(
        ("Write", "apply_patch", "fs_write", "fsWrite", "write", "write_code"), both
    )
    assert kind_of_name("Write") is ToolKind.WRITE


def test_no_tool_is_of_a_kind_and_of_none() -> None:
    named = {name for vocabulary in VOCABULARIES.values() for names in vocabulary.names.values() for name in names}
    assert named.isdisjoint(name for vocabulary in VOCABULARIES.values() for name in vocabulary.others)


def test_a_known_name_is_one_of_any_host() -> None:
    assert is_known_name("run_shell_command")
    assert is_known_name("TodoWrite")
    assert not is_known_name("my_shell")


def test_a_vocabulary_knows_its_names_and_their_short_forms() -> None:
    known = VOCABULARIES["digitorn"].known_names
    assert {"filesystem.write", "write", "Write", "shell.run", "run", "Bash", "agent_spawn"} <= known
    assert "" not in known
    assert "Write" not in VOCABULARIES["ai_agents"].known_names
