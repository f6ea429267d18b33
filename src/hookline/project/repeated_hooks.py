"""A pack that several files extend counts once: otherwise its hooks would act, and count events, once for each file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from hookline.hooks.actions.verified import VerifiedAction
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project.restrictions import restrict_hook

_Place: TypeAlias = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class HooksOfFile:
    file: str
    hooks: tuple[Hook, ...]
    extends: bool  # only a file that extends packs can have hooks of another


def drop_repeated_hooks(files: Iterable[HooksOfFile]) -> list[tuple[Hook, ...]]:
    """The hooks of each file that no earlier file has.

    A hook to which its file gives other options is not the same, and keeps counts of its own.
    """
    kept: list[list[Hook]] = []
    places: dict[_Place, list[tuple[int, int]]] = {}  # where a hook is in `kept`
    for number, each in enumerate(files):
        kept.append([])
        found: list[tuple[_Place, tuple[int, int]]] = []
        for hook in each.hooks:
            place = _place(hook)
            known = places.get(place, ()) if each.extends else ()
            same = next((at for at in known if _is_same(kept[at[0]][at[1]], hook)), None)
            if same is not None:
                kept[same[0]][same[1]] = _checked(kept[same[0]][same[1]], hook)
                continue
            found.append((place, (number, len(kept[number]))))
            kept[number].append(_with_own_counts(hook, each.file) if known else hook)
        if each.extends:
            for place, at in found:
                places.setdefault(place, []).append(at)
    return [tuple(hooks) for hooks in kept]


def _is_same(known: Hook, hook: Hook) -> bool:
    """Until it is trusted, a hook of a project does less than the same hook of the user."""
    known, hook = _unchecked(known), _unchecked(hook)
    return hook in (known, restrict_hook(known))


def _unchecked(hook: Hook) -> Hook:
    return replace(hook, then=hook.then.action) if isinstance(hook.then, VerifiedAction) else hook


def _checked(known: Hook, hook: Hook) -> Hook:
    """With the check of one of them that the files of its action are those that the user trusts."""
    return replace(known, then=hook.then) if isinstance(hook.then, VerifiedAction) else known


def _with_own_counts(hook: Hook, file: str) -> Hook:
    return replace(hook, origin=replace(hook.origin, extended_by=file))


def _place(hook: Hook) -> _Place:
    return (hook.origin.file, hook.origin.line, hook.id, hook.event)
