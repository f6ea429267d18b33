"""Defaults of every kind are shown as plain data, and a call without defaults stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pydantic
import pytest

from hookline.frameworks.tool_defaults import (
    NO_DEFAULTS,
    function_defaults,
    model_defaults,
    schema_defaults,
    value_defaults,
)


class Rude:
    """Nothing can be done with it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("equal")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __str__(self) -> str:
        raise RuntimeError("text")

    def __iter__(self) -> Any:
        raise RuntimeError("items")


class Endless:
    def __getattr__(self, name: str) -> Endless:
        return Endless()

    def __call__(self, *_: Any, **__: Any) -> Endless:
        return Endless()


UNSET = object()


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        (UNSET, "<object>"),
        (len, "<builtin_function_or_method>"),
        (int, "<type>"),
        (..., "<ellipsis>"),
        ({"b", "a"}, ["a", "b"]),
        (b"a", "a"),
        (Path("a") / "b", "a/b"),
        (iter([1]), "<list_iterator>"),
    ],
)
def test_a_default_that_is_no_data_is_shown_as_its_type(default: Any, shown: Any) -> None:
    def tool(path: Any = default) -> None: ...

    assert function_defaults(tool).fill({}) == {"path": shown}
    assert function_defaults(tool).leave_out({"path": shown}, {}) == {}
    model = pydantic.create_model("Made", path=(Any, default))
    if default is not ...:
        assert model_defaults(model).fill({}) == {"path": shown}


def test_a_default_that_only_fails_is_shown_as_its_type() -> None:
    rude = Rude()
    assert function_defaults(lambda path=rude: None).fill({}) == {"path": "<Rude>"}
    assert schema_defaults({"properties": {"path": {"default": rude}}}).fill({}) == {"path": "<Rude>"}
    assert value_defaults({"a": rude}).fill({}) == {"a": "<Rude>"}


def test_an_endless_default_ends() -> None:
    endless = Endless()
    assert "path" in function_defaults(lambda path=endless: None).fill({})


def test_a_mutable_default_is_read_for_each_call() -> None:
    def tool(paths: list[str] = []) -> None:  # noqa: B006
        paths.append(".env")

    defaults = function_defaults(tool)
    assert defaults.fill({}) == {"paths": []}
    tool()
    assert defaults.fill({}) == {"paths": [".env"]}
    defaults.fill({})["paths"].append("x")
    assert defaults.fill({}) == {"paths": [".env"]}


def test_a_schema_keeps_its_own_values() -> None:
    schema = {"properties": {"paths": {"default": [".env"]}}}
    schema_defaults(schema).fill({})["paths"].append("x")
    assert schema == {"properties": {"paths": {"default": [".env"]}}}


def test_true_is_no_one() -> None:
    defaults = function_defaults(lambda force=True: None)
    assert defaults.leave_out({"force": 1}, {}) == {"force": 1}


def test_without_defaults_nothing_changes() -> None:
    given = {"a": {"b": [1]}}
    assert NO_DEFAULTS.fill(given) is given
    assert function_defaults(lambda a: None).fill(given) is given
    assert model_defaults(pydantic.create_model("Made", a=(Mapping[str, Sequence[int]], ...))).fill(given) is given
