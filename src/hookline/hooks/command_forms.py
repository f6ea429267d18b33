"""The commands of a call, in whatever form a tool takes them.

Some tools take a program and its arguments apart, or several commands; others take them as JSON text, in base64, or as
what a shell reads. A guard reads every form in which the fields may make sense together.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, permutations
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from hookline.errors import ConditionError
from hookline.hooks.field_roles import FieldRole, role_of
from hookline.hooks.kind_guess import words_of
from hookline.hooks.readings import as_plain_collection
from hookline.lazy_imports import json, lazy_module, lazy_pattern, shlex

if TYPE_CHECKING:
    from hookline.shell import expansion, run_commands, run_text
else:  # most calls are read without the parser
    expansion = lazy_module("hookline.shell.expansion")
    run_commands = lazy_module("hookline.shell.run_commands")
    run_text = lazy_module("hookline.shell.run_text")

_MAX_DEPTH: Final = 8  # mappings in mappings
_MAX_FORMS: Final = 1_000
_MAX_ITEMS: Final = 10_000  # of all lists and mappings
_MAX_ARGUMENT_FIELDS: Final = 16
_MAX_ORDERED: Final = 3  # fields of arguments that are read in every order
_MAX_FED: Final = 8  # commands that are read together with what they read and their variables
_MAX_JSON_CHARS: Final = 1_000_000
_TOO_MANY: Final = "the call has its commands in more forms than can be read"

_OPERATORS: Final = frozenset(("&&", "||", ";", "|", "|&", "&"))
_SHELL: Final = lazy_pattern(
    r"(?i)(?:.*[/\\])?(?:(?:ba|z|da|k|fi|c|tc|a)?sh|pwsh|powershell|cmd)(?:\.exe)?|true|default|"
)
_CODE_NAMES: Final = frozenset(("script", "code", "source", "run", "lines"))
_DASHED: Final = frozenset(("flags", "flag", "options", "option", "opts", "opt", "switches", "switch"))
_EXECUTION_OPTIONS: Final = frozenset(
    ("background", "async", "wait", "waits", "block", "blocking", "detach", "detached", "interactive", "tty", "pty", "stream",
     "streaming", "login", "capture", "sandbox", "sandboxed", "approval", "approved", "confirm", "confirmed", "permission",
     "permissions", "output", "log", "shell", "elevated", "timeout", "persistent", "keep", "session", "terminal", "safe")
)  # fmt: skip
"""Words of fields that are for the tool, not for the program that it runs."""
_ENCODINGS: Final = {
    "base64": "base64", "b64": "base64", "encoded": "base64", "hex": "hex", "url": "url", "urlencoded": "url",
    "percent": "url",
}  # fmt: skip
_VALUE_NAMES: Final = ("value", "flag", "arg", "argument", "text", "name")
_QUOTED_LIST: Final = lazy_pattern(r"\s*\[\s*'(?:[^'\"\\]*'\s*,\s*')*[^'\"\\]*'\s*\]\s*")
_NUMBER_AT_END: Final = lazy_pattern(r"\d{1,9}\Z")
_VARIABLE: Final = lazy_pattern(r"[A-Za-z_][A-Za-z_0-9]*")

_Named = tuple[str, Any]
_Words = str | list[str]


def read_command_forms(input: Mapping[Any, Any]) -> Iterator[Any]:
    """Texts and lists of words. Raises ConditionError if there are too many to read."""
    _check_size(input)
    for number, form in enumerate(_read_forms(input, 0)):
        if number == _MAX_FORMS:
            raise ConditionError(_TOO_MANY)
        yield form


def decoded_forms(text: str) -> Iterator[Any]:
    """What stands in a command that is JSON text."""
    found = _decode(text)
    if isinstance(found, dict):
        yield from read_command_forms(found)
    elif found is not text:
        is_argv = not isinstance(found, list) or all(isinstance(item, str) for item in found)
        yield from (found,) if is_argv else _several(found, 0)


def names_a_command(input: Mapping[Any, Any]) -> bool:
    """Whether some field says by its name that it has the command, and has one."""
    roles = (FieldRole.LINE, FieldRole.PROGRAM, FieldRole.COMMANDS, FieldRole.TYPED)
    return len(input) <= _MAX_ITEMS and any(
        role_of(name) in roles and _is_given(value) for name, value in input.items()
    )


def join_arguments(command: Any, input: Mapping[Any, Any]) -> Iterator[_Words]:
    """The command with the arguments that stand beside it, in each order in which they may belong to it."""
    given, dashed = _collect_arguments([each for each in input.items() if role_of(each[0]) is FieldRole.ARGUMENTS])
    yield from _joined([command], given)
    yield from _joined([command], dashed)


def _is_given(value: Any) -> bool:
    return value is not None and not isinstance(value, (bool, int, float)) and bool(value)


def _read_forms(input: Mapping[Any, Any], depth: int) -> Iterator[Any]:
    if depth > _MAX_DEPTH:
        raise ConditionError(_TOO_MANY)
    roles = _fields_by_role(input)
    lines, programs = roles[FieldRole.LINE], roles[FieldRole.PROGRAM]
    arguments, dashed = _collect_arguments(roles[FieldRole.ARGUMENTS])
    heads = [value for _, value in lines if isinstance(value, (str, list, tuple))]
    if lines:  # `shell: bash` says what runs them
        programs = [each for each in programs if not (each[0] == "shell" and _names_shell(each[1]))]
    program_heads = [value for _, value in programs if isinstance(value, (str, list, tuple))]
    for name, value in lines:
        yield from _line_forms(name, value, depth)
    if not heads and not program_heads and arguments:
        heads = [value for _, value in roles[FieldRole.OTHER] if isinstance(value, str)]
        yield from (_join(None, order) for order in _orders(arguments))
    joined = (*_joined((*heads, *program_heads), arguments), *_joined((*heads, *program_heads), dashed))
    if switches := _switches(input):
        joined += tuple(_joined(filter(_is_bare, (*heads, *program_heads)), [*(dashed or arguments), switches]))
    whole = [*heads, *([] if heads else program_heads), *joined, *_under_programs(programs, lines)]
    yield from whole
    if _is_given_to_shell(input):
        yield from (" ".join(map(str, words)) for words in whole if isinstance(words, (list, tuple)))
    for _, value in roles[FieldRole.COMMANDS]:
        yield from _several(value, depth)
    typed = [text for _, value in roles[FieldRole.TYPED] for text in _typed_texts(value)]
    yield from typed
    yield from _with_context(whole, typed, roles[FieldRole.ENVIRONMENT])
    for role in (FieldRole.ARGUMENTS, FieldRole.OTHER, FieldRole.PROGRAM, FieldRole.TYPED):
        for _, value in roles[role]:
            yield from _inner_forms(value, depth)


def _fields_by_role(input: Mapping[Any, Any]) -> dict[FieldRole, list[_Named]]:
    """Without those that are empty, numbers or flags. A value in JSON or another encoding is read in both ways."""
    found: dict[FieldRole, list[_Named]] = {role: [] for role in FieldRole}
    encodings = _declared_encodings(input)
    for name, value in input.items():
        role = role_of(name)
        if not _is_given(value) and not (role is FieldRole.ARGUMENTS and isinstance(value, (int, float))):
            continue
        decoded = _decode(value)
        if decoded is not value and role not in (FieldRole.ARGUMENTS, FieldRole.ENVIRONMENT):
            found[role].append((str(name), value))
        found[role].append((str(name), decoded))
        for encoding in {*encodings, *_encodings_of(str(name))} if isinstance(value, str) else ():
            plain = _decode_text(value, encoding)
            found[role] += [] if plain is None else [(str(name), _decode(plain))]
    return found


def _line_forms(name: str, value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from _inner_forms(value, depth) if names_a_command(value) else value.values()
    elif isinstance(value, (list, tuple)) and (
        words_of(name)[:1] in {(each,) for each in _CODE_NAMES} or any(not isinstance(item, str) for item in value)
    ):
        yield from _several(value, depth)


def _several(value: Any, depth: int) -> Iterator[Any]:
    """Each of several commands: texts, lists of words or mappings."""
    if depth > _MAX_DEPTH:
        raise ConditionError(_TOO_MANY)
    if isinstance(value, Mapping):
        yield from _inner_forms(value, depth)
        value = list(value.values())
    elif not isinstance(value, (list, tuple)):
        yield value
        return
    elif all(isinstance(item, str) and not re.search(r"\s", item) for item in value):
        yield list(value)  # the words of one
    for item in value:
        decoded = _decode(item)
        if isinstance(decoded, Mapping):
            yield from _inner_forms(decoded, depth)
        elif isinstance(decoded, (list, tuple)):
            yield decoded
            yield from _several(decoded, depth + 1) if any(not isinstance(each, str) for each in decoded) else ()
        elif isinstance(decoded, str):
            yield decoded


def _inner_forms(value: Any, depth: int) -> Iterator[Any]:
    for item in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(item, Mapping):
            yield from _read_forms(item, depth + 1)
        elif isinstance(item, (list, tuple)):
            if depth > _MAX_DEPTH:
                raise ConditionError(_TOO_MANY)
            yield from _inner_forms(item, depth + 1)


def _collect_arguments(fields: Iterable[_Named]) -> tuple[list[_Words], list[_Words]]:
    """The arguments of each field, and the same with dashes before the names of flags. `arg1` and `arg2` are one field."""
    groups: dict[str, list[tuple[int, _Words, _Words]]] = {}
    for name, value in fields:
        words = _to_arguments(value)
        if words:
            number = _NUMBER_AT_END.search(name)
            base = name[: number.start()] if number else name
            is_dashed = (
                words_of(name)[-1:] and words_of(name)[-1] in _DASHED and not isinstance(_decode(value), Mapping)
            )
            both = (words, _with_dashes(words) if is_dashed else words)
            groups.setdefault(base, []).append((int(number[0]) if number else -1, *both))
    if len(groups) > _MAX_ARGUMENT_FIELDS:
        raise ConditionError(_TOO_MANY)
    numbered = [sorted(group, key=lambda row: row[0]) for group in groups.values()]
    given = [_as_one([words for _, words, _ in group]) for group in numbered]
    dashed = [_as_one([words for _, _, words in group]) for group in numbered]
    return given, [] if dashed == given else dashed


def _switches(input: Mapping[Any, Any]) -> list[str]:
    """`{command: rm, recursive: true}`: the fields that are true, as options. Not those that say how the tool runs it."""
    names = [str(name) for name, value in input.items() if value is True and role_of(name) is FieldRole.OTHER]
    given = [name for name in names if _EXECUTION_OPTIONS.isdisjoint(words_of(name))]
    return ["-" + name if len(name) == 1 else "--" + "-".join(words_of(name)) for name in given][:_MAX_ARGUMENT_FIELDS]


def _is_bare(head: Any) -> bool:
    """Whether it is a program without arguments."""
    return len(head.split() if isinstance(head, str) else head) == 1


def _as_one(parts: Sequence[_Words]) -> _Words:
    if len(parts) == 1:
        return parts[0]
    return [word for part in parts for word in (part.split() if isinstance(part, str) else part)]


def _with_dashes(words: _Words) -> _Words:
    given = words.split() if isinstance(words, str) else words
    if all(word.startswith(("-", "/")) for word in given):
        return words
    return [
        word if word.startswith(("-", "/")) else f"-{word}" if len(word) < 4 else f"--{word}"  # "rf", "force"
        for word in given
    ]


def _to_arguments(value: Any) -> _Words:
    """Text, or a list of words: `{force: true, n: 3}` is `--force -n 3`. Empty for anything else."""
    value = _decode(value)
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if all(str(name).isdigit() for name in value):  # a list that was made a mapping
            return _to_arguments(list(value.values()))
        named = ((str(name), each) for name, each in value.items())
        return [word for name, each in named for word in _flag_words(name, each)]
    if isinstance(value, (list, tuple)):
        return [word for item in value for word in _item_words(item)]
    return [str(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def _item_words(item: Any) -> list[str]:
    if isinstance(item, Mapping) and any(name in item for name in _VALUE_NAMES):  # {name: --depth, value: 3}
        return [
            str(item[name]) for name in ("name", *_VALUE_NAMES[:-1]) if isinstance(item.get(name), (str, int, float))
        ]
    words = item if isinstance(item, str) else _to_arguments(item)
    return [words] if isinstance(words, str) else words


def _flag_words(name: str, value: Any) -> tuple[str, ...]:
    flag = name if name.startswith("-") else f"--{name}" if len(name) > 1 else f"-{name}"
    if value is True or value == "":
        return (flag,)
    if isinstance(value, (list, tuple)):
        return tuple(word for each in value for word in _flag_words(name, each))
    return (flag, str(value)) if value is not False and isinstance(value, (str, int, float)) else ()


def _orders(given: Sequence[_Words]) -> Iterator[tuple[_Words, ...]]:
    """Each field alone, and all of them: in every order if they are few, else with each first and last once."""
    if len(given) > 1:
        yield from ((each,) for each in given)
    if len(given) <= _MAX_ORDERED:
        yield from permutations(given)
        return
    for fields in (given, given[::-1]):
        yield from ((*fields[first:], *fields[:first]) for first in range(len(fields)))


def _joined(heads: Iterable[Any], given: Sequence[_Words]) -> Iterator[_Words]:
    for head in heads if given else ():
        for order in _orders(given):
            yield _join(head, order)
            if isinstance(head, str) and re.search(r"\s", head) and not any(isinstance(each, str) for each in order):
                yield _join(head, tuple(shlex.join(each) for each in order))  # "git push" and ["--force"]


def _join(head: Any, given: Sequence[_Words]) -> _Words:
    """Text if one of them is text, which may be shell syntax; otherwise a list of words."""
    first = [] if head is None else [head] if isinstance(head, str) else [str(word) for word in head]
    if not any(isinstance(each, str) for each in given):
        return [*first, *(word for each in given for word in each)]
    start = [head] if isinstance(head, str) else [shlex.join(first)] if first else []
    return " ".join((*start, *(each if isinstance(each, str) else shlex.join(each) for each in given)))


def _under_programs(programs: Iterable[_Named], lines: Sequence[_Named]) -> Iterator[_Words]:
    """`{entrypoint: [sh, -c], command: [ls]}`. With a program, the first word of a list may only be shown."""
    for name, program in programs:
        for field, line in lines if isinstance(program, (str, list, tuple)) else ():
            if isinstance(line, (list, tuple)):
                words = [str(word) for word in line]
                yield _join(program, (words,))
                if isinstance(program, str):
                    yield _join(program, (words[1:],))
            elif isinstance(line, str) and not _names_shell(program):
                yield _join(program, (["-c", line],) if field in _CODE_NAMES or name == "interpreter" else (line,))


def _names_shell(program: Any) -> bool:
    return isinstance(program, str) and _SHELL.fullmatch(program) is not None


def _is_given_to_shell(input: Mapping[Any, Any]) -> bool:
    """Whether the words of a list are joined as they are, so that `&&` between them is an operator."""
    return any(input.get(name) is True for name in ("shell", "use_shell", "useShell", "runInShell"))


def has_operators(words: Iterable[Any]) -> bool:
    """Whether some word is an operator of a shell: such words are meant to be joined as they are."""
    return any(isinstance(word, str) and word in _OPERATORS for word in words)


def _typed_texts(value: Any) -> Iterator[str]:
    """Text that is typed comes in pieces, too: `["git push", "Enter"]`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        texts = [item for item in value if isinstance(item, str)]
        yield from texts
        if len(texts) > 1:
            yield "\n".join(texts)
    elif isinstance(value, Mapping):
        yield from (each for each in value.values() if isinstance(each, str))


