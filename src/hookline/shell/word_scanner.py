"""Scans a word of shell text with placeholders: its quotes, expansions and substitutions.

It notes the quotes around each placeholder, and refuses a place where the shell does not take a quoted literal as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, NoReturn

from hookline.errors import BadTemplate
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.quoting import Backticks, QuoteContext, QuoteStyle

WORD_DELIMITERS: Final = " \t\n;&|<>()"
_NAME: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE_NAME: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_PARAMETER_START: Final = lazy_pattern(r"[#!]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_ARITHMETIC: Final = lazy_pattern(r"(?:[A-Za-z0-9_+\-*/%<>=!&|^~?:,;#.@{}\[\] \t]|\$(?!\())*")
_ANSI_QUOTES: Final = lazy_pattern(r"\$'(?:[^'\\{]|\\[a-zA-Z0-9])*'")
_BRACES: Final = lazy_pattern(r"\{[^}]*+")
_MAX_NESTING: Final = 20
_HINT_SCRIPT: Final = "Write it as a script, and pass the value as an argument: ./script {{…}}."
_HINT_CLOSE: Final = "Close it."
_HINT_EXPR: Final = "Use expr, or [ ] to compare."
_HINT_ON_ITS_OWN: Final = "Put the placeholder on its own, or between double quotes."
_HINT_SUBSTITUTION: Final = "Write $(…) instead."
_HINT_VARIABLE: Final = 'Assign it to a variable first: x={{…}}, then "$x".'

Closer = Literal[")", "esac"] | None


def refuse(what: str, position: int, hint: str = _HINT_SCRIPT) -> NoReturn:
    raise BadTemplate(what, hint, position)


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `text` is the part that is known before the shell runs."""

    position: int
    text: str
    lead: str  # the part of `text` before the first placeholder or expansion
    static: bool = True  # `text` is the whole word
    quoted: bool = False
    has_placeholder: bool = False  # at any depth
    unquoted_variables: frozenset[str] = frozenset()

    def is_bare(self, *names: str) -> bool:
        return self.static and not self.quoted and self.text in names


@dataclass(slots=True)
class _WordBuilder:
    position: int
    known: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)  # the unquoted characters, NUL for everything else
    lead: str | None = None
    quoted: bool = False
    in_subscript: bool = False  # after the [ of name[
    unquoted_variables: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        self.known.append(text)
        self.bare.append("\0")

    def add_bare(self, char: str) -> None:
        if char == "[" and "[" not in self.bare:
            self.in_subscript = _NAME.fullmatch("".join(self.bare)) is not None
        elif char == "]":
            self.in_subscript = False
        self.known.append(char)
        self.bare.append(char)

    def mark_expanded(self) -> None:
        """The text after this point is not known."""
        self.bare.append("\0")
        if self.lead is None:
            self.lead = "".join(self.known)


@dataclass(slots=True)
class HereDocument:
    """A here-document whose text starts on the next line."""

    delimiter: Word
    strips_tabs: bool


