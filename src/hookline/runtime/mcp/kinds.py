"""What an MCP tool does, as far as its name and its input tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hookline.hooks.fields import own_field
from hookline.hooks.tools import Kind, kind_of, main_field

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_VERBS: Final = {
    "read": Kind.READ,
    "write": Kind.WRITE,
    "append": Kind.WRITE,
    "edit": Kind.EDIT,
    "replace": Kind.EDIT,
    "patch": Kind.EDIT,
}
_LISTS: Final = frozenset(("list", "tree"))
_FOLDERS: Final = frozenset(("directory", "dir", "folder", "files"))


def kind_by(name: str, schema: Mapping[str, Any], *, read_only: bool = False) -> Kind:
    """The kind that the table gives the name, else the one that its words tell, if the input has that kind's main field.

    Whatever takes both a path and a content writes a file, by whatever name, unless it says that it only reads.
    """
    fields = schema.get("properties")
    if not isinstance(fields, Mapping):
        return Kind.OTHER
    kind = kind_of(name)
    if kind is Kind.GREP and _finds_names(name, fields):
        return Kind.GLOB
    if kind is not Kind.OTHER and _has(fields, main_field(kind), kind):
        return kind
    if not read_only and all(_has(fields, field, Kind.WRITE) for field in ("path", "content")):
        return Kind.WRITE
    kind = _kind_in_words([word.casefold() for word in _WORD.findall(name)])
    if read_only and kind in (Kind.WRITE, Kind.EDIT):
        return Kind.OTHER
    return kind if _has(fields, "path", kind) or (kind is Kind.READ and "paths" in fields) else Kind.OTHER


def _kind_in_words(words: list[str]) -> Kind:
    if not _FOLDERS.isdisjoint(words) and not _LISTS.isdisjoint(words):
        return Kind.LIST
    return _VERBS.get(words[0], Kind.OTHER) if words else Kind.OTHER


def _finds_names(name: str, fields: Mapping[str, Any]) -> bool:
    """The reference server's `search_files` takes a glob; where it takes a `regex`, it looks into the files."""
    return name == "search_files" and "pattern" in fields


def _has(fields: Mapping[str, Any], field: str | None, kind: Kind) -> bool:
    return field is not None and own_field(fields, field, kind) in fields
