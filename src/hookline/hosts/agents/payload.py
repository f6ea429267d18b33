"""Reads an agent's payload into facts. Values of an unexpected type are left out.

One tool call may do several things; guards see each of them. The text of an `apply_patch` call is such a case:

```
*** Begin Patch
*** Update File: old.py
*** Move to: new.py
@@ def f():
-    return 1
+    return 2
*** Add File: note.txt
+hello
*** Delete File: gone.txt
*** End Patch
```
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from hookline.errors import ConditionError
from hookline.hooks.inner_calls import (
    INNER_CALL_KEYS,
    PART_KEYS,
    PART_LISTS,
    PATCH_TOOLS,
    find_inner_calls,
    is_input_schema,
)
from hookline.hooks.tool_name import UNKNOWN_SERVER, other_meaning
from hookline.hooks.tools import VOCABULARIES, ToolKind, kind_of_name, main_field, tool_kind
from hookline.lazy_dataclasses import dataclass, field

MAX_PARTS: Final = 1_000
"""Of one call. One with more cannot be judged: its facts say so in `tool.parts`."""
_MAX_COPIED_FIELDS: Final = 100_000  # each part has the fields beside its list too

Facts = dict[str, Any]
CallPart = tuple[ToolKind, Any]

_PATCH_FIELDS: Final = ("command", "patch", "patchText", "input", "patch_text")
PATCH_BEGIN: Final = "*** Begin Patch"
PATCH_END: Final = "*** End Patch"
_COMPOUND_KEYS: Final = INNER_CALL_KEYS.union(PART_KEYS)  # an input without any of these is one call
_MAX_NESTED: Final = 4  # calls within calls
_PATCH_HEADER: Final = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to|Environment ID): ?(.*)")


class _TooManyPartsError(Exception):
    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


@dataclass(slots=True)
class _PatchedFile:
    verb: str
    path: str
    lines: list[str] = field(default_factory=list)
    target: str = ""


def split_patch(text: str) -> list[CallPart]:
    """One call for each file: a write for an added file, an edit for one that is updated, deleted or moved.

    A text that is not a valid patch becomes one edit with the whole text, and one for each path that it mentions, so
    that guards of those paths see it.
    """
    files = _parse_patch(text)
    if files is None:
        mentioned = dict.fromkeys(_mentioned_paths(text))
        whole = {"patch": text, "new_string": text}
        return [(ToolKind.EDIT, whole), *((ToolKind.EDIT, {"path": path, **whole}) for path in mentioned)]
    return [call for each in files for call in _split_file(each)]


def _mentioned_paths(text: str) -> list[str]:
    headers = [_PATCH_HEADER.fullmatch(each.strip()) for each in text.splitlines()]
    return [path for header in headers if header and (path := header[2].strip())]


def _split_file(file: _PatchedFile) -> list[CallPart]:
    moved = [f"*** Move to: {file.target}"] if file.target else []
    patch = "\n".join((f"*** {file.verb}: {file.path}", *moved, *file.lines))
    if file.verb == "Add File":
        return [
            (ToolKind.WRITE, {"path": file.path, "content": "\n".join(_lines_marked(file, "+")) + "\n", "patch": patch})
        ]
    change = {
        "patch": patch,
        "old_string": "\n".join(_lines_marked(file, "- ")),
        "new_string": "\n".join(_lines_marked(file, "+ ")),
    }
    paths = [file.path, file.target] if file.target else [file.path]
    return [(ToolKind.EDIT, {"path": path, **change}) for path in paths]


def _lines_marked(file: _PatchedFile, marks: str) -> list[str]:
    return [each[1:] for each in file.lines if each[:1] and each[:1] in marks]


def _parse_patch(text: str) -> list[_PatchedFile] | None:
    lines = _patch_lines(text)
    if lines is None:
        return None
    files: list[_PatchedFile] = []
    for number, each in enumerate(lines):
        file = files[-1] if files else None
        if file is not None and _belongs_to_file(file, each):
            file.lines.append(each)
            continue
        header = _PATCH_HEADER.fullmatch(each.strip())
        if header is None:
            if each.strip():
                return None
        elif not _start_file(files, header[1], header[2].strip(), first=number == 0):
            return None
    return files or None


def _patch_lines(text: str) -> list[str] | None:
    """The lines between the two marks, also inside a here-document."""
    lines = [each.removesuffix("\r") for each in text.strip().split("\n")]
    if lines[0].startswith("<<") and lines[0].strip("<'\" \t") == lines[-1].strip():
        lines = "\n".join(lines[1:-1]).strip().split("\n")
    if len(lines) < 3 or lines[0].strip() != PATCH_BEGIN or lines[-1].strip() != PATCH_END:
        return None
    return lines[1:-1]


def _belongs_to_file(file: _PatchedFile, line: str) -> bool:
    """True if the agents' own parsers take the line as part of the change to the file."""
    if file.verb == "Add File":
        return line.startswith("+")
    if file.verb == "Update File":
        return line[:1] in ("", " ", "+", "-") or line.startswith(("@@", "*** End of File"))
    return False


