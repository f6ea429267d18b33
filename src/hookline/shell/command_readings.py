"""The commands that a shell text runs, as the shell reads them: without quotes, prefixes and redirections.

It is for matching, and reads more rather than less: whatever may run is a command. What only the shell can know, such as
the value of a variable or the output of another command, stays as written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.shell.programs import (
    CODE_VARIABLES,
    COMMAND_WRAPPERS,
    SHELLS,
    CommandWrapper,
    program_name,
)
from hookline.shell.simple_commands import PREFIX_KEYWORDS, ParsedCommand, TextTooLong, expand_word, parse_commands

Readings = tuple[tuple[str, ...], ...]

OPTIONS_SKIPPED: Final = "\0"
"""Starts a text in which options may stand between the words of a pattern: `git -C . push` is a `git push`."""
TOO_LONG: Final = "\0too long to read"
"""The text of a command that cannot be read. Every pattern for commands matches it."""

_SHELL_CODE: Final = re.compile(r"-[abefhiklmnpruvxBCEHPT]*c[abefhiklmnpruvxBCEHPT]*")
_OTHER_SHELLS: Final = {  # other shells, with the option before their code
    **dict.fromkeys(("fish", "csh", "tcsh"), re.compile(r"-\w*c|--command")),
    **dict.fromkeys(("pwsh", "powershell", "powershell.exe", "pwsh.exe"), re.compile(r"(?i)[-/](?:c|command)")),
    **dict.fromkeys(("cmd", "cmd.exe"), re.compile(r"(?i)/[ck]")),
}
_CODE_OPTION_PROGRAMS: Final = frozenset(("su", "runuser", "script", "flock", "sg"))
_CODE_OPTION: Final = re.compile(r"-\w*c|--command")
_WRAPPERS: Final[dict[str, CommandWrapper]] = {
    **COMMAND_WRAPPERS,
    **dict.fromkeys(
        ("busybox", "toybox", "noglob", "nocorrect", "fakeroot", "unshare", "-", "coproc"), CommandWrapper()
    ),
    **dict.fromkeys(("gosu", "su-exec", "taskset"), CommandWrapper(operands=1)),
    "chrt": CommandWrapper(flags="abefimoprRv", operands=1),
    "runuser": CommandWrapper(flags="fl", value_options="ugG"),
    "flock": CommandWrapper(flags="senuxo", value_options="wE", operands=1),
    "watch": CommandWrapper(flags="bcdegprtwx", value_options="nqs"),
    "ssh": CommandWrapper(flags="46AaCfGgKkMNnqsTtVvXxYy", value_options="BbcDEeFIiJLlmOopQRSWw", operands=1),
    "parallel": CommandWrapper(flags="0kmqtuvX", value_options="adEIjLNnPS"),
}
_SAME_COMMAND: Final = frozenset(("timeout", "time", "nice", "nohup", "stdbuf"))
"""Programs that only change how long, how urgently or with which output a command runs."""
_JOINED_BY_SHELL: Final = frozenset(("watch", "ssh", "parallel"))  # they hand their words to a shell
_TAKES_ASSIGNMENTS: Final = frozenset(("env", "sudo", "doas", "export", "typeset", "declare"))
_RUN_OPTIONS: Final = {
    "find": frozenset(("-exec", "-execdir", "-ok", "-okdir")),
    "fd": frozenset(("-x", "-X", "--exec", "--exec-batch")),
    "fdfind": frozenset(("-x", "-X", "--exec", "--exec-batch")),
}
_FLAGS: Final = {  # options of a program that never take the next word
    "git": frozenset(
        (
            *("-p", "-P", "--paginate", "--no-pager", "--bare", "--no-replace-objects", "--literal-pathspecs"),
            *("--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--no-optional-locks", "--no-advice"),
        )
    )
}
_EVALUATORS: Final = frozenset(("eval", "trap"))
_PRINTERS: Final = frozenset(("echo", "printf"))
_SPECIAL_WORDS: Final = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select"),
        *("function", "in", "time", "coproc", "!", "{", "}", "[[", *_WRAPPERS, *SHELLS, *_OTHER_SHELLS, *_RUN_OPTIONS),
        *(*_EVALUATORS, *_CODE_OPTION_PROGRAMS, *_TAKES_ASSIGNMENTS),
    )
)
_PLAIN_COMMAND: Final = re.compile(r"([\w.:@%+-]+)(?: [\w./:@%+=,][\w./:@%+=,-]*)*+")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_HARMLESS_TARGETS: Final = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", ""))
_MAX_DEPTH: Final = 8
_MAX_POSITIONS: Final = 20
_CACHED_LENGTH: Final = 4_096


def is_one_plain_command(text: str) -> bool:
    """True for words without quotes, options or operators, of which the first is an ordinary program."""
    found = _PLAIN_COMMAND.fullmatch(text)
    return found is not None and found[1] not in _SPECIAL_WORDS


def command_readings(text: str) -> Readings:
    """Each command that the text may run, with the texts by which it can be named.

    A redirection to a file is a reading too, and so is a variable that makes a program run something else: neither
    may pass together with the command that is allowed.
    """
    if is_one_plain_command(text):
        return ((text,),)
    read = _read_text if len(text) <= _CACHED_LENGTH else _read_text.__wrapped__
    return read(text.replace("\0", ""))


@lru_cache(maxsize=256)
def _read_text(text: str) -> Readings:
    found = _Found()
    try:
        found.add_text(text, 0)
    except (TextTooLong, RecursionError):
        return ((TOO_LONG,), (text,))
    return tuple(dict.fromkeys(found.readings)) or ((text.strip(),),)


def argv_texts(words: Sequence[str]) -> tuple[str, ...]:
    """A list of words as a shell would write it, and the code in it if it runs a shell."""
    if not words:
        return ()
    first = words[:1] if len(words) == 1 else ()  # one word with spaces may be a whole command
    return tuple(dict.fromkeys((*first, shlex.join(words), *_codes_run(words, 0))))


def _codes_run(words: Sequence[str], depth: int) -> Iterator[str]:
    code = shell_code(words)
    if code is not None:
        yield code
    elif words and depth < _MAX_DEPTH:
        for inner in _unwrap(words):
            yield from _codes_run(inner, depth + 1)


def shell_code(words: Sequence[str]) -> str | None:
    """The code in `sh -c code` and its like; None if the words start something else."""
    if not words:
        return None
    name = program_name(words[0])
    if name in SHELLS:
        return _code_after(words, _SHELL_CODE)
    option = _OTHER_SHELLS.get(name.lower()) or (_CODE_OPTION if name in _CODE_OPTION_PROGRAMS else None)
    return None if option is None else _code_after(words, option)


def _code_after(words: Sequence[str], option: re.Pattern[str]) -> str | None:
    at = next((n for n, word in enumerate(words[1:], 1) if option.fullmatch(word)), None)
    if at is None:
        return next((word.partition("=")[2] for word in words if word.startswith("--command=")), None)
    rest = list(words[at + 1 :])
    while rest and rest[0][:1] in ("-", "+") and len(rest) > 1:  # more options before the code
        rest.pop(0)
    if not rest:
        return None
    return " ".join(rest) if program_name(words[0]).lower().startswith(("cmd", "pwsh", "powershell")) else rest[0]


def _unwrap(words: Sequence[str]) -> Iterator[list[str]]:
    """The command that a program such as `env` or `sudo` runs; every possible one after an unknown option."""
    name = program_name(words[0])
    wrapper = _WRAPPERS.get(name)
    if wrapper is None:
        return
    at = 1
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        if name == "command" and words[at] in ("-v", "-V"):
            return
        if name == "nice" and re.fullmatch(r"-\d+", words[at]):
            at += 1
            continue
        if words[at] == "--":
            at += 1
            break
        taken = wrapper.count_option_words(words[at])
        if taken is None:
            yield from _possible_commands(words[at + 1 :])
            return
        at += taken
    while name in _TAKES_ASSIGNMENTS and at < len(words) and _ASSIGNMENT.match(words[at]):
        at += 1
    rest = list(words[at + wrapper.operands :])
    if rest:
        yield rest


def _possible_commands(words: Sequence[str]) -> Iterator[list[str]]:
    for at, word in enumerate(words[:_MAX_POSITIONS]):
        if word and not word.startswith("-") and not _ASSIGNMENT.match(word):
            yield list(words[at:])


@dataclass(slots=True)
class _Found:
    """Collects the readings of a text."""

    readings: list[tuple[str, ...]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    def add_text(self, text: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise TextTooLong
        before: ParsedCommand | None = None
        for command in parse_commands(text):
            self._add_command(command, before, depth)
            before = command

    def _add_command(self, command: ParsedCommand, before: ParsedCommand | None, depth: int) -> None:
        self._add_assignments(command.assignments, is_kept=PREFIX_KEYWORDS.issuperset(command.words))
        for target in command.targets:
            if target not in _HARMLESS_TARGETS:
                self.readings.append((f"> {_one_word(target)}",))
        if not command.words:
            return
        self._add_words(command.words, _collapse(command.source), depth)
        expanded = [part for word in command.words for part in expand_word(word, self.variables)]
        if expanded and expanded != command.words:
            self._add_words(expanded, "", depth)
        if program_name(command.words[0]) in SHELLS and shell_code(command.words) is None:
            self._add_input(command, before, depth)

    def _add_assignments(self, assignments: Sequence[str], *, is_kept: bool) -> None:
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            if CODE_VARIABLES.fullmatch(name.rstrip("+")):
                self.readings.append((_one_word(assignment),))
            if is_kept:
                self.variables[name] = value

    def _add_input(self, command: ParsedCommand, before: ParsedCommand | None, depth: int) -> None:
        """A shell that reads its code from a here-document, or from `echo … |` or `cat <<EOF |`."""
        if command.input:
            self.add_text(command.input, depth + 1)
        if command.is_piped and before is not None and before.words:
            if program_name(before.words[0]) in _PRINTERS:
                self.add_text(" ".join(before.words[1:]).replace("\\n", "\n"), depth + 1)
            self.add_text(before.input, depth + 1)

    def _add_words(self, words: Sequence[str], source: str, depth: int) -> None:
        """The command, and the command inside it, as far as there is one."""
        texts = [text for text in (_join(words), source) if text]
        while program_name(words[0]) in _SAME_COMMAND:
            inner = list(_unwrap(words))
            if len(inner) != 1:
                break
            words = inner[0]
            texts.append(_join(words))
        self.readings.append(tuple(dict.fromkeys(texts)))
        if depth > _MAX_DEPTH:
            raise TextTooLong
        self._add_other_names(words)
        self._add_inner(words, depth)

    def _add_other_names(self, words: Sequence[str]) -> None:
        name = program_name(words[0])
        base = words[0].rsplit("/", 1)[-1]
        if base != words[0]:
            words = [base, *words[1:]]
            self.readings.append((_join(words),))
        flags = _FLAGS.get(name, frozenset())
        kept = [word for word in words if word not in flags]
        if any(word.startswith("-") for word in kept[1:]) or len(kept) < len(words):
            self.readings.append((OPTIONS_SKIPPED + _join(kept),))

    def _add_inner(self, words: Sequence[str], depth: int) -> None:
        name = program_name(words[0])
        code = shell_code(words)
        if code is not None:
            self.add_text(code, depth + 1)
        if name in _EVALUATORS:
            self.add_text(" ".join(words[1:] if name == "eval" else words[1:2]), depth + 1)
        if name in _TAKES_ASSIGNMENTS:
            self._add_assignments(
                [word for word in words[1:] if _ASSIGNMENT.match(word)], is_kept=name not in _WRAPPERS
            )
        if name == "env":
            for text in _split_strings(words):
                self.add_text(text, depth + 1)
        for inner in _unwrap(words):
            if name in _JOINED_BY_SHELL:
                self.add_text(" ".join(inner), depth + 1)
            self._add_words(inner, "", depth + 1)
        if name in _RUN_OPTIONS:
            for inner in _run_by_options(words, _RUN_OPTIONS[name]):
                self._add_words(inner, "", depth + 1)


def _split_strings(words: Sequence[str]) -> Iterator[str]:
    """The texts that `env -S` splits into a command."""
    for at, word in enumerate(words):
        if word in ("-S", "--split-string") or re.fullmatch(r"-[iv0]+S", word):
            yield " ".join(words[at + 1 :])
        elif word.startswith(("-S", "--split-string=")):
            yield " ".join((word.removeprefix("-S").removeprefix("--split-string="), *words[at + 1 :]))


def _run_by_options(words: Sequence[str], options: frozenset[str]) -> Iterator[list[str]]:
    for at, word in enumerate(words):
        if word in options and words[at + 1 :]:
            end = next((n for n in range(at + 1, len(words)) if words[n] in (";", "+")), len(words))
            if end > at + 1:
                yield list(words[at + 1 : end])


def _join(words: Sequence[str]) -> str:
    return " ".join(_one_word(word) for word in words)


def _one_word(word: str) -> str:
    """Spaces within a word must not look like the space between two."""
    return re.sub(r"\s", "\x01", word) if word else "''"


def _collapse(source: str) -> str:
    return re.sub(r"\s+", " ", source.strip())
