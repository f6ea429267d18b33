"""Hooks that hold every tool call, because a file cannot be read or `on_problem: closed` asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hookline.config.problem import Problem, errors_of
from hookline.engine.book import Layer
from hookline.formatting import file_label
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.hook_files import HoldReason
from hookline.hooks.outcome import Outcome, Verdict
from hookline.lazy_dataclasses import replace
from hookline.project.effective_file import EffectiveFile
from hookline.project.parsed_file import ParsedFile
from hookline.project.sources import HUB_RULES, SourceLayer

_MAX_PLACES: Final = 5  # of errors in a reason
_UNTRUSTED_REASON: Final = "{}, which nobody has trusted yet, cannot be read. `hookline check` says why."


def hold_if_unreadable(effective: EffectiveFile) -> EffectiveFile:
    """Adds a hook that holds every tool call if nobody can say what the file's hooks are."""
    parsed = effective.parsed
    if not parsed.is_unreadable:
        return effective
    problem, is_trusted = parsed.errors[0], not parsed.source.is_from_project
    reason = f"{problem} Nobody can say what this file guards, so every call waits until it can be read."
    if not is_trusted:  # a problem may quote the file, and an agent reads the reason
        is_of_hub = parsed.source.display_path == HUB_RULES
        reason = _UNTRUSTED_REASON.format(
            "The file of the hub's rules" if is_of_hub else "A hooks file of this repository"
        )
    hold = HoldReason(
        f"{file_label(problem.file)}:unreadable",
        str(parsed.source.layer),
        reason,
        problem.file,
        problem.line,
        parsed.dialect or parsed.source.dialect or "",
        is_trusted,
    )
    return replace(effective, hooks=(*effective.hooks, holding_hook(hold)), holds=(hold,))


def holding_hook(hold: HoldReason) -> Hook:
    return Hook(
        id=hold.hook,
        event="tool.before",
        when=ALWAYS,
        then=HoldCall(hold.reason),
        origin=Origin(hold.file, hold.line, hold.dialect),
        on_error=Outcome(Verdict.ASK, hold.reason),
        is_trusted=hold.is_trusted,
    )


def hold_on_problems(files: Iterable[ParsedFile], problems: Iterable[Problem]) -> tuple[HoldReason, ...]:
    """Why every tool call is held if there are errors, and a file of the user's own says `on_problem: closed`."""
    errors = errors_of(problems)
    closing = next((file for file in files if file.closes_on_problem and file.source.layer is SourceLayer.USER), None)
    if closing is None or not errors:
        return ()
    places = ", ".join(dict.fromkeys(f"{problem.file}:{problem.line}" for problem in errors[:_MAX_PLACES]))
    more = f" and {len(errors) - _MAX_PLACES} more" if len(errors) > _MAX_PLACES else ""
    reason = f"The config has errors ({places}{more}), and {closing.source.display_path} says on_problem: closed."
    return (HoldReason("on_problem", "problems", reason, closing.source.display_path, 1, closing.dialect or ""),)


def holding_layers(holds: Iterable[HoldReason]) -> tuple[Layer, ...]:
    return tuple(Layer(hold.layer, [holding_hook(hold)]) for hold in holds)
