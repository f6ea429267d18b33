from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from hookline.cli.options import DialectName, EventName, Verb


def complete(kind, incomplete):
    command = click.Command("x")
    return [item.value for item in kind.shell_complete(click.Context(command), click.Argument(["x"]), incomplete)]


@pytest.mark.parametrize("name", ["tool.before", "PreToolUse", "tool_start"])
def test_an_event_stays_as_it_was_typed(name):
    assert EventName().convert(name, None, None) == name


def test_an_unknown_event_gets_a_suggestion():
    with pytest.raises(click.BadParameter, match=r"unknown event 'tool\.befor'\. Did you mean tool\.before\?"):
        EventName().convert("tool.befor", None, None)


def test_an_unknown_name_that_resembles_none_lists_them_all():
    with pytest.raises(click.BadParameter, match=r"The dialects are .*native"):
        DialectName().convert("zzzzzzzz", None, None)


def test_names_are_completed_once_each():
    found = complete(EventName(), "tool.")
    assert "tool.before" in found
    assert len(found) == len(set(found))
    assert complete(DialectName(), "digi") == ["digitorn"]
    assert complete(DialectName(), "zz") == []


def test_every_verb_takes_debug():
    verb = Verb("x", callback=lambda: None)
    assert CliRunner().invoke(verb, ["--debug"]).exit_code == 0
    assert "--debug" in CliRunner().invoke(verb, ["--help"]).output
