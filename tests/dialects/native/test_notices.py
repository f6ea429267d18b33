"""`log` and `notify`."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.native.native_actions import parse, rewrite
from hookline.hooks.actions.failing import InvalidAction


@pytest.mark.parametrize(
    ("then", "written"),
    [
        ({"log": "{{tool.name}}"}, {"log": {"message": "{{tool.name}}", "level": "info"}}),
        ({"log": {"message": "{{tool.name}}", "level": "debug"}}, None),
        ({"notify": {"message": "a", "title": "b", "level": "error", "tag": "c"}}, None),
    ],
    ids=str,
)
def test_it_is_written_as_it_was_read(then: Any, written: Any) -> None:
    assert rewrite(then) == (written or then)


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ({"log": {"message": "a", "level": "loud"}}, ["unknown-word"]),
        ({"notify": {"titel": "x"}}, ["unknown-key", "missing-key"]),
    ],
    ids=str,
)
def test_every_problem_is_found(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes
