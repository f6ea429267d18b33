"""`action:` — one of 13 types, or a registered one; the builder's five are registered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from hookline.config.shape import Reader
from hookline.dialects import registered
from hookline.dialects.digitorn.texts import filled, literal, rendered, shell, unrendered
from hookline.hooks.action import Action, May
from hookline.hooks.actions.answer import Answer
from hookline.hooks.actions.broken import Broken
from hookline.hooks.actions.call import Call, Tell
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.actions.change import Append, Change, Edit, Remove, Set
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.actions.tell import LEVELS, Log, Notify
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import SILENT, Compact, Note, Outcome, Place, Verdict
from hookline.hooks.template import BadTemplate

TIMEOUT: Final = timedelta(seconds=60)
SHELL_TIMEOUT: Final = timedelta(seconds=30)
LONGEST: Final = timedelta(hours=24)
REASON: Final = "Blocked by hook policy"
ROLES: Final = ("user", "assistant", "system")
POSITIONS: Final = ("before_last", "start", "end")
NOTICE_LEVELS: Final = ("info", "warning", "error")
STRATEGIES: Final = {"auto": Place.LAST_USER, "user": Place.LAST_USER, "system": Place.SYSTEM}
COOLDOWN_TURNS: Final = 3
INJECTED: Final = Outcome(notes=(Note(""),))
"""The answer of a shell action with `on_error: inject`: the agent reads how it failed."""


@dataclass(frozen=True, slots=True)
class Made:
    """An action, and what of its hook it settles."""

    action: Action
    timeout: timedelta = TIMEOUT
    on_error: Outcome = SILENT
    cooldown_turns: int | None = None
    ends_chain: bool = False
    broken: int = 0  # commands in it that cannot be rendered, each with a problem of its own


Maker = Callable[[Reader], Made | None]


def action(at: Reader) -> Made | None:
    """None after a problem was noted."""
    if at.mapping() is None:
        return None
    type = at.get("type")
    if type is None:
        at.problem("missing-key", f"{at.place}: type is missing.", f"Write type: and one of {', '.join(ACTIONS)}.")
        return None
    name = type.text()
    if name is None:
        return None
    if name not in ACTIONS:
        return _other(at, type, name)
    make, keys = ACTIONS[name]
    at.keys(("type", *keys), f"the action {name}")
    return make(at)


def _other(at: Reader, type: Reader, name: str) -> Made | None:
    before = len(at.problems)
    entry = registered.find(registered.ACTIONS, name, type)
    if entry is None:
        if len(at.problems) == before:
            registered.unknown(registered.ACTIONS, name, type, tuple(ACTIONS))
        return None
    params = {key: value for key, value in at.value.items() if key != "type"}
    made = registered.action(entry, at, params)
    return None if made is None else Made(made)


def _needed(at: Reader, key: str) -> Reader | None:
    place = at.get(key)
    if place is None:
        at.problem("missing-key", f"{at.place}: {key} is missing.", f"Write {key}: ….")
    return place


def _text(at: Reader, key: str, default: str = "") -> str | None:
    place = at.get(key)
    return default if place is None else place.text(empty=True)


def _flag(at: Reader, key: str, default: bool) -> bool | None:
    place = at.get(key)
    return default if place is None else place.flag()


def _word(at: Reader, key: str, words: Collection[str], default: str) -> str | None:
    place = at.get(key)
    return default if place is None else place.one_of(words)


def _compact_context(at: Reader) -> Made | None:
    before = len(at.problems)
    keep, most, turns = at.get("keep_recent"), at.get("summary_max_tokens"), at.get("cooldown_turns")
    prompt, target = at.get("summary_prompt"), at.get("target_pressure")
    request = Compact(
        _word(at, "strategy", ("summarize", "truncate"), "summarize") or "",
        10 if keep is None else keep.whole(least=0) or 0,
        1024 if most is None else most.whole(least=1) or 1,
        None if prompt is None else prompt.text(),
        None if target is None else target.number(least=0, most=1),
    )
    cooldown = COOLDOWN_TURNS if turns is None else turns.whole(least=0, hint="0 means no pause.")
    if len(at.problems) > before:
        return None
    return Made(Answer(Outcome(requests=(request,))), cooldown_turns=cooldown or None)


def _inject_message(at: Reader) -> Made | None:
    content = _needed(at, "content")
    strategy = _word(at, "strategy", (*STRATEGIES, "new_message"), "auto")
    role, position = _word(at, "role", ROLES, "user"), _word(at, "position", POSITIONS, "before_last")
    text = None if content is None else content.text()
    if content is None or text is None or strategy is None or role is None or position is None:
        return None
    note = Note(literal(content, text))
    if strategy == "new_message":
        return _told(replace(note, place=Place.MESSAGE, role=role, position=position))
    return _told(replace(note, place=STRATEGIES[strategy]))


def _told(note: Note) -> Made:
    return Made(Answer(Outcome(notes=(note,))))


def _module_action(at: Reader) -> Made | None:
    call = _module_call(at)
    return None if call is None else Made(call)


def _module_action_inject(at: Reader) -> Made | None:
    call = _module_call(at)
    format, prefix = _word(at, "format", ("auto", "always"), "auto"), _text(at, "prefix")
    if call is None or format is None or prefix is None:
        return None
    tell = Tell.ALWAYS if format == "always" else Tell.ON_ERRORS
    return Made(replace(call, tell=tell, prefix=prefix, place=Place.MESSAGE, role="system"))


def _module_call(at: Reader) -> Call | None:
    module, name, params = _needed(at, "module"), _needed(at, "action"), at.get("action_params")
    first = None if module is None else module.text()
    rest = None if name is None else name.text()
    input = _filled(params)
    return None if first is None or rest is None or input is None else Call(f"{first}.{rest}", input)


def _filled(at: Reader | None) -> Filled | None:
    if at is None:
        return Filled({})
    return None if at.mapping() is None else filled(at)


def _log(at: Reader) -> Made | None:
    message, level = _needed(at, "message"), _word(at, "level", LEVELS, "info")
    text = None if message is None else message.text()
    if message is None or text is None or level is None:
        return None
    return Made(Log(rendered(message, text, numbers=True), level))


def _notify(at: Reader) -> Made | None:
    message, title = _needed(at, "message"), at.get("title")
    level, tag = _word(at, "level", NOTICE_LEVELS, "info"), _text(at, "tag")
    text = None if message is None else message.text()
    head = "" if title is None else title.text(empty=True)
    if message is None or text is None or head is None or level is None or tag is None:
        return None
    body = rendered(message, text, numbers=True)
    return Made(Notify(body, rendered(title or message, head, numbers=True), level, tag))


def _shell(at: Reader) -> Made | None:
    command, cwd, given = _needed(at, "command"), at.get("cwd"), at.get("timeout")
    text = None if command is None else command.text()
    place = "" if cwd is None else cwd.text()
    on_error = _word(at, "on_error", ("ignore", "inject"), "ignore")
    timeout = SHELL_TIMEOUT if given is None else _seconds(given)
    if command is None or text is None or place is None or on_error is None or timeout is None:
        return None
    answer = INJECTED if on_error == "inject" else SILENT
    try:
        script = shell(command, text)
    except BadTemplate as bad:
        command.problem("bad-template", f"{command.place}: {bad.what}.", bad.hint)
        return Made(Broken(f"cannot run its command: {bad.what}"), timeout, answer, broken=1)
    program = Program(script, cwd=rendered(cwd, place) if cwd is not None else None)
    return Made(Run(program, Reading(Reads.ERROR), timeout), timeout, answer)


def _seconds(at: Reader) -> timedelta | None:
    hint = "It counts seconds; write 30."
    seconds = at.number(least=0, most=LONGEST.total_seconds(), hint=hint)
    if seconds is not None and seconds < 0.001:
        at.problem("out-of-range", f"{at.place}: a command needs more time than that.", hint)
        return None
    return None if seconds is None else timedelta(seconds=seconds)


def _gate(at: Reader) -> Made | None:
    place = at.get("reason")
    reason = REASON if place is None else place.text()
    if reason is None:
        return None
    return Made(Answer(Outcome(Verdict.DENY, reason if place is None else literal(place, reason))))


def _transformation(at: Reader, keys: tuple[str, ...]) -> Reader | None:
    place = _needed(at, "transformation")
    if place is None or place.mapping() is None:
        return None
    place.keys(keys, "transformation")
    if not any(key in place.value for key in keys):
        place.problem("no-action", f"{place.place}: there is nothing to do here.", f"Write {' or '.join(keys)}.")
        return None
    return place


def _transform_params(at: Reader) -> Made | None:
    """Top-level keys: first what is set, then what is removed; nothing is rendered."""
    place = _transformation(at, ("set", "remove"))
    if place is None:
        return None
    given, names = place.get("set"), place.get("remove")
    values = {} if given is None else given.mapping()
    removed = () if names is None or names.sequence() is None else names.texts()
    if values is None or removed is None:
        return None
    edits: list[Edit] = [Set(("tool", "input", key), Filled(value)) for key, value in values.items()]
    edits += [Remove(("tool", "input", name)) for name in removed]
    return Made(Change(tuple(edits)))


def _transform_result(at: Reader) -> Made | None:
    place = _transformation(at, ("append_to_result", "inject_note"))
    if place is None:
        return None
    appended, noted = place.get("append_to_result"), place.get("inject_note")
    added = None if appended is None else appended.text()
    note = None if noted is None else noted.text()
    actions: list[Action] = []
    if appended is not None and added is not None:
        actions.append(Change((Append(("tool", "result"), unrendered(literal(appended, added))),)))
    if noted is not None and note is not None:
        actions.append(Answer(Outcome(notes=(Note(literal(noted, note), place=Place.RESULT),))))
    if len(actions) == 2:
        return Made(Chain(tuple(Step("transform_result", each, timeout=TIMEOUT) for each in actions)))
    return Made(actions[0]) if actions else None


def _failure_of(name: str, step: Made) -> Outcome | None:
    """A pipe that says ignore or log has its answer to a failure; any other step's is the chain's."""
    ignored = name == "pipe" and not step.ends_chain
    return step.on_error if ignored or step.on_error != SILENT else None


def _chain(at: Reader) -> Made | None:
    """It may take as long as all of its steps together."""
    places, stop = _needed(at, "actions"), _flag(at, "stop_on_failure", False)
    if places is None or places.sequence() is None:
        return None
    made = [(place, action(place)) for place in places.items()]
    found = [(place.value["type"], each) for place, each in made if each is not None]
    if len(found) < len(made) or stop is None:
        return None
    steps = tuple(
        Step(name, each.action, _failure_of(name, each), each.timeout, each.ends_chain) for name, each in found
    )
    chain = Chain(steps, stop)
    total = sum((each.timeout for _, each in found), timedelta())
    return Made(
        chain,
        min(total, LONGEST) if steps else TIMEOUT,
        cooldown_turns=_pause([each for _, each in found], chain),
        broken=sum(each.broken for _, each in found),
    )


def _pause(steps: list[Made], chain: Chain) -> int | None:
    """A compaction's pause holds for the whole chain, unless that would put a guard to sleep."""
    turns = [each.cooldown_turns for each in steps if each.cooldown_turns is not None]
    return max(turns) if turns and not chain.may & (May.DENY | May.ASK) else None