def _start_file(files: list[_PatchedFile], verb: str, path: str, *, first: bool) -> bool:
    if verb == "Environment ID":
        return first
    if not path:
        return False
    if verb != "Move to":
        files.append(_PatchedFile(verb, path))
        return True
    if not files or files[-1].verb != "Update File" or files[-1].lines or files[-1].target:
        return False
    files[-1].target = path
    return True


def first_text(values: Any, *names: str) -> str:
    """The first of these keys whose value is a non-empty string."""
    for name in names if type(values) is dict or isinstance(values, Mapping) else ():
        found = values.get(name)
        if isinstance(found, str) and found:
            return found
    return ""


def first_mapping(values: Any, *names: str) -> dict[str, Any]:
    found = (values.get(name) for name in names) if isinstance(values, Mapping) else ()
    return next((each for each in found if isinstance(each, dict)), {})


def mapping_list(values: Any, name: str) -> list[dict[str, Any]]:
    found = values.get(name) if type(values) is dict or isinstance(values, Mapping) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def all_strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from all_strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from all_strings(each)


def decode_object(value: Any) -> Any:
    """Decodes an object that the agent sent as JSON text. Any other value is returned unchanged."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, dict) else value


def decode_values(values: Any) -> Any:
    """Decodes the values of an object that the agent sent as JSON texts of objects or lists."""
    if not isinstance(values, dict):
        return values
    return {key: _decode_container(value) for key, value in values.items()}


def _decode_container(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, (dict, list)) else value


def known_facts(**facts: Any) -> Facts:
    """Drops the facts that are None or empty."""
    return {name: value for name, value in facts.items() if value or value not in ("", None, {})}


def result_facts(ok: bool, result: Any = None, error: str = "") -> Facts:
    """The facts of a tool that has run."""
    facts: Facts = {"ok": ok} if result is None else {"ok": ok, "result": result}
    return facts if ok else {**facts, "error": error or "it failed"}


def shell_result_facts(exit_code: int, result: Any) -> Facts:
    """The facts of a command that has run, for agents that put the exit code into the result."""
    return result_facts(exit_code == 0, result, f"exit code {exit_code}")


def kind_in_vocabulary(vocabulary: str, name: str) -> ToolKind:
    """The kind of an agent's tool, by the agent's own tool names first, then by those of every agent."""
    known = VOCABULARIES.get(vocabulary)
    own = known.names.items() if known else ()
    return next((kind for kind, names in own if name in names), None) or kind_of_name(name)


def mcp_tool_name(server: str, tool: str) -> str:
    return f"mcp__{server or UNKNOWN_SERVER}__{tool}" if tool else ""


def split_call(name: str, kind: ToolKind, input: Any) -> list[CallPart]:
    """One part for each thing that a guard may check: the files of a patch, the items of a list of edits.

    There is at least one. If the input says the same thing twice, in the list and beside it or as two patches, both
    become parts, because only the tool knows which one it reads.
    """
    if name in PATCH_TOOLS:
        found = (
            [input]
            if isinstance(input, str)
            else [each for field in _PATCH_FIELDS if (each := first_text(input, field))]
        )
        if found:
            return [call for each in found for call in split_patch(each)]
    commands = input.get("commands") if isinstance(input, dict) and "command" not in input else None
    if isinstance(commands, list) and commands and all(isinstance(each, str) for each in commands):
        around = _fields_around("commands", input)
        return [(kind, {**around, "command": each}) for each in commands]
    for listed in PART_LISTS:
        parts = mapping_list(input, listed)
        if parts and len(parts) == len(input[listed]):
            around = _fields_around(listed, input)
            whole = [(kind, input)] if any(key in around for part in parts for key in part) else []
            return [*whole, *((kind, {**around, **part}) for part in parts)]
    return [(kind, input)]


def join_parts(input: Any, new: Any) -> Any:
    """The whole input of a call with one part, given what hooks made of that part. None if there is no such input."""
    if not isinstance(input, dict) or not isinstance(new, dict):
        return new
    if isinstance(input.get("commands"), list) and "command" not in input and "command" in new:
        return {**{key: value for key, value in new.items() if key != "command"}, "commands": [new["command"]]}
    for listed in PART_LISTS:
        parts = mapping_list(input, listed)
        if parts and listed not in new:
            part = {key: value for key, value in new.items() if key in parts[0] or key not in input}
            return {**{key: value for key, value in new.items() if key not in part}, listed: [part]}
    return new


def _fields_around(listed: str, input: Mapping[str, Any]) -> Facts:
    _check_parts(len(input[listed]), len(input))
    return {key: value for key, value in input.items() if key != listed}


def _check_parts(parts: int, fields: int = 0) -> None:
    if parts > MAX_PARTS or parts * fields > _MAX_COPIED_FIELDS:
        raise _TooManyPartsError(parts)


def tool_facts(vocabulary: str, name: str, id: str, input: Any, kind: ToolKind | None = None) -> list[Facts]:
    """The `tool` facts of one call, one for each of its parts and for each call that it makes itself."""
    known = kind or kind_in_vocabulary(vocabulary, name)
    try:
        found = list(islice(_nested_facts(vocabulary, name, known, input, 0, is_certain=bool(kind)), MAX_PARTS + 1))
        _check_parts(len(found))
    except (_TooManyPartsError, ConditionError) as error:
        parts = error.count if isinstance(error, _TooManyPartsError) else MAX_PARTS + 1
        return [{"name": name, "kind": str(known), "input": _input_fields(known, input), "parts": parts}]
    return [{**facts, "id": id} if id else facts for facts in found]


def part_facts(tool: Mapping[str, Any]) -> list[Facts] | None:
    """The `tool` facts of each part of a call that has several. None if there are more than can be judged."""
    name, input = str(tool.get("name")), tool.get("input")
    try:
        parts = split_call(name, tool_kind(tool), input)
    except (_TooManyPartsError, ConditionError):
        return None
    return [
        {**tool, "kind": str(kind), "input": _input_fields(kind, part)} for kind, part in parts if part is not input
    ]


def inner_call_facts(vocabulary: str, input: Any) -> list[Facts] | None:
    """The `tool` facts of each call within an input. None if there are more than can be judged, or too large or deep ones."""
    if type(input) is dict and _COMPOUND_KEYS.isdisjoint(input):  # almost always
        return []
    try:
        found = list(islice(_nested_facts(vocabulary, "", ToolKind.OTHER, input, 0), MAX_PARTS + 1))
        _check_parts(len(found))
    except (_TooManyPartsError, ConditionError):
        return None
    return [facts for facts in found if facts["name"]]


def _nested_facts(
    vocabulary: str, name: str, kind: ToolKind, input: Any, depth: int, *, is_certain: bool = False
) -> Iterator[Facts]:
    """An agent does not ask about the calls of its `batch` tool."""
    for each, part in split_call(name, kind, input):
        facts = {"name": name, "kind": str(each), "input": _input_fields(each, part)}
        yield facts
        other = None if is_certain else other_meaning(vocabulary, facts)
        if other is not None:
            yield other
    if kind is not ToolKind.OTHER:
        return
    for called, given in find_inner_calls(input):
        called_kind = kind_in_vocabulary(vocabulary, called)
        if called_kind is ToolKind.SHELL and is_input_schema(given):  # it runs nothing
            continue
        if depth == _MAX_NESTED:
            raise _TooManyPartsError(MAX_PARTS + 1)
        yield from _nested_facts(vocabulary, called, called_kind, given, depth + 1)


def _input_fields(kind: ToolKind, input: Any) -> dict[str, Any]:
    """An input that is not an object counts as the field that says what the call is about, so that guards see it."""
    if isinstance(input, dict):
        return input
    return {} if input is None else {main_field(kind) or "input": input}
