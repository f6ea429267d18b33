"""Reads the YAML that most hook files are written in, without PyYAML, which takes 11 ms to import.

Block mappings and lists, flow collections and scalars on one line, comments. For anything else, and for every text with an
error, it returns None, and `hookline.config.yaml` reads the whole text again. So it may only read what it is sure of: its
test compares values and positions with libyaml's.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

from hookline.config.document import MAX_NESTING, MAX_VALUES, Positions, SourceMap, SourceText
from hookline.config.scalars import NON_TEXT_FIRST_CHARACTERS, NumberTooLargeError, parse_core_scalar
from hookline.lazy_imports import lazy_pattern

_KEY: Final = r"([A-Za-z_][A-Za-z0-9_.$/-]{0,99}+) *+:"
_QUOTED: Final = r"""'([^'\n]*+(?:''[^'\n]*+)*+)'|"([^"\\\n]*+)\""""
_FLOW_PLAIN: Final = (
    r"((?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=[A-Za-z0-9.]))"
    r"(?:[^\s,\[\]{}:#]|:(?=[A-Za-z0-9_/])| ++(?=[^\s,\[\]{}:#]))*)"
)
_FLOW_VALUE: Final = rf"(?:([\[{{]) *+|(?:{_FLOW_PLAIN}|{_QUOTED}) *+([,}}\]]) *+)"
_FLOW_ENTRY: Final = lazy_pattern(rf"{_KEY} ++{_FLOW_VALUE}")
_FLOW_ITEM: Final = lazy_pattern(_FLOW_VALUE)
_FLOW_END: Final = lazy_pattern(r" *+([,}\]]) *+")
_INDENT: Final = lazy_pattern(r"(?: *+(?:#[^\n]*+)?\n)*( *+)")
_LINE_END: Final = lazy_pattern(r" *+(?:(?<= )#[^\n]*+)?(?:\n|\Z)")
_BLOCK_KEY: Final = lazy_pattern(rf"{_KEY}(?= |\n|\Z) *+")
_BLOCK_SCALAR: Final = lazy_pattern(
    rf"(?:((?:[^\s\-?:,\[\]{{}}#&*!|>'\"%@`]|-(?=[A-Za-z0-9.]))(?:[^\n:#]|:(?![ \n]|\Z)|(?<! )#)*)|{_QUOTED})"
)
_UNUSUAL: Final = ("\t", "\r", "\ufeff")


class _NotPlainError(Exception):
    """The text needs the whole of YAML."""


class _Block:
    """An open block mapping or list. With `awaits_value`, the last key or dash has no value yet."""

    __slots__ = ("awaits_value", "container", "empty_at", "indent", "key", "positions")

    def __init__(self, indent: int, container: Any, positions: array[int]) -> None:
        self.indent = indent
        self.container = container
        self.positions = positions
        self.key = ""
        self.awaits_value = False
        self.empty_at = 0  # the position of the value if it is missing


def parse_plain_yaml(source: SourceText, start: int, end: int) -> tuple[Any, SourceMap] | None:
    """Like `hookline.config.yaml.parse_yaml`; None if the text needs the whole of YAML."""
    source.refuse_control_characters(start, end)
    source.refuse_hidden_line_ends(start, end)
    text = source.text[start:end]
    if any(character in text for character in _UNUSUAL):
        return None
    reader = _PlainReader(text, start)
    try:
        root, root_at = reader.read()
    except (_NotPlainError, NumberTooLargeError):
        return None
    if sum(map(len, reader.positions.values())) > MAX_VALUES:  # counts keys too: PyYAML's reader counts exactly
        return None
    return root, SourceMap(source.starts, root_at, reader.positions)


class _PlainReader:
    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.positions: Positions = {}
        self.keys: dict[str, str] = {}  # thousands of hooks have the same few keys: they share one text each
        self.blocks: list[_Block] = []

    def read(self) -> tuple[Any, int]:
        text, blocks = self.text, self.blocks
        line_start = 0
        root_at = -1
        while True:
            indent = _INDENT.match(text, line_start)
            assert indent is not None
            at = indent.end()
            if at >= len(text):
                break
            if text[at] == "#":  # a comment without a line end
                break
            if root_at < 0:
                root_at = at + self.offset
            line_start = self.read_line(at, len(indent[1]))
        if root_at < 0:
            raise _NotPlainError
        root = blocks[0].container
        self.close_blocks(-1)
        return root, root_at

    def read_line(self, at: int, column: int) -> int:
        """Reads `- - key: value` from its first character on; returns where the next line begins."""
        text, line_start = self.text, at
        while text[at] == "-" and text[at + 1 : at + 2] in (" ", "\n", ""):
            block = self.enter_list(at, column)
            block.positions.append(0)  # known when its value is
            block.awaits_value, block.empty_at = True, at + 1
            begun = at + 1
            while text[begun : begun + 1] == " ":
                begun += 1
            ended = _LINE_END.match(text, at + 1)
            if ended is not None:
                return ended.end()
            column += begun - at
            at = begun
            self.require_new_block(column)
        key = _BLOCK_KEY.match(text, at)
        if key is None:
            if at == line_start:  # a text on several lines, or an error
                raise _NotPlainError
            return self.read_value(at)
        block = self.enter_mapping(at, column)
        block.key = self.check_key(key[1], block.container)
        block.positions.append(at + self.offset)
        block.awaits_value, block.empty_at = True, text.index(":", key.end(1)) + 1
        ended = _LINE_END.match(text, max(key.end() - 1, block.empty_at))
        return self.read_value(key.end()) if ended is None else ended.end()

    def require_new_block(self, column: int) -> None:
        """After a dash on the same line, only what is inside its item may follow."""
        if self.blocks[-1].indent >= column:
            raise _NotPlainError

    def enter_list(self, at: int, column: int) -> _Block:
        self.close_blocks(column)
        blocks = self.blocks
        if blocks and blocks[-1].indent == column:
            if type(blocks[-1].container) is list:
                self.close_value(blocks[-1])
                return blocks[-1]
            if not blocks[-1].awaits_value:  # a list below a key may begin in the key's column
                raise _NotPlainError
        return self.open_block(at, column, [])

    def enter_mapping(self, at: int, column: int) -> _Block:
        self.close_blocks(column)
        blocks = self.blocks
        if blocks and blocks[-1].indent == column and type(blocks[-1].container) is list:
            if len(blocks) < 2 or blocks[-2].indent != column:
                raise _NotPlainError
            self.close_block()
        if blocks and blocks[-1].indent == column:
            self.close_value(blocks[-1])
            return blocks[-1]
        return self.open_block(at, column, {})

    def open_block(self, at: int, column: int, container: Any) -> _Block:
        blocks = self.blocks
        if blocks:
            if not blocks[-1].awaits_value or len(blocks) >= MAX_NESTING // 2:
                raise _NotPlainError
            self.add_value(blocks[-1], container, at + self.offset)
        elif self.positions or column:
            raise _NotPlainError
        positions = self.positions[id(container)] = array("I")
        blocks.append(_Block(column, container, positions))
        return blocks[-1]

    def close_blocks(self, column: int) -> None:
        while self.blocks and self.blocks[-1].indent > column:
            self.close_block()

    def close_block(self) -> None:
        self.close_value(self.blocks.pop())

    def close_value(self, block: _Block) -> None:
        if block.awaits_value:
            self.add_value(block, None, block.empty_at + self.offset)

    def add_value(self, block: _Block, value: Any, at: int) -> None:
        block.awaits_value = False
        if type(block.container) is list:
            block.container.append(value)
            block.positions[-1] = at
        else:
            block.container[block.key] = value
            block.positions.append(at)

    def check_key(self, key: str, mapping: dict[str, Any]) -> str:
        known = self.keys.get(key)
        if known is None:
            if key[0] in NON_TEXT_FIRST_CHARACTERS and type(parse_core_scalar(key)) is not str:
                raise _NotPlainError
            known = self.keys[key] = key
        if known in mapping:
            raise _NotPlainError
        return known

    def read_value(self, at: int) -> int:
        """The scalar or flow collection for which the last block waits; returns where the next line begins."""
        text, block = self.text, self.blocks[-1] if self.blocks else None
        if block is None or not block.awaits_value:
            raise _NotPlainError
        value: Any
        if text[at] == "{" or text[at] == "[":
            value, end = self.read_flow(at, len(self.blocks))
        else:
            found = _BLOCK_SCALAR.match(text, at)
            if found is None:
                raise _NotPlainError
            end = found.end()
            plain, single, double = found.groups()
            if plain is not None:
                end -= len(plain) - len(plain.rstrip(" "))
            value = _scalar(None if plain is None else plain.rstrip(" "), single, double)
        ended = _LINE_END.match(text, end)
        if ended is None:
            raise _NotPlainError
        self.add_value(block, value, at + self.offset)
        return ended.end()

    def read_flow(self, at: int, depth: int) -> tuple[Any, int]:
        """The flow collection that begins there, and where it ends."""
        if depth >= MAX_NESTING // 2:
            raise _NotPlainError
        is_mapping = self.text[at] == "{"
        container: Any = {} if is_mapping else []
        self.positions[id(container)] = array("I")
        at += 1
        while self.text[at : at + 1] == " ":
            at += 1
        close = "}" if is_mapping else "]"
        if self.text[at : at + 1] == close:
            return container, at + 1
        read = self.read_flow_mapping if is_mapping else self.read_flow_list
        return container, read(container, at, depth)

    def read_flow_mapping(self, mapping: dict[str, Any], at: int, depth: int) -> int:
        text, keys, offset, match = self.text, self.keys, self.offset, _FLOW_ENTRY.match
        positions = self.positions[id(mapping)]
        while True:
            found = match(text, at)
            if found is None:
                raise _NotPlainError
            key, opened, plain, single, double, ended = found.groups()
            known = keys.get(key)
            if known is None or known in mapping:
                known = self.check_key(key, mapping)
            positions.append(found.start(1) + offset)
            end = found.end()
            if opened:
                begin = found.start(2)
                mapping[known], ended, end = self.read_nested(begin, depth)
                positions.append(begin + offset)
            elif plain:
                is_text = plain[0] not in NON_TEXT_FIRST_CHARACTERS
                mapping[known] = plain if is_text else parse_core_scalar(plain)
                positions.append(found.start(3) + offset)
            else:
                mapping[known] = _scalar(None, single, double)
                positions.append(found.start(4 if double is None else 5) - 1 + offset)
            if ended == "}":
                return _without_spaces(text, end)
            if ended != ",":
                raise _NotPlainError
            at = end

    def read_flow_list(self, items: list[Any], at: int, depth: int) -> int:
        text, offset, match = self.text, self.offset, _FLOW_ITEM.match
        positions = self.positions[id(items)]
        while True:
            found = match(text, at)
            if found is None:
                raise _NotPlainError
            opened, plain, single, double, ended = found.groups()
            end = found.end()
            if opened:
                value, ended, end = self.read_nested(at, depth)
            else:
                value = _scalar(plain, single, double)
            items.append(value)
            positions.append(at + offset)
            if ended == "]":
                return _without_spaces(text, end)
            if ended != ",":
                raise _NotPlainError
            at = end

    def read_nested(self, at: int, depth: int) -> tuple[Any, str, int]:
        """The collection that begins there, what follows it, and where that ends."""
        value, end = self.read_flow(at, depth + 1)
        ended = _FLOW_END.match(self.text, end)
        if ended is None:
            raise _NotPlainError
        return value, ended[1], ended.end()


def _scalar(plain: str | None, single: str | None, double: str | None) -> Any:
    if plain is not None:
        return parse_core_scalar(plain) if plain[0] in NON_TEXT_FIRST_CHARACTERS else plain
    return double if single is None else single.replace("''", "'")


def _without_spaces(text: str, end: int) -> int:
    """Steps back over spaces before `end`: a comment that follows needs one before it."""
    while text[end - 1] == " ":
        end -= 1
    return end
