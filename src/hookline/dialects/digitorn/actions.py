"""`action:` is one of 13 types or a registered one. The builder's five actions are registered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

from hookline.config.node import Node
from hookline.dialects import custom
from hookline.dialects.digitorn.templates import (
    VOCABULARY,
    literal_template,
    read_data_template,
    read_literal,
    read_shell_template,
    read_template,
    warn_placeholders,
)
from hookline.errors import BadTemplate
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.call_tool import CallTool, TellWhen, quote_commands
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.change import Append, ChangeFacts, Edit, Remove, Set
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.notify import LEVELS, Log, Notify
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.outcome import SILENT, Compact, Note, NotePlace, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action, May
from hookline.hooks.templates import DataTemplate
from hookline.lazy_dataclasses import dataclass, replace

DEFAULT_TIMEOUT: Final = timedelta(seconds=60)
DEFAULT_SHELL_TIMEOUT: Final = timedelta(seconds=30)
MAX_TIMEOUT: Final = timedelta(hours=24)
DEFAULT_REASON: Final = "Blocked by hook policy"
ROLES: Final = ("user", "assistant", "system")
POSITIONS: Final = ("before_last", "start", "end")
NOTICE_LEVELS: Final = ("info", "warning", "error")
PLACE_BY_STRATEGY: Final = {"auto": NotePlace.LAST_USER, "user": NotePlace.LAST_USER, "system": NotePlace.SYSTEM}
DEFAULT_COOLDOWN_TURNS: Final = 3
INJECT_ON_ERROR: Final = Outcome(notes=(Note(""),))
"""With `on_error: inject`, the agent reads how the shell action failed."""


@dataclass(frozen=True, slots=True)
class ParsedAction:
    """An action and the hook settings that follow from it."""

    action: Action
    timeout: timedelta = DEFAULT_TIMEOUT
    on_error: Outcome = SILENT
    cooldown_turns: int | None = None
    ends_chain: bool = False
    broken_commands: int = 0  # commands that cannot be rendered, each with its own problem


ActionParser = Callable[[Node], ParsedAction | None]


def parse_action(at: Node) -> ParsedAction | None:
    """None after a problem."""
    if at.mapping() is None:
        return None
    type = at.require("type", f"Write type: and one of {', '.join(ACTIONS)}.")
    name = None if type is None else type.text()
    if type is None or name is None:
        return None
    if name not in ACTIONS:
        return _parse_registered_action(at, type, name)
    parse, keys = ACTIONS[name]
    at.warn_unknown_keys(("type", *keys), f"the action {name}")
    return parse(at)


def could_deny(at: Node | None) -> bool:
    """Whether the action, which cannot be read, may have been meant to deny: a gate, or one that nobody knows."""
    value = None if at is None else at.value
    if not isinstance(value, dict):
        return True
    type, steps = value.get("type"), value.get("actions")
    if type == "chain" and at is not None and isinstance(steps, list):
        return any(could_deny(Node(at.document, at.path, [], step)) for step in steps)
    return not isinstance(type, str) or type in ("gate", "chain") or type not in ACTIONS


def _parse_registered_action(at: Node, type: Node, name: str) -> ParsedAction | None:
    before = len(at.problems)
    entry = custom.find_registered(custom.ACTION_REGISTRY, name, type)
    if entry is None:
        if len(at.problems) == before:
            custom.report_unknown_name(custom.ACTION_REGISTRY, name, type, tuple(ACTIONS))
        return None
    params = {key: value for key, value in at.value.items() if key != "type"}
    action = custom.build_registered_action(entry, at, params)
    return None if action is None else ParsedAction(action)


def _require_key(at: Node, key: str) -> Node | None:
    return at.require(key, f"Write {key}: ….")


def _parse_text(at: Node, key: str, default: str = "") -> str | None:
    place = at.get(key)
    return default if place is None else place.text(empty=True)


def _parse_flag(at: Node, key: str, default: bool) -> bool | None:
    place = at.get(key)
    return default if place is None else place.flag()


def _parse_choice(at: Node, key: str, words: Collection[str], default: str) -> str | None:
    place = at.get(key)
    return default if place is None else place.one_of(words)


def _parse_compact_context(at: Node) -> ParsedAction | None:
    before = len(at.problems)
    keep, max_tokens, turns = at.get("keep_recent"), at.get("summary_max_tokens"), at.get("cooldown_turns")
    prompt, target = at.get("summary_prompt"), at.get("target_pressure")
    request = Compact(
        _parse_choice(at, "strategy", ("summarize", "truncate"), "summarize") or "",
        10 if keep is None else keep.integer(least=0) or 0,
        1024 if max_tokens is None else max_tokens.integer(least=1) or 1,
        None if prompt is None else prompt.text(),
        None if target is None else target.number(least=0, most=1),
    )
    cooldown = DEFAULT_COOLDOWN_TURNS if turns is None else turns.integer(least=0, hint="0 means no pause.")
    if len(at.problems) > before:
        return None
    if prompt is not None:
        warn_placeholders(prompt)
    return ParsedAction(FixedAnswer(Outcome(requests=(request,))), cooldown_turns=cooldown or None)


def _parse_inject_message(at: Node) -> ParsedAction | None:
    content = _require_key(at, "content")
    strategy = _parse_choice(at, "strategy", (*PLACE_BY_STRATEGY, "new_message"), "auto")
    role, position = _parse_choice(at, "role", ROLES, "user"), _parse_choice(at, "position", POSITIONS, "before_last")
    text = None if content is None else content.text()
    if content is None or text is None or strategy is None or role is None or position is None:
        return None
    note = Note(read_literal(content, text))
    if strategy == "new_message":
        return _note_action(replace(note, place=NotePlace.MESSAGE, role=role, position=position))
    return _note_action(replace(note, place=PLACE_BY_STRATEGY[strategy]))


def _note_action(note: Note) -> ParsedAction:
    return ParsedAction(FixedAnswer(Outcome(notes=(note,))))


def _parse_module_action(at: Node) -> ParsedAction | None:
    call = _parse_module_call(at)
    return None if call is None else ParsedAction(call)


def _parse_module_action_inject(at: Node) -> ParsedAction | None:
    call = _parse_module_call(at)
    format, prefix = _parse_choice(at, "format", ("auto", "always"), "auto"), _parse_text(at, "prefix")
    if call is None or format is None or prefix is None:
        return None
    tell = TellWhen.ALWAYS if format == "always" else TellWhen.ON_ERRORS
    return ParsedAction(replace(call, tell=tell, prefix=prefix, place=NotePlace.MESSAGE, role="system"))


def _parse_module_call(at: Node) -> CallTool | None:
    module, name, params = _require_key(at, "module"), _require_key(at, "action"), at.get("action_params")
    module_name = None if module is None else module.text()
    action_name = None if name is None else name.text()
    tool = None if module_name is None or action_name is None else f"{module_name}.{action_name}"
    input = _parse_input(params, tool or "")
    return None if tool is None or input is None else CallTool(tool, input)


def _parse_input(at: Node | None, tool: str) -> DataTemplate | None:
    if at is None:
        return DataTemplate({})
    if at.mapping() is None:
        return None
    try:
        return quote_commands(tool, read_data_template(at), PlaceholderResolver(VOCABULARY))
    except BadTemplate as bad:
        at.add_problem("bad-template", f"{at.location}: {bad.what}.", bad.hint)
        return None


def _parse_log(at: Node) -> ParsedAction | None:
    message, level = _require_key(at, "message"), _parse_choice(at, "level", LEVELS, "info")
    text = None if message is None else message.text()
    if message is None or text is None or level is None:
        return None
    return ParsedAction(Log(read_template(message, text, numbers=True), level))


def _parse_notify(at: Node) -> ParsedAction | None:
    message, title = _require_key(at, "message"), at.get("title")
    level, tag = _parse_choice(at, "level", NOTICE_LEVELS, "info"), _parse_text(at, "tag")
    text = None if message is None else message.text()
    title_text = "" if title is None else title.text(empty=True)
    if message is None or text is None or title_text is None or level is None or tag is None:
        return None
    body = read_template(message, text, numbers=True)
    return ParsedAction(Notify(body, read_template(title or message, title_text, numbers=True), level, tag))


def _parse_shell(at: Node) -> ParsedAction | None:
    command, cwd, timeout_node = _require_key(at, "command"), at.get("cwd"), at.get("timeout")
    text = None if command is None else command.text()
    directory = "" if cwd is None else cwd.text()
    on_error = _parse_choice(at, "on_error", ("ignore", "inject"), "ignore")
    timeout = DEFAULT_SHELL_TIMEOUT if timeout_node is None else _parse_seconds(timeout_node)
    if command is None or text is None or directory is None or on_error is None or timeout is None:
        return None
    failure = INJECT_ON_ERROR if on_error == "inject" else SILENT
    try:
        script = read_shell_template(command, text)
    except BadTemplate as bad:
        command.add_problem("bad-template", f"{command.location}: {bad.what}.", bad.hint)
        broken = InvalidAction(f"cannot run its command: {bad.what}", written=dict(at.value))
        return ParsedAction(broken, timeout, failure, broken_commands=1)
    program = CommandTemplate(script, cwd=read_template(cwd, directory) if cwd is not None else None)
    return ParsedAction(RunProgram(program, ResultParser(ResultFormat.ERROR), timeout), timeout, failure)


def _parse_seconds(at: Node) -> timedelta | None:
    hint = "digitorn counts seconds; write 30."
    seconds = at.number(least=0, most=MAX_TIMEOUT.total_seconds(), hint=hint)
    if seconds is not None and seconds < 0.001:
        at.add_problem("out-of-range", f"{at.location}: the timeout must be at least 0.001 seconds.", hint)
        return None
    return None if seconds is None else timedelta(seconds=seconds)


def _parse_gate(at: Node) -> ParsedAction | None:
    place = at.get("reason")
    reason = "" if place is None else place.text(empty=True)
    if reason is None:
        return None
    text = read_literal(place, reason) if place is not None and reason else DEFAULT_REASON
    return ParsedAction(FixedAnswer(Outcome(Verdict.DENY, text)))


def _parse_transformation(at: Node, keys: tuple[str, ...]) -> Node | None:
    place = _require_key(at, "transformation")
    if place is None or place.mapping() is None:
        return None
    place.warn_unknown_keys(keys, "transformation")
    if not any(key in place.value for key in keys):
        place.add_problem("no-action", f"{place.location}: this changes nothing.", f"Write {' or '.join(keys)}.")
        return None
    return place


def _parse_transform_params(at: Node) -> ParsedAction | None:
    """Sets top-level keys, then removes keys. Placeholders are not rendered."""
    place = _parse_transformation(at, ("set", "remove"))
    if place is None:
        return None
    assigned, names = place.get("set"), place.get("remove")
    values = {} if assigned is None else assigned.mapping()
    removed = () if names is None or names.sequence() is None else names.texts()
    if values is None or removed is None:
        return None
    if assigned is not None:
        warn_placeholders(assigned)
    edits: list[Edit] = [Set(("tool", "input", key), DataTemplate(value)) for key, value in values.items()]
    edits += [Remove(("tool", "input", name)) for name in removed]
    return ParsedAction(ChangeFacts(tuple(edits)))


def _parse_transform_result(at: Node) -> ParsedAction | None:
    place = _parse_transformation(at, ("append_to_result", "inject_note"))
    if place is None:
        return None
    suffix_node, note_node = place.get("append_to_result"), place.get("inject_note")
    suffix = None if suffix_node is None else suffix_node.text()
    note = None if note_node is None else note_node.text()
    actions: list[Action] = []
    if suffix_node is not None and suffix is not None:
        actions.append(ChangeFacts((Append(("tool", "result"), literal_template(read_literal(suffix_node, suffix))),)))
    if note_node is not None and note is not None:
        actions.append(FixedAnswer(Outcome(notes=(Note(read_literal(note_node, note), place=NotePlace.RESULT),))))
    if len(actions) == 2:
        return ParsedAction(
            Chain(tuple(ChainStep("transform_result", each, timeout=DEFAULT_TIMEOUT) for each in actions))
        )
    return ParsedAction(actions[0]) if actions else None


def _step_on_error(name: str, step: ParsedAction) -> Outcome | None:
    """A pipe with on_error: ignore or log decides what its failure means; for any other step the chain does."""
    ignored = name == "pipe" and not step.ends_chain
    return step.on_error if ignored or step.on_error != SILENT else None


def _chain_step(name: str, step: ParsedAction) -> ChainStep:
    """A chain records every failure, also of a pipe that ignores it alone."""
    is_quiet = isinstance(step.action, CallTool) and step.action.is_quiet
    action = replace(step.action, is_quiet=False) if isinstance(step.action, CallTool) else step.action
    return ChainStep(name, action, _step_on_error(name, step), step.timeout, step.ends_chain, is_quiet)


def _parse_chain(at: Node) -> ParsedAction | None:
    """Its timeout is the sum of its steps' timeouts."""
    places, stop = _require_key(at, "actions"), _parse_flag(at, "stop_on_failure", False)
    if places is None or places.sequence() is None:
        return None
    parsed = [(place, parse_action(place)) for place in places.items()]
    actions = [(place.value["type"], each) for place, each in parsed if each is not None]
    if len(actions) < len(parsed) or stop is None:
        return None
    steps = tuple(_chain_step(name, each) for name, each in actions)
    chain = Chain(steps, stop)
    total = sum((each.timeout for _, each in actions), timedelta())
    return ParsedAction(
        chain,
        min(total, MAX_TIMEOUT) if steps else DEFAULT_TIMEOUT,
        cooldown_turns=_chain_cooldown([each for _, each in actions], chain),
        broken_commands=sum(each.broken_commands for _, each in actions),
    )


