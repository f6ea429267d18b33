"""Reads shell text as far as quoting and commands go: which words each command has, and which quotes a placeholder stands in.

It knows the part of the grammar that bash and POSIX sh read alike. Whatever else stands in a text with placeholders is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hookline.hooks.shell_words import ENDS_WORD, NAME, Closer, Scanned, Simple, Word, WordScanner, refuse

_DEEPEST: Final = 20
_RESERVED: Final = frozenset(("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}"))
_REDIRECTION: Final = re.compile(r"<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>")
_DESCRIPTOR: Final = re.compile(r"[0-9]+|\{[A-Za-z0-9_]+\}")
_ARITHMETIC_TEST: Final = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"))


@dataclass(slots=True)
class _Pending:
    """A here-document whose text begins at the next line."""

    delimiter: str
    tabs: bool
    quoted: bool
    position: int


class _Scanner(WordScanner):
    def __init__(self, text: str, holes: dict[int, int]) -> None:
        super().__init__(text, holes)
        self.pending: list[_Pending] = []

    def commands_until(self, closer: Closer) -> None:
        """Reads commands up to and including `closer`; of a case branch, up to `;;` or `esac`."""
        with self._deeper():
            words: list[Word] = []
            while self.at < self.end:
                if self._skip_blanks():
                    continue
                char = self.text[self.at]
                if char == ")" or self.text.startswith(";;", self.at):
                    self._finish(words)
                    self._close(closer, char)
                    return
                if char in ";&|\n" and not self.text.startswith("&>", self.at):
                    self._finish(words)
                    words = []
                    self._separator(char)
                elif char == "(":
                    self._subshell(words)
                elif char in "<>&":
                    self._redirection(words)
                elif self._word_of_command(words, closer):
                    return
            self._finish(words)
            if closer is not None or self.pending:
                refuse("the parentheses, a case or a here-document in this command do not end", self.end)

    def _close(self, closer: Closer, char: str) -> None:
        if closer == ")" and char == ")":
            self.at += 1
        elif closer == "esac" and char == ";":
            return
        else:
            refuse(f"there is a {char} too many in this command", self.at)

    def _word_of_command(self, words: list[Word], closer: Closer) -> bool:
        """Takes the next word into the command; True if it was the `esac` that ends it all."""
        word = self.word()
        if not words and word.keyword("esac") and closer == "esac":
            self.at = word.position
            return True
        if not words and word.keyword("case"):
            self._case(word)
        elif not words and word.keyword("[["):
            self._double_bracket(word)
        elif words or not word.keyword(*_RESERVED):
            words.append(word)
        return False

    def _finish(self, words: list[Word]) -> None:
        if words:
            self.commands.append(Simple(tuple(words)))

    def _separator(self, char: str) -> None:
        self.at += 1
        if char == "\n":
            self._here_documents()

    def _subshell(self, words: list[Word]) -> None:
        start = self.at
        if words:
            refuse("a ( inside a command: a function, an array or a pattern", start)
        self._no_joined_line_at(start + 1)
        if self.text.startswith("((", start):
            refuse("the shell's arithmetic stands in this command", start)
        self.at += 1
        self.commands_until(")")

    def _case(self, case: Word) -> None:
        if self.depth or self.in_backticks:
            refuse("a case inside a command substitution cannot be followed safely", case.position)
        self._skip_space()
        self.word()
        self._skip_space()
        if not self.word().keyword("in"):
            refuse("a case without its in", case.position)
        while True:
            self._skip_space()
            if self._take_esac():
                return
            self._case_pattern()
            self.commands_until("esac")
            if self.text.startswith(";;", self.at):
                self.at += 3 if self.text.startswith(";;&", self.at) else 2

    def _take_esac(self) -> bool:
        start = self.at
        if self.text.startswith("esac", start) and self.text[start + 4 : start + 5] in (*ENDS_WORD, ""):
            self.at += 4
            return True
        return False

    def _case_pattern(self) -> None:
        if self.text.startswith("(", self.at):
            self.at += 1
        while True:
            self._skip_blanks()
            word = self.word()
            if word.holes:
                refuse("a placeholder in a case pattern", word.position, "Put it between case and in.")
            self._skip_blanks()
            char = self.text[self.at : self.at + 1]
            self.at += 1
            if char == ")":
                return
            if char != "|":
                refuse("a case pattern that cannot be followed", word.position)

    def _double_bracket(self, opening: Word) -> None:
        """Static tests may stand beside placeholders; a value in one could be evaluated as arithmetic."""
        seen: list[Word] = []
        while self.at < self.end:
            if self._skip_space():
                continue
            if self.text[self.at] in ";&|<>()":
                self.at += 1
                continue
            word = self.word()
            if word.holes:
                refuse("a placeholder inside [[ ]], which may evaluate its value", word.position, "Use [ ] instead.")
            if word.keyword("]]"):
                self._note_arithmetic_test(seen)
                return
            seen.append(word)
        refuse("a [[ without its ]]", opening.position)

    def _note_arithmetic_test(self, words: list[Word]) -> None:
        if any(word.text in _ARITHMETIC_TEST for word in words):
            for word in words:
                self.calculated.update(word.reads, NAME.findall(word.text))

    def _skip_blanks(self) -> bool:
        """Blanks, joined lines and comments."""
        start = self.at
        if self._joined_line():
            return True
        while self.at < self.end and self.text[self.at] in " \t":
            self.at += 1
        if self.text.startswith("#", self.at) and self.at < self.end and self._at_word_start():
            self._comment()
        return self.at > start

    def _skip_space(self) -> bool:
        start = self.at
        while self._skip_blanks() or (self.at < self.end and self.text[self.at] == "\n"):
            if self.at < self.end and self.text[self.at] == "\n":
                self._separator("\n")
        return self.at > start

    def _at_word_start(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] in ENDS_WORD + "`"

    def _comment(self) -> None:
        if self.depth or self.in_backticks:
            refuse("a comment inside a command substitution cannot be followed safely", self.at)
        stop = self.text.find("\n", self.at, self.end)
        stop = self.end if stop < 0 else stop
        self._no_holes(self.at, stop, "a placeholder in a comment")
        self.at = stop

    def _no_holes(self, start: int, stop: int, what: str) -> None:
        hole = self.first_hole(start, stop)
        if hole is not None:
            refuse(what, hole)

    def _redirection(self, words: list[Word]) -> None:
        if words and self.word_end == self.at and not words[-1].quoted and _DESCRIPTOR.fullmatch(words[-1].text):
            words.pop()
        operator = _REDIRECTION.match(self.text, self.at, self.end)
        if operator is None:
            refuse("a redirection that cannot be followed", self.at)
        start, self.at = self.at, operator.end()
        self._no_joined_line_at(self.at)
        if self.text.startswith("(", self.at):
            refuse("a process substitution stands in this command", start)
        while self._skip_blanks():
            pass
        if self.at >= self.end or self.text[self.at] in ENDS_WORD:
            refuse("a redirection to nowhere", start)
        target = self.word()
        if operator[0] in ("<<", "<<-"):
            self._here_document(operator[0], target)
        elif target.holes and operator[0] in ("<&", ">&"):
            refuse("a placeholder as the number of a file descriptor", target.position)

    def _here_document(self, operator: str, delimiter: Word) -> None:
        if self.depth or self.in_backticks or self.nesting > 1 or not delimiter.static or delimiter.holes:
            refuse("a here-document that cannot be followed", delimiter.position)
        self.pending.append(_Pending(delimiter.text, operator == "<<-", delimiter.quoted, delimiter.position))
        self.line_is_fixed = True

    def _here_documents(self) -> None:
        for document in self.pending:
            self._no_holes(document.position, self.at, "a placeholder after << on the same line")
            start = self.at
            self._skip_here_document(document)
            self._no_holes(start, self.at, "a placeholder in a here-document")
            if not document.quoted and re.search(r"[$`\\]", self.text[start : self.at]):
                refuse("a here-document in which the shell expands text", document.position, "Quote its delimiter.")
        self.pending.clear()
        self.line_is_fixed = False

    def _skip_here_document(self, document: _Pending) -> None:
        while self.at < self.end:
            stop = self.text.find("\n", self.at, self.end)
            stop = self.end if stop < 0 else stop
            line = self.text[self.at : stop]
            self.at = min(stop + 1, self.end)
            if (line.lstrip("\t") if document.tabs else line) == document.delimiter:
                return
        refuse("a here-document without its end", document.position)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.nesting += 1
        if self.nesting > _DEEPEST:
            refuse("this command is nested too deep", self.at)
        yield
        self.nesting -= 1


def scan(text: str, holes: Mapping[int, int]) -> Scanned:
    """`holes` are the placeholders, start → end. Raises BadTemplate."""
    scanner = _Scanner(text, dict(holes))
    scanner.commands_until(None)
    return Scanned(tuple(scanner.commands), scanner.quotes, frozenset(scanner.calculated))
