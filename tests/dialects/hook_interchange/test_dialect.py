"""The Hook Interchange Format in JSON and YAML, and how its files are recognised."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import Dialect, get_dialect, recognise_dialect
from hookline.hooks.actions.hold import HoldCall
from hookline.project.parsed_file import read_source
from hookline.project.sources import named_source

MANIFEST = {
    "spec": "hooks/0.1",
    "hooks": [
        {"event": "before_tool_execute", "matcher": "shell", "handler": {"type": "command", "command": "./a.sh"}}
    ],
}
YAML = "spec: hooks/0.1\nhooks:\n- {event: before_tool_execute, matcher: shell, handler: {type: command, command: ./a.sh}}\n"


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (json.dumps(MANIFEST), "x.json"),
        (YAML, "x.yaml"),
        (json.dumps(MANIFEST), "hooks.json"),
        ('{"spec": "hooks/9.9", "hooks": []}', "hooks.json"),
    ],
)
def test_a_manifest_is_recognised_by_its_spec(text: str, file: str) -> None:
    document, _ = read_text(text, file)
    assert document is not None
    found = recognise_dialect(document)
    assert not isinstance(found, Problem)
    assert found.name == "hook_interchange"


def test_json_and_yaml_have_the_same_hooks() -> None:
    dialect: Dialect = get_dialect("hook_interchange")
    one, other = read_text(json.dumps(MANIFEST), "hooks.x")[0], read_text(YAML, "hooks.x")[0]
    assert one is not None
    assert other is not None
    (first,), (second,) = dialect.load(one).hooks, dialect.load(other).hooks
    assert (first.when, first.then, first.event, first.on_error) == (
        second.when,
        second.then,
        second.event,
        second.on_error,
    )


def test_an_unknown_version_is_refused_as_a_whole() -> None:
    document, _ = read_text(json.dumps({**MANIFEST, "spec": "hooks/1.0"}), "hooks.json")
    assert document is not None
    loaded = get_dialect("hook_interchange").load(document)
    assert (loaded.hooks, loaded.is_readable, [problem.code for problem in loaded.problems]) == (
        (),
        False,
        ["unknown-version"],
    )


def test_a_script_runs_from_the_manifests_directory_wherever_the_session_is(tmp_path: Path) -> None:
    folder = tmp_path / "hooks" / "a b"
    folder.mkdir(parents=True)
    (folder / "hook.json").write_text(json.dumps(MANIFEST))
    (hook,) = read_source(named_source(folder / "hook.json")).hooks
    assert next(iter(hook.then.describe())) == ("run", f"'{folder}/a.sh'")


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({}, True),
        ({"spec": "hooks/0.2"}, False),
        ({"hooks": []}, False),
        ({"author": "x"}, True),
        ({"hooks": [{"event": "agent_stop"}]}, False),
        ({"hooks": [{"handler": {"type": "command", "command": "x"}}]}, False),
        ({"hooks": [{"event": "agent_stop", "handler": {"type": "command"}}]}, False),
        ({"hooks": [{**MANIFEST["hooks"][0], "degradation": {"input_rewrite": "ignore"}}]}, False),  # type: ignore[dict-item]
    ],
)
def test_the_schema_accepts_what_is_read(change: dict[str, object], is_valid: bool) -> None:
    schema = get_dialect("hook_interchange").schema()
    assert jsonschema.Draft202012Validator(schema).is_valid({**MANIFEST, **change}) is is_valid


@pytest.mark.parametrize("key", ["blcking", "Blocking", "blocking "])
def test_a_misspelled_blocking_is_an_error(key: str) -> None:
    """Without it, the program would only advise."""
    document, _ = read_text(json.dumps({**MANIFEST, "hooks": [{**MANIFEST["hooks"][0], key: True}]}), "hooks.json")
    assert document is not None
    loaded = get_dialect("hook_interchange").load(document)
    assert [each.severity for each in loaded.problems] == [Severity.ERROR]
    assert [type(hook.then) for hook in loaded.hooks] == [HoldCall]
