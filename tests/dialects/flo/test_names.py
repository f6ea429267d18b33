from __future__ import annotations

import pytest

from hookline.dialects.flo.names import (
    EVENTS,
    OnError,
    flo_shell_template,
    log_template,
    names_without_value,
    outcome_on_error,
    script_variables,
    write_command_text,
)
from hookline.errors import BadTemplate
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict


@pytest.mark.parametrize("event", EVENTS.values())
def test_every_event_has_variables_and_a_log_line(event: str) -> None:
    variables = script_variables(event).render(Event(event, {"agent": {"id": "a"}}))
    assert variables["agentId"] == "a"
    assert variables["type"]
    assert log_template(event).source


def test_a_variable_without_a_fact_is_empty_text() -> None:
    assert script_variables("prompt.submit").render(Event("prompt.submit", {}))["prompt"] == ""


@pytest.mark.parametrize("command", ["echo {{toolName}}", "cat {{input.path}} {{sandbox}}", "echo {{agentId}}"])
def test_a_command_is_written_as_it_was_read(command: str) -> None:
    assert write_command_text(flo_shell_template(command).source) == command


@pytest.mark.parametrize("name", ["tool", "input", "input.", "input.a | upper", "workspace"])
def test_a_name_that_flo_does_not_have_is_refused(name: str) -> None:
    with pytest.raises(BadTemplate, match="is not a name in flo"):
        flo_shell_template(f"echo {{{{{name}}}}}")


def test_a_fact_that_flo_has_no_name_for_is_not_written() -> None:
    assert write_command_text("echo {{turn.number}}") is None


def test_names_of_another_event_have_no_value() -> None:
    command = "echo {{prompt}} {{agentId}} {{input.path}}"
    assert names_without_value(command, "prompt.submit") == ["input.path"]
    assert names_without_value(command, "tool.before") == ["prompt"]


def test_an_error_denies_only_with_block_and_where_a_deny_is_possible() -> None:
    assert outcome_on_error("tool.before", OnError.BLOCK).verdict is Verdict.DENY
    assert outcome_on_error("tool.before", OnError.UNSET).verdict is Verdict.SILENT
    after = outcome_on_error("tool.after", OnError.BLOCK)
    assert (after.verdict, after.final) == (Verdict.SILENT, True)
