"""Scans shell text with placeholders: the words of each command, and the quotes around each placeholder.

The scanner knows the grammar that bash and POSIX sh share. It refuses every other construct in a text with placeholders.
`quote_value` writes a value so that the shell reads back exactly that value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Final, Literal, NoReturn

from hookline.errors import BadTemplate

_WORD_DELIMITERS: Final = " \t\n;&|<>()"
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_SPECIAL_PARAMETER: Final = re.compile(r"[0-9@*#?$!-]")
_ARITHMETIC: Final = re.compile(r"\$\(\(([A-Za-z0-9_$+\-*/%<>=!&|^~?:, \t]*)\)\)")
_PARAMETER: Final = re.compile(
    r"\$\{(?:#\}|([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(\[[0-9@*]+\])?([^{}'\"`\\$()<>\n]*)\})"
)
_ANSI_QUOTES: Final = re.compile(r"\$'(?:[^'\\{]|\\[a-zA-Z0-9])*'")
_BRACE_EXPANSION: Final = re.compile(r"\{[^}]*(?:,|\.\.)")
_HINT_USE_ENVIRONMENT: Final = "Pass the value through the program's environment or stdin instead."
_MAX_NESTING: Final = 20
_RESERVED_WORDS: Final = frozenset(("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}"))
_REDIRECTION: Final = re.compile(r"<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>")
_DESCRIPTOR: Final = re.compile(r"[0-9]+|\{[A-Za-z0-9_]+\}")
_ARITHMETIC_TESTS: Final = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"))
_SPECIAL_IN_BACKTICKS: Final = re.compile(r"[\\`$]")

Closer = Literal[")", "esac"] | None


class QuoteStyle(Enum):
    """The quotes around a placeholder."""

    NOTHING = auto()
    SINGLE = auto()
    DOUBLE = auto()


@dataclass(frozen=True, slots=True)
class QuoteContext:
    style: QuoteStyle
    in_backticks: bool = False  # the shell removes one layer of backslashes before it parses the command


def quote_value(value: str, context: QuoteContext) -> str:
    word = "'" + _strip_unencodable(value).replace("'", "'\\''") + "'"
    if context.style is QuoteStyle.SINGLE:
        word = word[1:-1]
    elif context.style is QuoteStyle.DOUBLE:
        word = f'"{word}"'
    return _SPECIAL_IN_BACKTICKS.sub(r"\\\g<0>", word) if context.in_backticks else word


def _strip_unencodable(value: str) -> str:
    """An argument cannot contain a NUL byte, and a lone surrogate has no UTF-8 bytes."""
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def refuse(what: str, position: int, hint: str = _HINT_USE_ENVIRONMENT) -> NoReturn:
    raise BadTemplate(what, hint, position)


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `text` is the part that is known before the shell runs."""

    position: int
    text: str
    static: bool  # `text` is the whole word
    lead: str  # the known text at its start
    bare_lead: str  # the unquoted part of `lead`
    quoted: bool
    has_placeholder: bool  # at any depth
    reads: frozenset[str]  # the variables that it reads, at any depth

    @property
    def cannot_vanish(self) -> bool:
        """The shell always expands it to at least one word, maybe an empty one."""
        return self.quoted or bool(self.text)

    def is_keyword(self, *names: str) -> bool:
        return self.static and not self.quoted and self.text in names


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """The assignments and words of one command. Redirections are left out: their words are quoted like any other and run nothing."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class ScanResult:
    commands: tuple[SimpleCommand, ...]
    quotes: Mapping[int, QuoteContext]
    arithmetic_variables: frozenset[str]  # bash evaluates their values as arithmetic, which may run commands


@dataclass(slots=True)
class _WordBuilder:
    position: int
    known: list[str] = field(default_factory=list)
    lead: str | None = None
    bare_lead: str | None = None
    quoted: bool = False
    bare: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.known.append(text)

    def add_bare(self, char: str) -> None:
        self.known.append(char)
        self.bare.append(char)

    def mark_quoted(self) -> None:
        self.quoted = True
        if self.bare_lead is None:
            self.bare_lead = "".join(self.known)

    def mark_expanded(self) -> None:
        """The text after this point is not known."""
        if self.bare_lead is None:
            self.bare_lead = "".join(self.known)
        if self.lead is None:
            self.lead = "".join(self.known)


@dataclass(slots=True)
class _HereDocument:
    """A here-document whose text starts on the next line."""

    delimiter: str
    strips_tabs: bool
    quoted: bool
    position: int


class ShellScanner:
    """Reads a text from start to end. It collects the commands, the quotes and the variables that it finds."""

    def __init__(self, text: str, placeholders: dict[int, int]) -> None:
        self.text = text
        self.end = len(text)
        self.at = 0
        self.placeholders = placeholders
        self._placeholder_starts = sorted(placeholders)
        self.quotes: dict[int, QuoteContext] = {}
        self.commands: list[SimpleCommand] = []
        self.arithmetic_variables: set[str] = set()
        self.reads: list[str] = []
        self.depth = 0  # of command substitutions
        self.nesting = 0  # of all nested constructs
        self.in_backticks = False
        self.line_is_fixed = False  # a here-document starts on the next line, so this line must not continue
        self.word_end = 0
        self.pending: list[_HereDocument] = []

    def read_commands(self, closer: Closer) -> None:
        """Reads commands up to and including `closer`. A case branch ends before its `;;` or `esac`."""
        with self._nest():
            words: list[Word] = []
            while self.at < self.end:
                if self._skip_blanks():
                    continue
                char = self.text[self.at]
                if char == ")" or self.text.startswith(";;", self.at):
                    self._add_command(words)
                    self._take_closer(closer, char)
                    return
                if char in ";&|\n" and not self.text.startswith("&>", self.at):
                    self._add_command(words)
                    words = []
                    self._skip_separator(char)
                elif char == "(":
                    self._read_subshell(words)
                elif char in "<>&":
                    self._read_redirection(words)
                elif self._take_word(words, closer):
                    return
            self._add_command(words)
            if closer is not None or self.pending:
                refuse("a parenthesis, case or here-document in this command is not closed", self.end)

    def _take_closer(self, closer: Closer, char: str) -> None:
        if closer == ")" and char == ")":
            self.at += 1
        elif closer == "esac" and char == ";":
            return
        else:
            refuse(f"unexpected {char} in this command", self.at)

    def _take_word(self, words: list[Word], closer: Closer) -> bool:
        """Adds the next word to the command. Returns True if it is the `esac` that ends the case."""
        word = self.read_word()
        if not words and word.is_keyword("esac") and closer == "esac":
            self.at = word.position
            return True
        if not words and word.is_keyword("case"):
            self._read_case(word)
        elif not words and word.is_keyword("[["):
            self._read_double_bracket(word)
        elif words or not word.is_keyword(*_RESERVED_WORDS):
            words.append(word)
        return False

    def _add_command(self, words: list[Word]) -> None:
        if words:
            self.commands.append(SimpleCommand(tuple(words)))

    def _skip_separator(self, char: str) -> None:
        self.at += 1
        if char == "\n":
            self._read_here_documents()

    def _read_subshell(self, words: list[Word]) -> None:
        start = self.at
        if words:
            refuse("a ( inside a command: functions, arrays and patterns are not supported", start)
        self._refuse_line_continuation(start + 1)
        if self.text.startswith("((", start):
            refuse("shell arithmetic that is not supported", start)
        self.at += 1
        self.read_commands(")")

    def _read_case(self, case: Word) -> None:
        if self.depth or self.in_backticks:
            refuse("a case inside a command substitution is not supported", case.position)
        self._skip_space()
        self.read_word()
        self._skip_space()
        if not self.read_word().is_keyword("in"):
            refuse("a case without in", case.position)
        while True:
            self._skip_space()
            if self._take_esac():
                return
            self._read_case_pattern()
            self.read_commands("esac")
            if self.text.startswith(";;", self.at):
                self.at += 3 if self.text.startswith(";;&", self.at) else 2

    def _take_esac(self) -> bool:
        start = self.at
        if self.text.startswith("esac", start) and self.text[start + 4 : start + 5] in (*_WORD_DELIMITERS, ""):
            self.at += 4
            return True
        return False

    def _read_case_pattern(self) -> None:
        if self.text.startswith("(", self.at):
            self.at += 1
        while True:
            self._skip_blanks()
            word = self.read_word()
            if word.has_placeholder:
                refuse("a placeholder in a case pattern", word.position, "Put it between case and in.")
            self._skip_blanks()
            char = self.text[self.at : self.at + 1]
            self.at += 1
            if char == ")":
                return
            if char != "|":
                refuse("a case pattern that cannot be parsed", word.position)

    def _read_double_bracket(self, opening: Word) -> None:
        """Accepts static tests only: bash could evaluate a value in one as arithmetic."""
        seen: list[Word] = []
        while self.at < self.end:
            if self._skip_space():
                continue
            if self.text[self.at] in ";&|<>()":
                self.at += 1
                continue
            word = self.read_word()
            if word.has_placeholder:
                refuse("a placeholder inside [[ ]], which may evaluate its value", word.position, "Use [ ] instead.")
            if word.is_keyword("]]"):
                self._record_arithmetic_test(seen)
                return
            seen.append(word)
        refuse("a [[ without ]]", opening.position)

    def _record_arithmetic_test(self, words: list[Word]) -> None:
        if any(word.text in _ARITHMETIC_TESTS for word in words):
            for word in words:
                self.arithmetic_variables.update(word.reads, _VARIABLE_NAME.findall(word.text))

    def _skip_blanks(self) -> bool:
        """Skips blanks, line continuations and comments."""
        start = self.at
        if self._skip_line_continuation():
            return True
        while self.at < self.end and self.text[self.at] in " \t":
            self.at += 1
        if self.text.startswith("#", self.at) and self.at < self.end and self._at_word_start():
            self._skip_comment()
        return self.at > start

    def _skip_space(self) -> bool:
        start = self.at
        while self._skip_blanks() or (self.at < self.end and self.text[self.at] == "\n"):
            if self.at < self.end and self.text[self.at] == "\n":
                self._skip_separator("\n")
        return self.at > start

    def _at_word_start(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] in _WORD_DELIMITERS + "`"

    def _skip_comment(self) -> None:
        if self.depth or self.in_backticks:
            refuse("a comment inside a command substitution is not supported", self.at)
        stop = self.text.find("\n", self.at, self.end)
        stop = self.end if stop < 0 else stop
        self._refuse_placeholders(self.at, stop, "a placeholder in a comment")
        self.at = stop

    def _refuse_placeholders(self, start: int, stop: int, what: str) -> None:
        found = self.first_placeholder(start, stop)
        if found is not None:
            refuse(what, found)

    def _read_redirection(self, words: list[Word]) -> None:
        if words and self.word_end == self.at and not words[-1].quoted and _DESCRIPTOR.fullmatch(words[-1].text):
            words.pop()
        operator = _REDIRECTION.match(self.text, self.at, self.end)
        if operator is None:
            refuse("a redirection that cannot be parsed", self.at)
        start, self.at = self.at, operator.end()
        self._refuse_line_continuation(self.at)
        if self.text.startswith("(", self.at):
            refuse("process substitution is not supported", start)
        while self._skip_blanks():
            pass
        if self.at >= self.end or self.text[self.at] in _WORD_DELIMITERS:
            refuse("a redirection without a target", start)
        target = self.read_word()
        if operator[0] in ("<<", "<<-"):
            self._start_here_document(operator[0], target)
        elif target.has_placeholder and operator[0] in ("<&", ">&"):
            refuse("a placeholder as the number of a file descriptor", target.position)

    def _start_here_document(self, operator: str, delimiter: Word) -> None:
        if self.depth or self.in_backticks or self.nesting > 1 or not delimiter.static or delimiter.has_placeholder:
            refuse("a here-document that cannot be parsed", delimiter.position)
        self.pending.append(_HereDocument(delimiter.text, operator == "<<-", delimiter.quoted, delimiter.position))
        self.line_is_fixed = True

    def _read_here_documents(self) -> None:
        for document in self.pending:
            self._refuse_placeholders(document.position, self.at, "a placeholder after << on the same line")
            start = self.at
            self._skip_here_document(document)
            self._refuse_placeholders(start, self.at, "a placeholder in a here-document")
            if not document.quoted and re.search(r"[$`\\]", self.text[start : self.at]):
                refuse("a here-document in which the shell expands text", document.position, "Quote the delimiter.")
        self.pending.clear()
        self.line_is_fixed = False

    def _skip_here_document(self, document: _HereDocument) -> None:
        while self.at < self.end:
            stop = self.text.find("\n", self.at, self.end)
            stop = self.end if stop < 0 else stop
            line = self.text[self.at : stop]
            self.at = min(stop + 1, self.end)
            if (line.lstrip("\t") if document.strips_tabs else line) == document.delimiter:
                return
        refuse("a here-document that does not end", document.position)

    @contextmanager
    def _nest(self) -> Iterator[None]:
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            refuse("this command is nested too deeply", self.at)
        yield
        self.nesting -= 1

    def read_word(self) -> Word:
        draft = _WordBuilder(self.at)
        reads, placeholders = len(self.reads), len(self.quotes)
        while self.at < self.end and self.text[self.at] not in _WORD_DELIMITERS:
            self._read_piece(draft)
        if self.at == draft.position:
            refuse("a command that cannot be parsed", self.at)
        if _BRACE_EXPANSION.search("".join(draft.bare)):
            refuse("a brace expansion: the shell makes several words of {…,…}", draft.position, "Write the words out.")
        self.word_end = self.at
        text = "".join(draft.known)
        return Word(
            position=draft.position,
            text=text,
            static=draft.lead is None,
            lead=text if draft.lead is None else draft.lead,
            bare_lead=text if draft.bare_lead is None else draft.bare_lead,
            quoted=draft.quoted,
            has_placeholder=len(self.quotes) > placeholders,
            reads=frozenset(self.reads[reads:]),
        )

    def _read_piece(self, draft: _WordBuilder) -> None:
        char = self.text[self.at]
        if self.at in self.placeholders:
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
            self._read_backticks(draft, in_quotes=False)
        else:
            draft.add_bare(char)
            self.at += 1

    def _read_placeholder(self, draft: _WordBuilder, style: QuoteStyle) -> None:
        before = self.text[self.at - 1 : self.at]
        if before == "\\" or (before == "$" and style is not QuoteStyle.SINGLE):
            refuse(f"a {before} directly before a placeholder", self.at, "Put the placeholder on its own.")
        draft.mark_quoted()
        draft.mark_expanded()
        self.quotes[self.at] = QuoteContext(style, self.in_backticks)
        self.at = self.placeholders[self.at]

    def _read_backslash(self, draft: _WordBuilder) -> None:
        if self._skip_line_continuation():
            return
        if self.at + 1 >= self.end:
            refuse("a backslash at the end", self.at)
        if self.at + 1 in self.placeholders:
            refuse("a backslash directly before a placeholder", self.at, "Put the placeholder on its own.")
        draft.mark_quoted()
        draft.add(self.text[self.at + 1])
        self.at += 2

    def _skip_line_continuation(self) -> bool:
        if not self.text.startswith("\\\n", self.at) or self.at + 1 >= self.end:
            return False
        if self.line_is_fixed:
            refuse("a line continuation on the line of a here-document", self.at)
        self.at += 2
        return True

    def _refuse_line_continuation(self, position: int) -> None:
        if self.text.startswith("\\\n", position):
            refuse("a line continuation inside an operator", position)

    def _read_single_quotes(self, draft: _WordBuilder) -> None:
        start = self.at
        draft.mark_quoted()
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
        refuse("a ' that does not end", start)

    def _read_double_quotes(self, draft: _WordBuilder) -> None:
        start = self.at
        draft.mark_quoted()
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
                self._read_backticks(draft, in_quotes=True)
            else:
                draft.add(char)
                self.at += 1
        refuse('a " that does not end', start)

    def _refuse_line_break(self, start: int) -> None:
        if self.line_is_fixed and "\n" in self.text[start : self.at]:
            refuse("a quoted line break on the line of a here-document", start)

    def _read_quoted_backslash(self, draft: _WordBuilder) -> None:
        if self._skip_line_continuation():
            return
        if self.at + 1 in self.placeholders:
            refuse("a backslash directly before a placeholder", self.at, "Put the placeholder on its own.")
        following = self.text[self.at + 1 : self.at + 2]
        draft.add(following if following in ("$", "`", '"', "\\") else "\\" + following)
        self.at += 2

    def _read_dollar(self, draft: _WordBuilder, *, in_quotes: bool) -> None:
        start = self.at
        following = self.text[start + 1 : start + 2] if start + 1 < self.end else ""
        if start + 1 in self.placeholders:
            refuse("a $ directly before a placeholder", start, "Put the placeholder on its own.")
        self._refuse_line_continuation(start + 1)
        if following == "(":
            self._read_parenthesis(draft)
        elif following == "{":
            self._read_parameter(draft)
        elif following == "[":
            refuse("shell arithmetic that is not supported", start)
        elif following in ("'", '"') and not in_quotes:
            self._read_ansi_quotes(draft)
        else:
            self._read_variable(draft)

    def _read_variable(self, draft: _WordBuilder) -> None:
        name = _VARIABLE_NAME.match(self.text, self.at + 1, self.end) or _SPECIAL_PARAMETER.match(
            self.text, self.at + 1, self.end
        )
        if name is None:
            draft.add("$")
            self.at += 1
            return
        draft.mark_expanded()
        self.reads.append(name[0])
        self.at = name.end()

    def _read_parenthesis(self, draft: _WordBuilder) -> None:
        start = self.at
        draft.mark_expanded()
        self._refuse_line_continuation(start + 2)
        if self.text.startswith("$((", start):
            arithmetic = _ARITHMETIC.match(self.text, start, self.end)
            if arithmetic is None:
                refuse("shell arithmetic that is not supported", start)
            self._record_arithmetic(_VARIABLE_NAME.findall(arithmetic[1]))
            self.at = arithmetic.end()
            return
        self.at += 2
        self.depth += 1
        self.read_commands(")")
        self.depth -= 1

    def _read_parameter(self, draft: _WordBuilder) -> None:
        start = self.at
        match = _PARAMETER.match(self.text, start, self.end)
        if match is None or (match[4] or "").startswith("["):
            refuse("a ${…} that cannot be parsed", start)
        draft.mark_expanded()
        self.at = match.end()
        if match[2] is None:
            return
        self.reads.append(match[2])
        operation = match[4] or ""
        if match[1] == "!" or operation.startswith("@"):
            self._record_arithmetic([match[2]])
        if operation.startswith(":") and operation[1:2] not in ("-", "=", "?", "+"):
            self._record_arithmetic(_VARIABLE_NAME.findall(operation))

    def _record_arithmetic(self, names: list[str]) -> None:
        self.arithmetic_variables.update(names)
        self.reads += names

    def _read_ansi_quotes(self, draft: _WordBuilder) -> None:
        match = _ANSI_QUOTES.match(self.text, self.at, self.end)
        if match is None:
            refuse("$'…' and $\"…\" are not supported here", self.at, "Use plain quotes.")
        draft.mark_quoted()
        draft.mark_expanded()
        self.at = match.end()

    def _read_backticks(self, draft: _WordBuilder, *, in_quotes: bool) -> None:
        start = self.at
        if self.in_backticks:
            refuse("backticks inside backticks", start, "Write $(…) instead.")
        draft.mark_expanded()
        stop = self._find_closing_backtick(start)
        if self.first_placeholder(start, stop) is not None:
            self._read_backtick_commands(start + 1, stop)
        else:
            self._read_static_backticks(start + 1, stop, in_quotes)
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
        refuse("a ` that does not end", start)

    def _read_backtick_commands(self, start: int, stop: int) -> None:
        if "\\" in self.text[start:stop]:
            refuse("a backslash and a placeholder in the same backticks", start, "Write $(…) instead.")
        end, self.at, self.end = self.end, start, stop
        self.in_backticks = True
        self.depth += 1
        self.read_commands(None)
        self.depth -= 1
        self.in_backticks = False
        self.end = end

    def _read_static_backticks(self, start: int, stop: int, in_quotes: bool) -> None:
        """Scans the commands as the shell will read them. They get the position of the backticks."""
        inner = ShellScanner(re.sub(r'\\([\\`$"])' if in_quotes else r"\\([\\`$])", r"\1", self.text[start:stop]), {})
        inner.nesting, inner.depth = self.nesting, self.depth + 1
        inner.read_commands(None)
        self.commands += [
            SimpleCommand(tuple(replace(word, position=start) for word in command.words)) for command in inner.commands
        ]
        self.arithmetic_variables |= inner.arithmetic_variables
        self.reads += inner.reads

    def first_placeholder(self, start: int, stop: int) -> int | None:
        at = bisect_left(self._placeholder_starts, start)
        return (
            self._placeholder_starts[at]
            if at < len(self._placeholder_starts) and self._placeholder_starts[at] < stop
            else None
        )


def scan(text: str, placeholders: Mapping[int, int]) -> ScanResult:
    """`placeholders` maps the start of each placeholder to its end. Raises BadTemplate."""
    scanner = ShellScanner(text, dict(placeholders))
    scanner.read_commands(None)
    return ScanResult(tuple(scanner.commands), scanner.quotes, frozenset(scanner.arithmetic_variables))