def _with_context(commands: Iterable[Any], typed: Sequence[str], variables: Iterable[_Named]) -> Iterator[str]:
    """What else the commands run because of what they read and of their variables."""
    settings = [f"export {name}={shlex.quote(text)}" for _, value in variables for name, text in _assignments(value)]
    if not typed and not settings:
        return
    for command in islice(commands, _MAX_FED):
        text = command if isinstance(command, str) else shlex.join(map(str, command))
        for fed in (*(f"{text} <<< {shlex.quote(each)}" for each in typed[:_MAX_FED]), *([] if typed else [text])):
            yield from _further_runs("\n".join((*settings, fed)), text)


def _further_runs(text: str, plain: str) -> Iterator[str]:
    found = run_commands.read_commands(text)
    if found is run_text.UNREADABLE:
        yield text
        return
    known = {command.words for command in run_commands.read_commands(plain).commands}
    for command in found.commands:
        if not command.is_written and command.words not in known and command.words[0] != "export":
            yield shlex.join(map(expansion.visible_text, command.words))


def _assignments(value: Any) -> Iterator[tuple[str, str]]:
    """From a mapping, a list of `NAME=value` or of `{name: …, value: …}`, or a text of such lines."""
    if isinstance(value, str):
        value = _decode(value) if value.lstrip()[:1] in "{[" else re.split(r"\n|(?<=\S)[ ,;]+(?=\w+=)", value)
    pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, (list, tuple)):
        pairs = [
            (each.get("name", each.get("key")), each.get("value"))
            if isinstance(each, Mapping)
            else str(each).partition("=")[::2]
            for each in value
        ]
    for name, text in pairs:
        if isinstance(name, str) and _VARIABLE.fullmatch(name.strip()) and isinstance(text, (str, int, float)):
            yield name.strip(), str(text)


