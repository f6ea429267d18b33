"""A tool takes its command in an unusual form: in several fields, as JSON text, in base64, as what a shell reads.

Each form of `call_forms.yaml` is tried with a harmful command, which a guard must stop and nothing may allow, and with a
harmless one, which the same guards must let through. `path_forms.yaml` has the same for the path of a file.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from attempts import Attempt

from hookline.testing import fire

Words = tuple[str, str, str]

HARMFUL: Words = ("rm", "-rf", "x")
HARMLESS: Words = ("ls", "-la", "x")
GUARDS: dict[str, dict[str, Any]] = {
    "runs": {"runs": {"program": "rm", "flags": ["r", "f"]}},
    "pattern": {"tool": "bash", "input": {"command": r"\brm\b.*-rf"}},
}
ALLOWS: dict[str, dict[str, Any]] = {
    "runs": {"tool": "bash", "runs": "ls"},
    "pattern": {"tool": "bash", "input": {"command": r"^ls[^;&|\n]*$"}},
    "starts": {"tool": "bash", "input": {"command": {"starts": "ls *"}}},
}


def forms(words: Words, tool: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, input in _read_rows("call_forms.yaml"):
        yield tool or name, _fill(input, words)


def _read_rows(file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    groups = yaml.safe_load(Path(__file__).with_name(file).read_text("utf-8"))
    for rows in groups.values():
        yield from rows


def _fill(value: Any, words: Words) -> Any:
    line = " ".join(words)
    placeholders = {
        "@PROGRAM": words[0],
        "@FLAG": words[1],
        "@TARGET": words[2],
        "@LINE": line,
        "@B64": base64.b64encode(line.encode()).decode(),
        "@UTF16": base64.b64encode(line.encode("utf-16-le")).decode(),
        "@HEX": line.encode().hex(),
    }
    return _replace(value, placeholders)


def _replace(value: Any, placeholders: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {_replace(name, placeholders): _replace(each, placeholders) for name, each in value.items()}
    if isinstance(value, list):
        return [_replace(each, placeholders) for each in value]
    for placeholder, text in placeholders.items() if isinstance(value, str) else ():
        value = value.replace(placeholder, text)
    return value


def _verdict(when: Mapping[str, Any], then: Any, tool: str, input: dict[str, Any]) -> str:
    config = {"hooks": [{"id": "hook", "on": "tool.before", "when": when, "then": then}]}
    event = {"name": "tool.before", "tool": {"name": tool, "input": input}, "cwd": "/w", "host": {"name": "elsewhere"}}
    return fire(config, event).verdict.name


def test_a_command_in_an_unusual_form_is_stopped(attempt: Attempt) -> None:
    for tool, input in forms(HARMFUL):
        for name in ("runs", "pattern"):
            verdict = _verdict(GUARDS[name], {"deny": "No."}, tool, input)
            attempt("a command in an unusual form", verdict != "DENY", f"{name}: {tool} {input}")


def test_a_command_in_an_unusual_form_is_not_allowed(attempt: Attempt) -> None:
    for tool, input in forms(HARMFUL, "bash"):
        for name, when in ALLOWS.items():
            verdict = _verdict(when, "allow", tool, input)
            attempt("an allow for an unusual form", verdict == "ALLOW", f"{name}: {input}")


def test_a_harmless_command_in_the_same_form_is_not_stopped(attempt: Attempt) -> None:
    for tool, input in forms(HARMLESS):
        for name in ("runs", "pattern"):
            verdict = _verdict(GUARDS[name], {"deny": "No."}, tool, input)
            attempt("a harmless command that is stopped", verdict == "DENY", f"{name}: {tool} {input}")


def test_words_that_nothing_runs_are_not_stopped(attempt: Attempt) -> None:
    for tool, input in _read_rows("harmless_calls.yaml"):
        verdict = _verdict(GUARDS["runs"], {"deny": "No."}, tool, input)
        attempt("a harmless command that is stopped", verdict == "DENY", f"{tool} {input}")


PATH_GUARDS: dict[str, dict[str, Any]] = {
    "pattern": {"input": {"path": r"\.env$"}},
    "glob": {"kind": ["read", "write", "edit"], "input": {"path": {"glob": "**/.env"}}},
}


def _path_forms(directory: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    placeholders = {
        "@DIR": directory,
        "@NAME": name,
        "@PATH": f"{directory}/{name}",
        "@URL": f"%{ord(name[0]):02x}{name[1:]}",
    }
    for tool, input in _read_rows("path_forms.yaml"):
        yield tool, _replace(input, placeholders)


def test_a_path_in_an_unusual_form_is_stopped(attempt: Attempt) -> None:
    for tool, input in _path_forms("conf", ".env"):
        for name, when in PATH_GUARDS.items():
            verdict = _verdict(when, {"deny": "No."}, tool, input)
            attempt("a path in an unusual form", verdict != "DENY", f"{name}: {tool} {input}")


def test_a_path_in_an_unusual_form_is_not_allowed(attempt: Attempt) -> None:
    when = {"kind": ["read", "write", "edit"], "input": {"path": r"\.md$"}}
    for tool, input in _path_forms("conf", ".env"):
        verdict = _verdict(when, "allow", tool, input)
        attempt("an allow for an unusual form", verdict == "ALLOW", f"{tool} {input}")


def test_a_harmless_path_in_the_same_form_is_not_stopped(attempt: Attempt) -> None:
    for tool, input in _path_forms("conf", "env.md"):
        for name, when in PATH_GUARDS.items():
            verdict = _verdict(when, {"deny": "No."}, tool, input)
            attempt("a harmless path that is stopped", verdict == "DENY", f"{name}: {tool} {input}")
