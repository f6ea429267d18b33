"""`outside` and `inside`: conditions about where the paths of a call lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    SOME_TEXTS,
    HookInfo,
    Key,
    choice_key,
    key_table,
    mapping_schema,
    read_mapping,
    write_mapping,
)
from hookline.formatting import is_typo
from hookline.hooks.conditions.logic import NEVER_HOLDS
from hookline.hooks.protocols import Condition
from hookline.lazy_imports import lazy_pattern

if TYPE_CHECKING:
    from hookline.hooks.conditions.places import LiesIn

_GLOB: Final = lazy_pattern(r"[*?\[]|\{\{|\$")
_WORKSPACE: Final = "workspace"
_WORKSPACE_SYNONYMS: Final = frozenset(("repository", "repo", "project", "cwd", "worktree", "workdir", "root"))


def _read_directories(at: Node, info: Any = None) -> tuple[str, ...] | None:
    """Paths of directories. A bare name that is not `workspace` is a directory of the workspace."""
    names = at.some_texts()
    for name in names or ():
        if _GLOB.search(name):
            hint = "Write workspace, or the path of a directory. Test a pattern with input: {path: {glob: …}}."
            at.add_problem("bad-directory", f"{at.location}: {name} is not the path of a directory.", hint)
            return None
        if name != _WORKSPACE and (name.lower() in _WORKSPACE_SYNONYMS or is_typo(name, _WORKSPACE)):
            what = f"{at.location}: {name} means the directory ./{name} of the workspace."
            at.add_problem("bad-directory", what, f"Write workspace; or ./{name}, if you mean that.")
            return None
    return names


def _parse(at: Node, info: HookInfo, *, outside: bool) -> Condition | None:
    from hookline.hooks.conditions.places import LiesIn  # few files have one

    word = "outside" if outside else "inside"
    if isinstance(at.value, bool):
        meant = word if at.value else ("inside" if outside else "outside")
        what = f"{at.location}: {str(at.value).lower()} is not the path of a directory."
        at.add_problem("bad-directory", what, f"Did you mean {meant}: workspace?")
        return None
    if isinstance(at.value, dict):
        values = read_mapping(at, _KEYS, word, info, hint=f"Write {word}: {{directory: workspace}}.")
    else:
        directories = _read_directories(at)
        values = None if directories is None else {"directory": directories}
    if values is None:
        return None
    if not values["directory"]:
        return NEVER_HOLDS
    return LiesIn(values["directory"], outside, values.get("unparsed", "holds") == "holds")


def _write(condition: Condition, *, outside: bool) -> Any:
    from hookline.hooks.conditions.places import LiesIn

    if not isinstance(condition, LiesIn) or condition.outside != outside:
        return NOT_WRITTEN
    return _write_directories(condition) if condition.holds_unparsed else write_mapping(_KEYS, condition)


def _write_directories(condition: LiesIn) -> Any:
    names = condition.directories
    return names[0] if len(names) == 1 else list(names)


_KEYS: Final = key_table(
    Key(
        "directory",
        read=_read_directories,
        write=_write_directories,
        schema=SOME_TEXTS,
        required=True,
        help="`workspace`, a path, or a list of these; a path is relative to the workspace, `~` is your home",
        example="directory: workspace",
    ),
    choice_key(
        "unparsed",
        ("holds", "ignored"),
        default="`holds`",
        help="whether a path that cannot be read counts for a guard",
        write=lambda condition: NOT_WRITTEN if condition.holds_unparsed else "ignored",
    ),
)
OUTSIDE: Final = Key(
    "outside",
    read=lambda at, info: _parse(at, info, outside=True),
    write=lambda condition: _write(condition, outside=True),
    schema=lambda: {"anyOf": [SOME_TEXTS, mapping_schema(_KEYS)]},
    mapping=_KEYS,
    help="a [path of the call](#outside-inside) lies outside this directory, or outside all of a list",
    example="outside: workspace",
)
INSIDE: Final = Key(
    "inside",
    read=lambda at, info: _parse(at, info, outside=False),
    write=lambda condition: _write(condition, outside=False),
    schema=lambda: {"anyOf": [SOME_TEXTS, mapping_schema(_KEYS)]},
    mapping=_KEYS,
    help="a [path of the call](#outside-inside) lies inside this directory, or inside one of a list",
    example="inside: [./secrets, ~/.ssh]",
)
