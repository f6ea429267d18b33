"""Finds commands that cannot run as written: blank ones, missing programs, timeouts in another unit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path, PurePath
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.errors import BadTemplate
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.event import FactPath
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Action
from hookline.hooks.templates import DOUBLE_BRACES
from hookline.lazy_imports import lazy_pattern
from hookline.project.hook_problem import hook_problem
from hookline.shell.programs import INTERPRETERS, SHELLS, program_name
from hookline.shell.scanner import SimpleCommand, scan
from hookline.shell.word_scanner import Word

_SHORTEST: Final = timedelta(milliseconds=100)
_SHORTEST_SECONDS: Final = timedelta(milliseconds=50)
"""Hardly any program answers sooner."""
_LONGEST: Final = timedelta(hours=1)
_BUILTINS: Final = frozenset(
    (
        ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen", "complete",
        "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc", "fg",
        "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf",
        "pushd", "pwd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "test",
        "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait", "if", "then",
        "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function", "{", "}",
        "!", "coproc",
    )
)  # fmt: skip
_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_TESTS_FOR_PROGRAMS: Final = lazy_pattern(
    r"\b(?:command\s+-[vV]|which|type|hash)\b|\bfunction\b|\w\s*\(\s*\)|\balias\b"
)
"""Such a text knows that a program may be missing, or defines commands of its own."""
_SCRIPT_SUFFIX: Final = lazy_pattern(r"\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php|lua)$")

_VARIABLE: Final = lazy_pattern(r"\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*)\b)")
_DIRECTORY_TEMPLATES: Final = ("{{workspace}}", "{{cwd}}")
_SESSION_DIRECTORIES: Final[set[FactPath]] = {("cwd",), ("workspace",)}

FindProgram = Callable[[str], str | None]


def lint_variables(hook: Hook, actions: Sequence[Action], is_set: Callable[[str], bool]) -> Iterator[Problem]:
    """Variables in the URL of a post that have no value here: the post fails."""
    for action in actions:
        named = _VARIABLE.findall(action.url) if isinstance(action, PostEvent) else ()
        for name in dict.fromkeys(first or second for first, second in named):
            if isinstance(action, PostEvent) and name in action.variables and not is_set(name):
                what = f"{hook.id} posts to a URL with ${name}, which is not set here."
                yield hook_problem("unset-variable", hook, what, "Set it where the agent runs.", about=name)


def blank_command_error(hook: Hook) -> Problem | None:
    """Cheap: it is asked about every hook that is loaded."""
    then = hook.then
    if not isinstance(then, RunProgram) or then.program.shell is None or then.program.shell.source.strip():
        return None
    return hook_problem("blank-command", hook, f"the command of {hook.id} is blank.", "", Severity.ERROR)


def lint_command(hook: Hook, actions: Sequence[Action]) -> Iterator[Problem]:
    """What can be said without looking at the machine."""
    for action in actions:
        if isinstance(action, RunProgram):
            if action.program.shell is not None and not action.program.shell.source.strip():
                yield hook_problem("blank-command", hook, f"the command of {hook.id} is blank.", "", Severity.ERROR)
            yield from _check_unit(hook, action.timeout)
        elif isinstance(action, PostEvent):
            yield from _check_url(hook, action)
            yield from _check_unit(hook, action.timeout)


def _check_url(hook: Hook, action: PostEvent) -> Iterator[Problem]:
    """Names in capital letters: a lower-case one, such as $filter, may be part of the URL."""
    texts = [action.url, *(text for _, text in action.headers)]
    names = dict.fromkeys(found[1] or found[2] for text in texts for found in _VARIABLE.finditer(text))
    missing = [name for name in names if name not in action.variables]
    if missing:
        what = f"{hook.id} posts ${missing[0]} as it is written: it does not list the variable."
        hint = f"Add {missing[0]} to {hook.origin.wording.variables_key}."
        yield hook_problem("not-expanded", hook, what, hint, about=missing[0])
    if "{{" in action.url:
        what = f"{hook.id} posts to a URL with {{{{, but a URL has no placeholders."
        hint = "Put the value in the body, or in an environment variable."
        yield hook_problem("not-expanded", hook, what, hint, about=action.url)


def _check_unit(hook: Hook, timeout: timedelta) -> Iterator[Problem]:
    words = hook.origin.wording
    if words.unit == "ms" and timeout < _SHORTEST:
        number = timeout / timedelta(milliseconds=1)
        hint = f"Write {number * 1000:g} for {number:g} s."
    elif words.unit == "s" and timeout > _LONGEST and timeout.total_seconds() % 1000 == 0:
        hint = f"Write {timeout.total_seconds() / 1000:g} for {timeout.total_seconds() / 1000:g} s."
    elif words.unit == "s" and timeout < _SHORTEST_SECONDS:
        hint = "No program starts and answers in so short a time."
    else:
        return
    unit = "milliseconds" if words.unit == "ms" else "seconds"
    what = f"the timeout of {hook.id} is {words.duration(timeout)}: {words.dialect} counts {unit}."
    number = timeout / (timedelta(milliseconds=1) if words.unit == "ms" else timedelta(seconds=1))
    yield hook_problem("unit", hook, what, hint, about=f"{number:g}")


def lint_programs(hook: Hook, actions: Sequence[Action], find_program: FindProgram) -> Iterator[Problem]:
    """Programs and scripts that do not exist on this machine. Best effort: what only the shell knows is passed over."""
    for action in actions:
        if isinstance(action, RunProgram):
            for command in (action.program, action.only_if):
                if command is not None and _runs_in_session_directory(command):
                    yield from _check_command(hook, command, find_program)


def _runs_in_session_directory(command: CommandTemplate) -> bool:
    return command.cwd is None or (
        command.cwd.source.count("{{") == 1 and set(command.cwd.reads()) <= _SESSION_DIRECTORIES
    )


def _check_command(hook: Hook, command: CommandTemplate, find_program: FindProgram) -> Iterator[Problem]:
    directories = _directories(hook)
    for words in _command_words(command):
        missing = _missing_file(words, directories, find_program)
        if missing is not None:
            kind = "file" if _names_file(missing) else "program"
            what = f"{hook.id} runs {missing}, but there is no such {kind} here."
            hint = (
                "Paths are relative to the session's directory."
                if kind == "file"
                else "Install it, or correct the name."
            )
            yield hook_problem("no-program", hook, what, hint, about=missing)
            return
        if _changes_directory(words):
            return


def _command_words(command: CommandTemplate) -> Iterator[list[str]]:
    """The words of each command whose program is known before it runs."""
    if command.shell is None:
        yield [part.source if not part.reads() else "" for part in command.argv]
        return
    try:
        commands = _scan(command)
    except BadTemplate:
        return
    if _TESTS_FOR_PROGRAMS.search(command.shell.source):
        return
    for each in commands:
        yield [word.text if word.static and not word.has_placeholder else "" for word in _without_assignments(each)]


def _scan(command: CommandTemplate) -> Sequence[SimpleCommand]:
    if command.shell is None:
        return ()
    text, directories = command.shell.source, dict(_known_directories(command))
    if "$" in text and directories:
        text = _VARIABLE.sub(lambda found: directories.get(found[1] or found[2], found[0]), text)
    places = {found.start(): found.end() for found in DOUBLE_BRACES.finditer(text)} if command.shell.names else {}
    return scan(text, places).commands


def _known_directories(command: CommandTemplate) -> Iterator[tuple[str, str]]:
    """Variables of the hook's own that are a directory known now, such as CLAUDE_PROJECT_DIR."""
    for name, template in command.env:
        if template is not None and template.source in _DIRECTORY_TEMPLATES:
            yield name, "."
        elif template is not None and not template.reads() and os.path.isabs(template.source):
            yield name, template.source


