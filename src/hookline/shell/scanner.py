"""Scans shell text with placeholders: the quotes around each placeholder, and the words of each command.

`quote_value` writes a value so that the shell reads back exactly that value. The scanner follows a placeholder into
quotes, `$(…)`, backticks, `[[ … ]]` and process substitutions. It refuses a text in which it cannot tell where a
placeholder is, and a place where the shell does not take a quoted literal as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum, auto
from typing import Final, Literal, NoReturn

from hookline.errors import BadTemplate
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern

_WORD_DELIMITERS: Final = " \t\n;&|<>()"
_NAME: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE_NAME: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_PARAMETER_START: Final = lazy_pattern(r"[#!]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_ARITHMETIC: Final = lazy_pattern(r"(?:[A-Za-z0-9_+\-*/%<>=!&|^~?:,;#.@{}\[\] \t]|\$(?!\())*+")
_ANSI_QUOTES: Final = lazy_pattern(r"\$'(?:[^'\\{]|\\[a-zA-Z0-9])*'")
_BRACE_EXPANSION: Final = lazy_pattern(r"\{[^}]*(?:,|\.\.)")
_FUNCTION_PARENTHESES: Final = lazy_pattern(r"\([ \t]*\)")
_ARRAY_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_ARRAY_KEY: Final = lazy_pattern(r"\[[A-Za-z0-9_]*\]\+?=")
_EXPANDED_LINES: Final = lazy_pattern(r"[`\\]|\$(?![A-Za-z_]|\{[A-Za-z_][A-Za-z0-9_]*\})")
_UNTIDY_COMMENT: Final = lazy_pattern(r"['\"`\\$()<]")
_REDIRECTION: Final = lazy_pattern(r"<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>")
_DESCRIPTOR: Final = lazy_pattern(r"[0-9]+|\{[A-Za-z0-9_]+\}")
_RESERVED_WORDS: Final = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time", "coproc")
)
_NAMING_WORDS: Final = frozenset(("for", "select", "function", "foreach"))
_ARITHMETIC_OPERATORS: Final = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_ARITHMETIC_TESTS: Final = frozenset(("-v", "-R", "-t"))
_SPECIAL_IN_BACKTICKS: Final = lazy_pattern(r"[\\`$]")
_SPECIAL_IN_QUOTED_BACKTICKS: Final = lazy_pattern(r"[\\`$\"]")
_MAX_NESTING: Final = 20

_HINT_USE_ENVIRONMENT: Final = "Pass the value through the program's environment or stdin instead."
_HINT_ON_ITS_OWN: Final = "Put the placeholder on its own, or between double quotes."
_HINT_SUBSTITUTION: Final = "Write $(…) instead."
_HINT_VARIABLE: Final = 'Assign it to a variable first: x={{…}}, then "$x".'

Closer = Literal[")", "esac"] | None


class QuoteStyle(Enum):
    """The quotes around a placeholder."""

    NOTHING = auto()
    SINGLE = auto()
    DOUBLE = auto()


class Backticks(Enum):
    """The backticks around a placeholder. The shell removes one layer of backslashes before it parses the command."""

    NONE = auto()
    PLAIN = auto()
    IN_DOUBLE_QUOTES = auto()  # it also removes those before a double quote


@dataclass(frozen=True, slots=True)
class QuoteContext:
    style: QuoteStyle
    backticks: Backticks = Backticks.NONE


def quote_value(value: str, context: QuoteContext) -> str:
    word = "'" + _strip_unencodable(value).replace("'", "'\\''") + "'"
    if context.style is QuoteStyle.SINGLE:
        word = word[1:-1]
    elif context.style is QuoteStyle.DOUBLE:
        word = f'"{word}"'
    if context.backticks is Backticks.NONE:
        return word
    # Bash looks for brace expansions before it parses the backticks, so a quote in a value must not end theirs.
    quoted = context.backticks is Backticks.IN_DOUBLE_QUOTES
    return (_SPECIAL_IN_QUOTED_BACKTICKS if quoted else _SPECIAL_IN_BACKTICKS).sub(r"\\\g<0>", word)


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
    lead: str  # the part of `text` before the first placeholder or expansion
    static: bool = True  # `text` is the whole word
    quoted: bool = False
    has_placeholder: bool = False  # at any depth
    unquoted_variables: frozenset[str] = frozenset()

    def is_bare(self, *names: str) -> bool:
        return self.static and not self.quoted and self.text in names


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """The assignments and words of one command, without its redirections."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class ScanResult:
    commands: tuple[SimpleCommand, ...]
    quotes: Mapping[int, QuoteContext]


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
class _HereDocument:
    """A here-document whose text starts on the next line."""

    delimiter: Word
    strips_tabs: bool