def _chain_cooldown(steps: list[ParsedAction], chain: Chain) -> int | None:
    """A compaction's cooldown applies to the whole chain, unless that would disable a guard."""
    turns = [each.cooldown_turns for each in steps if each.cooldown_turns is not None]
    return max(turns) if turns and not chain.may & (May.DENY | May.ASK) else None


def _parse_pipe(at: Node) -> ParsedAction | None:
    to, extra = _require_key(at, "to"), at.get("extra")
    on_error = _parse_choice(at, "on_error", ("ignore", "log", "raise"), "ignore")
    tool = None if to is None else to.text()
    input = _parse_input(at.get("map"), tool or "")
    literals = {} if extra is None else extra.mapping()
    if tool is None or input is None or literals is None or on_error is None:
        return None
    if extra is not None:
        warn_placeholders(extra)
    call = CallTool(tool, input, tuple(literals.items()), is_quiet=on_error == "ignore")
    return ParsedAction(call, ends_chain=on_error == "raise")


def _parse_lsp_diagnose(at: Node) -> ParsedAction | None:
    defaults = Diagnose()
    path, content = at.get("path_field"), at.get("content_field")
    paths = defaults.path_fields if path is None else path.texts()
    contents = defaults.content_fields if content is None else content.texts()
    flags = [_parse_flag(at, key, True) for key in ("publish", "inject_result", "read_from_disk")]
    if paths is None or contents is None or None in flags:
        return None
    publish, inject, disk = (flag is True for flag in flags)
    return ParsedAction(Diagnose(paths, contents, publish, inject, disk))