def _without_assignments(command: SimpleCommand) -> list[Word]:
    words = list(command.words)
    while words and _ASSIGNMENT.match(words[0].text) and not words[0].quoted:
        del words[0]
    return words


def _missing_file(words: list[str], directories: Sequence[Path], find_program: FindProgram) -> str | None:
    """The program, or the script of an interpreter, that does not exist; None if it is there or cannot be known."""
    if not words or not words[0] or _is_uncertain(words[0]):
        return None
    program = words[0]
    if "/" in program:
        return None if _exists(program, directories) else program
    if program in (".", "source") and len(words) > 1:
        return _missing_script(words[1:2], directories)
    if program in _BUILTINS:
        return None
    if find_program(program) is None:
        return program
    name = program_name(program)
    if name in SHELLS or name in INTERPRETERS:
        return _missing_script(words[1:2], directories)
    return None


def _missing_script(operands: list[str], directories: Sequence[Path]) -> str | None:
    """Only a first operand that is plainly a file: after an option it could be anything."""
    for word in operands:
        if word and not _is_uncertain(word) and not word.startswith("-") and _names_file(word):
            return None if _exists(word, directories) else word
    return None


def _names_file(word: str) -> bool:
    return "/" in word or _SCRIPT_SUFFIX.search(word) is not None


def _is_uncertain(word: str) -> bool:
    return word.startswith("~") or bool(set(word) & set("$`*?[{\n"))


def _changes_directory(words: list[str]) -> bool:
    return words[:1] in (["cd"], ["pushd"])


def _exists(path: str, directories: Sequence[Path]) -> bool:
    return any((directory / path).exists() for directory in directories)


def _directories(hook: Hook) -> list[Path]:
    """Where a session may run: here, or in the directory of the file, above a hidden one such as .microai."""
    directory = PurePath(hook.origin.file).parent
    while directory.name.startswith(".") and directory.name not in (".", ".."):
        directory = directory.parent
    return [Path(), Path(directory), Path(PurePath(hook.origin.file).parent)]
