"""`then:` is one action, or a list of actions that run as a chain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node
from hookline.config.problem import Severity
from hookline.config.scalars import format_duration
from hookline.dialects.native.key_hints import action_hints
from hookline.dialects.native.keys import (
    BAD_TEMPLATE,
    CUSTOM,
    NOT_WRITTEN,
    ActionKey,
    HookInfo,
    Key,
    LazyKeys,
    choice_key,
    duration_key,
    enum_schema,
    flag_key,
    key_table,
    list_schema,
    read_values,
    text_key,
    write_mapping,
)
from hookline.dialects.native.on_error import (
    ON_ERROR_SCHEMA,
    fails_closed,
    parse_on_error,
    withhold_result,
    withholds,
    write_on_error,
)
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.outcome import FailureKind
from hookline.hooks.protocols import Action, May
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_class

if TYPE_CHECKING:
    from hookline.hooks.actions.chain import Chain, ChainStep
    from hookline.hooks.actions.change import ChangeFacts
    from hookline.hooks.actions.failing import InvalidAction
    from hookline.hooks.actions.hold import HoldCall
    from hookline.hooks.actions.python_function import CustomAction, RunPython
    from hookline.hooks.actions.run_program import RunProgram
else:
    Chain = lazy_class("hookline.hooks.actions.chain", "Chain")
    ChainStep = lazy_class("hookline.hooks.actions.chain", "ChainStep")
    ChangeFacts = lazy_class("hookline.hooks.actions.change", "ChangeFacts")
    InvalidAction = lazy_class("hookline.hooks.actions.failing", "InvalidAction")
    HoldCall = lazy_class("hookline.hooks.actions.hold", "HoldCall")
    CustomAction = lazy_class("hookline.hooks.actions.python_function", "CustomAction")
    RunPython = lazy_class("hookline.hooks.actions.python_function", "RunPython")
    RunProgram = lazy_class("hookline.hooks.actions.run_program", "RunProgram")

_UNCLEAR_ACTIONS: Final = ("custom", "chain", "invalid")
BARE_ACTIONS: Final = ("allow", "deny", "ask", "halt", "compact")
"""Actions that may be written as one word: `then: deny`."""
OWN_HOOK_KEYS: Final = (
    "id", "on", "when", "timeout", "on_error", "names", "order", "group", "background", "enabled", "tags", "scope",
    "max_fires", "cooldown", "cooldown_turns",
)  # fmt: skip
"""Keys of a hook that are not an action's. The test of the dialect compares them with the dialect's own table."""


def parse_action(at: Node, info: HookInfo) -> Action | None:
    """After an error, an action that always fails, so that `on_error` applies."""
    before = len(at.problems)
    action = _parse_action(at, info)
    if action is not None:
        return action
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if not errors:
        return None
    return InvalidAction(f"invalid action: {errors[0].what.removesuffix('.')}", _intended(at, info), written=at.value)


def _intended(at: Node, info: HookInfo) -> May:
    """What a broken action could have answered; if nobody can say which action was meant, it could have denied."""
    names = [name for name in at.value if name in ACTIONS] if isinstance(at.value, dict) else []
    if not names or any(name in _UNCLEAR_ACTIONS for name in names):
        return May.DENY | May.ASK
    return reduce(or_, (ACTIONS[name].intended(at, info) for name in names))


def _parse_action(at: Node, info: HookInfo) -> Action | None:
    if isinstance(at.value, list):
        if not at.value:
            at.add_problem("no-action", f"{at.location}: there is no action here.", "Write {deny: reason}, or another.")
            return None
        return _parse_steps(at, info, stop_on_failure=False)
    if at.value in BARE_ACTIONS:
        bare: Action | None = ACTIONS[at.value].read(Node(at.document, at.path, at.problems, True), info, {})
        return bare
    if at.mapping() is None:
        return None
    name = _main_key(at.value)
    if not name:
        _report_no_action(at)
        return None
    key = ACTIONS[name]
    known = (name, *key.options)
    unknown = [each for each in at.value if each not in known]
    if unknown:
        at.check_keys(known, f"the action {name}", _hints_beside(at, name, unknown))
        return None
    value = next(
        place for key, place in at.entries() if key == name
    )  # `deny:` without a value is a deny without a reason
    options = read_values(at, key.options, info) if key.options else {}
    action: Action | None = key.read(value, info, options or {})
    return None if options is None else action


def _main_key(value: dict[str, Any]) -> str:
    """The key that names the action; the others are its options."""
    names = [name for name in value if name in ACTIONS]
    return next((name for name in names if name in ("run", "post", "call", "pipe")), names[0] if names else "")


def _report_no_action(at: Node) -> None:
    known = {*ACTIONS, *(option for key in ACTIONS.values() for option in key.options)}
    at.check_keys(known, "an action", action_hints(ACTIONS, OWN_HOOK_KEYS, ""))
    if at.value.keys() <= known:  # otherwise the unknown key was meant to be the action
        hint = f"Write one of: {', '.join(ACTIONS)}."
        at.add_problem("no-action", f"{at.location}: there is no action here.", hint)


_TEXT_ACTIONS: Final = frozenset(("deny", "ask", "halt", "log", "tell"))


def _hints_beside(at: Node, name: str, unknown: Sequence[str]) -> dict[str, str]:
    """A key that nobody knows is often the rest of a text with a comma."""
    hints = action_hints(ACTIONS, OWN_HOOK_KEYS, name)
    text = at.value[name]
    if isinstance(text, str) and not at.document.is_json:
        for each in unknown:
            value = at.value[each]
            is_sentence = isinstance(value, str) and " " in value and name in _TEXT_ACTIONS
            if each not in hints and (value is None or is_sentence):
                rest = each if value is None else f"{each}: {value}"
                hints[each] = f'Quote the text if the comma is part of it: {name}: "{text}, {rest}".'
    return hints


def write_action(action: Action, info: HookInfo) -> dict[str, Any]:
    from hookline.dialects.conversion import NotExpressible

    action = _split_action(action, info)
    for key in ACTIONS.values():
        value = key.write(action, info)
        if value is not NOT_WRITTEN:
            return {key.name: value, **write_mapping(key.options, action, info)}
    if isinstance(action, (FixedAnswer, TemplateAnswer)):
        raise NotExpressible("an answer that also changes facts, or ends the hooks after it")
    if isinstance(action, RunPython):
        raise NotExpressible(f"the Python function {action.name}")
    raise NotExpressible(action=action)


def _split_action(action: Action, info: HookInfo) -> Action:
    """An action that no key can express alone as a chain of actions."""
    from hookline.dialects.native.answers import split_answer
    from hookline.dialects.native.changes import split_changes

    parts: tuple[Action, ...] = ()
    if isinstance(action, (FixedAnswer, TemplateAnswer)):
        parts = split_answer(action)
    elif isinstance(action, ChangeFacts):
        parts = split_changes(action)
    if len(parts) < 2:
        return action
    names = [next(iter(write_action(part, info))) for part in parts]
    return Chain(tuple(ChainStep(name, part, timeout=info.timeout) for name, part in zip(names, parts, strict=True)))


def total_timeout(action: Action, timeout: timedelta) -> timedelta:
    """How long the action may take if it has the time that its hook or step gives."""
    return action.total_timeout if isinstance(action, RunProgram) else timeout


def own_timeout(action: Action, timeout: timedelta) -> timedelta:
    """The opposite of total_timeout: the time as it is written."""
    return action.timeout if isinstance(action, RunProgram) else timeout


def may_fail(action: Action) -> bool:
    """Whether it needs anything that can go wrong."""
    if isinstance(action, Chain):
        return any(may_fail(step.action) for step in action.steps)
    return not action.instant or isinstance(action, (InvalidAction, HoldCall))


def may_stop(action: Action) -> bool:
    return bool(action.may & (May.DENY | May.ASK))


def _parse_custom(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    from hookline.dialects import custom

    if value.mapping() is None:
        return None
    if len(value.value) != 1:
        value.add_problem("no-action", f"{value.location}: one action is expected here.", "Write custom: {name: {…}}.")
        return None
    [(name, place)] = value.entries()
    params = {} if place.value is None else place.mapping()
    entry = custom.find_or_report(custom.ACTION_REGISTRY, name, place)
    return None if entry is None or params is None else custom.build_registered_action(entry, place, params)


_CUSTOM: Final = ActionKey(
    "custom",
    read=_parse_custom,
    write=lambda action, _: {action.name: action.params} if isinstance(action, CustomAction) else NOT_WRITTEN,
    schema={**CUSTOM, "minProperties": 1, "maxProperties": 1, "examples": [{"page_oncall": {"team": "platform"}}]},
    help="an action that a Python package registers",
)


def _parse_chain(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    return _parse_steps(value, info, stop_on_failure=options.get("stop_on_failure", False))


def _parse_steps(at: Node, info: HookInfo, *, stop_on_failure: bool) -> Action | None:
    if at.sequence() is None:
        return None
    steps = [_parse_step(place, info) for place in at.items()]
    found = tuple(step for step in steps if step is not None)
    if len(found) < len(steps) or any(_is_broken_guard(step) for step in found):
        return None
    return Chain(found, stop_on_failure)


def _is_broken_guard(step: ChainStep) -> bool:
    """A step's failure counts as open. That must not be so for a step that was meant to stop the event."""
    return step.on_error is None and isinstance(step.action, InvalidAction) and may_stop(step.action)


