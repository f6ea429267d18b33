"""`runs` and `pipes`: conditions about the commands that a shell tool runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    SOME_TEXTS,
    TEXT,
    HookInfo,
    Key,
    choice_key,
    key_table,
    mapping_schema,
    read_mapping,
    texts_key,
    write_mapping,
)
from hookline.dialects.native.value_tests import compile_pattern, write_pattern
from hookline.hooks.conditions.logic import NEVER_HOLDS
from hookline.hooks.conditions.shell_commands import PipesCommand, RunsCommand, Unparsed
from hookline.hooks.protocols import Condition, TextPattern
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.pattern import pattern

if TYPE_CHECKING:
    from hookline.shell.command_query import CommandQuery

_NO_VALUES: Final[Mapping[str, Any]] = {}
_PROGRAM_NAME: Final = lazy_pattern(r"[^\s*?\[\]{}$|;&<>()'\"`\\]+")


def _read_programs(at: Node, info: Any = None) -> tuple[str, ...] | None:
    """Names of programs. Anything else would never match."""
    names = at.some_texts()
    for name in names or ():
        if not _PROGRAM_NAME.fullmatch(name):
            words = name.split()
            is_command = len(words) > 1 and all(map(_PROGRAM_NAME.fullmatch, words))
            hint = _command_hint(words) if is_command else "Write its name, such as rm."
            at.add_problem("bad-program", f"{at.location}: {name} is not the name of a program.", hint)
            return None
    return names


def _command_hint(words: Sequence[str]) -> str:
    """How a command of several words is written: `rm -rf`, `git push --force`."""
    program, *rest = words
    subcommand = f", subcommand: {rest[0]}" if not rest[0].startswith("-") else ""
    options = [word for word in rest if word.startswith("-")]
    flags = [flag for word in options for flag in ([word[2:]] if word.startswith("--") else word[1:])]
    asked = f", flags: [{', '.join(flags)}]" if flags else ""
    return f"Write {{program: {program}{subcommand}{asked}}}."


def _parse_runs(at: Node, info: HookInfo) -> Condition | None:
    from hookline.shell.command_query import CommandQuery  # it takes time to load

    if not isinstance(at.value, dict):
        programs = _read_programs(at)
        return None if programs is None else _runs(CommandQuery(programs))
    values = read_mapping(at, _RUNS_KEYS, "runs", info, hint="Write runs: {program: rm, flags: [r, f]}.")
    if values is None:
        return None
    query = CommandQuery(values["program"], values.get("subcommand", ()), values.get("flags", ()))
    return _runs(query, values)


def _runs(query: CommandQuery, values: Mapping[str, Any] = _NO_VALUES) -> Condition:
    if not query.programs:
        return NEVER_HOLDS
    unparsed = values.get("unparsed", Unparsed.LIKELY)
    return RunsCommand(query, unparsed, values.get("argument"), values.get("outside", ()))


def _read_argument(at: Node, info: Any) -> TextPattern | None:
    source = at.text()
    return None if source is None else compile_pattern(at, pattern, source)


_DIRECTORY_NAME: Final = lazy_pattern(r"(?:\*\.)?[^/*?\[]+|/(?:[^/*?\[]+/)*[^/*?\[]+/\*")


def _read_directory_names(at: Node, info: Any) -> tuple[str, ...] | None:
    names = at.some_texts()
    for name in names or ():
        if _DIRECTORY_NAME.fullmatch(name) is None or name in (".", ".."):
            what = f"{at.location}: {name} is not the name of a directory."
            hint = "Write the name alone, such as build: it counts at any depth. Or *.egg-info, or /tmp/*."
            at.add_problem("bad-directory", what, hint)
            return None
    return names


def _write_runs(condition: Condition) -> Any:
    return write_mapping(_RUNS_KEYS, condition) if isinstance(condition, RunsCommand) else NOT_WRITTEN


def _parse_pipes(at: Node, info: HookInfo) -> Condition | None:
    from hookline.shell.command_query import CommandQuery

    values = read_mapping(at, _PIPES_KEYS, "pipes", info, hint="Write pipes: {from: [curl, wget], to: [sh]}.")
    if values is None:
        return None
    sources, targets = CommandQuery(values["from"]), CommandQuery(values["to"])
    unparsed = values.get("unparsed", Unparsed.LIKELY)
    return PipesCommand(sources, targets, unparsed)


def _write_pipes(condition: Condition) -> Any:
    return write_mapping(_PIPES_KEYS, condition) if isinstance(condition, PipesCommand) else NOT_WRITTEN


def _one_or_many(texts: tuple[str, ...]) -> Any:
    return NOT_WRITTEN if not texts else texts[0] if len(texts) == 1 else list(texts)


def _write_unparsed(condition: RunsCommand | PipesCommand) -> Any:
    return NOT_WRITTEN if condition.unparsed is Unparsed.LIKELY else str(condition.unparsed)


_UNPARSED: Final = choice_key(
    "unparsed",
    tuple(Unparsed),
    default="`likely`",
    help="which commands that only the shell can know count for a guard: those that `likely` match, all (`holds`), none (`ignored`)",
    write=_write_unparsed,
)
_RUNS_KEYS: Final = key_table(
    Key(
        "program",
        read=_read_programs,
        schema=SOME_TEXTS,
        required=True,
        help="the program's name, or a list of which one must match; `sh` is every shell",
        write=lambda condition: _one_or_many(condition.query.programs),
        example="program: rm",
    ),
    texts_key(
        "subcommand",
        help="its subcommand, such as `push` or `stash drop`, or a list of which one must match",
        write=lambda condition: _one_or_many(condition.query.subcommands),
        example="subcommand: push",
    ),
    texts_key(
        "flags",
        help="flags that must all be there, in any order and spelling",
        write=lambda condition: list(condition.query.flags) or NOT_WRITTEN,
        example="flags: [r, f]",
    ),
    Key(
        "argument",
        read=_read_argument,
        schema=TEXT,
        help="a [pattern](patterns.md) that must match one of its arguments, which is not an option",
        write=lambda condition: NOT_WRITTEN if condition.argument is None else write_pattern(condition.argument),
        example="argument: ^main$",
    ),
    Key(
        "outside",
        read=_read_directory_names,
        schema=SOME_TEXTS,
        help="names of directories, such as `build` or `*.egg-info`: a command does not count if all its arguments are in "
        "such a directory, at any depth below the workspace; `/tmp/*` is whatever is below /tmp",
        write=lambda condition: _one_or_many(condition.outside),
        example="outside: [build, dist]",
    ),
    _UNPARSED,
)
_PIPES_KEYS: Final = key_table(
    Key(
        "from",
        read=_read_programs,
        schema=SOME_TEXTS,
        required=True,
        help="the program that prints, or a list of which one must match",
        write=lambda condition: _one_or_many(condition.sources.programs),
        example="from: [curl, wget]",
    ),
    Key(
        "to",
        read=_read_programs,
        schema=SOME_TEXTS,
        required=True,
        help="the program that gets it, or a list of which one must match; `sh` is every shell",
        write=lambda condition: _one_or_many(condition.targets.programs),
        example="to: [sh, python3]",
    ),
    _UNPARSED,
)
RUNS: Final = Key(
    "runs",
    read=_parse_runs,
    write=_write_runs,
    schema=lambda: {"anyOf": [SOME_TEXTS, mapping_schema(_RUNS_KEYS)]},
    mapping=_RUNS_KEYS,
    help="a [command](#runs-pipes) that a shell tool runs: its program, subcommand and flags",
    example="runs: {program: rm, flags: [r, f]}",
)
PIPES: Final = Key(
    "pipes",
    read=_parse_pipes,
    write=_write_pipes,
    schema=lambda: mapping_schema(_PIPES_KEYS),
    mapping=_PIPES_KEYS,
    help="what one program prints reaches [another](#runs-pipes)",
    example="pipes: {from: [curl, wget], to: sh}",
)
