"""A native hooks file that extends packs: a new one, or an existing one with `extends` added."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import click
import yaml

from hookline.errors import HooklineError
from hookline.formatting import closest_match
from hookline.project.packs import own_pack_names

_TEMPLATE: Final = """\
# yaml-language-server: $schema=hookline.schema.json
version: 1
{extends}"""


def pack_references(packs: Sequence[str]) -> list[str]:
    """The packs as `extends` names them. Raises HooklineError for a pack that hookline does not have."""
    known = own_pack_names()
    for name in packs:
        if name.removeprefix("hookline:") not in known:
            guess = closest_match(name, known)
            hint = f"Did you mean {guess}?" if guess else f"The packs are {', '.join(known)}."
            raise HooklineError(f"there is no pack {name}. {hint}")
    return list(dict.fromkeys(f"hookline:{name.removeprefix('hookline:')}" for name in packs))


def complete_pack(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    return [name for name in own_pack_names() if name.startswith(typed)]


def extends_line(references: Sequence[str]) -> str:
    return f"extends: [{', '.join(references)}]\n"


def new_file_text(references: Sequence[str]) -> str:
    return _TEMPLATE.format(extends=extends_line(references))


def add_extends(text: str, references: Sequence[str], file: str) -> str:
    """The text with an `extends` line; unchanged if it extends these packs already.

    Raises HooklineError if the file extends others, or is written so that a line cannot be added to it.
    """
    before = _load_mapping(text, file)
    extends = before.get("extends", [])
    found = _extended_names(extends)
    if all(name in found for name in references):
        return text
    wanted = ", ".join(references)
    if "extends" in before:
        raise HooklineError(f"{file} already has `extends`. Add {wanted} to it yourself.")
    after = _insert_line(text, extends_line(references), has_version="version" in before)
    try:
        if _load_mapping(after, file) == {**before, "extends": list(references)}:
            return after
    except HooklineError:
        pass  # for example a mapping in braces
    raise HooklineError(f"a line cannot be added to {file}. Add {wanted} to its `extends` yourself.")


def _extended_names(extends: Any) -> set[str]:
    """An entry is a name, or a mapping from a name to its options."""
    entries = extends if isinstance(extends, list) else [extends]
    return {
        name for entry in entries for name in (entry if isinstance(entry, dict) else [entry]) if isinstance(name, str)
    }


def _insert_line(text: str, line: str, has_version: bool) -> str:
    """After `version`, otherwise before the first key, otherwise at the end."""
    ending = "" if not text or text.endswith("\n") else "\n"
    if has_version and (version := re.search(r"^version[ \t]*:.*(\n|\Z)", text, re.MULTILINE)):
        return text[: version.end()] + (ending if version.end() == len(text) else "") + line + text[version.end() :]
    if key := re.search(r"^[^\s#%-]", text, re.MULTILINE):
        return text[: key.start()] + line + text[key.start() :]
    return text + ending + line


def _load_mapping(text: str, file: str) -> dict[Any, Any]:
    try:
        loaded = yaml.load(text, Loader=yaml.BaseLoader)  # every value as its text
    except (yaml.YAMLError, RecursionError):
        raise HooklineError(f"{file} is not valid YAML. Run `hookline check`.") from None
    if loaded in (None, ""):
        return {}
    if not isinstance(loaded, dict):
        raise HooklineError(f"{file} is not a mapping. Run `hookline check`.")
    return loaded
