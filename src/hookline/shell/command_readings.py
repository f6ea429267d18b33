"""The texts by which the commands of a shell text can be named: without quotes, prefixes and redirections."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.plain_lines import SPECIAL_WORDS
from hookline.shell.programs import program_name
from hookline.shell.script_programs import script_command
from hookline.shell.wrappers import RUNNERS, SUBCOMMANDS, shell_code, unwrap

if TYPE_CHECKING:
    from hookline.shell.run_text import RunCommand, RunText

Readings = tuple[tuple[str, ...], ...]

OPTIONS_SKIPPED: Final = "\0"
"""Starts a text in which options may stand between the words of a pattern: `git -C . push` is a `git push`."""
TOO_LONG: Final = "\0too long to read"
"""The text of a command that cannot be read. Every pattern for commands matches it."""

_SAME_COMMAND: Final = frozenset(("timeout", "time", "nice", "nohup", "stdbuf"))
"""Programs that only change how long, how urgently or with which output a command runs."""
_FLAGS: Final = {  # options of a program that never take the next word
    "git": frozenset(
        (
            *("-p", "-P", "--paginate", "--no-pager", "--bare", "--no-replace-objects", "--literal-pathspecs"),
            *("--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--no-optional-locks", "--no-advice"),
        )
    )
}
_PLAIN_COMMAND: Final = lazy_pattern(r"([\w.:@%+-]+)(?: ([\w./:@%+=,][\w./:@%+=,-]*))?(?: [\w./:@%+=,][\w./:@%+=,-]*)*")
ODD_SPACE: Final = lazy_pattern(r"[^\S \t\n\r]")
"""White space that separates no words in a shell: `ls\\u00a0x` is the name of one program."""
HARMLESS_TARGETS: Final = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", ""))
_MAX_DEPTH: Final = 8


def is_one_plain_command(text: str) -> bool:
    """True for words without quotes, options or operators, of which the first is an ordinary program."""
    found = _PLAIN_COMMAND.fullmatch(text)
    if found is None or found[1] in SPECIAL_WORDS:
        return False
    return found[2] not in SUBCOMMANDS.get(found[1], ())


def command_readings(text: str) -> Readings:
    """Each command that the text may run, with the texts by which it can be named.

    A redirection to a file is a reading too, and so is a variable that makes a program run something else: neither
    may pass together with the command that is allowed.
    """
    if is_one_plain_command(text):
        return ((text,),)
    from hookline.shell.run_commands import read_commands  # the parser takes time to load
    from hookline.shell.run_text import UNREADABLE

    found = read_commands(text)
    if found is UNREADABLE:
        return ((TOO_LONG,), (text,))
    readings = _readings_of(found) or ((text.strip(),),)
    if ODD_SPACE.search(text) is None:
        return readings
    return (*readings, (ODD_SPACE.sub("\x01", text),))


@lru_cache(maxsize=256)
def _readings_of(found: RunText) -> Readings:
    own = [_texts_of(command) for command in found.commands]
    names = [program_name(command.words[0]) for command in found.commands]
    readings: dict[tuple[str, ...], None] = dict.fromkeys(
        (f"> {_one_word(target)}",) for target in found.targets if target not in HARMLESS_TARGETS
    )
    readings |= dict.fromkeys((_one_word(setting),) for setting in found.settings)
    merged: dict[int, list[str]] = {}
    for number, command in enumerate(found.commands):
        texts = own[number]
        if not texts:
            continue
        if command.parent >= 0 and names[command.parent] in _SAME_COMMAND:
            host = command.parent
            while host not in merged and found.commands[host].parent >= 0:
                host = found.commands[host].parent
            merged.setdefault(host, list(own[host])).extend(texts)
        else:
            outer = own[command.parent] if _is_named_together(found.commands, names, command) else []
            merged[number] = [*texts, *outer]
    for number, texts in merged.items():
        readings[tuple(dict.fromkeys(texts))] = None
        outer = texts[len(own[number]) :] if _is_named_together(found.commands, names, found.commands[number]) else []
        for other in _other_names(found.commands[number]):
            readings[tuple(dict.fromkeys((other, *outer)))] = None
    for number, command in enumerate(found.commands):
        if number not in merged:
            readings |= dict.fromkeys((other,) for other in _other_names(command))
    return tuple(readings)


def _is_named_together(commands: Sequence[RunCommand], names: Sequence[str], command: RunCommand) -> bool:
    """Whether who allows the command around it allows it too: `uv run pytest`, `python -m pip list`."""
    if command.parent < 0:
        return False
    name = names[command.parent]
    return name in RUNNERS or script_command(name, commands[command.parent].words) == command.words


def _texts_of(command: RunCommand) -> list[str]:
    words = _visible_words(command)
    return [text for text in dict.fromkeys((_join(words), command.source)) if text]


def _visible_words(command: RunCommand) -> list[str]:
    from hookline.shell.expansion import visible_text

    shown = ((word, visible_text(word)) for word in command.words)
    return [text for word, text in shown if text or not word]


def _other_names(command: RunCommand) -> Iterator[str]:
    """The command without the directory of its program, and for patterns that skip options."""
    words = _visible_words(command)
    if not words:
        return
    name, base = program_name(words[0]), words[0].rsplit("/", 1)[-1]
    if base != words[0]:
        words = [base, *words[1:]]
        yield _join(words)
    flags = _FLAGS.get(name, frozenset())
    kept = [word for word in words if word not in flags]
    if any(word.startswith("-") for word in kept[1:]) or len(kept) < len(words):
        yield OPTIONS_SKIPPED + _join(kept)


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
        for inner in unwrap(words):
            yield from _codes_run(inner.words, depth + 1)


def _join(words: Sequence[str]) -> str:
    return " ".join(_one_word(word) for word in words)


def _one_word(word: str) -> str:
    """Spaces within a word must not look like the space between two."""
    return re.sub(r"\s", "\x01", word) if word else "''"
