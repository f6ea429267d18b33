"""The values of the formats agree with the tables of events and tools."""

from __future__ import annotations

import pytest

from hookline.dialects.agent_files.format import FAILURE_OUTCOME, FORMATS
from hookline.dialects.dialect import AGENT_FILE_DIALECTS, get_dialect
from hookline.hooks.actions.program_result import ResultParser
from hookline.hooks.event import Event
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import ActionError, Verdict

NAMES = sorted(AGENT_FILE_DIALECTS)
for _name in NAMES:
    get_dialect(_name)


@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_about_an_event_that_the_agent_has(name: str) -> None:
    format = FORMATS[name]
    for named in (format.stdin, format.matcher_facts, format.timeouts, format.results, format.claude_events):
        assert {*named} - {*format.events} - {
            "SubagentStart",
            "Notification",
            "PermissionRequest",
            "PostToolUseFailure",
        } == set()
    assert {*format.own_events} <= {*format.events, *format.unsupported_events}
    assert not {*format.events} & {*format.unsupported_events}


@pytest.mark.parametrize("name", NAMES)
def test_every_event_has_a_payload_that_can_be_rendered(name: str) -> None:
    for event_name, event in FORMATS[name].events.items():
        rendered = FORMATS[name].stdin_template(event_name).render(Event(event, {"session": {"id": "s"}}))
        assert isinstance(rendered, dict)
        assert "s" in rendered.values()


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_a_format_are_keys_that_a_hook_reads(name: str) -> None:
    if name != "cline":
        assert "tool.input" in FORMATS[name].wording.facts or name == "windsurf"
    assert FORMATS[name].wording.dialect == name


@pytest.mark.parametrize("name", NAMES)
def test_the_words_for_a_failure_say_whether_it_blocks(name: str) -> None:
    format = FORMATS[name]
    for event_name in format.events:
        parser = format.result_parser(event_name)
        said = format.wording.failure(FAILURE_OUTCOME, parser.format)
        blocks = _blocks(parser, 2), _blocks(parser, 1)
        expected = {
            (True, True): "before a tool, any exit code but 0 blocks; another failure is shown",
            (True, False): "exit code 2 blocks, another failure is shown",
            (False, False): "a failure is shown, and blocks nothing",
        }
        assert said == expected[blocks], event_name


def _blocks(parser: ResultParser, exit_code: int) -> bool:
    call = Event("tool.before", {"tool": {"name": "Bash", "input": {"command": "ls"}}})
    try:
        return parser.parse(ProgramResult(exit_code, "", "why"), call).verdict is Verdict.DENY
    except ActionError:
        return False