def _parse_step(at: Node, info: HookInfo) -> ChainStep | None:
    is_mapping = isinstance(at.value, dict)
    own = read_values(at, STEP_KEYS, info) if is_mapping else {}
    if own is None:
        return None
    value = {key: part for key, part in at.value.items() if key not in STEP_KEYS} if is_mapping else at.value
    timeout, on_error = own.get("timeout", info.timeout), own.get("on_error")
    closed = info.fails_closed if on_error is None else fails_closed(on_error)
    withheld = info.withholds if on_error is None else withholds(on_error, info.event)
    own_info = replace(info, timeout=timeout, fails_closed=closed, withholds=withheld)
    action = parse_action(Node(at.document, at.path, at.problems, value), own_info)
    if action is None:
        return None
    return ChainStep(
        own.get("name") or _default_step_name(at.value),
        action,
        None if on_error is None else withhold_result(on_error, info.event, info.hook_id),
        total_timeout(action, timeout),
        own.get("ends_chain", False),
        own.get("quiet", False),
    )


def _default_step_name(value: Any) -> str:
    if isinstance(value, dict):
        return next((key for key in value if key in ACTIONS), "chain")
    return value if isinstance(value, str) else "chain"


def _write_chain(action: Action, info: HookInfo) -> Any:
    return [_write_step(step, info) for step in action.steps] if isinstance(action, Chain) else NOT_WRITTEN


