"""`fire` without click: what it reads, click reads the same."""

from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.cli.fire import verb
from hookline.cli.fire_call import FLAGS, VALUE_OPTIONS, FireOptions, read_arguments

WORDS = [
    "tool.before", "PreToolUse", "no.event", "", "-", "--", "-h", "--help", "--debug", "--tool", "--tool=bash", "bash",
    "--input", '{"command": "ls"}', "--facts", "@file", "--prompt", "-x", "--config", "hookline.yaml", "--dialect", "flo",
    "unknown", "--json", "--explain", "--dry-run", "--dry", "--conf",
]  # fmt: skip


def read_with_click(arguments: list[str]) -> tuple[str, FireOptions]:
    values: dict[str, Any] = verb.make_context("fire", list(arguments)).params
    return values.pop("event"), FireOptions(**values)


def test_every_option_is_known() -> None:
    options = {name for option in verb.params if isinstance(option, click.Option) for name in option.opts}
    assert options == {*FLAGS, *(f"--{name}" for name in VALUE_OPTIONS), "--config", "--debug"}


def test_a_usual_call_is_read() -> None:
    call = ["tool.before", "--tool", "bash", "--input", "{}", "--config", "a", "--json", "--config", "b"]
    found = read_arguments(call)
    assert found == read_with_click(call)
    assert found is not None
    assert (found[0], found[1].tool, found[1].configs, found[1].as_json) == ("tool.before", "bash", ("a", "b"), True)


@pytest.mark.parametrize(
    "arguments",
    [[], ["no.event"], ["stop", "stop"], ["stop", "--help"], ["stop", "--debug"], ["stop", "--tool"], ["--", "stop"],
     ["stop", "--tool=bash"], ["stop", "--tool", "--json"], ["stop", "--facts", "-"], ["stop", "--dialect", "no"]],
)  # fmt: skip
def test_any_other_call_is_left_to_click(arguments: list[str]) -> None:
    assert read_arguments(arguments) is None


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_what_is_read_is_what_click_reads(arguments: list[str]) -> None:
    found = read_arguments(arguments)
    if found is not None:
        assert found == read_with_click(arguments)
