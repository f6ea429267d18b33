"""What the shell puts in the place of an expansion, as far as the text itself says it.

A variable has every value that the text assigns to it; what only the shell can know is one of the two unknown characters.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile
from typing import Final, TypeVar

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.filters import filtered_texts, is_filter
from hookline.shell.grammar import (
    HAS_UNKNOWN,
    HERE,
    REPOSITORY,
    TEMPORARY,
    UNKNOWN,
    UNKNOWN_PATH,
    UNKNOWN_WORDS,
    UNREAD,
)
from hookline.shell.parsed_text import Expansion, ParsedCommand, ParsedText, TextTooLong, restore_characters

Fields = tuple[str, ...]
_T = TypeVar("_T")

_MAX_ALTERNATIVES: Final = 16
_MAX_GROWN_VALUES: Final = 8
_OTHER_TEXT: Final = UNKNOWN + UNREAD  # instead of values beyond the limit
_OTHER_WORDS: Final[Fields] = (UNKNOWN_WORDS + UNREAD,)
_MAX_VALUE_CHARS: Final = 20_000
_MAX_OTHERS: Final = 100_000  # values beyond the limit, in all words together
_TO_GLOB: Final = str.maketrans({"*": "\ue013", "?": "\ue014", "[": "\ue015"})
_FROM_GLOB: Final = str.maketrans({"\ue013": "*", "\ue014": "?", "\ue015": "["})
_TO_UNKNOWN: Final = {**_FROM_GLOB, **dict.fromkeys(map(ord, (UNKNOWN_PATH, HERE, REPOSITORY)), f"/{UNKNOWN}")}
_GLOB: Final = lazy_pattern("[\ue013\ue014]|\ue015[^\\]]*\\]")
_SPECIAL_NAMES: Final = frozenset("#?$!-0_")
_PATH_VARIABLES: Final = frozenset(("HOME", "PWD", "OLDPWD"))
_TILDES: Final = {"HOME": "~", "OLDPWD": "~-"}  # what the shell writes for them
_SHELL_VARIABLES: Final = frozenset(("SHELL", "BASH", "0"))
_CONVERSION: Final = lazy_pattern(r"%(?:(%)|([-+ #0]*\d*(?:\.\d+)?)([a-zA-Z]))")
_ESCAPE: Final = lazy_pattern(r"\\(?:0?([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "c": ""}
_DESCRIPTOR: Final = lazy_pattern(r"/dev/stdin|(?:/dev/fd|/proc/[^/]+(?:/task/[^/]+)?/fd)/.*", re.DOTALL)
_BEFORE_PRINTERS: Final = frozenset(("time", "-p", "coproc", "command", "builtin", "exec"))
_PATH_PRINTERS: Final = frozenset(("which", "command", "type", "whence"))
_PATH_FUNCTIONS: Final = frozenset(("dirname", "realpath", "grealpath", "readlink", "greadlink"))
_GIT_DIRECTORIES: Final = frozenset(("--git-dir", "--git-common-dir", "--absolute-git-dir"))
_NOTABLE_NAMES: Final = (
    *(".env", ".env.local", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", "id_rsa", "id_ed25519"),
    *("credentials", ".ssh", ".aws", ".git", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".gitconfig"),
    *("hookline.yaml", "hookline.yml", "hookline.local.yaml", ".hookline", ".claude", ".codex", ".cursor", ".mcp.json"),
    *("settings.json", "settings.local.json"),
)
_LETTER: Final = lazy_pattern("[A-Za-z0-9]")
_MIN_LETTERS: Final = 2  # in a pattern that says which files are meant: `*.yaml`, not `*`
_MKTEMP: Final = frozenset(("mktemp", "/usr/bin/mktemp", "/bin/mktemp"))


def visible_text(field: str) -> str:
    """The field as a text to match: patterns for files as they are written, and nothing in the place of the unknown."""
    return field if field.isascii() else HAS_UNKNOWN.sub("", field).translate(_FROM_GLOB)


def mark_globs(field: str) -> str:
    """The field with any text in the place of a pattern for file names."""
    if field.isascii():
        return field
    if "\ue015" in field:  # no bracket behind the last `]` begins a pattern: each would be looked for to the end
        end = field.rfind("]") + 1
        field = _GLOB.sub(UNKNOWN, field[:end]) + field[end:].replace("\ue015", "[")
    return _GLOB.sub(UNKNOWN, field).translate(_TO_UNKNOWN)


def relative_path(field: str) -> str:
    """The field with `.` for the directory in which the shell is, or its repository, if that is how it begins."""
    return f".{field[1:]}" if field[:1] in (HERE, REPOSITORY) and field[1:2] in ("", "/") else field


@lru_cache(maxsize=256)
def glob_samples(field: str) -> tuple[str, ...]:
    """Names that its patterns for file names match: short ones, and those of files that matter to guards."""
    found = [_GLOB.sub(each, field) for each in ("x", "")]
    parts = field.split("/")
    shown = [_GLOB.sub("x", part) for part in parts]
    for at, part in enumerate(parts):
        if shown[at] != part:
            found += ("/".join((*shown[:at], name, *shown[at + 1 :])) for name in _notable_names(part))
    return tuple(dict.fromkeys(found))


def _notable_names(part: str) -> Iterator[str]:
    """Those that this pattern matches, unless it matches nearly everything."""
    has_dot = part.startswith(".")
    if not has_dot and len(_LETTER.findall(_GLOB.sub("", part))) < _MIN_LETTERS:
        return
    pattern = re.compile(translate(visible_text(part)))
    yield from (name for name in _NOTABLE_NAMES if name.startswith(".") <= has_dot and pattern.match(name))


@dataclass(slots=True)
class Environment:
    """The values that variables may have."""

    variables: dict[str, dict[str, None]] = field(default_factory=dict)
    arrays: dict[str, dict[Fields, None]] = field(default_factory=dict)
    positionals: dict[Fields, None] = field(default_factory=dict)
    opened: dict[str, None] = field(default_factory=dict)  # the texts in numbered descriptors
    certain: set[str] = field(default_factory=set)  # variables that surely have one of these values
    redefined: set[str] = field(default_factory=set)  # names of functions and aliases
    others: dict[str, dict[str, None]] = field(default_factory=dict)  # values of variables beyond the limit
    others_read: int = 0
    version: int = 0  # changes with every new value
    is_repeated: bool = False  # the commands are gone over again, so a value may grow each time

    def assign(
        self,
        name: str,
        values: Sequence[str],
        *,
        appends: bool = False,
        is_certain: bool = False,
        is_literal: bool = False,
    ) -> None:
        known = self.variables.setdefault(name, {})
        if appends:
            values = [old + value for old in (known or {UNKNOWN: None}) for value in values]
        shortened = [
            each if len(each) <= _MAX_VALUE_CHARS else f"{_OTHER_TEXT}\n{each[:_MAX_VALUE_CHARS]}"
            for each in _limit(values, _OTHER_TEXT, 2 * _MAX_ALTERNATIVES)
        ]
        self._note_others(name, values[2 * _MAX_ALTERNATIVES :])
        may_grow = not is_literal and (self.is_repeated or len(known) >= _MAX_GROWN_VALUES)
        growing = [each for each in shortened if may_grow and each not in known and _contains_two(each, known)]
        kept = [each for each in shortened if each not in growing]
        self._add(known, kept, _OTHER_TEXT)
        self._note_others(name, [each for each in kept if each not in known])
        if growing:  # x="$x y" has a longer value each time, so it may be any text
            self._add(known, [UNKNOWN], UNKNOWN)
        if is_certain and UNKNOWN not in known:
            self.certain.add(name)
        elif growing:
            self.certain.discard(name)

    def _note_others(self, name: str, values: Sequence[str]) -> None:
        """Values beyond the limit: they are read all together, as if the variable had them one after the other."""
        for value in values:
            if value not in self.others.setdefault(name, {}):
                self.others[name][value] = None
                self.version += 1

    def _with_others(self, name: str, value: str) -> Fields:
        others = self.others.get(name) if value == _OTHER_TEXT else None
        if not others:
            return (value,)
        self.others_read += len(others)
        if self.others_read > _MAX_OTHERS:
            raise TextTooLong
        return (value, *others)

    def assign_items(self, name: str, items: Sequence[Fields], *, appends: bool = False) -> None:
        known = self.arrays.setdefault(name, {})
        if appends:
            items = [old + new for old in (known or {(): None}) for new in items]
        self._add(known, items, _OTHER_WORDS)

    def set_positionals(self, fields: Fields) -> None:
        self._add(self.positionals, [fields], _OTHER_WORDS)

    def set_script_name(self, name: str) -> None:
        """`$0`"""
        self.assign("0", [name])
        self.assign("BASH_ARGV0", [name])

    def shift_positionals(self) -> None:
        """The arguments without any number of the first ones."""
        for fields in list(self.positionals):
            for at in range(1, min(len(fields), _MAX_ALTERNATIVES) + 1):
                self.set_positionals(fields[at:])

    def open_descriptor(self, texts: Sequence[str]) -> None:
        self._add(self.opened, texts, _OTHER_TEXT)

    def descriptor_texts(self) -> list[str]:
        """What a descriptor may have. Which one is read does not matter."""
        return [*self.opened, UNKNOWN]

    def _add(self, known: dict[_T, None], values: Sequence[_T], unknown: _T) -> None:
        for value in values:
            limit = _MAX_ALTERNATIVES * (2 if isinstance(value, str) and value.startswith("-") else 1)  # an option
            kept = value if len(known) < limit else unknown
            if kept not in known:
                known[kept] = None
                self.version += 1

    def expand_words(self, parsed: ParsedText, words: Sequence[str]) -> list[Fields]:
        """The alternatives for several words."""
        if all(map(str.isascii, words)):
            return [tuple(map(mark_pattern, words))]
        found: list[Fields] = [()]
        for word in words:
            combined = [before + fields for before in found for fields in self.expand(parsed, word)]
            if len(combined) > _MAX_ALTERNATIVES:  # those with most options first: they decide more than files do
                combined.sort(key=lambda fields: -sum(field.startswith("-") for field in fields))
            found = _limit(combined, _rest_of(combined))
        return found

    def expand_text(self, parsed: ParsedText, word: str) -> list[str]:
        """The alternatives for a word that is not split: the value of an assignment, a here-document."""
        found = [""]
        for piece in parsed.pieces(word):
            if isinstance(piece, str):
                values = [restore_characters(piece)]
            else:
                values = [" ".join(fields) for fields in self._values(parsed, piece)]
            found = _limit([before + value for before in found for value in values], _OTHER_TEXT)
        return found

    def expand(self, parsed: ParsedText, word: str) -> list[Fields]:
        """The alternatives for one word: each is the fields that the shell makes of it."""
        if word.isascii():
            return [(mark_pattern(word),)]
        pieces = list(parsed.pieces(word))
        if not any(isinstance(piece, Expansion) for piece in pieces):
            return [(restore_characters(mark_pattern(word)),)]
        found: list[tuple[Fields, str | None]] = [((), None)]  # complete fields, and the one at hand
        for piece in pieces:
            if isinstance(piece, str):
                text = restore_characters(mark_pattern(piece))
                found = [(fields, (last or "") + text) for fields, last in found]
                continue
            values = self._values(parsed, piece)
            add = _add_quoted if piece.is_quoted else self._add_unquoted
            is_product = len(found) > 1
            found = [add(*state, value) for state in found for value in values]
            found = _limit(found, ((), _OTHER_WORDS[0])) if is_product else found
        return list(dict.fromkeys(fields if last is None else (*fields, last) for fields, last in found))

    def _add_unquoted(self, fields: Fields, last: str | None, value: Fields) -> tuple[Fields, str | None]:
        separators = " \t\n" + "".join(char for ifs in self.variables.get("IFS", ()) for char in ifs if char != UNKNOWN)
        for number, each in enumerate(value):
            if number:
                fields, last = _close(fields, last)
            parts = re.split(f"[{re.escape(separators)}]+", each.replace(UNKNOWN, UNKNOWN_WORDS).translate(_TO_GLOB))
            for at, part in enumerate(parts):
                if at:
                    fields, last = _close(fields, last)
                if part:
                    last = (last or "") + part
        return fields, last

    def _values(self, parsed: ParsedText, expansion: Expansion) -> list[Fields]:
        """Each value; it has several fields only for `"$@"` and `"${a[@]}"`."""
        if expansion.commands is not None:
            if expansion.is_file:
                return [("/dev/fd/" + UNKNOWN,)]
            outputs = self.outputs(parsed, expansion.commands, expansion.depth)
            return [(output.rstrip("\n"),) for output in outputs]
        name, operator = expansion.name, expansion.operator
        if name in ("@", "*"):
            return self._argument_slices(expansion)
        if operator == "!" and name == "#":
            return [fields[-1:] for fields in self.positionals if fields] or [(UNKNOWN,)]
        if operator == "[@]":
            return list(self.arrays.get(name, ())) or [(UNKNOWN_WORDS,)]
        values = list(self._variable(name))
        if operator in (":-", "-", ":=", "="):
            values = [value for value in values if value] + self.expand_text(parsed, expansion.argument)
            if operator in (":=", "="):
                self.assign(name, self.expand_text(parsed, expansion.argument))
        elif operator in (":+", "+"):
            values = ["", *self.expand_text(parsed, expansion.argument)]
        elif operator == ":" and (cut := re.fullmatch(r" *(\d+)(?::(\d+))?", expansion.argument)):
            start, length = int(cut[1]), cut[2]
            values = [_substring(value, start, length and int(length)) for value in values]
        elif operator in ("^^", ",,") and not expansion.argument:
            values = [value.upper() if operator == "^^" else value.lower() for value in values]
        elif operator:
            values = [UNKNOWN]
        if not expansion.is_quoted:  # a file name that a loop found may have spaces
            values += [mark_globs(value) for value in values if not value.isascii() and _GLOB.search(value)]
        return [self._with_others(name, value) for value in dict.fromkeys(values)]

    def _argument_slices(self, expansion: Expansion) -> list[Fields]:
        """`"$@"` and `"${@:1:2}"`; from 0 on, with `$0`."""
        given = list(self.positionals) or [()]
        cut = re.fullmatch(r" *(\d+)(?::(\d+))?", expansion.argument) if expansion.operator == ":" else None
        if cut is None:
            return given
        start, end = int(cut[1]), None if cut[2] is None else int(cut[1]) + int(cut[2])
        return list(dict.fromkeys((name, *fields)[start:end] for name in self._variable("0") for fields in given))

    def _variable(self, name: str) -> Iterator[str]:
        if name.isdigit() and name != "0":
            for fields in self.positionals or {(): None}:
                yield fields[int(name) - 1] if int(name) <= len(fields) else ""
            return
        if name == "IFS" and name not in self.variables:
            yield " \t\n"
            return
        if name in _PATH_VARIABLES and name not in self.variables:
            if name in _TILDES:
                yield _TILDES[name]
            yield HERE if name == "PWD" else UNKNOWN_PATH
            return
        if name in _SHELL_VARIABLES and name not in self.variables:
            yield UNKNOWN + "sh"
            return
        yield from self.variables.get(name, ())
        yield from (fields[0] if fields else "" for fields in self.arrays.get(name, ()))
        if name not in self.certain or name in _SPECIAL_NAMES:
            yield UNKNOWN

    def outputs(self, parsed: ParsedText, commands: Sequence[ParsedCommand], depth: int) -> list[str]:
        """What these commands print. `depth` is the length of their path without groups."""
        level = depth - 1
        printing = [command for command in commands if len(command.path) > level and command.path[level][1] % 2 == 0]
        found, printed = [""], list[str]()
        for at, command in enumerate(printing):
            if command.path[level][1] == 0:
                printed = self.output(parsed, command)
            elif len(command.path) == depth:
                printed = self.filtered_output(parsed, command, printed)
            else:
                return [UNKNOWN]
            following = printing[at + 1] if at + 1 < len(printing) else None
            if following is None or following.path[level][0] != command.path[level][0]:
                found = _limit([before + text for before in found for text in printed], _OTHER_TEXT)
            elif len(command.path) > depth:  # a group that feeds another program
                return [UNKNOWN]
        if len(commands) > 1:  # $(cd x; pwd)
            return [each.replace(HERE, UNKNOWN_PATH).replace(REPOSITORY, UNKNOWN_PATH) for each in found]
        return found

    def output(self, parsed: ParsedText, command: ParsedCommand) -> list[str]:
        """What this command prints; UNKNOWN where only running it says that."""
        if command.targets or not command.words:
            is_read = any(is_descriptor(parsed.unquote(source)) for source in command.sources)
            return self.descriptor_texts() if is_read else [UNKNOWN] if command.targets else [""]
        return self.raw_output(parsed, command)

    def filtered_output(self, parsed: ParsedText, command: ParsedCommand, inputs: Sequence[str]) -> list[str]:
        """What this command prints if it reads one of these texts."""
        printed = self.output(parsed, command)
        if printed != [UNKNOWN] or command.targets or command.input:
            return printed
        return [text for words in self.expand_words(parsed, command.words) for text in filtered_texts(words, inputs)]

    def raw_output(self, parsed: ParsedText, command: ParsedCommand) -> list[str]:
        """The same, also if a redirection takes it."""
        found: list[str] = []
        for fields in self.expand_words(parsed, command.words):
            words = [mark_globs(each) for each in fields]
            while words and words[0] in _BEFORE_PRINTERS and words[1:2] != ["-v"]:
                words.pop(0)
            name, *arguments = words or [""]
            reads_opened = command.reads_descriptor or any(map(is_descriptor, arguments))
            if name == "cat" and (reads_opened or (self.opened and not arguments and not command.input)):
                found += self.descriptor_texts()
            elif name == "cat" and not arguments and command.input:
                found += self.expand_text(parsed, command.input)
            elif command.input and is_filter(words):
                found += filtered_texts(words, self.expand_text(parsed, command.input))
            elif name in _MKTEMP:
                is_other = name in self.redefined or "PATH" in self.variables
                found.append(UNKNOWN if is_other else TEMPORARY)
            elif name == "git" and "rev-parse" in arguments:
                found.append(self._git_path(command, arguments))
            elif name == "pwd" and (name in self.redefined or "PWD" in self.variables):
                found.append(UNKNOWN_PATH)
            elif name in _PATH_FUNCTIONS and name not in self.redefined:
                found.append(_printed_path(name, fields[len(fields) - len(arguments) :]))
            else:
                found += printed_texts(name, arguments)
        return list(dict.fromkeys(found))

    def _git_path(self, command: ParsedCommand, arguments: Sequence[str]) -> str:
        """What `git rev-parse` prints, if it is asked for a path."""
        is_other = (
            bool({"git", "pwd"} & self.redefined)
            or bool(command.assignments)
            or any(each == "PATH" or each.startswith("GIT_") for each in self.variables)
        )
        if arguments == ["rev-parse", "--show-toplevel"]:
            return UNKNOWN_PATH if is_other else REPOSITORY
        if "--git-path" in arguments[:-1]:
            return f".git/{arguments[arguments.index('--git-path') + 1]}"
        if _GIT_DIRECTORIES.isdisjoint(arguments):
            return UNKNOWN
        is_here = arguments in (["rev-parse", "--git-dir"], ["rev-parse", "--git-common-dir"])
        return ".git" if is_here else f"{UNKNOWN_PATH}/.git"


def _printed_path(name: str, arguments: Sequence[str]) -> str:
    """What `dirname`, `realpath` and `readlink -f` print of a path that is known but for where the shell is."""
    operands = [each for each in arguments if not each.startswith("-")]
    path = operands[0] if len(operands) == 1 else UNKNOWN
    if HAS_UNKNOWN.search(path.removeprefix(HERE)) or (name == "readlink" and len(arguments) == len(operands)):
        return UNKNOWN
    if name == "dirname":
        return f"{HERE}/.." if path == HERE else posixpath.dirname(path) or "."
    return path if path.startswith(("/", "~", HERE)) else f"{HERE}/{path}"


def is_descriptor(path: str) -> bool:
    """`/dev/fd/3`, `/proc/self/fd/3`"""
    return path.startswith(("/dev/fd/", "/dev/stdin", "/proc/")) and _DESCRIPTOR.fullmatch(path) is not None


def printed_texts(name: str, arguments: Sequence[str]) -> list[str]:
    """What a simple program may print with these arguments."""
    if name in ("echo", "print"):
        return _echo(arguments)
    if name == "printf" and arguments and arguments[0] != "-v":
        rest = arguments[1:] if arguments[0] == "--" else arguments
        return [_printf(rest[0], rest[1:])] if rest else [""]
    if name in _PATH_PRINTERS and arguments and not arguments[-1].startswith("-"):
        is_path = name == "which" or any(each in ("-v", "-p", "-P") for each in arguments[:-1])
        return [arguments[-1] + "\n" if is_path else UNKNOWN]
    if name == "pwd" and tuple(arguments) in ((), ("-P",), ("-L",)):
        return [HERE]
    if name == "mktemp" and not arguments:
        return [UNKNOWN_PATH]
    return ["" if name in (":", "true", "cd", "set", "") else UNKNOWN]


def _echo(arguments: Sequence[str]) -> list[str]:
    """Some shells read a backslash, others only with -e."""
    words = list(arguments)
    while words and re.fullmatch(r"-[neE]+", words[0]):
        words.pop(0)
    text = " ".join(words) + "\n"
    return list(dict.fromkeys((text, _unescape(text))))


def _printf(template: str, arguments: Sequence[str]) -> str:
    """It is used again until no argument is left."""
    rest, parts, size = list(reversed(arguments)), list[str](), 0
    unescaped = _unescape(template)
    while size <= _MAX_VALUE_CHARS:
        used = len(rest)
        parts.append(_CONVERSION.sub(lambda match: _convert(match, rest), unescaped))
        if not rest or len(rest) == used:
            return "".join(parts)
        size += max(1, len(parts[-1]))
    return _OTHER_TEXT


def _convert(match: re.Match[str], rest: list[str]) -> str:
    if match[1]:
        return "%"
    value = rest.pop() if rest else ""
    if match[3] in "sdiu" and not match[2]:
        return value
    return _unescape(value) if match[3] == "b" else UNKNOWN


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[3]:
            return _ESCAPES.get(match[3], match[3] if match[3] == "\\" else "\\" + match[3])
        return chr(int(match[1], 8) if match[1] else int(match[2], 16))

    return _ESCAPE.sub(character, text)


def mark_pattern(word: str) -> str:
    """The word with its `*`, `?` and `[` as those of a pattern for file names, and not as plain characters."""
    return word.translate(_TO_GLOB) if "*" in word or "?" in word or "[" in word else word


def _substring(value: str, start: int, length: int | str | None) -> str:
    if HAS_UNKNOWN.search(value) or _GLOB.search(value):
        return UNKNOWN
    return value[start : start + length] if isinstance(length, int) else value[start:]


def _add_quoted(fields: Fields, last: str | None, value: Fields) -> tuple[Fields, str | None]:
    for number, each in enumerate(value):
        if number:
            fields, last = _close(fields, last)
        last = (last or "") + each
    return fields, last


def _close(fields: Fields, last: str | None) -> tuple[Fields, str | None]:
    return (fields if last is None else (*fields, last)), None


def _rest_of(alternatives: Sequence[Fields]) -> Fields:
    """What stands for those beyond the limit: the fields with which all of them begin, and then any words, among them
    every other field of theirs.
    """
    rest = alternatives[_MAX_ALTERNATIVES:]
    if not rest:
        return ()
    same = takewhile(lambda each: len(set(each)) == 1, zip(*alternatives, strict=False))
    first = tuple(each[0] for each in same)
    return (*first, *_OTHER_WORDS, *dict.fromkeys(field for each in rest for field in each[len(first) :]))


def _contains_two(value: str, known: Iterable[str]) -> bool:
    """A known value counts also if it was split into words since: `PATH=$HOME/bin:$PATH`."""
    value = _as_unknown(value)
    return sum(1 for each in known if each and each != UNKNOWN and _as_unknown(each) in value) >= 2


def _as_unknown(value: str) -> str:
    return mark_globs(value).replace(UNKNOWN_WORDS, UNKNOWN)


def _limit(alternatives: Sequence[_T], rest: _T, most: int = _MAX_ALTERNATIVES) -> list[_T]:
    """As many as are worth looking at; `rest` stands for all others."""
    found = list(dict.fromkeys(alternatives))
    return found if len(found) <= most else [*found[:most], rest]