def _write_step(step: ChainStep, info: HookInfo) -> dict[str, Any]:
    action = write_action(step.action, replace(info, timeout=step.timeout))
    return {**action, **write_mapping(STEP_KEYS, step, action, info)}


def _write_step_timeout(step: ChainStep, action: dict[str, Any], info: HookInfo) -> Any:
    timeout = own_timeout(step.action, step.timeout)
    return NOT_WRITTEN if timeout == info.timeout else format_duration(timeout)


STEP_KEYS: Final = key_table(
    text_key(
        "name",
        default="the action's key",
        help="the step's name where its failure is recorded",
        write=lambda step, action, _: NOT_WRITTEN if step.name == _default_step_name(action) else step.name,
        example="name: lint",
    ),
    Key(
        "on_error",
        read=parse_on_error,
        write=lambda step, *_: NOT_WRITTEN if step.on_error is None else write_on_error(step.on_error),
        schema=ON_ERROR_SCHEMA,
        default="the chain fails at its end, and the hook's `on_error` decides",
        help="what a failure of this step counts as",
        example="on_error: closed",
    ),
    flag_key(
        "ends_chain",
        default="`false`",
        help="a failure of this step always ends the chain",
        write=lambda step, *_: step.ends_chain or NOT_WRITTEN,
    ),
    duration_key(
        "timeout",
        default="the hook's",
        help="how long this step may take",
        write=_write_step_timeout,
        example="timeout: 10s",
    ),
    flag_key(
        "quiet",
        default="`false`",
        help="a failure of this step is recorded, and logged only as debug output",
        write=lambda step, *_: step.is_quiet or NOT_WRITTEN,
    ),
)
_CHAIN: Final = ActionKey(
    "chain",
    read=_parse_chain,
    write=_write_chain,
    schema=list_schema("step"),
    options=key_table(
        flag_key(
            "stop_on_failure",
            default="`false`",
            help="the first failure ends the chain",
            write=lambda action, _: action.stop_on_failure,
        )
    ),
    help="several actions, one after the other",
    example="{chain: [{log: one}, {deny: two}], stop_on_failure: true}",
)