class WordScanner(ABC):
    """Reads words. The commands in a substitution are read by ShellScanner."""

    def __init__(self, text: str, placeholders: dict[int, int], shell: str) -> None:
        self.text = text
        self.end = len(text)
        self.at = 0
        self.placeholders = placeholders
        self.shell = shell
        self._placeholder_starts = sorted(placeholders)
        self.quotes: dict[int, QuoteContext] = {}
        self.depth = 0  # of command substitutions
        self.nesting = 0  # of all nested constructs
        self.backticks = Backticks.NONE
        self.in_array = False
        self.word_end = 0
        self.pending: list[HereDocument] = []

    @abstractmethod
    def read_commands(self, closer: Closer) -> None:
        """Reads commands up to `closer`, or to the end."""

    def _refuse_placeholders(self, start: int, stop: int, what: str, hint: str = _HINT_SCRIPT) -> None:
        found = self.first_placeholder(start, stop)
        if found is not None:
            refuse(what, found, hint)

    @contextmanager
    def _nest(self) -> Iterator[None]:
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            refuse("this command is nested too deeply", self.at)
        yield
        self.nesting -= 1

    def read_word(self, *, expands_braces: bool = True) -> Word:
        draft = _WordBuilder(self.at)
        before = len(self.quotes)
        while self.at < self.end and self.text[self.at] not in WORD_DELIMITERS:
            self._read_piece(draft)
        if self.at == draft.position:
            refuse("a command that cannot be parsed", self.at)
        has_placeholder = len(self.quotes) > before
        if has_placeholder and expands_braces and _has_brace_expansion("".join(draft.bare)):
            what = "a placeholder in a brace expansion: the shell makes several words of {…,…}"
            refuse(what, draft.position, "Write the words out.")
        self.word_end = self.at
        text = "".join(draft.known)
        return Word(
            draft.position,
            text,
            text if draft.lead is None else draft.lead,
            static=draft.lead is None,
            quoted=draft.quoted,
            has_placeholder=has_placeholder,
            unquoted_variables=frozenset(draft.unquoted_variables),
        )

    def _read_piece(self, draft: _WordBuilder) -> None:
        char = self.text[self.at]
        if self.at in self.placeholders:
            self._check_bare_placeholder(draft)
            self._read_placeholder(draft, QuoteStyle.NOTHING)
        elif char == "'":
            self._read_single_quotes(draft)
        elif char == '"':
            self._read_double_quotes(draft)
        elif char == "\\":
            self._read_backslash(draft)
        elif char == "$":
            self._read_dollar(draft, in_quotes=False)
        elif char == "`":
            self._read_backticks(draft, Backticks.PLAIN)
        else:
            draft.add_bare(char)
            self.at += 1

    def _check_bare_placeholder(self, draft: _WordBuilder) -> None:
        """Refuses where a shell expands a quoted literal: ~'name' in zsh and ksh, ='name' in zsh."""
        if draft.bare[-1:] == ["~"]:
            refuse("a ~ directly before a placeholder", self.at, "Quote the ~.")
        if draft.bare == ["="] and self.shell == "zsh":
            refuse("a = directly before a placeholder", self.at, "Quote the =.")

    def _read_placeholder(self, draft: _WordBuilder, style: QuoteStyle) -> None:
        if draft.in_subscript:
            refuse("a placeholder in an array subscript", self.at, _HINT_VARIABLE)
        draft.quoted = True
        draft.mark_expanded()
        self.quotes[self.at] = QuoteContext(style, self.backticks)
        self.at = self.placeholders[self.at]

    def _read_backslash(self, draft: _WordBuilder) -> None:
        if self._skip_line_continuation():
            return
        self._check_escaped()
        draft.quoted = True
        draft.add(self.text[self.at + 1])
        self.at += 2

    def _check_escaped(self) -> None:
        if self.at + 1 >= self.end:
            refuse("a backslash at the end", self.at)
        if self.at + 1 in self.placeholders:
            refuse("a backslash directly before a placeholder", self.at, _HINT_ON_ITS_OWN)

    def _skip_line_continuation(self) -> bool:
        if not self.text.startswith("\\\n", self.at) or self.at + 1 >= self.end:
            return False
        if self.pending:
            refuse("a line continuation on the line of a here-document", self.at)
        self.at += 2
        return True

    def _refuse_line_continuation(self, position: int) -> None:
        if self.text.startswith("\\\n", position):
            refuse("a line continuation inside an operator", position)

    def _read_single_quotes(self, draft: _WordBuilder) -> None:
        start = self.at
        draft.quoted = True
        self.at += 1
        while self.at < self.end:
            if self.at in self.placeholders:
                self._read_placeholder(draft, QuoteStyle.SINGLE)
                continue
            char = self.text[self.at]
            self.at += 1
            if char == "'":
                self._refuse_line_break(start)
                return
            draft.add(char)
        refuse("a ' that does not end", start, _HINT_CLOSE)

    def _read_double_quotes(self, draft: _WordBuilder) -> None:
        start = self.at
        draft.quoted = True
        self.at += 1
        while self.at < self.end:
            char = self.text[self.at]
            if self.at in self.placeholders:
                self._read_placeholder(draft, QuoteStyle.DOUBLE)
            elif char == '"':
                self.at += 1
                self._refuse_line_break(start)
                return
            elif char == "\\":
                self._read_quoted_backslash(draft)
            elif char == "$":
                self._read_dollar(draft, in_quotes=True)
            elif char == "`":
                self._read_backticks(draft, Backticks.IN_DOUBLE_QUOTES)
            else:
                draft.add(char)
                self.at += 1
        refuse('a " that does not end', start, _HINT_CLOSE)

    def _refuse_line_break(self, start: int) -> None:
        if self.pending and "\n" in self.text[start : self.at]:
            refuse("a quoted line break on the line of a here-document", start)

    def _read_quoted_backslash(self, draft: _WordBuilder) -> None:
        if self._skip_line_continuation():
            return
        self._check_escaped()
        following = self.text[self.at + 1]
        draft.add(following if following in '$`"\\' else "\\" + following)
        self.at += 2

    def _read_dollar(self, draft: _WordBuilder, *, in_quotes: bool) -> None:
        start = self.at
        following = self.text[start + 1 : start + 2] if start + 1 < self.end else ""
        if start + 1 in self.placeholders:
            refuse("a $ directly before a placeholder", start, "Write \\$ if it should stay a $.")
        self._refuse_line_continuation(start + 1)
        if following == "(":
            self._refuse_line_continuation(start + 2)
            draft.mark_expanded()
            self._read_dollar_parenthesis(start)
        elif following == "{":
            draft.mark_expanded()
            self._read_parameter(draft, in_quotes)
        elif following == "[":
            refuse("shell arithmetic that is not supported", start)
        elif following in ("'", '"') and not in_quotes:
            self._read_ansi_quotes(draft)
        else:
            self._read_variable(draft, in_quotes)

    def _read_dollar_parenthesis(self, start: int) -> None:
        if self.text.startswith("$((", start):
            self._skip_arithmetic(start + 1, 2)
        else:
            self.at += 2
            self._read_substitution()

    def _read_substitution(self) -> None:
        """Reads the commands up to the closing parenthesis."""
        self.depth += 1
        self.read_commands(")")
        self.depth -= 1

    def _skip_arithmetic(self, start: int, depth: int) -> None:
        """Skips `((…))` without quotes and substitutions."""
        at = start + depth
        while at < self.end:
            matched = _ARITHMETIC.match(self.text, at, self.end)
            at = matched.end() if matched else at
            self._refuse_placeholders(
                start, at + 1, "a placeholder in arithmetic, which the shell evaluates", _HINT_EXPR
            )
            if self.text.startswith("))", at) and depth == 2:
                self.at = at + 2
                return
            char = self.text[at : at + 1]
            if char not in ("(", ")") or (char == ")" and depth == 2):
                break
            depth += 1 if char == "(" else -1
            at += 1
        refuse("shell arithmetic that is not supported", start)

    def _read_variable(self, draft: _WordBuilder, in_quotes: bool) -> None:
        name = _VARIABLE_NAME.match(self.text, self.at + 1, self.end)
        if name is None:
            draft.add("$")
            self.at += 1
            return
        draft.mark_expanded()
        draft.unquoted_variables.update(() if in_quotes else (name[0],))
        self.at = name.end()
        if self.text.startswith("[", self.at):  # an array subscript in zsh
            stop = self.text.find("]", self.at, self.end)
            self._refuse_placeholders(self.at, stop, "a placeholder in an array subscript", _HINT_VARIABLE)

    def _read_parameter(self, draft: _WordBuilder, in_quotes: bool) -> None:
        """Reads `${…}`. In double quotes the shells disagree about quotes and backslashes inside it."""
        start = self.at
        name = _PARAMETER_START.match(self.text, start + 2, self.end)
        if name is None:
            self._refuse_placeholders(start, start + 4, "a placeholder inside ${…}", _HINT_VARIABLE)
            refuse("a ${…} that cannot be parsed", start)
        self.at = name.end()
        with self._nest():
            while self.at < self.end and self.text[self.at] != "}":
                if self.at in self.placeholders:
                    refuse("a placeholder inside ${…}", self.at, _HINT_VARIABLE)
                char = self.text[self.at]
                if char in "{`()<>\n" or (in_quotes and char in "'\"\\"):
                    refuse("a ${…} that cannot be parsed", start)
                before = len(self.quotes)
                self._read_parameter_piece(draft, in_quotes)
                if len(self.quotes) > before:
                    refuse("a placeholder inside ${…}", start, _HINT_VARIABLE)
        if self.at >= self.end:
            refuse("a ${ that does not end", start, _HINT_CLOSE)
        self.at += 1

    def _read_parameter_piece(self, draft: _WordBuilder, in_quotes: bool) -> None:
        if self.text[self.at] == "$":
            self._read_dollar(draft, in_quotes=in_quotes)
        elif in_quotes:
            self.at += 1
        else:
            self._read_piece(draft)

    def _read_ansi_quotes(self, draft: _WordBuilder) -> None:
        match = _ANSI_QUOTES.match(self.text, self.at, self.end)
        if match is None:
            refuse("$'…' and $\"…\" are not supported here", self.at, "Use plain quotes.")
        draft.quoted = True
        draft.mark_expanded()
        self.at = match.end()

    def _read_backticks(self, draft: _WordBuilder, backticks: Backticks) -> None:
        start = self.at
        if self.backticks is not Backticks.NONE:
            refuse("backticks inside backticks", start, _HINT_SUBSTITUTION)
        draft.mark_expanded()
        stop = self._find_closing_backtick(start)
        if self.first_placeholder(start, stop) is not None:
            self._read_backtick_commands(start + 1, stop, backticks)
        self.at = stop + 1

    def _find_closing_backtick(self, start: int) -> int:
        at = start + 1
        while at < self.end:
            if at in self.placeholders:
                at = self.placeholders[at]
            elif self.text[at] == "`":
                return at
            else:
                at += 2 if self.text[at] == "\\" else 1
        refuse("a ` that does not end", start, _HINT_CLOSE)

    def _read_backtick_commands(self, start: int, stop: int, backticks: Backticks) -> None:
        if "\\" in self.text[start:stop]:
            refuse("a backslash and a placeholder in the same backticks", start, _HINT_SUBSTITUTION)
        if self.in_array:  # bash doubles some control characters there
            refuse("a placeholder in backticks inside an array", start, _HINT_SUBSTITUTION)
        if backticks is Backticks.IN_DOUBLE_QUOTES and '"' in self.text[start:stop]:
            refuse("a double quote in backticks in double quotes", start, _HINT_SUBSTITUTION)
        end, self.at, self.end = self.end, start, stop
        self.backticks = backticks
        self.depth += 1
        self.read_commands(None)
        self.depth -= 1
        self.backticks = Backticks.NONE
        self.end = end

    def first_placeholder(self, start: int, stop: int) -> int | None:
        at = bisect_left(self._placeholder_starts, start)
        return (
            self._placeholder_starts[at]
            if at < len(self._placeholder_starts) and self._placeholder_starts[at] < stop
            else None
        )


def _has_brace_expansion(text: str) -> bool:
    return any("," in found[0] or ".." in found[0] for found in _BRACES.finditer(text))
