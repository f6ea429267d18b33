"""Scans shell text with placeholders: the quotes around each placeholder, and the words of each command.

`quote_value` writes a value so that the shell reads back exactly that value. The scanner follows a placeholder into
quotes, `$(…)`, backticks, `[[ … ]]` and process substitutions. It refuses a text in which it cannot tell where a
placeholder is, and a place where the shell does not take a quoted literal as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.shell.quoting import QuoteContext
from hookline.shell.word_scanner import WORD_DELIMITERS, Closer, HereDocument, Word, WordScanner, refuse

_FUNCTION_PARENTHESES: Final = lazy_pattern(r"\([ \t]*\)")
_ARRAY_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_ARRAY_KEY: Final = lazy_pattern(r"\[[A-Za-z0-9_]*\]\+?=")
_EXPANDED_LINES: Final = lazy_pattern(r"[`\\]|\$(?![A-Za-z_]|\{[A-Za-z_][A-Za-z0-9_]*\})")
_UNTIDY_COMMENT: Final = lazy_pattern(r"['\"`\\$()<]")
_REDIRECTION: Final = lazy_pattern(r"<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>")
_DESCRIPTOR: Final = lazy_pattern(r"[0-9]+|\{[A-Za-z0-9_]+\}")
_HINT_HERE_DOCUMENT: Final = "Assign it to a variable first, x={{…}}, and write $x there."
_RESERVED_WORDS: Final = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time", "coproc")
)
_NAMING_WORDS: Final = frozenset(("for", "select", "function", "foreach"))
_ARITHMETIC_OPERATORS: Final = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_ARITHMETIC_TESTS: Final = frozenset(("-v", "-R", "-t"))


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """The assignments and words of one command, without its redirections."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class ScanResult:
    commands: tuple[SimpleCommand, ...]
    quotes: Mapping[int, QuoteContext]


class ShellScanner(WordScanner):
    """Reads a text from start to end. It collects the commands and the quotes that it finds."""

    def __init__(self, text: str, placeholders: dict[int, int], shell: str) -> None:
        super().__init__(text, placeholders, shell)
        self.commands: list[SimpleCommand] = []

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
                refuse("a parenthesis, case or here-document in this command is not closed", self.end, "Close it.")

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
                refuse("an array that does not end", self.at, "Close it.")
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
        if self.text.startswith("esac", self.at) and (after >= self.end or self.text[after] in WORD_DELIMITERS):
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
        return self.at == 0 or self.text[self.at - 1] in WORD_DELIMITERS + "`"

    def _skip_comment(self) -> None:
        stop = self.text.find("\n", self.at, self.end)
        stop = self.end if stop < 0 else stop
        self._refuse_placeholders(self.at, stop, "a placeholder in a comment", "Remove it there.")
        if self.depth and _UNTIDY_COMMENT.search(self.text, self.at, stop):
            refuse("quotes or parentheses in a comment inside a command substitution", self.at, "Remove the comment.")
        self.at = stop

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
        if self.at >= self.end or self.text[self.at] in WORD_DELIMITERS:
            refuse("a redirection without a target", start)
        target = self.read_word()
        if operator[0] == ">&" and target.has_placeholder:
            refuse("a placeholder after >&, which bash expands a second time", target.position, "Write > FILE 2>&1.")
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

    def _start_here_document(self, operator: str, delimiter: Word) -> None:
        if self.depth or self.nesting > 1 or not delimiter.static or delimiter.has_placeholder:
            refuse("a here-document that cannot be parsed", delimiter.position)
        self.pending.append(HereDocument(delimiter, operator == "<<-"))

    def _read_here_documents(self) -> None:
        for document in self.pending:
            delimiter = document.delimiter
            self._refuse_placeholders(delimiter.position, self.at, "a placeholder after << on the same line")
            start = self.at
            self._skip_here_document(document)
            self._refuse_placeholders(start, self.at, "a placeholder in a here-document", _HINT_HERE_DOCUMENT)
            if not delimiter.quoted and _EXPANDED_LINES.search(self.text, start, self.at):
                refuse("a here-document in which the shell expands text", delimiter.position, "Quote the delimiter.")
        self.pending.clear()

    def _skip_here_document(self, document: HereDocument) -> None:
        while self.at < self.end:
            stop = self.text.find("\n", self.at, self.end)
            stop = self.end if stop < 0 else stop
            line = self.text[self.at : stop]
            self.at = min(stop + 1, self.end)
            if (line.lstrip("\t") if document.strips_tabs else line) == document.delimiter.text:
                return
        end = f"End it with a line {document.delimiter.text}."
        refuse("a here-document that does not end", document.delimiter.position, end)


def scan(text: str, placeholders: Mapping[int, int], shell: str = "bash") -> ScanResult:
    """`placeholders` maps the start of each placeholder to its end. Raises BadTemplate."""
    scanner = ShellScanner(text, dict(placeholders), shell)
    scanner.read_commands(None)
    return ScanResult(tuple(scanner.commands), scanner.quotes)
