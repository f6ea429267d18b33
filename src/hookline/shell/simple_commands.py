"""Splits a shell text into simple commands: words without quotes, assignments and redirections.

It follows the shell's grammar as far as that says which words run: quotes, substitutions, here-documents, keywords. It
never fails; a text that a shell would refuse is read as far as possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from hookline.lazy_dataclasses import dataclass, field

_MAX_TOKENS: Final = 20_000
_MAX_DEPTH: Final = 50
_MAX_ALTERNATIVES: Final = 64  # of braces in one word

_BLANK: Final = re.compile(r"(?:[ \t\r]|\\\n)+")
_PLAIN: Final = re.compile(r"[^\s;&|()<>'\"\\`$]+")
_IN_QUOTES: Final = re.compile(r'[^"\\`$]+')
_OPERATOR: Final = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|()\n]")
_REDIRECTION: Final = re.compile(r"(?:\d*|\{\w+\})(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)")
_VARIABLE: Final = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_ANSI_ESCAPE: Final = re.compile(
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
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_SKIPPED_KEYWORDS: Final = frozenset(
    ("if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac")
)
PREFIX_KEYWORDS: Final = frozenset(("time", "-p", "coproc"))
"""Keywords that stay among the words of a command. Assignments and `!` may follow them."""
_EXPANSION: Final = re.compile(r"\$\{(\w+)(?::?[-=+]([^{}]*))?[^{}]*\}|\$(?:([A-Za-z_]\w*)|[0-9@*#?$!-])")

# Quoted characters that would otherwise mean something in the unquoted word.
_QUOTED_CHARACTERS: Final = str.maketrans({"{": "\ue000", ",": "\ue001", "}": "\ue002"})
_RESTORED_CHARACTERS: Final = str.maketrans({"\ue000": "{", "\ue001": ",", "\ue002": "}"})
_FIELD_BREAK: Final = "\ue003"  # an unquoted $IFS


class TextTooLong(Exception):
    """The text has more words than can be read in time."""


@dataclass(slots=True)
class ParsedCommand:
    words: list[str] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)  # the files that its redirections write
    source: str = ""  # the words as they are written
    input: str = ""  # of a here-document or here-string
    is_piped: bool = False  # it reads the output of the command before it


def parse_commands(text: str) -> list[ParsedCommand]:
    """Every simple command in the text, also within substitutions. Raises TextTooLong."""
    parser = _Parser(text)
    parser.parse_list(0)
    return parser.commands


def expand_word(word: str, variables: Mapping[str, str]) -> list[str]:
    """The word with the values of these variables. A variable that is not among them counts as empty."""
    if "$" not in word:
        return [word]

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[3] or ""
        return variables.get(name, match[2] or "")

    return _EXPANSION.sub(value, word).split()


@dataclass(slots=True)
class _HereDocument:
    end: str
    strips_tabs: bool
    is_literal: bool
    command: ParsedCommand


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.commands: list[ParsedCommand] = []
        self._tokens = 0
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

    def _count_token(self) -> None:
        self._tokens += 1
        if self._tokens > _MAX_TOKENS:
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
            return self._read_single_quoted().translate(_QUOTED_CHARACTERS)
        if char == '"':
            self.at += 1
            return self._read_double_quoted(depth).translate(_QUOTED_CHARACTERS)
        if char == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            return "" if escaped == "\n" else escaped.translate(_QUOTED_CHARACTERS)
        if char in "<>":
            return self._read_substitution(1, depth)
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
            return self._read_backticks(depth)
        if self.peek(2) == "$'" and not is_quoted:
            return self._read_ansi_quoted().translate(_QUOTED_CHARACTERS)
        if self.peek(2) == '$"' and not is_quoted:
            self.at += 2
            return self._read_double_quoted(depth).translate(_QUOTED_CHARACTERS)
        if self.peek(2) == "$(":
            return self._read_substitution(1, depth)
        if self.peek(2) == "${":
            found = self._read_braces(depth)
            return _FIELD_BREAK if found == "${IFS}" and not is_quoted else found.translate(_QUOTED_CHARACTERS)
        variable = _VARIABLE.match(self.text, self.at)
        self.at = variable.end() if variable else self.at + 1
        found = variable[0] if variable else "$"
        return _FIELD_BREAK if found == "$IFS" and not is_quoted else found

    def _read_substitution(self, opening: int, depth: int) -> str:
        start = self.at
        self.at += opening + 1
        self.parse_list(depth + 1, closes=True)
        return re.sub(r"\s+", " ", self.text[start : self.at]).translate(_QUOTED_CHARACTERS)

    def _read_backticks(self, depth: int) -> str:
        found = re.compile(r"`((?:[^`\\]|\\.)*+)(?:`|\Z)", re.DOTALL).match(self.text, self.at)
        end = found.end() if found else len(self.text)
        inner = self.text[self.at + 1 : end].removesuffix("`")
        self._parse_inner(re.sub(r"\\([`$\\])", r"\1", inner), depth)
        self.at = end
        return f"`{inner}`".translate(_QUOTED_CHARACTERS)

    def _parse_inner(self, text: str, depth: int) -> None:
        parser = _Parser(text)
        parser._tokens = self._tokens
        parser.parse_list(depth + 1)
        self._tokens = parser._tokens
        self.commands += parser.commands

    def _read_ansi_quoted(self) -> str:
        found = re.compile(r"\$'((?:[^'\\]|\\.)*+)(?:'|\Z)", re.DOTALL).match(self.text, self.at)
        self.at = found.end() if found else len(self.text)
        return _ANSI_ESCAPE.sub(_decode_ansi, found[1]) if found else ""

    def _read_braces(self, depth: int) -> str:
        """`${…}`, with the substitutions in it."""
        start = self.at
        self.at += 2
        while self.at < len(self.text):
            self._count_token()
            char = self.text[self.at]
            if char == "}":
                self.at += 1
                break
            if char == "'":
                self._read_single_quoted()
            elif char == '"':
                self.at += 1
                self._read_double_quoted(depth)
            elif char == "\\":
                self.at += 2
            elif char in "`$":
                self._read_expansion(depth, is_quoted=True)
            else:
                self.at += 1
        return self.text[start : self.at]

    def add_document(self, document: _HereDocument) -> None:
        self._documents.append(document)

    def read_documents(self, depth: int) -> None:
        """The here-documents that begin on the next line."""
        documents, self._documents = self._documents, []
        for document in documents:
            self._count_token()
            tabs = r"\t*" if document.strips_tabs else ""
            last = re.compile(rf"^{tabs}{re.escape(document.end)}$", re.MULTILINE).search(self.text, self.at)
            document.command.input = self.text[self.at : last.start() if last else len(self.text)]
            self.at = last.end() + 1 if last else len(self.text)
            if not document.is_literal:
                self._parse_substitutions(document.command.input, depth)

    def _parse_substitutions(self, text: str, depth: int) -> None:
        """The commands in the substitutions of an unquoted here-document."""
        if "`" not in text and "$(" not in text and "${" not in text:
            return
        parser = _Parser(text)
        parser._tokens = self._tokens
        while parser.at < len(text):
            parser._read_double_quoted(depth + 1)
        self._tokens = parser._tokens
        self.commands += parser.commands


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
                self._discard()
                parser.at = parser.text.index(")", parser.at) + 1
                return ""
            if parser.text[parser.at - 2 : parser.at - 1] == "=":  # an array
                return self._read_array()
        if self._is_pattern:
            self._is_pattern = operator != ")"
            return ""
        self.end_command()
        self._command.is_piped = operator in ("|", "|&")
        if operator == "\n":
            parser.read_documents(self._depth)
        if operator.startswith(";;") or operator == ";&":
            self._is_pattern = self._cases > 0
        return operator

    def _read_array(self) -> str:
        parser = self._parser
        while parser.at < len(parser.text) and parser.peek() != ")":
            if not parser.read_word(self._depth):
                parser.at += 1
        parser.at += 1
        return ""

    def _read_test_word(self) -> None:
        parser = self._parser
        word = parser.read_word(self._depth)
        if not word:
            parser.at += 1
            return
        self._command.words.append(word.translate(_RESTORED_CHARACTERS))
        self._end = parser.at
        self._is_test = word != "]]"

    def _read_redirection(self, found: re.Match[str]) -> None:
        parser, operator = self._parser, found[1] or found[2]
        parser.at = found.end()
        blank = _BLANK.match(parser.text, parser.at)
        parser.at = blank.end() if blank else parser.at
        start = parser.at
        target = parser.read_word(self._depth).translate(_RESTORED_CHARACTERS)
        if operator in ("<<", "<<-"):
            is_literal = any(char in parser.text[start : parser.at] for char in "'\"\\")
            parser.add_document(_HereDocument(target, operator == "<<-", is_literal, self._command))
        elif operator == "<<<":
            self._command.input = target
        elif ">" in operator and not (operator == ">&" and re.fullmatch(r"\d+-?|-", target)):
            self._command.targets.append(target)

    def _handle_word(self) -> None:
        parser = self._parser
        start = parser.at
        read = parser.read_word(self._depth)
        if parser.at == start:  # a character that begins no word
            parser.at += 1
            return
        written = parser.text[start : parser.at]
        is_first = all(word in PREFIX_KEYWORDS for word in self._command.words)
        if self._is_skipped(written) or (is_first and self._handle_keyword(written)):
            return
        if is_first and _ASSIGNMENT.match(written):
            self._command.assignments.append(read.replace(_FIELD_BREAK, " ").translate(_RESTORED_CHARACTERS))
            self._start = start if self._start < 0 else self._start
            return
        self._start = start if not self._command.words else self._start
        self._end = parser.at
        self._command.words += [word for each in _expand_braces(read) for word in _split_fields(each)]

    def _is_skipped(self, written: str) -> bool:
        """Whether the word is neither a command nor an argument."""
        if self._is_pattern:
            if written == "esac":
                self._cases -= 1
                self._is_pattern = False
            return True
        if self._skips_until:
            if written == self._skips_until:
                self._is_pattern = written == "in"
                self._skips_until = ""
            return True
        skips, self._skips_next = self._skips_next, False
        return skips

    def _handle_keyword(self, written: str) -> bool:
        """Whether the word in front of a command is not the command itself."""
        if written == "[[":
            self._is_test = True
            return False
        self._skips_next = written == "function"
        if written in ("for", "select", "case"):
            self._skips_until = "in" if written == "case" else "do"
            self._cases += written == "case"
            return True
        if written == "esac":
            self._cases = max(0, self._cases - 1)
        return self._skips_next or written in _SKIPPED_KEYWORDS

    def end_command(self) -> None:
        command = self._command
        if command.words or command.assignments or command.targets:
            command.source = self._parser.text[self._start : self._end] if command.words else ""
            self._parser.commands.append(command)
        if self._skips_until == "do":  # `for x in a b;`
            self._skips_until = ""
        self._discard()

    def _discard(self) -> None:
        self._command = ParsedCommand()
        self._start = -1
        self._is_test = False


def _split_fields(word: str) -> Iterator[str]:
    parts = word.split(_FIELD_BREAK) if _FIELD_BREAK in word else [word]
    return (part.translate(_RESTORED_CHARACTERS) for part in parts if part or len(parts) == 1)


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
