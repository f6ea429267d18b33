"""Conditions on the commands that a shell tool runs: `runs` and `pipes`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hookline.hooks.event import Event, FactPath
from hookline.hooks.protocols import NO_DEADLINE, Need, Readings, TextPattern
from hookline.hooks.readings import compute_once, unanimous
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import guessed_kind, likely_kind
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field
from hookline.shell.command_readings import is_one_plain_command
from hookline.shell.grammar import HAS_UNKNOWN

if TYPE_CHECKING:  # the parser takes time to load
    from hookline.shell.command_query import CommandQuery
    from hookline.shell.run_commands import RunCommand

UNKNOWN_PROGRAM: Final = "\0"
"""The name of a program that cannot be known, for the index."""
_COMMAND: Final = ToolField(("command",))
_COMMANDS: Final = "the commands of a shell tool"  # a key of Event.choices and of the event's cache
_PROGRAMS: Final = "the programs of a shell tool"


def commands_run(event: Event) -> tuple[RunCommand, ...]:
    """The commands that the tool runs; none if it is not a shell."""
    return compute_once(event, _COMMANDS, _read_commands)


def _read_commands(event: Event) -> tuple[RunCommand, ...]:
    if likely_kind(event.facts.get("tool")) is not ToolKind.SHELL:
        return ()
    texts = dict.fromkeys(text for reading in _COMMAND.readings(event) for text in reading)
    found = (command for text in texts for command in _commands_of(text))
    return tuple(dict.fromkeys(command for command in found if not command.is_written))


def _commands_of(text: str) -> tuple[RunCommand, ...]:
    from hookline.shell.run_commands import RunCommand, read_commands

    if is_one_plain_command(text):
        return (RunCommand(tuple(text.split(" "))),)
    return read_commands(text).commands


def _is_guess(event: Event) -> bool:
    return guessed_kind(event.facts["tool"]) is not None


@dataclass(frozen=True, slots=True)
class RunPrograms:
    """The names of the programs that a shell tool runs, for the index."""

    is_cacheable = False

    def texts(self, event: Event) -> tuple[str, ...]:
        return compute_once(event, _PROGRAMS, self._read)

    def _read(self, event: Event) -> tuple[str, ...]:
        from hookline.shell.command_query import normalize_program
        from hookline.shell.expansion import mark_globs

        firsts = (mark_globs(command.words[0]) for command in commands_run(event))
        names = (UNKNOWN_PROGRAM if HAS_UNKNOWN.search(first) else normalize_program(first) for first in firsts)
        return tuple(dict.fromkeys(names))

    def readings(self, event: Event) -> Readings:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (*_COMMAND.reads(), ("tool", "kind"), ("tool", "name"))

    def __str__(self) -> str:
        return "the programs of input.command"


RUN_PROGRAMS: Final = RunPrograms()


@dataclass(frozen=True, slots=True)
class RunsCommand:
    """One of the commands is of this program, with this subcommand and these flags.

    Conditions of one hook are about the same command, as are those on its text.
    """

    query: CommandQuery
    holds_unparsed: bool = True  # what cannot be known counts for a guard
    names: TextPattern | None = field(default=None, compare=False, repr=False)  # for the index

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        commands = commands_run(event)
        answers = [each for command in commands for each in self._answers(command)]
        if True not in answers:
            return False
        has_guess = _is_guess(event)
        return unanimous(str(self), [*answers, False] if has_guess else answers, _COMMANDS, event, has_guess=has_guess)

    def _answers(self, command: RunCommand) -> tuple[bool, ...]:
        """One answer, or two if something in the command is unknown: it may match or not."""
        answer = self.query.answer(command)
        if all(map(str.isascii, command.words)):
            return (answer is True,)
        return (answer is True or (answer is None and self.holds_unparsed), answer is True)

    def needs(self) -> tuple[Need, ...]:
        return () if self.names is None else (Need(RUN_PROGRAMS, self.names),)

    def reads(self) -> Iterable[FactPath]:
        return RUN_PROGRAMS.reads()

    def __str__(self) -> str:
        query = self.query
        flags = f" with {', '.join(query.flags)}" if query.flags else ""
        command = " ".join(" or ".join(part) for part in (query.programs, query.subcommands) if part)
        return f"input.command runs {command}{flags}"

    def why_not(self, event: Event) -> str:
        names = [name for name in RUN_PROGRAMS.texts(event) if name != UNKNOWN_PROGRAM]
        if not commands_run(event):
            return "the tool runs no shell command"
        return (
            f"{str(self).replace(' runs ', ' does not run ', 1)}; it runs {', '.join(names) or 'nothing that is known'}"
        )


@dataclass(frozen=True, slots=True)
class PipesCommand:
    """What one program prints reaches another, through pipes or substitutions."""

    sources: CommandQuery
    targets: CommandQuery
    holds_unparsed: bool = True
    names: TextPattern | None = field(default=None, compare=False, repr=False)  # of the targets, for the index

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        from hookline.shell.command_query import pipes_answer

        answer = pipes_answer(self.sources, self.targets, commands_run(event))
        if not (answer or (answer is None and self.holds_unparsed)):
            return False
        has_guess = _is_guess(event)
        answers = (True, False) if answer is None or has_guess else (True,)
        return unanimous(str(self), answers, self, event, has_guess=has_guess and answer is True)

    def needs(self) -> tuple[Need, ...]:
        return () if self.names is None else (Need(RUN_PROGRAMS, self.names),)

    def reads(self) -> Iterable[FactPath]:
        return RUN_PROGRAMS.reads()

    def __str__(self) -> str:
        return f"input.command pipes {' or '.join(self.sources.programs)} to {' or '.join(self.targets.programs)}"

    def why_not(self, event: Event) -> str:
        return str(self).replace(" pipes ", " does not pipe ", 1)