def _parse_invalid(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    why, kind = options.get("why", "it could not be read"), options.get("failure", FailureKind.CANNOT_START)
    value.add_problem(
        BAD_TEMPLATE, f"{value.location}: this action fails: {why.rstrip('.')}.", "Write a valid action in its place."
    )
    if options.get("holds"):
        return HoldCall(why, kind, value.value)
    may = reduce(or_, (_MAY_WORDS[word] for word in options.get("may", ())), May.NOTHING)
    return InvalidAction(why, may, kind, value.value)


def _write_why(action: InvalidAction | HoldCall, info: HookInfo) -> str:
    return action.reason if isinstance(action, HoldCall) else action.why


def _write_may(action: InvalidAction | HoldCall, info: HookInfo) -> Any:
    words = [word for word, flag in _MAY_WORDS.items() if flag & action.may]
    return NOT_WRITTEN if isinstance(action, HoldCall) or not words else words


def _read_may(at: Node, info: HookInfo) -> tuple[str, ...] | None:
    words = [place.one_of(_MAY_WORDS) for place in at.items(one_or_many=True)]
    return None if None in words else tuple(word for word in words if word is not None)


_MAY_WORDS: Final = {"deny": May.DENY, "ask": May.ASK, "change": May.CHANGE}
_INVALID: Final = ActionKey(
    "invalid",
    read=_parse_invalid,
    write=lambda action, _: action.written if isinstance(action, (InvalidAction, HoldCall)) else NOT_WRITTEN,
    schema={"examples": ["what was written"]},
    options=key_table(
        text_key(
            "why",
            default="`it could not be read`",
            help="why it fails",
            write=_write_why,
            example="why: it could not be read",
        ),
        flag_key(
            "holds",
            default="`false`",
            help="a person is asked about the event, and it is denied if nobody can be asked",
            write=lambda action, _: isinstance(action, HoldCall) or NOT_WRITTEN,
        ),
        Key(
            "may",
            read=_read_may,
            write=_write_may,
            schema={"anyOf": [enum_schema(_MAY_WORDS), {"type": "array", "items": enum_schema(_MAY_WORDS)}]},
            default="nothing",
            help="what it could have answered: `deny`, `ask`, `change`",
            example="may: [deny]",
        ),
        choice_key(
            "failure",
            FailureKind,
            default="`cannot_start`",
            help="the kind of its failure",
            write=lambda action, _: NOT_WRITTEN if action.kind is FailureKind.CANNOT_START else str(action.kind),
        ),
    ),
    help="an action that `convert` found broken, as it was written; it always fails",
)

ACTIONS: Final[LazyKeys[ActionKey]] = LazyKeys(
    {
        **dict.fromkeys(("deny", "ask", "allow", "halt", "tell"), "answers.ANSWER_KEYS"),
        **dict.fromkeys(("log", "notify"), "notices.NOTICE_KEYS"),
        **dict.fromkeys(("set", "remove", "append", "replace"), "changes.CHANGE_KEYS"),
        "redact": "secrets.REDACT",
        **dict.fromkeys(("run", "post", "script"), "programs.PROGRAM_KEYS"),
        "ahp": "backends.AHP_KEY",
        **dict.fromkeys(("call", "pipe", "judge", "compact", "diagnose"), "host_actions.HOST_KEYS"),
        "custom": _CUSTOM,
        "chain": _CHAIN,
        "invalid": _INVALID,
    }
)