def _decode(value: Any) -> Any:
    """A container or a text that stands as JSON text, also one within the other, or of a class of its own. Other values unchanged."""
    value = as_plain_collection(value)
    if isinstance(value, (bytes, bytearray, os.PathLike)):
        value = os.fsdecode(bytes(value) if isinstance(value, bytearray) else value)
    for _ in range(_MAX_DEPTH):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        if len(value) > _MAX_JSON_CHARS:
            raise ConditionError(_TOO_MANY)
        try:
            found = json.loads(value.replace("'", '"') if _QUOTED_LIST.fullmatch(value) else value)
        except RecursionError:
            raise ConditionError(_TOO_MANY) from None
        except ValueError:
            return value
        if not isinstance(found, (dict, list, str)):
            return value
        value = found
        _check_size(value)
    raise ConditionError(_TOO_MANY)


def _check_size(value: Any) -> None:
    todo, items = [value], 0
    while todo:
        part = todo.pop()
        items += len(part) if isinstance(part, (dict, list, tuple)) else 0
        if items > _MAX_ITEMS:
            raise ConditionError(_TOO_MANY)
        if isinstance(part, (dict, list, tuple)):
            todo += part.values() if isinstance(part, dict) else part


def _declared_encodings(input: Mapping[Any, Any]) -> set[str]:
    """What a field such as `encoding: base64` or `base64: true` says about the fields beside it."""
    found = set[str]()
    for name, value in input.items():
        if role_of(name) is FieldRole.ENCODING:
            if value is True:
                found |= _encodings_of(name)
            elif isinstance(value, str):
                found |= _encodings_of(value)
    return found


def _encodings_of(name: str) -> set[str]:
    words = words_of(name)
    joined = (*words, *("".join(pair) for pair in pairwise(words)))
    return {_ENCODINGS[word] for word in joined if word in _ENCODINGS}


def _decode_text(text: str, encoding: str) -> str | None:
    try:
        if encoding == "url":
            return unquote(text)
        if encoding == "hex":
            data = bytes.fromhex(text)
        else:
            decode = urlsafe_b64decode if "-" in text or "_" in text else b64decode
            data = decode(text.strip() + "=" * (-len(text.strip()) % 4))
    except ValueError:
        return None
    return data.decode("utf-16-le" if b"\0" in data[:2] else "utf-8", "replace")
