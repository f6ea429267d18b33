"""Files that a call names in more than one field.

`move_file` has a source and a destination, and `apply_patch` names its files within a text. A guard reads all of them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookline.hooks.kind_guess import looks_like_path, words_of
from hookline.hooks.tools import FIELD_NAMES, ToolKind
from hookline.lazy_imports import json, lazy_pattern

_FILES: Final = ("paths", "files", "file_paths", "filePaths")
EDIT_LISTS: Final = ("edits", "replacements", "operations", "changes", "updates", "writes", "documents", "items")
ENDS: Final = tuple(
    f"{name}{suffix}"
    for name in ("source", "destination", "src", "dst", "dest", "target", "old", "new", "from", "to")
    for suffix in ("", "_path", "Path", "_file")
    if suffix or name not in ("old", "new")  # without a suffix these are texts
)
PATCHES: Final = ("patch", "patchText", "patch_text", "diff", "input", "command")
_CONTENT_NAMES: Final = frozenset(
    name
    for kind in (ToolKind.WRITE, ToolKind.EDIT)
    for ours, others in FIELD_NAMES[kind].items()
    for name in (ours, *others)
) | {"data", "body", "old", "new", "replacement", "instruction", "instructions"}
_FILE_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)
_FILE_NAMES: Final = frozenset(("file", "files", "document", "documents"))
_DIRECTORIES: Final = (
    "directory", "dir", "folder", "root", "base", "base_path", "basePath", "parent", "path", "directory_path", "dir_path",
    "folder_path", "location",
)  # fmt: skip
_BASE_NAMES: Final = ("name", "filename", "file_name", "fileName", "basename", "base_name", "file", "relative_path")
_PARTS: Final = (("parts",), ("segments",), ("components",))
_MAX_PATH_CHARS: Final = 4096
_PATH_NAMES: Final = frozenset(("path", *(name for fields in FIELD_NAMES.values() for name in fields.get("path", ()))))
_TEXT_NAMES: Final = _CONTENT_NAMES - _PATH_NAMES
PATH_LISTS: Final[Mapping[ToolKind, tuple[str, ...]]] = {
    ToolKind.READ: (*_FILES, "include", "image_paths"),
    ToolKind.WRITE: (*_FILES, *ENDS, *EDIT_LISTS),
    ToolKind.EDIT: (*_FILES, *EDIT_LISTS),
    **dict.fromkeys((ToolKind.LIST, ToolKind.GLOB, ToolKind.GREP), ("paths",)),
}
"""The other fields in which a tool of the kind has paths."""
PATH_SOURCES: Final = frozenset((*(name for names in PATH_LISTS.values() for name in names), *PATCHES))

_PATCHED_FILE: Final = lazy_pattern(
    r"^[ \t]*\*\*\* (?:Add File|Update File|Delete File|Move to): ?(.*)$|^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)",
    re.MULTILINE,
)
_GIT_FILE: Final = lazy_pattern(r"^(?:rename|copy) (?:from|to) (.+)$|^diff --git a/(.+?) b/(.+)$", re.MULTILINE)


def further_paths(input: Mapping[str, Any], kind: ToolKind) -> Iterator[Any]:
    lists = PATH_LISTS.get(kind, ())
    for name, value in input.items() if lists else ():
        if name in lists and not (name in ENDS and isinstance(value, (int, float))):  # these may be lines
            yield from paths_by_key(name, value) or _paths_in(value)
        elif name not in lists and isinstance(name, str) and looks_like_path(name, value):
            yield from _paths_in(value)
    if kind in _FILE_KINDS:
        yield from _inner_paths(input)
        yield from _joined_paths(input)
    if kind in (ToolKind.EDIT, ToolKind.WRITE):
        for name in (*PATCHES, "patches", "diffs"):
            yield from patched_files(input.get(name))


def _inner_paths(input: Mapping[str, Any]) -> Iterator[str]:
    """The paths in mappings and lists, at any depth, also in JSON text: `{params: {path: x}}`. Not those in a content."""
    todo: list[tuple[str, Any]] = [(str(name), value) for name, value in input.items() if name not in _TEXT_NAMES]
    while todo:
        name, value = todo.pop()
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            value = _decode_json(value)
        if isinstance(value, Mapping):
            yield from paths_by_key(name, value)
            for key, each in value.items():
                if isinstance(each, str) and _is_inner_path(name, key, each):
                    yield each
                elif isinstance(each, (Mapping, list, tuple)) and key not in _TEXT_NAMES:
                    todo.append((str(key), each))
                    if isinstance(each, (list, tuple)) and _is_inner_path(name, key, ""):
                        yield from (item for item in each if isinstance(item, str))
        elif isinstance(value, (list, tuple)):
            one = name.removesuffix("s")  # the keys of an item of `files` are not paths
            todo += ((one, each) for each in value if isinstance(each, (Mapping, list, tuple)))


def _is_inner_path(around: str, name: object, value: str) -> bool:
    if not isinstance(name, str):
        return False
    return name in _PATH_NAMES or (name == "name" and around in _FILE_NAMES) or looks_like_path(name, value)


def _joined_paths(input: Mapping[str, Any]) -> Iterator[str]:
    """Of a tool that takes the directory and the name of a file apart."""
    names = {name: input[name] for name in _BASE_NAMES if isinstance(input.get(name), str)}
    for directory in _DIRECTORIES if names else ():
        if isinstance(input.get(directory), str) and input[directory]:  # `path` and `file` are two names of one field
            given = (each for name, each in names.items() if directory not in _PATH_NAMES or name not in _PATH_NAMES)
            yield from (posixpath.join(input[directory], each) for each in given if each != input[directory])
    for name, value in input.items():
        if isinstance(value, (list, tuple)) and isinstance(name, str) and words_of(name)[-1:] in _PARTS:
            yield "/".join(map(str, value))


def paths_by_key(name: str, value: Any) -> tuple[str, ...]:
    """The files of `{files: {"a.py": content}}`."""
    is_keyed = name in ("files", "changes") and isinstance(value, Mapping) and _PATH_NAMES.isdisjoint(value)
    return tuple(map(str, value)) if is_keyed else ()


def unnamed_paths(input: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a file tool's input in which no field has a name for the path: any of them may be it."""
    for name, value in input.items():
        if not isinstance(value, str) or name in _CONTENT_NAMES or not value or "\n" in value:
            continue
        if len(value) <= _MAX_PATH_CHARS or len(posixpath.normpath(value)) <= _MAX_PATH_CHARS:  # without its `./`
            yield value


def _paths_in(value: Any) -> Iterator[Any]:
    for item in items_of(value):
        if isinstance(item, Mapping):
            yield from (path for name, path in item.items() if name in _PATH_NAMES)
        else:
            yield item


def items_of(value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        value = _decode_list(value)
    return tuple(value) if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _decode_list(text: str) -> Any:
    """A list that the host sent as JSON text."""
    found = _decode_json(text) if text.lstrip().startswith("[") else text
    return found if isinstance(found, list) else text


def _decode_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def patched_files(value: Any) -> Iterator[str]:
    for text in value if isinstance(value, (list, tuple)) else (value,):
        for found in _PATCHED_FILE.finditer(text) if isinstance(text, str) else ():
            path = (found[1] or found[2] or "").strip()
            if path and path != "/dev/null":
                yield path
        if isinstance(text, str) and ("diff --git" in text or "rename " in text):
            yield from (path for found in _GIT_FILE.finditer(text) for path in found.groups() if path)
