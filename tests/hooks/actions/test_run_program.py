"""The command of an action, and the command that decides whether it runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.event import Event
from hookline.hooks.host import Command, NullHost, ProgramResult
from hookline.hooks.outcome import NOT_APPLIED, SILENT, ActionError, FailureKind, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, Template, parse_shell_template, parse_template

TIMEOUT = timedelta(seconds=5)


def template(text: str) -> Template:
    return parse_template(text, PlaceholderResolver())


def shell(text: str) -> CommandTemplate:
    return CommandTemplate(parse_shell_template(text, PlaceholderResolver()))


def event(**facts: object) -> Event:
    return Event("tool.before", {"tool": {"name": "bash"}, **facts})


class ProgramHost(NullHost):
    """Answers each command from a table of exit codes; None fails."""

    def __init__(self, **exit_codes: int | None) -> None:
        self.exit_codes = exit_codes
        self.commands: list[str] = []

    async def run_program(self, command: Command) -> ProgramResult:
        self.commands.append(command.text)
        code = self.exit_codes[command.text]
        if code is None:
            raise ActionError(FailureKind.TIMEOUT, "took too long")
        return ProgramResult(code, "", "said")


def test_a_command_is_filled_in_from_the_event() -> None:
    command = CommandTemplate(
        argv=(template("check"), template("{{tool.name}}")),
        stdin=DataTemplate({"x": "\ud800"}),
        env=(("NAME", template("{{tool.name}}")), ("GONE", None), ("ABSENT", template("{{tool.id}}"))),
        inherit_env=("PATH",),
        cwd=template("/dir/{{tool.name}}"),
    ).render(event(cwd="/other"), TIMEOUT)
    assert command.argv == ("check", "bash")
    assert command.stdin == b'{"x":"\\ud800"}\n'
    assert command.env == {"NAME": "bash"}
    assert command.without_env == ("GONE", "ABSENT")
    assert (command.inherit_env, command.cwd, command.timeout) == (("PATH",), "/dir/bash", TIMEOUT)


@pytest.mark.parametrize(("cwd", "used"), [("/other", "/other"), ("", None), (5, None)])
def test_without_a_directory_of_its_own_it_runs_in_that_of_the_event(cwd: object, used: str | None) -> None:
    assert shell("ls").render(event(cwd=cwd), TIMEOUT).cwd == used


def test_its_facts_are_those_of_every_part() -> None:
    command = CommandTemplate(
        parse_shell_template("echo {{tool.name}}", PlaceholderResolver()), env=(("A", template("{{cwd}}")),)
    )
    assert set(command.reads()) == {("tool", "name"), ("cwd",)}
    assert command.describe() == "A='{{cwd}}' echo {{tool.name}}"


@pytest.mark.parametrize(
    ("only_if", "outcome", "runs"),
    [
        (0, Outcome(Verdict.DENY, "said (exit code 1)"), True),
        (1, NOT_APPLIED, False),
        (127, NOT_APPLIED, False),
        (None, NOT_APPLIED, False),
    ],
)
def test_the_program_runs_only_if_the_other_succeeds(only_if: int | None, outcome: Outcome, runs: bool) -> None:
    host = ProgramHost(first=only_if, then=1)
    action = RunProgram(shell("then"), ResultParser(ResultFormat.NONZERO), TIMEOUT, shell("first"))
    assert asyncio.run(action.run(event(), host)) == outcome
    assert host.commands == (["first", "then"] if runs else ["first"])


def test_the_time_of_only_if_is_extra() -> None:
    parser = ResultParser(ResultFormat.NEVER)
    assert RunProgram(shell("a"), parser, TIMEOUT).total_timeout == TIMEOUT
    assert RunProgram(shell("a"), parser, TIMEOUT, shell("b")).total_timeout == TIMEOUT + timedelta(seconds=1)
    assert asyncio.run(RunProgram(shell("a"), parser, TIMEOUT).run(event(), ProgramHost(a=3))) == SILENT
