"""One word of shell text: its quotes, what the shell expands in it, and the placeholders that stand in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NoReturn

from hookline.hooks.placeholder import BadTemplate
from hookline.hooks.shell_quoting import Around, Quote

ENDS_WORD: Final = " \t\n;&|<>()"
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_SPECIAL_PARAMETER: Final = re.compile(r"[0-9@*#?$!-]")
_ARITHMETIC: Final = re.compile(r"\$\(\(([A-Za-z0-9_$+\-*/%<>=!&|^~?:, \t]*)\)\)")
_PARAMETER: Final = re.compile(
    r"\$\{(?:#\}|([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(\[[0-9@*]+\])?([^{}'\"`\\$()<>\n]*)\})"
)
_ANSI: Final = re.compile(r"\$'(?:[^'\\{]|\\[a-zA-Z0-9])*'")
_BRACE_EXPANSION: Final = re.compile(r"\{[^}]*(?:,|\.\.)")
_USE_ENVIRONMENT: Final = "Give the value to the program through its environment or stdin instead."


def refuse(what: str, position: int, hint: str = _USE_ENVIRONMENT) -> NoReturn:
    raise BadTemplate(what, hint, position)


@dataclass(frozen=True, slots=True)
class Word:
    """One word as written; `text` is what is known of it before the shell runs."""

    position: int
    text: str
    static: bool  # `text` is all of it
    lead: str  # the known text that it begins with
    bare_lead: str  # as much of that as stands outside quotes
    quoted: bool
    holes: bool  # a placeholder stands in it, however deep
    reads: frozenset[str]  # the variables read in it, however deep

    @property
    def solid(self) -> bool:
        """It cannot vanish when the shell expands it."""
        return self.quoted or bool(self.text)

    def keyword(self, *names: str) -> bool:
        return self.static and not self.quoted and self.text in names


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its assignments and words. Redirections need no judgement: their words are quoted as any other."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Scanned:
    commands: tuple[Simple, ...]
    quotes: Mapping[int, Quote]
    calculated: frozenset[str]  # variables whose values bash evaluates as arithmetic, which may run commands


@dataclass(slots=True)
class _Draft:
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

    def quote(self) -> None:
        self.quoted = True
        if self.bare_lead is None:
            self.bare_lead = "".join(self.known)

    def expand(self) -> None:
        """From here on the text is not known."""
        if self.bare_lead is None:
            self.bare_lead = "".join(self.known)
        if self.lead is None:
            self.lead = "".join(self.known)


Closer = Literal[")", "esac"] | None


class WordScanner:
    """Stands at one place of a text and reads on; what it learns collects in its lists."""

    def __init__(self, text: str, holes: dict[int, int]) -> None:
        self.text = text
        self.end = len(text)
        self.at = 0
        self.holes = holes
        self._hole_starts = sorted(holes)
        self.quotes: dict[int, Quote] = {}
        self.commands: list[Simple] = []
        self.calculated: set[str] = set()
        self.reads: list[str] = []
        self.depth = 0  # of substitutions
        self.nesting = 0  # of everything
        self.in_backticks = False
        self.line_is_fixed = False  # a here-document follows: the line may not be continued in any way
        self.word_end = 0

    def first_hole(self, start: int, stop: int) -> int | None:
        at = bisect_left(self._hole_starts, start)
        return self._hole_starts[at] if at < len(self._hole_starts) and self._hole_starts[at] < stop else None

    def commands_until(self, closer: Closer) -> None:
        raise NotImplementedError

    def word(self) -> Word:
        draft = _Draft(self.at)
        reads, holes = len(self.reads), len(self.quotes)
        while self.at < self.end and self.text[self.at] not in ENDS_WORD:
            self._piece(draft)
        if self.at == draft.position:
            refuse("a command that cannot be followed", self.at)
        if _BRACE_EXPANSION.search("".join(draft.bare)):
            refuse("one word that the shell makes several of: {…,…}", draft.position, "Write the words out.")
        self.word_end = self.at
        text = "".join(draft.known)
        return Word(
            position=draft.position,
            text=text,
            static=draft.lead is None,
            lead=text if draft.lead is None else draft.lead,
            bare_lead=text if draft.bare_lead is None else draft.bare_lead,
            quoted=draft.quoted,
            holes=len(self.quotes) > holes,
            reads=frozenset(self.reads[reads:]),
        )

    def _piece(self, draft: _Draft) -> None:
        char = self.text[self.at]
        if self.at in self.holes:
            self._hole(draft, Around.NOTHING)
        elif char == "'":
            self._single_quotes(draft)
        elif char == '"':
            self._double_quotes(draft)
        elif char == "\\":
            self._backslash(draft)
        elif char == "$":
            self._dollar(draft, in_quotes=False)
        elif char == "`":
            self._backticks(draft, in_quotes=False)
        else:
            draft.add_bare(char)
            self.at += 1

    def _hole(self, draft: _Draft, around: Around) -> None:
        before = self.text[self.at - 1 : self.at]
        if before == "\\" or (before == "$" and around is not Around.SINGLE):
            refuse(f"a {before} directly before a placeholder", self.at, "Put the placeholder on its own.")
        draft.quote()
        draft.expand()
        self.quotes[self.at] = Quote(around, self.in_backticks)
        self.at = self.holes[self.at]

    def _backslash(self, draft: _Draft) -> None:
        if self._joined_line():
            return
        if self.at + 1 >= self.end:
            refuse("a backslash at the end", self.at)
        if self.at + 1 in self.holes:
            refuse("a backslash directly before a placeholder", self.at, "Put the placeholder on its own.")
        draft.quote()
        draft.add(self.text[self.at + 1])
        self.at += 2

    def _joined_line(self) -> bool:
        if not self.text.startswith("\\\n", self.at) or self.at + 1 >= self.end:
            return False
        if self.line_is_fixed:
            refuse("a joined line after a here-document", self.at)
        self.at += 2
        return True

    def _no_joined_line_at(self, position: int) -> None:
        if self.text.startswith("\\\n", position):
            refuse("a line is joined in the middle of an operator", position)

    def _single_quotes(self, draft: _Draft) -> None:
        start = self.at
        draft.quote()
        self.at += 1
        while self.at < self.end:
            if self.at in self.holes:
                self._hole(draft, Around.SINGLE)
                continue
            char = self.text[self.at]
            self.at += 1
            if char == "'":
                self._no_line_break_if_fixed(start)
                return
            draft.add(char)
        refuse("a ' that does not end", start)

    def _double_quotes(self, draft: _Draft) -> None:
        start = self.at
        draft.quote()
        self.at += 1
        while self.at < self.end:
            char = self.text[self.at]
            if self.at in self.holes:
                self._hole(draft, Around.DOUBLE)
            elif char == '"':
                self.at += 1
                self._no_line_break_if_fixed(start)
                return
            elif char == "\\":
                self._backslash_in_quotes(draft)
            elif char == "$":
                self._dollar(draft, in_quotes=True)
            elif char == "`":
                self._backticks(draft, in_quotes=True)
            else:
                draft.add(char)
                self.at += 1
        refuse('a " that does not end', start)

    def _no_line_break_if_fixed(self, start: int) -> None:
        if self.line_is_fixed and "\n" in self.text[start : self.at]:
            refuse("a quoted line break after <<", start)

    def _backslash_in_quotes(self, draft: _Draft) -> None:
        if self._joined_line():
            return
        if self.at + 1 in self.holes:
            refuse("a backslash directly before a placeholder", self.at, "Put the placeholder on its own.")
        following = self.text[self.at + 1 : self.at + 2]
        draft.add(following if following in ("$", "`", '"', "\\") else "\\" + following)
        self.at += 2

    def _dollar(self, draft: _Draft, *, in_quotes: bool) -> None:
        start = self.at
        following = self.text[start + 1 : start + 2] if start + 1 < self.end else ""
        if start + 1 in self.holes:
            refuse("a $ directly before a placeholder", start, "Put the placeholder on its own.")
        self._no_joined_line_at(start + 1)
        if following == "(":
            self._parenthesis(draft)
        elif following == "{":
            self._parameter(draft)
        elif following == "[":
            refuse("the shell's arithmetic stands in this command", start)
        elif following in ("'", '"') and not in_quotes:
            self._ansi_quotes(draft)
        else:
            self._variable(draft)

    def _variable(self, draft: _Draft) -> None:
        name = NAME.match(self.text, self.at + 1, self.end) or _SPECIAL_PARAMETER.match(
            self.text, self.at + 1, self.end
        )
        if name is None:
            draft.add("$")
            self.at += 1
            return
        draft.expand()
        self.reads.append(name[0])
        self.at = name.end()

    def _parenthesis(self, draft: _Draft) -> None:
        start = self.at
        draft.expand()
        self._no_joined_line_at(start + 2)
        if self.text.startswith("$((", start):
            sum_ = _ARITHMETIC.match(self.text, start, self.end)
            if sum_ is None:
                refuse("the shell's arithmetic stands in this command", start)
            self._calculates(NAME.findall(sum_[1]))
            self.at = sum_.end()
            return
        self.at += 2
        self.depth += 1
        self.commands_until(")")
        self.depth -= 1

    def _parameter(self, draft: _Draft) -> None:
        start = self.at
        match = _PARAMETER.match(self.text, start, self.end)
        if match is None or (match[4] or "").startswith("["):
            refuse("a ${…} that cannot be followed", start)
        draft.expand()
        self.at = match.end()
        if match[2] is None:
            return
        self.reads.append(match[2])
        operation = match[4] or ""
        if match[1] == "!" or operation.startswith("@"):
            self._calculates([match[2]])
        if operation.startswith(":") and operation[1:2] not in ("-", "=", "?", "+"):
            self._calculates(NAME.findall(operation))

    def _calculates(self, names: list[str]) -> None:
        self.calculated.update(names)
        self.reads += names

    def _ansi_quotes(self, draft: _Draft) -> None:
        match = _ANSI.match(self.text, self.at, self.end)
        if match is None:
            refuse("$'…' or $\"…\" stands in this command", self.at, "Use plain quotes.")
        draft.quote()
        draft.expand()
        self.at = match.end()

    def _backticks(self, draft: _Draft, *, in_quotes: bool) -> None:
        start = self.at
        if self.in_backticks:
            refuse("backticks inside backticks", start, "Write $(…) instead.")
        draft.expand()
        stop = self._closing_backtick(start)
        if self.first_hole(start, stop) is not None:
            self._commands_in_backticks(start + 1, stop)
        else:
            self._known_backticks(start + 1, stop, in_quotes)
        self.at = stop + 1

    def _closing_backtick(self, start: int) -> int:
        at = start + 1
        while at < self.end:
            if at in self.holes:
                at = self.holes[at]
            elif self.text[at] == "`":
                return at
            else:
                at += 2 if self.text[at] == "\\" else 1
        refuse("a ` that does not end", start)

    def _commands_in_backticks(self, start: int, stop: int) -> None:
        if "\\" in self.text[start:stop]:
            refuse("a backslash and a placeholder in one pair of backticks", start, "Write $(…) instead.")
        end, self.at, self.end = self.end, start, stop
        self.in_backticks = True
        self.depth += 1
        self.commands_until(None)
        self.depth -= 1
        self.in_backticks = False
        self.end = end

    def _known_backticks(self, start: int, stop: int, in_quotes: bool) -> None:
        """Its commands are judged as the shell will read them, at the place where the backticks stand."""
        inner = type(self)(re.sub(r'\\([\\`$"])' if in_quotes else r"\\([\\`$])", r"\1", self.text[start:stop]), {})
        inner.nesting, inner.depth = self.nesting, self.depth + 1
        inner.commands_until(None)
        self.commands += [
            Simple(tuple(replace(word, position=start) for word in command.words)) for command in inner.commands
        ]
        self.calculated |= inner.calculated
        self.reads += inner.reads
