"""Conditions on the commands that a shell tool runs: `runs` and `pipes`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hookline.hooks.call_paths import workspace_of
from hookline.hooks.conditions.logic import any_word, first_words
from hookline.hooks.event import Event, FactPath
from hookline.hooks.match_deadline import NO_DEADLINE, SLOW, in_time
from hookline.hooks.protocols import Need, PureCondition, Readings, TextPattern
from hookline.hooks.readings import compute_once, unanimous
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import guessed_kind, likely_kind
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_module
from hookline.shell.command_readings import HARMLESS_TARGETS, ODD_SPACE
from hookline.shell.grammar import HAS_UNKNOWN, UNREAD

if TYPE_CHECKING:
    from hookline.shell import command_query, expansion, operands, run_commands
    from hookline.shell.command_query import CommandQuery
    from hookline.shell.parsed_text import Path
    from hookline.shell.run_text import RunCommand, RunText
else:  # the parser takes time to load, and an import within a function as much as a search
    command_query = lazy_module("hookline.shell.command_query")
    expansion = lazy_module("hookline.shell.expansion")
    operands = lazy_module("hookline.shell.operands")
    run_commands = lazy_module("hookline.shell.run_commands")

UNKNOWN_PROGRAM: Final = "\0"
"""The name of a program that cannot be known, for the index."""
_COMMAND: Final = ToolField(("command",))
_SYSTEM_DIRECTORIES: Final = frozenset(
    ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
)
_COMMANDS: Final = "the commands of a shell tool"  # a key of Event.choices and of the event's cache


class Unparsed(StrEnum):
    """Whether a guard holds for a command that only the shell can know."""

    IGNORED = "ignored"
    LIKELY = "likely"  # if all that is unknown is its program or subcommand
    HOLDS = "holds"


class CommandsRun(NamedTuple):
    """The commands that a tool runs, and what most conditions ask about them."""

    commands: tuple[RunCommand, ...] = ()
    names: tuple[str, ...] = ()  # of the program of each, normalized
    programs: tuple[str, ...] = ()  # the same, each once
    is_known: bool = True  # nothing in them is left to the shell
    is_unread: bool = False  # there were more than the reader looks at: any command may be among them
    files: tuple[tuple[Path, str], ...] = ()  # that redirections read or write, and where
    words: frozenset[str] = frozenset()  # of all of them
    operands: dict[int, list[str]] | None = None  # of the commands that were asked about, by their position
    texts: tuple[tuple[str, RunText], ...] = ()  # as given and as read
    does_more: dict[str, bool] | None = None  # a cache for _does_more: this tuple cannot change, a dict in it can


_NO_COMMANDS: Final = CommandsRun()


def commands_run(event: Event) -> tuple[RunCommand, ...]:
    """The commands that the tool runs; none if it is not a shell."""
    return commands_of_event(event).commands


def commands_of_event(event: Event, deadline: float = NO_DEADLINE) -> CommandsRun:
    try:  # every condition of a hook asks: a search takes no longer than the calls that this saves
        found: CommandsRun = event.cache[_COMMANDS]
    except (AttributeError, KeyError):
        return compute_once(event, _COMMANDS, _read_commands, deadline)
    return found


def _read_commands(event: Event, deadline: float) -> CommandsRun:
    if likely_kind(event.facts.get("tool"), event) is not ToolKind.SHELL:
        return _NO_COMMANDS
    readings = _COMMAND.readings(event, deadline)
    texts = dict.fromkeys(text for reading in readings for text in reading) if len(readings) > 1 else readings[0]
    read = [run_commands.read_commands(text) for text in in_time(texts, deadline, SLOW)]
    found = [command for each in read for command in each.commands if not command.is_written]
    commands = tuple(found if len(read) == 1 else dict.fromkeys(found))
    words = commands[0].words if len(commands) == 1 else [word for command in commands for word in command.words]
    is_known = "".join(words).isascii()
    normalize = command_query.normalize_program if is_known else _name_of_program
    names = tuple([normalize(command.words[0]) for command in in_time(commands, deadline)])
    programs = names if len(names) == 1 else tuple(dict.fromkeys(names))
    files = tuple([file for each in read for file in each.files])
    given = tuple(zip(texts, read, strict=True))
    is_unread = not is_known and any(UNREAD in command.words[0] for command in commands)
    return CommandsRun(commands, names, programs, is_known, is_unread, files, frozenset(words), {}, given, {})


def _does_more(run: CommandsRun) -> bool:
    """Whether the line may do more than its programs do: write a file, or run something else under their names."""
    known = {} if run.does_more is None else run.does_more
    if _COMMANDS not in known:  # it searches the whole text, and every condition asks
        known[_COMMANDS] = any(map(_is_elsewhere, run.commands)) or any(
            read.settings or not HARMLESS_TARGETS.issuperset(read.targets) or ODD_SPACE.search(text)
            for text, read in run.texts
        )
    return known[_COMMANDS]


def _is_elsewhere(command: RunCommand) -> bool:
    """Whether the program is named by a directory in which anybody may put one: `./ls`."""
    directory, slash, _ = command.words[0].rpartition("/")
    return bool(slash) and directory not in _SYSTEM_DIRECTORIES


def _name_of_program(word: str) -> str:
    first = expansion.mark_globs(word)
    return UNKNOWN_PROGRAM if HAS_UNKNOWN.search(first) else command_query.normalize_program(first)


def _is_guess(event: Event) -> bool:
    return guessed_kind(event.facts["tool"], event) is not None


@dataclass(frozen=True, slots=True)
class RunPrograms:
    """The names of the programs that a shell tool runs, for the index. The words of a pattern for it are whole names."""

    is_cacheable = False

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        return commands_of_event(event, deadline).programs

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (*_COMMAND.reads(), ("tool", "kind"), ("tool", "name"))

    def __str__(self) -> str:
        return "the programs of input.command"


RUN_PROGRAMS: Final = RunPrograms()


@dataclass(frozen=True, slots=True)
class ProgramNames:
    """A pattern for the index: one of the programs of a query, or one that cannot be known."""

    names: frozenset[str]

    @property
    def source(self) -> str:
        return "|".join(sorted(self.names))

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        return ((*sorted(self.names), UNKNOWN_PROGRAM),)

    @property
    def required_text(self) -> None:
        return None

    def search(self, text: str, deadline: float = NO_DEADLINE) -> bool:
        return text in self.names or text == UNKNOWN_PROGRAM

    def replace(self, text: str, new: str, deadline: float = NO_DEADLINE) -> str:
        raise NotImplementedError


def _may_run(query: CommandQuery, run: CommandsRun) -> bool:
    """Whether one of the programs is one of these or unknown. Most hooks need to know no more about an event."""
    if run.is_known and query.subcommands:
        names, subcommands = query.names, query.first_words
        if subcommands.isdisjoint(run.words):
            return False
        for name, command in zip(run.names, run.commands, strict=True):
            if name in names and not subcommands.isdisjoint(command.words):
                return True
        return False
    return not query.names.isdisjoint(run.programs) or UNKNOWN_PROGRAM in run.programs


@dataclass(frozen=True, slots=True)
class _Answers:
    condition: RunsCommand  # kept, so that no other condition gets its id while the event lives
    answers: tuple[bool, ...]
    doubts: int  # how many of the answers, at their end, are doubts
    unsure: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class RunsCommand(PureCondition):
    """One of the commands is of this program, with this subcommand and these flags.

    With `argument`, one of its arguments matches; with `outside`, not all of them are in directories of these names.
    Conditions of one hook are about the same command, as are those on its text.
    """

    query: CommandQuery
    unparsed: Unparsed = Unparsed.LIKELY
    argument: TextPattern | None = None
    outside: tuple[str, ...] = ()

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        run = commands_of_event(event, deadline)
        if run.is_known and self.query.names.isdisjoint(run.programs):
            return False
        if not _may_run(self.query, run):
            return False
        if run.is_known and not self._has_match(run, event, deadline):
            return False
        found = compute_once(event, (RunsCommand, id(self)), self._find_answers, deadline)
        if not found.answers:
            return False
        # If any command may be among them, one may match this condition, and another one not match the next.
        source = (_COMMANDS, str(self)) if run.is_unread else _COMMANDS
        return unanimous(str(self), found.answers, source, event, doubts=found.doubts, unsure=found.unsure)

    def _find_answers(self, event: Event, deadline: float) -> _Answers:
        """For every command; none if no command matches. Computed once: the readings of an event ask for each command."""
        run = commands_of_event(event, deadline)
        answers, doubts, is_sure = list[bool](), list[bool](), False
        for command in in_time(run.commands, deadline, SLOW):
            answer = self._answer(command, event, deadline)
            is_sure |= answer is True
            answers.append(answer is True or (answer is None and self._holds_unsure(command, deadline)))
            if not run.is_known and not all(
                map(str.isascii, command.words)
            ):  # something is unknown: it may match or not
                answers.append(answer is True)
                doubts.append(answer is not False if self.unparsed is not Unparsed.IGNORED else answer is True)
        if True not in answers and True not in doubts:
            return _Answers(self, (), 0, None)
        if _does_more(run):
            answers.append(False)
        if _is_guess(event):
            doubts.append(False)
        unsure = None if is_sure else (str(self), str(self).replace(" runs ", " may run ", 1))
        return _Answers(self, (*answers, *doubts), len(doubts), unsure)

    def _has_match(self, run: CommandsRun, event: Event, deadline: float) -> bool:
        """Whether a command matches. For commands in which nothing is unknown."""
        query, names = self.query, self.query.names
        is_enough = not (query.subcommands or query.flags)  # that it is the program
        for number, command in enumerate(in_time(run.commands, deadline)):
            if run.names[number] not in names or not (is_enough or query.answer(command)):
                continue
            if self.outside and operands.stays_inside(command, run.commands, self.outside, workspace_of(event)):
                continue
            if self.argument is None or self._matches_operand(self.argument, run, number, deadline):
                return True
        return False

    def _matches_operand(self, argument: TextPattern, run: CommandsRun, number: int, deadline: float) -> bool:
        known = {} if run.operands is None else run.operands
        found = known.get(number)
        if found is None:
            found = known[number] = operands.operands_of(run.commands[number])
        search = argument.search
        for word in found:  # noqa: SIM110  a generator takes as long as a search
            if search(word, deadline):
                return True
        return False

    def _answer(self, command: RunCommand, event: Event, deadline: float) -> bool | None:
        answer = self.query.answer(command)
        found = answer is not False and self._operands_answer(command, event, deadline)
        return False if found is False else answer if found else None

    def _operands_answer(self, command: RunCommand, event: Event, deadline: float) -> bool | None:
        if self.argument is None and not self.outside:
            return True
        if self.outside and operands.stays_inside(command, commands_run(event), self.outside, workspace_of(event)):
            return False
        return True if self.argument is None else operands.operand_answer(self.argument, command, deadline)

    def _holds_unsure(self, command: RunCommand, deadline: float) -> bool:
        if self.unparsed is not Unparsed.LIKELY:
            return self.unparsed is Unparsed.HOLDS
        if self.argument is not None and not operands.likely_operand(self.argument, command, deadline):
            return False
        return self.query.is_likely(command)

    def needs(self) -> tuple[Need, ...]:
        return (Need(RUN_PROGRAMS, ProgramNames(self.query.names)),)

    def reads(self) -> Iterable[FactPath]:
        return RUN_PROGRAMS.reads()

    def __str__(self) -> str:
        query = self.query
        flags = f" with {', '.join(query.flags)}" if query.flags else ""
        argument = "" if self.argument is None else f" with an argument that matches {self.argument.source}"
        outside = f" outside {first_words(self.outside)}" if self.outside else ""
        command = " ".join(any_word(part) for part in (query.programs, query.subcommands) if part)
        return f"input.command runs {command}{flags}{argument}{outside}"

    def why_not(self, event: Event) -> str:
        return _program_missing(self.query, event) or str(self).replace(" runs ", " does not run ", 1)


def _program_missing(query: CommandQuery, event: Event) -> str:
    """That no command is of such a program, if that is so."""
    commands = commands_run(event)
    if not commands:
        return "the tool runs no shell command"
    if any(query.is_program(command) is not False for command in commands):
        return ""
    names = [name for name in RUN_PROGRAMS.texts(event) if name != UNKNOWN_PROGRAM]
    return f"input.command runs {first_words(names)}, not {any_word(query.programs)}"


@dataclass(frozen=True, slots=True)
class PipesCommand(PureCondition):
    """What one program prints reaches another, through pipes, substitutions or a file that is run."""

    sources: CommandQuery
    targets: CommandQuery
    unparsed: Unparsed = Unparsed.LIKELY

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        run = commands_of_event(event, deadline)
        if not _may_run(self.sources, run):
            return False
        commands = run.commands
        answer: bool | None = command_query.runs_saved_file(self.sources, self.targets, commands, run.files)
        if not answer:
            answer = self._runs_named_file(run)
        if not answer and _may_run(self.targets, run):
            answer = command_query.pipes_answer(self.sources, self.targets, commands)
        if answer is False or (answer is None and self.unparsed is Unparsed.IGNORED):
            return False
        if answer:
            answers, doubts = ((True, False), 1) if _is_guess(event) else ((True,), 0)
        else:
            answers, doubts = ((True, False), 0) if self._holds_unsure(commands) else ((False, True), 1)
        unsure = None if answer else (str(self), str(self).replace(" pipes ", " may pipe ", 1))
        return unanimous(str(self), answers, self, event, doubts=doubts, unsure=unsure)

    def _runs_named_file(self, run: CommandsRun) -> bool:
        """The same for a file that only a variable names: `curl -o "$f" … && sh "$f"`."""
        commands = [command for _, read in run.texts for command in read.commands if command.is_written]
        targets = [target for _, read in run.texts for target in read.targets if target.startswith("$")]
        sources = [command for command in run.commands if self.sources.is_program(command)] if targets else []
        return bool(commands) and command_query.runs_saved_file(
            self.sources, self.targets, [*sources, *commands], (), targets
        )

    def _holds_unsure(self, commands: Sequence[RunCommand]) -> bool:
        return self.unparsed is Unparsed.HOLDS or command_query.is_likely_pipe(self.sources, self.targets, commands)

    def needs(self) -> tuple[Need, ...]:
        return (Need(RUN_PROGRAMS, ProgramNames(self.sources.names)),)

    def reads(self) -> Iterable[FactPath]:
        return RUN_PROGRAMS.reads()

    def __str__(self) -> str:
        sources, targets = (any_word(query.programs) for query in (self.sources, self.targets))
        return f"input.command pipes {sources} to {targets}"

    def why_not(self, event: Event) -> str:
        return _program_missing(self.sources, event) or str(self).replace(" pipes ", " does not pipe ", 1)
