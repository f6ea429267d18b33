from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dialects.digitorn.digitorn_app import all_actions, all_conditions, build_hook, load, read_document
from hookline.config.reader import read_text
from hookline.dialects.digitorn import DIALECT

CASES = Path(__file__).parents[2] / "cases" / "digitorn"


def _case_configs() -> Iterator[Any]:
    for path in sorted(CASES.glob("*.yaml")):
        whole = read_document(path.read_text(), path.name).value
        for case in whole.get("cases", [whole]):
            config = case.get("config")
            if not isinstance(config, str):
                yield from () if config is None else (config,)
            elif (found := read_text(config, "digitorn.yaml")[0]) is not None:
                yield found.value


BAD_ONLY_IN_MEANING = {"duplicate-id", "bad-template", "bad-params", "not-read"}
"""Errors that a schema cannot see."""


def test_the_schema_and_the_reader_agree_on_every_case() -> None:
    schema = jsonschema.Draft202012Validator(DIALECT.schema())
    refused = 0
    for config in _case_configs():
        found = load(config).problems
        errors = {each.code for each in found if each.severity == "error" or each.code == "unknown-key"}
        if errors <= BAD_ONLY_IN_MEANING:
            schema.validate(config)
        else:
            refused += 1
            assert not schema.is_valid(config), config
    assert refused >= 5


WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "", "word", [], [1], {}, {"a": 1})


@pytest.mark.parametrize("form", all_actions(), ids=lambda form: str(form["type"]))
def test_the_schema_refuses_what_the_reader_refuses_in_an_action(form: dict[str, Any]) -> None:
    _assert_schema_agrees(form, "action")


@pytest.mark.parametrize("form", all_conditions(), ids=lambda form: str(form["type"]))
def test_the_schema_refuses_what_the_reader_refuses_in_a_condition(form: dict[str, Any]) -> None:
    _assert_schema_agrees(form, "condition")


def _assert_schema_agrees(form: dict[str, Any], at: str) -> None:
    schema = jsonschema.Draft202012Validator(DIALECT.schema())
    without = [{key: value for key, value in form.items() if key != left_out} for left_out in form]
    changed = [{**form, key: wrong} for key in form for wrong in WRONG if key != "type"]
    for variant in (*without, *changed, {**form, "unheard_of": 1}):
        config = build_hook(**{at: variant})
        found = load(config).problems
        problems = [problem for problem in found if problem.severity == "error" or problem.code == "unknown-key"]
        if {problem.code for problem in problems} - BAD_ONLY_IN_MEANING or not problems:
            assert schema.is_valid(config) is not bool(problems), (variant, problems)
