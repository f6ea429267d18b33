"""Splits a shell text into simple commands: words without quotes, assignments and redirections.

It follows the shell's grammar as far as that says which words run: quotes, substitutions, here-documents, keywords. It
never fails; a text that a shell would refuse is read as far as possible. What the shell puts in a word when it runs stays
an Expansion: hookline.shell.expansion has the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.grammar import ASSIGNMENT, UNKNOWN
from hookline.shell.parsed_text import (
    FIRST_MARK,
    MARK,
    Assignment,
    Expansion,
    ParsedCommand,
    ParsedText,
    Path,
    TextTooLong,
    mark_quoted,
    restore_characters,
)

_MAX_TOKENS: Final = 20_000
_MAX_DEPTH: Final = 50
_MAX_ALTERNATIVES: Final = 64  # of braces in one word

_BLANK: Final = lazy_pattern(r"(?:[ \t\r]|\\\n)+")
_PLAIN: Final = lazy_pattern(r"[^\s;&|()<>'\"\\`$]+")
_IN_QUOTES: Final = lazy_pattern(r'[^"\\`$]+')
_OPERATOR: Final = lazy_pattern(r";;&|;;|;&|&&|\|\||\|&|[;&|()\n]")
_REDIRECTION: Final = lazy_pattern(r"(?:\d*|\{\w+\})(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)")
_VARIABLE: Final = lazy_pattern(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_ANSI_ESCAPE: Final = lazy_pattern(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_ANSI_LETTERS: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
}
_SKIPPED_KEYWORDS: Final = frozenset(
    ("if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac")
)
PREFIX_KEYWORDS: Final = frozenset(("time", "-p", "coproc"))
"""Keywords that stay among the words of a command. Assignments and `!` may follow them."""
_GROUP_STARTS: Final = frozenset(("{", "if", "while", "until", "for", "select", "case"))
_GROUP_ENDS: Final = frozenset(("}", "fi", "done", "esac"))
_PARAMETER: Final = lazy_pattern(
    r"\$\{([#!]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[([^\]]*)\])?(:?[-=+?]|:|##?|%%?|//?|\^\^?|,,?|@)?"
)


def parse_commands(text: str) -> ParsedText:
    """Every simple command in the text, also within substitutions. Raises TextTooLong."""
    parser = _Parser(text)
    parser.parse_list(0)
    return ParsedText(parser.commands, parser.shared.expansions, parser.shared.functions)


@dataclass(slots=True)
class _HereDocument:
    end: str
    strips_tabs: bool
    is_literal: bool
    command: ParsedCommand
    is_stdin: bool


@dataclass(slots=True)
class _Shared:
    """What the parsers of a text and of the texts in its backticks have in common."""

    expansions: list[Expansion] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    tokens: int = 0
    pipelines: Iterator[int] = field(default_factory=count)


class _Parser:
    def __init__(self, text: str, shared: _Shared | None = None, path: Path = ()) -> None:
        self.text = text
        self.at = 0
        self.commands: list[ParsedCommand] = []
        self.shared = shared or _Shared()
        self._levels: list[tuple[int, int]] = [*path, (next(self.shared.pipelines), 0)]
        self._documents: list[_HereDocument] = []

    def parse_list(self, depth: int, *, closes: bool = False) -> None:
        """Commands up to the end of the text; with `closes`, up to the `)` that ends a substitution."""
        if depth > _MAX_DEPTH:
            raise TextTooLong
        scope = _CommandList(self, depth)
        opened = 0
        while self.at < len(self.text):
            self._count_token()
            operator = scope.step()
            if operator == "(":
                opened += 1
            elif operator == ")":
                if closes and opened == 0:
                    break
                opened = max(0, opened - 1)
        scope.end_command()

    @property
    def path(self) -> Path:
        return tuple(self._levels)

    def open_group(self) -> None:
        self._levels.append((next(self.shared.pipelines), 0))

    def close_group(self) -> None:
        if len(self._levels) > 1:
            self._levels.pop()

    def next_stage(self) -> None:
        pipeline, stage = self._levels[-1]
        self._levels[-1] = (pipeline, stage + 2)

    def next_pipeline(self) -> None:
        self._levels[-1] = (next(self.shared.pipelines), 0)

    @contextmanager
    def _inside(self, offset: int) -> Iterator[None]:
        """For a substitution in the command at hand: its output comes before the command, or its input after it."""
        levels = self._levels
        pipeline, stage = levels[-1]
        self._levels = [*levels[:-1], (pipeline, stage + offset), (next(self.shared.pipelines), 0)]
        yield
        self._levels = levels

    def _mark(self, expansion: Expansion) -> str:
        self.shared.expansions.append(expansion)
        return chr(FIRST_MARK + len(self.shared.expansions) - 1)

    def _count_token(self) -> None:
        self.shared.tokens += 1
        if self.shared.tokens > _MAX_TOKENS:
            raise TextTooLong

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def read_word(self, depth: int) -> str:
        """One word without its quotes. Substitutions in it are parsed and stay as written."""
        parts: list[str] = []
        while self.at < len(self.text):
            self._count_token()
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            char = self.text[self.at]
            if char in "'\"\\`$" or self.peek(2) in ("<(", ">("):
                parts.append(self._read_special(char, depth))
            else:
                break
        return "".join(parts)

    def _read_special(self, char: str, depth: int) -> str:
        if char == "'":
            return mark_quoted(self._read_single_quoted())
        if char == '"':
            self.at += 1
            return mark_quoted(self._read_double_quoted(depth))
        if char == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            return "" if escaped == "\n" else mark_quoted(escaped)
        if char in "<>":
            return self._read_substitution(depth, is_quoted=True, is_file=True)
        return self._read_expansion(depth, is_quoted=False)

    def _read_single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        end = len(self.text) if end < 0 else end
        found = self.text[self.at + 1 : end]
        self.at = end + 1
        return found

    def _read_double_quoted(self, depth: int) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            self._count_token()
            plain = _IN_QUOTES.match(self.text, self.at)
            if plain:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                break
            if char == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                parts.append("" if escaped == "\n" else escaped if escaped in '$`"\\' else "\\" + escaped)
                self.at += 2
            else:
                parts.append(self._read_expansion(depth, is_quoted=True))
        return "".join(parts)

    def _read_expansion(self, depth: int, *, is_quoted: bool) -> str:
        """At `$` or a backtick."""
        if self.peek() == "`":
            return self._read_backticks(depth, is_quoted=is_quoted)
        if self.peek(2) == "$'" and not is_quoted:
            return mark_quoted(self._read_ansi_quoted())
        if self.peek(2) == '$"' and not is_quoted:
            self.at += 2
            return mark_quoted(self._read_double_quoted(depth))
        if self.peek(2) == "$(":
            return self._read_substitution(depth, is_quoted=is_quoted)
        if self.peek(2) == "${":
            return self._read_braces(depth, is_quoted=is_quoted)
        variable = _VARIABLE.match(self.text, self.at)
        self.at = variable.end() if variable else self.at + 1
        return self._mark(Expansion(variable[0], is_quoted, variable[0][1:])) if variable else "$"

    def _read_substitution(self, depth: int, *, is_quoted: bool, is_file: bool = False) -> str:
        start, before, inner_depth = self.at, len(self.commands), len(self._levels) + 1
        self.at += 2
        with self._inside(1 if self.text[start] == ">" else -1):
            self.parse_list(depth + 1, closes=True)
        written = re.sub(r"\s+", " ", self.text[start : self.at])
        inner = tuple(self.commands[before:])
        if written.startswith("$(("):  # arithmetic; its value is a number
            return self._mark(Expansion(written, is_quoted, operator="?"))
        return self._mark(Expansion(written, is_quoted, commands=inner, depth=inner_depth, is_file=is_file))

    def _read_backticks(self, depth: int, *, is_quoted: bool) -> str:
        found = re.compile(r"`((?:[^`\\]|\\.)*)(?:`|\Z)", re.DOTALL).match(self.text, self.at)
        end = found.end() if found else len(self.text)
        inner = self.text[self.at + 1 : end].removesuffix("`")
        code = re.sub(r'\\([`$\\"])' if is_quoted else r"\\([`$\\])", r"\1", inner)
        commands = self._parse_inner(code, depth)
        self.at = end
        return self._mark(Expansion(f"`{inner}`", is_quoted, commands=commands, depth=len(self._levels) + 1))

    def _parse_inner(self, text: str, depth: int) -> tuple[ParsedCommand, ...]:
        with self._inside(-1):
            parser = _Parser(text, self.shared, self.path[:-1])
        parser.parse_list(depth + 1)
        self.commands += parser.commands
        return tuple(parser.commands)

    def _read_ansi_quoted(self) -> str:
        found = re.compile(r"\$'((?:[^'\\]|\\.)*)(?:'|\Z)", re.DOTALL).match(self.text, self.at)
        self.at = found.end() if found else len(self.text)
        return _ANSI_ESCAPE.sub(_decode_ansi, found[1]) if found else ""

    def _read_braces(self, depth: int, *, is_quoted: bool) -> str:
        """`${…}`, with the substitutions in it."""
        start = self.at
        found = _PARAMETER.match(self.text, start)
        self.at = found.end() if found else start + 2
        argument = self._read_braces_argument(depth)
        written = self.text[start : self.at]
        if found is None:
            return self._mark(Expansion(written, is_quoted, operator="?"))
        sign, name, subscript, operator = found.groups()
        is_all = sign == "" and subscript in ("@", "*") and not operator
        known = "!" if sign == "!" else "?" if sign else "[@]" if is_all else operator or ""
        if subscript is not None and not is_all:
            known = "?" if known or subscript != "0" else ""
        return self._mark(Expansion(written, is_quoted, name, known, argument))

    def _read_braces_argument(self, depth: int) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            self._count_token()
            char = self.text[self.at]
            if char == "}":
                self.at += 1
                break
            if char == "'":
                parts.append(self._read_single_quoted())
            elif char == '"':
                self.at += 1
                parts.append(self._read_double_quoted(depth))
            elif char == "\\":
                self.at += 2
                parts.append(self.text[self.at - 1 : self.at])
            elif char in "`$":
                parts.append(self._read_expansion(depth, is_quoted=False))
            else:
                self.at += 1
                parts.append(char)
        return "".join(parts)

    def add_document(self, document: _HereDocument) -> None:
        self._documents.append(document)

    def read_documents(self, depth: int) -> None:
        """The here-documents that begin on the next line."""
        documents, self._documents = self._documents, []
        for document in documents:
            self._count_token()
            tabs = r"\t*" if document.strips_tabs else ""
            last = re.compile(rf"^{tabs}{re.escape(document.end)}$", re.MULTILINE).search(self.text, self.at)
            text = self.text[self.at : last.start() if last else len(self.text)]
            self.at = last.end() + 1 if last else len(self.text)
            if not document.is_literal:
                text = self._parse_document(text, document.command, depth)
            if document.is_stdin:
                document.command.input = text
            else:
                document.command.opened.append(text)

    def _parse_document(self, text: str, command: ParsedCommand, depth: int) -> str:
        """An unquoted here-document, with marks for its expansions."""
        if "`" not in text and "$" not in text and "\\" not in text:
            return text
        *groups, (pipeline, stage) = command.path or self.path
        parser = _Parser(text, self.shared, (*groups, (pipeline, stage - 1)))
        parts: list[str] = []
        while parser.at < len(text):
            parts.append(parser._read_double_quoted(depth + 1))
            parts.append('"')
        self.commands += parser.commands
        return "".join(parts[:-1])


def _decode_ansi(match: re.Match[str]) -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if match[group]:
            code = int(match[group], base)
            return chr(code) if 0 < code < 0x110000 else ""
    if match[5]:
        return chr(ord(match[5]) & 0x1F)
    return _ANSI_LETTERS.get(match[6], match[6])


class _CommandList:
    """The commands of one list: what the text of a substitution, or the whole text, runs."""

    def __init__(self, parser: _Parser, depth: int) -> None:
        self._parser = parser
        self._depth = depth
        self._command = ParsedCommand()
        self._start = -1  # where the words of the command begin
        self._end = 0
        self._skips_until = ""  # the keyword that ends the words of `for` or `case`
        self._skips_next = False  # after `function`
        self._cases = 0  # open `case` statements
        self._is_pattern = False  # of a case
        self._is_test = False  # within `[[ … ]]`
        self._loop_variable = ""
        self._loops_arguments = False  # no `in` follows the variable
        self._continues = False  # after `|`, which a newline does not end
        self._is_certain = depth == 0
        self._operator = ""

    def step(self) -> str:
        """Reads one token. Returns the operator, or nothing after a word."""
        parser = self._parser
        blank = _BLANK.match(parser.text, parser.at)
        if blank:
            parser.at = blank.end()
            return ""
        if parser.peek() == "#":
            end = parser.text.find("\n", parser.at)
            parser.at = len(parser.text) if end < 0 else end
            return ""
        if self._is_test:
            self._read_test_word()
            return ""
        redirection = _REDIRECTION.match(parser.text, parser.at)
        if redirection and parser.peek(2) not in ("<(", ">("):
            self._read_redirection(redirection)
            return ""
        operator = _OPERATOR.match(parser.text, parser.at)
        if operator:
            parser.at = operator.end()
            return self._handle_operator(operator[0])
        self._handle_word()
        return ""

    def _handle_operator(self, operator: str) -> str:
        parser = self._parser
        if operator == "(" and self._start >= 0:
            if re.compile(r"[ \t]*\)").match(parser.text, parser.at):  # the definition of a function
                self._parser.shared.functions.update(self._command.words[-1:])
                self._discard()
                parser.at = parser.text.index(")", parser.at) + 1
                return ""
            if parser.text[parser.at - 2 : parser.at - 1] == "=":  # an array
                return self._read_array()
        if self._is_pattern:
            self._is_pattern = operator != ")"
            return ""
        self.end_command()
        self._move(operator)
        if operator == "\n":
            parser.read_documents(self._depth)
        if operator.startswith(";;") or operator == ";&":
            self._is_pattern = self._cases > 0
        return operator

    def _move(self, operator: str) -> None:
        """Where the next command stands after this operator."""
        parser = self._parser
        self._operator = operator
        if operator in ("|", "|&", "&") and parser.commands:
            parser.commands[-1].is_certain = False
        self._is_certain = self._depth == 0 and operator in (";", "\n", "&")
        if operator == "(":
            parser.open_group()
        elif operator == ")":
            parser.close_group()
        elif operator in ("|", "|&"):
            parser.next_stage()
        elif operator != "\n" or not self._continues:
            parser.next_pipeline()
        self._continues = operator in ("|", "|&") or (operator == "\n" and self._continues)

    def _read_array(self) -> str:
        parser = self._parser
        items: list[str] = []
        while parser.at < len(parser.text) and parser.peek() != ")":
            start = parser.at
            item = parser.read_word(self._depth)
            if parser.at == start:
                parser.at += 1
            else:
                items += _expand_braces(item)
        parser.at += 1
        if self._command.words and (declared := ASSIGNMENT.match(self._command.words[-1])):  # declare a=(…)
            self._command.words.pop()
            self._command.assignments.append(Assignment(declared[1], "", items, bool(declared[3])))
        elif self._command.assignments:
            self._command.assignments[-1].items = items
        return ""

    def _read_test_word(self) -> None:
        parser = self._parser
        word = parser.read_word(self._depth)
        if not word:
            parser.at += 1
            return
        self._command.words.append(word)
        self._end = parser.at
        self._is_test = word != "]]"

    def _read_redirection(self, found: re.Match[str]) -> None:
        parser, operator = self._parser, found[1] or found[2]
        parser.at = found.end()
        blank = _BLANK.match(parser.text, parser.at)
        parser.at = blank.end() if blank else parser.at
        start = parser.at
        target = parser.read_word(self._depth)
        is_stdin = found[0].removesuffix(operator) in ("", "0")
        self._command.has_input |= operator.startswith("<<")
        if operator in ("<<", "<<-"):
            is_literal = any(char in parser.text[start : parser.at] for char in "'\"\\")
            end = parser.text[start : parser.at] if MARK.search(target) else restore_characters(target)
            parser.add_document(_HereDocument(end, operator == "<<-", is_literal, self._command, is_stdin))
        elif operator == "<<<" and is_stdin:
            self._command.input = target
        elif operator == "<<<":
            self._command.opened.append(target)
        elif operator == "<&" and target not in ("0", "-"):  # what was opened there earlier
            self._command.input = self._command.input or UNKNOWN
            self._command.has_input = self._command.reads_descriptor = True
        elif ">" in operator and not (operator == ">&" and re.fullmatch(r"\d+-?|-", target)):
            self._command.targets.append(target)
        elif operator == "<":
            self._command.sources.append(target)

    def _handle_word(self) -> None:
        parser = self._parser
        start = parser.at
        read = parser.read_word(self._depth)
        if parser.at == start:  # a character that begins no word
            parser.at += 1
            return
        written = parser.text[start : parser.at]
        if self._command.words[-2:-1] == ["coproc"] and written in _GROUP_STARTS:
            self._command.words.pop()  # the name: `coproc X { …; }`
        is_first = all(word in PREFIX_KEYWORDS for word in self._command.words)
        if self._is_skipped(written, read) or (is_first and self._handle_keyword(written)):
            return
        if is_first and (assigned := ASSIGNMENT.match(written)):
            value = read[assigned.end() :] if not assigned[2] else read.partition("=")[2]
            self._command.assignments.append(Assignment(assigned[1], value, appends=bool(assigned[3])))
            self._start = start if self._start < 0 else self._start
            return
        self._start = start if not self._command.words else self._start
        self._end = parser.at
        expanded = _expand_braces(read)
        self._command.words += [word for word in expanded if word] if len(expanded) > 1 else expanded

    def _is_skipped(self, written: str, read: str) -> bool:
        """Whether the word is neither a command nor an argument."""
        if self._is_pattern:
            if written == "esac":
                self._cases -= 1
                self._is_pattern = False
                self._parser.close_group()
            return True
        if self._skips_until:
            if written == self._skips_until:
                self._is_pattern = written == "in"
                self._end_loop_words()
                self._skips_until = ""
            elif self._skips_until == "do":
                self._read_loop_word(read)
            return True
        skips, self._skips_next = self._skips_next, False
        if skips:
            self._parser.shared.functions.add(read)
        return skips

    def _read_loop_word(self, read: str) -> None:
        """A word of `for x in a b`: each is a value of x."""
        if not self._loop_variable:
            self._loop_variable = read
        elif read == "in":
            self._loops_arguments = False
        else:
            words = _expand_braces(read)
            self._command.assignments += [Assignment(self._loop_variable, word, is_loop=True) for word in words]

    def _handle_keyword(self, written: str) -> bool:
        """Whether the word in front of a command is not the command itself."""
        if written == "[[":
            self._is_test = True
            return False
        self._skips_next = written == "function"
        self._continues = False
        if written in _GROUP_STARTS:
            self._parser.open_group()
        elif written in _GROUP_ENDS:
            self._parser.close_group()
        if written in ("for", "select", "case"):
            self._skips_until = "in" if written == "case" else "do"
            self._loop_variable, self._loops_arguments = "", written != "case"
            self._cases += written == "case"
            return True
        if written == "esac":
            self._cases = max(0, self._cases - 1)
        return self._skips_next or written in _SKIPPED_KEYWORDS

    def _end_loop_words(self) -> None:
        if self._loop_variable and self._loops_arguments:
            self._command.assignments.append(Assignment(self._loop_variable, "", loops_arguments=True))
        self._loops_arguments = False

    def end_command(self) -> None:
        if self._skips_until == "do":
            self._end_loop_words()
        command = self._command
        if command.words or command.assignments or command.targets or command.sources or command.has_input:
            command.operator = self._operator
            command.source = self._parser.text[self._start : self._end] if command.words else ""
            command.path = self._parser.path
            command.is_certain = self._is_certain and len(command.path) == 1
            self._parser.commands.append(command)
        if self._skips_until == "do":  # `for x in a b;`
            self._skips_until = ""
        self._discard()

    def _discard(self) -> None:
        self._command = ParsedCommand()
        self._start = -1
        self._is_test = False


def _expand_braces(word: str) -> list[str]:
    """`{git,push}` → `git`, `push`."""
    opened = word.find("{")
    if opened < 0 or "," not in word:
        return [word]
    depth, begin, options = 0, opened + 1, list[str]()
    for at in range(opened, len(word)):
        if word[at] == "{" and word[at - 1 : at] != "$":
            depth += 1
        elif word[at] == "}":
            depth -= 1
        if depth == 0 or (depth == 1 and word[at] == ","):
            options.append(word[begin:at])
            begin = at + 1
        if depth == 0:
            if len(options) < 2:
                return [word]
            tails = _expand_braces(word[at + 1 :])
            heads = [each for option in options for each in _expand_braces(option)]
            if len(heads) * len(tails) > _MAX_ALTERNATIVES:
                raise TextTooLong
            return [word[:opened] + head + tail for head in heads for tail in tails]
    return [word]
