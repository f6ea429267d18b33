"""Reads manifests of the Hook Interchange Format, version hooks/0.1, in JSON and YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.conversion import is_complete
from hookline.dialects.dialect import Excerpt, LoadResult, WriteResult
from hookline.dialects.hook_interchange.handlers import parse_handler
from hookline.dialects.hook_interchange.matchers import parse_matcher
from hookline.dialects.hook_interchange.names import (
    ABSENT_EVENTS,
    DEFAULT_STRATEGIES,
    DEFAULT_TIMEOUT,
    EVENTS,
    FAILURE_OUTCOME,
    HOOK_KEYS,
    MODEL_GUARDS,
    NAME,
    SPEC,
    STRATEGIES,
    TOOL_EVENTS,
    UNCONVERTED_KEYS,
    can_block,
    outcome_condition,
)
from hookline.dialects.hook_interchange.wording import WORDING
from hookline.formatting import closest_match, file_label
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.conditions.logic import ALWAYS, all_of
from hookline.hooks.events import EVENTS as KINDS
from hookline.hooks.events import canonical_event, event_name_in
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import Outcome
from hookline.hooks.protocols import Action, Condition, May


class HookInterchangeDialect:
    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        """By its version, or by its hooks, so that a misspelt version is reported and not ignored."""
        value = document.value if isinstance(document.value, dict) else {}
        spec, hooks = value.get("spec"), value.get("hooks")
        if isinstance(spec, str) and spec.startswith("hooks/"):
            return True
        listed = hooks if isinstance(hooks, list) else []
        return any(isinstance(hook, dict) and {"event", "handler"} <= hook.keys() for hook in listed)

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        at = Node.of(document, problems)
        if at.mapping() is None or not _check_spec(at):
            return LoadResult((), tuple(problems), is_readable=False)
        warn_unknown_keys(at, ("spec", "hooks"), "a manifest")
        hooks = at.require("hooks", 'Write "hooks": [{"event": "before_tool_execute", "handler": {…}}].')
        if hooks is not None and hooks.value == []:
            hooks.add_problem("empty", f"{hooks.location}: a manifest has at least one hook.", at_key=True)
        is_readable = hooks is not None and hooks.sequence() is not None
        found = tuple(_parse_hooks(hooks)) if hooks is not None and is_readable else ()
        return LoadResult(found, tuple(problems), is_readable=is_readable)

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.hook_interchange.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.hook_interchange.writer import write_hooks

        return write_hooks(hooks)

    def excerpt(self, hook: Hook) -> Excerpt | None:
        written = self.write([hook])
        return Excerpt(written.value) if is_complete(hook, written.not_expressible) else None


DIALECT: Final = HookInterchangeDialect()


def warn_unknown_keys(at: Node, known: Iterable[str], what: str, *, essential: Iterable[str] = ()) -> None:
    """The format says that unknown keys are ignored. One that starts with _ is a comment."""
    comments = [key for key in at.value if key.startswith("_")] if isinstance(at.value, dict) else []
    at.warn_unknown_keys((*known, *comments), what, essential=tuple(essential))


def _check_spec(at: Node) -> bool:
    spec = at.require("spec", f'Write "spec": "{SPEC}".')
    version = None if spec is None else spec.text()
    if spec is None or version is None:
        return False
    if version != SPEC:
        what = f"{spec.location}: hookline does not know version {version!r} of the Hook Interchange Format."
        spec.add_problem("unknown-version", what, f"It reads {SPEC}.")
    return version == SPEC


def _parse_hooks(hooks: Node) -> Iterator[Hook]:
    used: set[str] = set()
    for index, at in enumerate(hooks.items()):
        hook = _parse_hook(at, index, used)
        if hook is not None:
            yield hook


def _parse_hook(at: Node, index: int, used: set[str]) -> Hook | None:
    """None after a problem that leaves open what the hook is about."""
    before = len(at.problems)
    part = at.readable_part(("event", "matcher"))
    if part is None or part[0].mapping() is None:
        return None
    at, damaged = part
    warn_unknown_keys(at, HOOK_KEYS, "a hook", essential=("blocking",))  # without it, nothing is stopped
    event_name, when = _parse_event(at), _parse_condition(at)
    if event_name is None or when is None:
        return None
    blocking, degradation = _parse_blocking(at, event_name), _parse_degradation(at)
    _check_descriptions(at)
    handler = None if "handler" in damaged else at.require("handler", 'Write "handler": {"type": "command", …}.')
    action = None if handler is None else parse_handler(handler, event_name, blocking)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if action is None or errors:
        is_misspelled = any(problem.code == "unknown-key" for problem in errors)
        if not errors or not (blocking or (is_misspelled and can_block(event_name))):
            return None
        action = HoldCall(str(errors[0]), written=at.value)  # it could have blocked
    is_async = handler is not None and isinstance(handler.value, dict) and handler.value.get("async") is True
    return Hook(
        id=_hook_id(at, index, used),
        event=EVENTS[event_name],
        when=all_of([when, outcome_condition(event_name)]),
        then=action,
        origin=Origin(at.document.file, at.line, NAME, event_name, WORDING, degradation, _unconverted_keys(at)),
        group=NAME,
        timeout=_hook_timeout(action),
        wait=not is_async,
        on_error=_failure_outcome(action, event_name, blocking),
    )


def _failure_outcome(action: Action, event_name: str, blocking: bool) -> Outcome:
    is_guard = blocking and isinstance(action, AskModel)
    return MODEL_GUARDS.get(event_name, FAILURE_OUTCOME) if is_guard else FAILURE_OUTCOME


def _unconverted_keys(at: Node) -> tuple[str, ...]:
    handler = at.value.get("handler")
    keys = [*at.value, *(handler if isinstance(handler, dict) else ())]
    return tuple(key for key in keys if key in UNCONVERTED_KEYS)


def _hook_timeout(action: Action) -> timedelta:
    timeout: timedelta = getattr(action, "timeout", DEFAULT_TIMEOUT)
    return action.total_timeout if isinstance(action, RunProgram) else timeout


def _hook_id(at: Node, index: int, used: set[str]) -> str:
    """Its name, if no hook before it has that name."""
    name, place = at.value.get("name"), f"{file_label(at.document.file)}:hooks[{index}]"
    id = name if isinstance(name, str) and name.strip() and name not in used else place
    used.add(id)
    return id


def _parse_event(at: Node) -> str | None:
    place = at.require("event", 'Write "event": "before_tool_execute".')
    name = None if place is None else place.text()
    if place is None or name is None or name in EVENTS:
        return name
    if name in ABSENT_EVENTS:
        what = f"{place.location}: hookline does not fire {name}, so this hook never runs."
        place.add_problem("not-here", what, severity=Severity.WARNING)
        return None
    known = canonical_event(name)
    own = None if known is None else event_name_in(NAME, known)
    guess = own or closest_match(name, (*EVENTS, *ABSENT_EVENTS))
    hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
    place.add_problem("unknown-event", f"{place.location}: there is no event {name!r}.", hint)
    return None


def _parse_condition(at: Node) -> Condition | None:
    place = at.get("matcher")
    if place is None:
        return ALWAYS
    if at.value.get("event") not in EVENTS:
        return ALWAYS
    if at.value.get("event") not in TOOL_EVENTS:  # the format: where there is no tool, a matcher is ignored
        what = f"{place.location}: {at.value.get('event')} has no tool, so the matcher is ignored."
        place.add_problem("ignored", what, "Remove it.", severity=Severity.WARNING)
        return ALWAYS
    return parse_matcher(place)


def _parse_blocking(at: Node, event_name: str) -> bool:
    """False if absent. What cannot be read could have been true."""
    place = at.get("blocking")
    flag = at.value.get("blocking") is not None if place is None else place.flag()
    if flag is False:
        return False
    if place is not None and not can_block(event_name):
        what = f"{place.location}: nothing can be blocked at {event_name}: its exit code 2 is a note for the agent."
        may_tell = KINDS[EVENTS[event_name]].accepts & May.NOTES
        place.add_problem("ignored", what if may_tell else what.partition(":")[0] + ".", severity=Severity.WARNING)
    return True


def _parse_degradation(at: Node) -> tuple[tuple[str, str], ...]:
    """With the format's own strategies for what the author does not mention."""
    place = at.get("degradation")
    entries = () if place is None else place.entries()
    given = {name: strategy for name, each in entries if (strategy := each.one_of(STRATEGIES)) is not None}
    return tuple({**DEFAULT_STRATEGIES, **given}.items())


def _check_descriptions(at: Node) -> None:
    """The keys that hookline checks and then leaves to other tools."""
    if (name := at.get("name")) is not None:
        name.text()
    if (data := at.get("provider_data")) is not None and data.mapping() is not None:
        for _, place in data.entries():
            place.mapping()
    if (capabilities := at.get("capabilities")) is not None:
        for place in capabilities.items():
            place.text()