class ShellScanner:
    """Reads a text from start to end. It collects the commands and the quotes that it finds."""

    def __init__(self, text: str, placeholders: dict[int, int], shell: str) -> None:
        self.text = text
        self.end = len(text)
        self.at = 0
        self.placeholders = placeholders
        self.shell = shell
        self._placeholder_starts = sorted(placeholders)
        self.quotes: dict[int, QuoteContext] = {}
        self.commands: list[SimpleCommand] = []
        self.depth = 0  # of command substitutions
        self.nesting = 0  # of all nested constructs
        self.backticks = Backticks.NONE
        self.in_array = False
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
                if char == ")" or self._at_branch_end(closer):
                    self._add_command(words)
                    self._take_closer(closer, char)
                    return
                if char in ";&|\n" and not self.text.startswith("&>", self.at):
                    self._add_command(words)
                    words = []
                    self._skip_separator(char)
                elif char == "(":
                    words = self._read_parenthesis(words)
                elif char in "<>&":
                    self._read_redirection(words)
                elif self._take_word(words, closer):
                    return
            self._add_command(words)
            if closer is not None or self.pending:
                refuse("a parenthesis, case or here-document in this command is not closed", self.end)

    def _at_branch_end(self, closer: Closer) -> bool:
        """`;&` and `;|` go on with the next branch. They exist only in a case."""
        return self.text.startswith(";;" if closer != "esac" else (";;", ";&", ";|"), self.at)

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
        if not words and word.is_bare("esac") and closer == "esac":
            self.at = word.position
            return True
        if not words and word.is_bare("case"):
            self._read_case(word)
        elif not words and word.is_bare("[["):
            self._read_double_bracket(word)
        elif words or not word.is_bare(*_RESERVED_WORDS):
            words.append(word)
            self._check_name(words)
        elif word.text == "time":
            self._skip_options()
        return False

    def _check_name(self, words: list[Word]) -> None:
        if len(words) == 2 and words[0].is_bare(*_NAMING_WORDS) and words[1].has_placeholder:
            refuse(f"a placeholder as the name after {words[0].text}", words[1].position, "Write the name.")

    def _skip_options(self) -> None:
        """Skips the options of `time`: the word after them begins a command."""
        self._skip_all_blanks()
        while self.text.startswith("-", self.at) and self.at < self.end:
            self.read_word()
            self._skip_all_blanks()

    def _add_command(self, words: list[Word]) -> None:
        if not words:
            return
        if any(word.has_placeholder for word in words) and any(word.is_bare("[[") for word in words):
            refuse("a [[ that does not begin a command", words[0].position, "Put ; before it, or quote it.")
        defines = words[1:] if words[0].is_bare("builtin", "command") else words
        if defines and defines[0].static and defines[0].text == "alias":
            refuse("an alias may change how the shell reads this command", words[0].position, "Write a function.")
        self.commands.append(SimpleCommand(tuple(words)))

    def _skip_separator(self, char: str) -> None:
        self.at += 1
        if char == "\n":
            self._read_here_documents()

    def _read_parenthesis(self, words: list[Word]) -> list[Word]:
        """A subshell, an arithmetic command, the `()` of a function, or the elements of an array."""
        start = self.at
        self._refuse_line_continuation(start + 1)
        if not words or (len(words) == 1 and words[0].is_bare("for")):
            if self.text.startswith("((", start):
                self._skip_arithmetic(start, 2)
                return words
            if not words:
                self.at += 1
                self.read_commands(")")
                return words
        last = words[-1]
        if self.word_end == start and last.static and not last.quoted and _ARRAY_ASSIGNMENT.fullmatch(last.text):
            self._read_array()
            return words
        closing = _FUNCTION_PARENTHESES.match(self.text, start, self.end)
        if closing is None or len(words) > 1 + words[0].is_bare("function") or not last.static or last.quoted:
            refuse("a ( inside a command: this pattern or list is not supported", start)
        self.at = closing.end()
        return []

    def _read_array(self) -> None:
        outer, self.in_array = self.in_array, True
        self.at += 1
        while True:
            self._skip_space()
            if self.at >= self.end:
                refuse("an array that does not end", self.at)
            if self.text[self.at] == ")":
                self.at += 1
                self.in_array = outer
                return
            word = self.read_word()
            if word.has_placeholder and word.lead.startswith("[") and not _ARRAY_KEY.match(word.lead):
                refuse("a placeholder in an array subscript", word.position)

    def _read_case(self, case: Word) -> None:
        self._skip_space()
        self.read_word()
        self._skip_space()
        if not self.read_word().is_bare("in"):
            refuse("a case without in", case.position)
        while True:
            self._skip_space()
            if self._take_esac():
                return
            self._read_case_pattern()
            self.read_commands("esac")
            if self.text.startswith(";", self.at):
                self.at += 3 if self.text.startswith(";;&", self.at) else 2

    def _take_esac(self) -> bool:
        after = self.at + 4
        if self.text.startswith("esac", self.at) and (after >= self.end or self.text[after] in _WORD_DELIMITERS):
            self.at = after
            return True
        return False

    def _read_case_pattern(self) -> None:
        if self.text.startswith("(", self.at):
            self.at += 1
        elif self.depth:  # bash before version 4 takes the pattern's ) for the end of the substitution
            refuse("a case pattern without ( inside a command substitution", self.at, "Write (pattern).")
        while True:
            self._skip_all_blanks()
            word = self.read_word()
            self._skip_all_blanks()
            char = self.text[self.at : self.at + 1]
            self.at += 1
            if char == ")":
                return
            if char != "|":
                refuse("a case pattern that cannot be parsed", word.position)

    def _read_double_bracket(self, opening: Word) -> None:
        """Both sides of a comparison may be literals, but not where the shell evaluates them as arithmetic."""
        seen: list[Word] = []
        while self.at < self.end:
            if self._skip_line_continuation():
                continue
            if self.text[self.at] == "#" and self._at_word_start():
                refuse("a # inside [[ ]]", self.at, "Quote it.")
            if self.text[self.at] in " \t\n":
                self.at += 1
                continue
            if self.text[self.at] in ";&|<>()":
                seen.append(Word(self.at, self.text[self.at], self.text[self.at]))
                self.at += 1
                continue
            word = self.read_word(expands_braces=False)
            if word.is_bare("]]"):
                self._check_tests(seen)
                return
            seen.append(word)
        refuse("a [[ without ]]", opening.position)

    def _check_tests(self, words: list[Word]) -> None:
        for at, word in enumerate(words):
            if not word.static:
                continue
            after = words[at + 1 : at + 2]
            if word.text in _ARITHMETIC_OPERATORS:
                self._refuse_values(
                    words[max(at - 1, 0) : at] + after, f"a placeholder beside {word.text} inside [[ ]]"
                )
            elif word.text in _ARITHMETIC_TESTS:
                self._refuse_values(after, f"a placeholder after {word.text} inside [[ ]]")
            elif word.text == "=~" and self.shell != "bash":
                self._refuse_values(words[at + 1 :], f"a placeholder after =~ in {self.shell}")

    def _refuse_values(self, words: list[Word], what: str) -> None:
        for word in words:
            if word.has_placeholder:
                refuse(f"{what}, where the shell evaluates it", word.position, "Use [ ] instead.")

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

    def _skip_all_blanks(self) -> None:
        while self._skip_blanks():
            pass

    def _skip_space(self) -> None:
        while self._skip_blanks() or (self.at < self.end and self.text[self.at] == "\n"):
            if self.at < self.end and self.text[self.at] == "\n":
                self._skip_separator("\n")

    def _at_word_start(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] in _WORD_DELIMITERS + "`"

    def _skip_comment(self) -> None:
        stop = self.text.find("\n", self.at, self.end)
        stop = self.end if stop < 0 else stop
        self._refuse_placeholders(self.at, stop, "a placeholder in a comment")
        if self.depth and _UNTIDY_COMMENT.search(self.text, self.at, stop):
            refuse("quotes or parentheses in a comment inside a command substitution", self.at, "Remove the comment.")
        self.at = stop

    def _refuse_placeholders(self, start: int, stop: int, what: str, hint: str = _HINT_USE_ENVIRONMENT) -> None:
        found = self.first_placeholder(start, stop)
        if found is not None:
            refuse(what, found, hint)

    def _read_redirection(self, words: list[Word]) -> None:
        if self._read_process_substitution(words):
            return
        if words and self.word_end == self.at and not words[-1].quoted and _DESCRIPTOR.fullmatch(words[-1].text):
            words.pop()
        operator = _REDIRECTION.match(self.text, self.at, self.end)
        if operator is None:
            refuse("a redirection that cannot be parsed", self.at)
        start, self.at = self.at, operator.end()
        self._refuse_line_continuation(self.at)
        self._skip_all_blanks()
        if self._read_process_substitution([]):
            return
        if self.at >= self.end or self.text[self.at] in _WORD_DELIMITERS:
            refuse("a redirection without a target", start)
        target = self.read_word()
        if operator[0] in ("<<", "<<-"):
            self._start_here_document(operator[0], target)

    def _read_process_substitution(self, words: list[Word]) -> bool:
        start = self.at
        if start >= self.end or not self.text.startswith(("<(", ">("), start):
            return False
        before = len(self.quotes)
        self.at += 2
        self._read_substitution()
        words.append(Word(start, "", "", static=False, quoted=True, has_placeholder=len(self.quotes) > before))
        self.word_end = self.at
        return True

    def _read_substitution(self) -> None:
        """Reads the commands up to the closing parenthesis."""
        self.depth += 1
        self.read_commands(")")
        self.depth -= 1

    def _start_here_document(self, operator: str, delimiter: Word) -> None:
        if self.depth or self.nesting > 1 or not delimiter.static or delimiter.has_placeholder:
            refuse("a here-document that cannot be parsed", delimiter.position)
        self.pending.append(_HereDocument(delimiter, operator == "<<-"))

    def _read_here_documents(self) -> None:
        for document in self.pending:
            delimiter = document.delimiter
            self._refuse_placeholders(delimiter.position, self.at, "a placeholder after << on the same line")
            start = self.at
            self._skip_here_document(document)
            self._refuse_placeholders(start, self.at, "a placeholder in a here-document")
            if not delimiter.quoted and _EXPANDED_LINES.search(self.text, start, self.at):
                refuse("a here-document in which the shell expands text", delimiter.position, "Quote the delimiter.")
        self.pending.clear()

    def _skip_here_document(self, document: _HereDocument) -> None:
        while self.at < self.end:
            stop = self.text.find("\n", self.at, self.end)
            stop = self.end if stop < 0 else stop
            line = self.text[self.at : stop]
            self.at = min(stop + 1, self.end)
            if (line.lstrip("\t") if document.strips_tabs else line) == document.delimiter.text:
                return
        refuse("a here-document that does not end", document.delimiter.position)

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
        while self.at < self.end and self.text[self.at] not in _WORD_DELIMITERS:
            self._read_piece(draft)
        if self.at == draft.position:
            refuse("a command that cannot be parsed", self.at)
        has_placeholder = len(self.quotes) > before
        if has_placeholder and expands_braces and _BRACE_EXPANSION.search("".join(draft.bare)):
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
        refuse("a ' that does not end", start)

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
        refuse('a " that does not end', start)

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

    def _skip_arithmetic(self, start: int, depth: int) -> None:
        """Skips `((…))` without quotes and substitutions."""
        at = start + depth
        while at < self.end:
            matched = _ARITHMETIC.match(self.text, at, self.end)
            at = matched.end() if matched else at
            self._refuse_placeholders(start, at + 1, "a placeholder in arithmetic, which the shell evaluates")
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
            refuse("a ${ that does not end", start)
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
        refuse("a ` that does not end", start)

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


def scan(text: str, placeholders: Mapping[int, int], shell: str = "bash") -> ScanResult:
    """`placeholders` maps the start of each placeholder to its end. Raises BadTemplate."""
    scanner = ShellScanner(text, dict(placeholders), shell)
    scanner.read_commands(None)
    return ScanResult(tuple(scanner.commands), scanner.quotes)