def _pipe(at: Reader) -> Made | None:
    to, extra = _needed(at, "to"), at.get("extra")
    on_error = _word(at, "on_error", ("ignore", "log", "raise"), "ignore")
    tool = None if to is None else to.text()
    input = _filled(at.get("map"))
    literals = {} if extra is None else extra.mapping()
    if tool is None or input is None or literals is None or on_error is None:
        return None
    return Made(Call(tool, input, tuple(literals.items())), ends_chain=on_error == "raise")


def _lsp_diagnose(at: Reader) -> Made | None:
    usual = Diagnose()
    path, content = at.get("path_field"), at.get("content_field")
    paths = usual.path_fields if path is None else path.texts()
    contents = usual.content_fields if content is None else content.texts()
    flags = [_flag(at, key, True) for key in ("publish", "inject_result", "read_from_disk")]
    if paths is None or contents is None or None in flags:
        return None
    publish, inject, disk = (flag is True for flag in flags)
    return Made(Diagnose(paths, contents, publish, inject, disk))


_MODULE: Final = ("module", "action", "action_params")

ACTIONS: Final[dict[str, tuple[Maker, tuple[str, ...]]]] = {
    "compact_context": (
        _compact_context,
        ("strategy", "keep_recent", "summary_max_tokens", "summary_prompt", "target_pressure", "cooldown_turns"),
    ),
    "inject_message": (_inject_message, ("strategy", "content", "role", "position")),
    "module_action": (_module_action, _MODULE),
    "module_action_inject": (_module_action_inject, (*_MODULE, "format", "prefix")),
    "log": (_log, ("message", "level")),
    "shell": (_shell, ("command", "cwd", "timeout", "on_error")),
    "gate": (_gate, ("reason",)),
    "transform_params": (_transform_params, ("transformation",)),
    "transform_result": (_transform_result, ("transformation",)),
    "chain": (_chain, ("stop_on_failure", "actions")),
    "notify": (_notify, ("title", "message", "level", "tag")),
    "pipe": (_pipe, ("to", "map", "extra", "on_error")),
    "lsp_diagnose": (
        _lsp_diagnose,
        ("path_field", "content_field", "publish", "inject_result", "read_from_disk"),
    ),
}