_MODULE_KEYS: Final = ("module", "action", "action_params")

ACTIONS: Final[dict[str, tuple[ActionParser, tuple[str, ...]]]] = {
    "compact_context": (
        _parse_compact_context,
        ("strategy", "keep_recent", "summary_max_tokens", "summary_prompt", "target_pressure", "cooldown_turns"),
    ),
    "inject_message": (_parse_inject_message, ("strategy", "content", "role", "position")),
    "module_action": (_parse_module_action, _MODULE_KEYS),
    "module_action_inject": (_parse_module_action_inject, (*_MODULE_KEYS, "format", "prefix")),
    "log": (_parse_log, ("message", "level")),
    "shell": (_parse_shell, ("command", "cwd", "timeout", "on_error")),
    "gate": (_parse_gate, ("reason",)),
    "transform_params": (_parse_transform_params, ("transformation",)),
    "transform_result": (_parse_transform_result, ("transformation",)),
    "chain": (_parse_chain, ("stop_on_failure", "actions")),
    "notify": (_parse_notify, ("title", "message", "level", "tag")),
    "pipe": (_parse_pipe, ("to", "map", "extra", "on_error")),
    "lsp_diagnose": (
        _parse_lsp_diagnose,
        ("path_field", "content_field", "publish", "inject_result", "read_from_disk"),
    ),
}
