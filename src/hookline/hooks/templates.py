"""Templates: text, shell text and data with placeholders.

A value is inserted as plain text: it is never expanded again and never becomes shell syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from hookline.errors import BadTemplate
from hookline.hooks.event import EVERY_ITEM, MISSING, Event, FactPath
from hookline.hooks.json_text import NOT_JSON, json_text, to_json_value
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_module, lazy_pattern, shlex

if TYPE_CHECKING:
    from hookline.shell import quoting, scanner, word_scanner
    from hookline.shell.code_arguments import CodeArgument
else:  # only a template of a command needs the shell's rules
    quoting = lazy_module("hookline.shell.quoting")
    scanner = lazy_module("hookline.shell.scanner")
    word_scanner = lazy_module("hookline.shell.word_scanner")


class Placeholder(Protocol):
    """Reads a value from an event; `paths` are the facts that it uses."""

    @property
    def paths(self) -> tuple[FactPath, ...]: ...
    def __call__(self, event: Event, /) -> Any: ...


Resolver = Callable[[str], Placeholder | None]  # a placeholder's name → the placeholder; None if it is unknown
UnknownPolicy = Literal["problem", "keep"]  # for a placeholder with an unknown name

OPEN_BRACES: Final = "open_braces"  # the placeholder for two braces
DOUBLE_BRACES: Final = lazy_pattern(r"\{\{([^{}\n]*)\}\}")
SINGLE_OR_DOUBLE_BRACES: Final = lazy_pattern(r"\{\{([^{}\n]*)\}\}|\{([^{}\n]*)\}")


class CommandWords(list[Any]):
    """A command that the host gave as a list of words. Its text is what a shell would read."""


def as_text(value: Any) -> str:
    """Text unchanged, bytes and paths as their text, other values as compact JSON.

    Empty for a missing value and one that JSON cannot express.
    """
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return ""
    if isinstance(value, CommandWords):
        return shlex.join(as_text(word) for word in value)
    try:
        found = to_json_value(value) if isinstance(value, NOT_JSON) else value
        return found if isinstance(found, str) else json_text(found, default=to_json_value)
    except Exception:  # a path or an enum may be third-party code
        return ""


def escape_braces(text: str) -> str:
    """A template that renders to exactly this text."""
    return DOUBLE_BRACES.sub(lambda found: f"{{{{{OPEN_BRACES}}}}}{found[0][2:]}", text)


def unknown_placeholder_error(name: str, position: int) -> BadTemplate:
    if EVERY_ITEM in name.partition("|")[0].strip().split("."):
        hint = "Name an item by its number: 0, 1 … or -1 for the last."
        return BadTemplate(f"{{{{{name}}}}}: * stands for every item in conditions only", hint, position)
    return BadTemplate(f"{{{{{name}}}}} is not a name that this hook knows", "", position)


@dataclass(frozen=True, slots=True)
class Template:
    source: str
    names: tuple[str, ...]
    _pieces: tuple[str | Placeholder, ...]

    @property
    def constant(self) -> bool:
        return not self.names

    @property
    def is_single_placeholder(self) -> bool:
        return len(self._pieces) == 1 and not isinstance(self._pieces[0], str)

    def render(self, event: Event) -> str:
        return "".join(piece if isinstance(piece, str) else as_text(piece(event)) for piece in self._pieces)

    def value(self, event: Event) -> Any:
        """A template that is exactly one placeholder keeps the type of its value; a missing value is empty text."""
        value = self.value_or_missing(event)
        return "" if value is MISSING else value

    def value_or_missing(self, event: Event) -> Any:
        """Like `value`, but MISSING if the template is exactly one placeholder and its fact is missing."""
        if len(self._pieces) != 1 or isinstance(self._pieces[0], str):
            return self.render(event)
        return self._pieces[0](event)

    def reads(self) -> tuple[FactPath, ...]:
        """The facts behind its placeholders."""
        return tuple(path for piece in self._pieces if not isinstance(piece, str) for path in piece.paths)

    def as_word(self, position: int) -> word_scanner.Word:
        """What is known of it before it is rendered. A file in the workspace is known: no agent chooses that directory."""
        if self.reads() == (("workspace",),) and self.source.startswith("{{") and str(self._pieces[-1]).startswith("/"):
            return word_scanner.Word(position, f"/workspace{self._pieces[-1]}", f"/workspace{self._pieces[-1]}")
        known = ["{{" if not isinstance(piece, str) and not piece.paths else piece for piece in self._pieces]
        texts = [piece for piece in known if isinstance(piece, str)]
        lead = list(takewhile(lambda piece: isinstance(piece, str), known))
        static = len(texts) == len(known)
        return word_scanner.Word(
            position, "".join(texts), "".join(texts[: len(lead)]), static=static, has_placeholder=not static
        )


def parse_template(text: str, resolve: Resolver, *, unknown: UnknownPolicy = "problem") -> Template:
    return _build_template(text, resolve, DOUBLE_BRACES, unknown)


def parse_brace_template(text: str, resolve: Resolver, *, unknown: UnknownPolicy = "keep") -> Template:
    """Accepts both `{name}` and `{{name}}`."""
    return _build_template(text, resolve, SINGLE_OR_DOUBLE_BRACES, unknown)


def _build_template(text: str, resolve: Resolver, pattern: re.Pattern[str], unknown: UnknownPolicy) -> Template:
    names: list[str] = []
    pieces: list[str | Placeholder] = []
    done = 0
    for match, name, reader in _find_placeholders(text, resolve, pattern):
        if reader is None:
            if unknown == "problem":
                raise unknown_placeholder_error(name, match.start())
            continue
        if done < match.start():
            pieces.append(text[done : match.start()])
        pieces.append(reader)
        names.append(name)
        done = match.end()
    if done < len(text):
        pieces.append(text[done:])
    return Template(text, tuple(names), tuple(pieces))


def _find_placeholders(
    text: str, resolve: Resolver, pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str, Placeholder | None]]:
    for match in pattern.finditer(text):
        name = next(group for group in match.groups() if group is not None).strip()
        yield match, name, resolve(name) if name else None


@dataclass(frozen=True, slots=True)
class ShellTemplate:
    """Shell text in which each value is quoted for its position.

    A value is always one word or part of one. The program still interprets that word: it may take a value that starts
    with `-` for an option, so write `--` before it if the program supports that.
    """

    source: str
    names: tuple[str, ...]
    _pieces: tuple[str | tuple[Placeholder, quoting.QuoteContext], ...]

    def reads(self) -> tuple[FactPath, ...]:
        """The facts behind its placeholders."""
        return tuple(path for piece in self._pieces if not isinstance(piece, str) for path in piece[0].paths)

    def code_arguments(self) -> Iterator[CodeArgument]:
        """Arguments with placeholders that a program in this text takes as code."""
        from hookline.shell.code_arguments import find_code_in_commands  # only `check` needs it

        if self.names:
            places = {match.start(): match.end() for match in DOUBLE_BRACES.finditer(self.source)}
            yield from find_code_in_commands(scanner.scan(self.source, places).commands)

    def render(self, event: Event) -> str:
        return "".join(
            piece if isinstance(piece, str) else quoting.quote_value(as_text(piece[0](event)), piece[1])
            for piece in self._pieces
        )


def parse_shell_template(text: str, resolve: Resolver, shell: str = "bash") -> ShellTemplate:
    """Raises BadTemplate if a value could become shell text, or if that cannot be ruled out.

    Text without placeholders is used unchanged. `shell` is the one that runs the text.
    """
    found = list(_find_placeholders(text, resolve, DOUBLE_BRACES))
    if not found:
        return ShellTemplate(text, (), (text,))
    for match, name, reader in found:
        if reader is None:
            raise unknown_placeholder_error(name, match.start())
    scanned = scanner.scan(text, {match.start(): match.end() for match, _, _ in found}, shell)
    pieces: list[str | tuple[Placeholder, quoting.QuoteContext]] = []
    done = 0
    for match, _, reader in found:
        assert reader is not None
        pieces += [text[done : match.start()], (reader, scanned.quotes[match.start()])]
        done = match.end()
    pieces.append(text[done:])
    return ShellTemplate(text, tuple(name for _, name, _ in found), tuple(pieces))


def parse_arguments(texts: Sequence[str], resolve: Resolver) -> list[Template | ShellTemplate | BadTemplate]:
    """Each argument of a program that is started without a shell, or what is wrong with it.

    The code of `bash -c` is shell text. Any other code, and the program's name, may have no placeholders.
    """
    from hookline.shell.code_arguments import find_code_arguments  # its tables take time to load

    parsed = [_parse_argument(text, resolve) for text in texts]
    words = [_argument_word(index, each) for index, each in enumerate(parsed)]
    for found in find_code_arguments(words):
        index = found.word.position
        if isinstance(parsed[index], BadTemplate):
            continue
        if not found.shell:
            parsed[index] = BadTemplate(found.what, found.hint, 0)
            continue
        try:
            parsed[index] = parse_shell_template(texts[index], resolve, found.shell)
        except BadTemplate as bad:
            parsed[index] = bad
    return parsed


def _parse_argument(text: str, resolve: Resolver) -> Template | ShellTemplate | BadTemplate:
    try:
        return parse_template(text, resolve)
    except BadTemplate as bad:
        return bad


def _argument_word(index: int, argument: Template | ShellTemplate | BadTemplate) -> word_scanner.Word:
    return argument.as_word(index) if isinstance(argument, Template) else word_scanner.Word(index, "", "", static=False)


@dataclass(frozen=True, slots=True)
class DataTemplate:
    """Data whose texts may be templates. `render` returns copies of the facts.

    A text that is exactly one placeholder keeps the type of its value. If the fact is missing, the key is left out.
    """

    value: Any

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(_template_paths(self.value))

    def render(self, event: Event) -> Any:
        return copy_data(_render_value(self.value, event))

    def render_json(self, event: Event) -> str:
        return json_text(_render_value(self.value, event), default=as_text)


def _render_value(value: Any, event: Event) -> Any:
    if isinstance(value, Template):
        return value.value_or_missing(event)
    if isinstance(value, ShellTemplate):
        return value.render(event)
    if isinstance(value, dict):
        filled = {key: _render_value(held, event) for key, held in value.items()}
        return {key: held for key, held in filled.items() if held is not MISSING}
    if isinstance(value, (list, tuple)):
        return [None if held is MISSING else held for held in (_render_value(part, event) for part in value)]
    return value


def copy_data(value: Any) -> Any:
    """A deep copy of plain data, at any depth; tuples become lists."""
    top, known = [value], dict[int, Any]()
    todo: list[tuple[Any, Any]] = [(top, 0)]
    while todo:
        holder, key = todo.pop()
        held = holder[key]
        if not isinstance(held, (dict, list, tuple)):
            continue
        if id(held) in known:
            holder[key] = known[id(held)]
            continue
        new: Any = dict(held) if isinstance(held, dict) else list(held)
        holder[key] = known[id(held)] = new
        todo += [(new, each) for each in (new if isinstance(new, dict) else range(len(new)))]
    return top[0]


def _template_paths(value: Any) -> list[FactPath]:
    if isinstance(value, (Template, ShellTemplate)):
        return list(value.reads())
    held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [path for part in held for path in _template_paths(part)]
