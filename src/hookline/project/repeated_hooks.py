"""A pack that several files extend counts once: otherwise its hooks would act, and count events, once for each file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import lazy_class

if TYPE_CHECKING:
    from hookline.hooks.actions.verified import VerifiedAction
else:
    VerifiedAction = lazy_class("hookline.hooks.actions.verified", "VerifiedAction")

_Place: TypeAlias = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class HooksOfFile:
    file: str
    hooks: tuple[Hook, ...]
    extends: bool  # only a file that extends packs can have hooks of another


@dataclass(slots=True)
class _KeptHook:
    hook: Hook


def drop_repeated_hooks(files: Iterable[HooksOfFile]) -> list[tuple[Hook, ...]]:
    """The hooks of each file that no earlier file has.

    A hook to which its file gives other options is not the same, and keeps counts of its own.
    """
    kept: list[list[_KeptHook]] = []
    earlier: dict[_Place, list[_KeptHook]] = {}
    for each in files:
        own: list[_KeptHook] = []
        for hook in each.hooks:
            known = earlier.get(_place(hook), ()) if each.extends else ()
            same = next((other for other in known if _is_same(other.hook, hook)), None)
            if same is None:
                own.append(_KeptHook(_with_own_counts(hook, each.file) if known else hook))
            else:
                same.hook = _with_check_of(hook, same.hook)
        if each.extends:
            for new in own:
                earlier.setdefault(_place(new.hook), []).append(new)
        kept.append(own)
    return [tuple(each.hook for each in own) for own in kept]


def _is_same(known: Hook, hook: Hook) -> bool:
    """Until it is trusted, a hook of a project does less than the same hook of the user."""
    from hookline.project.restrictions import restrict_hook  # most hooks are in one file only

    known, hook = _without_check(known), _without_check(hook)
    return hook in (known, restrict_hook(known))


def _without_check(hook: Hook) -> Hook:
    return replace(hook, then=hook.then.action) if isinstance(hook.then, VerifiedAction) else hook


def _with_check_of(hook: Hook, known: Hook) -> Hook:
    """If `hook` checks that the files of its action are those that the user trusts, the known hook does so too."""
    return replace(known, then=hook.then) if isinstance(hook.then, VerifiedAction) else known


def _with_own_counts(hook: Hook, file: str) -> Hook:
    return replace(hook, origin=replace(hook.origin, extended_by=file))


def _place(hook: Hook) -> _Place:
    return (hook.origin.file, hook.origin.line, hook.id, hook.event)
