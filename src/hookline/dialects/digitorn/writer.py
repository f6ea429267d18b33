"""Writes hooks as a digitorn app file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.conversion import (
    NotExpressible,
    event_not_expressible,
    renders_other_names,
    write_duration,
    write_each,
)
from hookline.dialects.dialect import WriteResult
from hookline.dialects.digitorn.actions import (
    ACTIONS,
    DEFAULT_REASON,
    DEFAULT_SHELL_TIMEOUT,
    DEFAULT_TIMEOUT,
    INJECT_ON_ERROR,
)
from hookline.dialects.digitorn.conditions import (
    CONDITIONS,
    DEFAULT_THRESHOLDS,
    EXPRESSION_NAMES,
    LAST_MESSAGES,
    PRESSURE,
    TURN,
)
from hookline.dialects.digitorn.dialect import DEFAULT_PRIORITY, NAME
from hookline.dialects.digitorn.templates import (
    VOCABULARY,
    constant_text,
    omits_absent_fields,
    write_data,
    write_literal,
    write_template,
)
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.change import Append, ChangeFacts, Edit, Remove, Set
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.python_function import CustomAction
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.numbers import Comparison, CustomCondition, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Fact, Matches, RecentMessagesContain
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT, Audience, Compact, Note, NotePlace, Outcome, Verdict
from hookline.hooks.protocols import Action, Condition
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import ToolKind, Vocabulary
from hookline.hooks.wording import Wording
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.patterns.matchers import Shorthand

_SECOND: Final = timedelta(seconds=1)
_THRESHOLD_TYPES: Final = {path: name for name, (path, _) in DEFAULT_THRESHOLDS.items()}
_OPERATORS: Final = {"above": ">", "at_least": ">=", "equals": "=="}
_EXPRESSION_NAME_BY_PATH: Final = {path: name for name, path in EXPRESSION_NAMES.items()}
_STRATEGY_BY_PLACE: Final = {NotePlace.LAST_USER: "auto", NotePlace.SYSTEM: "system", NotePlace.CONTEXT: "auto"}


@dataclass(slots=True)
class WriteContext:
    """The hook being written. `losses` lists what of it digitorn cannot express although it can express the rest."""

    id: str
    words: Wording
    cooldown_turns: int | None = None
    losses: list[str] = field(default_factory=list)


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    app: list[dict[str, Any]] = []
    agents: dict[str, list[dict[str, Any]]] = {}

    def write(hook: Hook, losses: list[str]) -> None:
        value = _write_hook(hook, WriteContext(hook.id, hook.origin.wording, hook.limit.cooldown_turns, losses))
        agent = hook.scope.agent
        (app if agent is None else agents.setdefault(agent, [])).append(value)

    not_expressible = write_each(hooks, write)
    file: dict[str, Any] = {"runtime": {"hooks": app}}
    if agents:
        file["agents"] = [{"id": id, "hooks": own} for id, own in agents.items()]
    return WriteResult(file, "yaml", not_expressible)


def _write_hook(hook: Hook, context: WriteContext) -> dict[str, Any]:
    event = event_name_in(NAME, hook.event)
    if event is None:
        raise event_not_expressible(hook)
    if hook.scope.prompt is not None or hook.scope.session is not None:
        raise NotExpressible("a scope of one prompt or session")
    if not hook.wait:
        raise NotExpressible("that the agent does not wait for it")
    action = write_action(hook.then, hook.on_error, context)
    value: dict[str, Any] = {"id": hook.id, "on": event}
    if not isinstance(hook.when, Always):
        value["condition"] = write_condition(hook.when)
    value["action"] = action
    if renders_other_names(hook.then, VOCABULARY):
        if not isinstance(hook.then, (Log, Notify)):
            raise NotExpressible("the tool's name in another dialect")
        context.losses.append("the tool's name in its text, which is digitorn's")
    if not hook.then.instant and not isinstance(hook.then, (RunProgram, Chain)) and hook.timeout != DEFAULT_TIMEOUT:
        context.losses.append(f"its timeout of {write_duration(hook.timeout, _SECOND)} s")
    return value | _write_settings(hook, value["action"])


def _write_settings(hook: Hook, action: dict[str, Any]) -> dict[str, Any]:
    limit = hook.limit
    if limit.cooldown_turns is not None and not _compacts(action):
        raise NotExpressible("a cooldown in turns")
    if limit.count is not None:
        raise NotExpressible("count")
    value: dict[str, Any] = {}
    if limit.cooldown is not None:
        value["cooldown"] = write_duration(limit.cooldown, _SECOND)
    if limit.max_fires is not None:
        value["max_fires"] = limit.max_fires
    if hook.order:
        value["priority"] = hook.order + DEFAULT_PRIORITY
    if not hook.enabled:
        value["enabled"] = False
    if hook.tags:
        value["tags"] = list(hook.tags)
    return value


def _compacts(action: dict[str, Any]) -> bool:
    return action["type"] == "compact_context" or any(
        _compacts(step) for step in action.get("actions", ()) if action["type"] == "chain"
    )


def write_action(action: Action, on_error: Outcome, context: WriteContext, name: str = "") -> dict[str, Any]:
    """`name` is the step's name in a chain. It decides how a call is written."""
    if on_error != SILENT and isinstance(action, (Notify, ChangeFacts, CallTool, Chain, Diagnose, CustomAction)):
        raise NotExpressible("what its failure counts as")
    match action:
        case FixedAnswer(outcome):
            return _write_answer(outcome, context)
        case TemplateAnswer():
            return _write_say(action, context)
        case Log(text, level):
            return {"type": "log", "message": write_template(text, numbers=True), "level": level}
        case Notify():
            return _write_notify(action)
        case ChangeFacts(edits):
            return _write_change(edits)
        case RunProgram():
            return _write_run(action, on_error, context)
        case CallTool():
            return _write_call(action, name, context)
        case Chain():
            return _write_chain(action, context)
        case Diagnose():
            return _write_diagnose(action)
        case CustomAction(registered, _, params):
            return _write_custom(registered, params)
        case _:
            raise NotExpressible(action=action)


def _write_answer(outcome: Outcome, context: WriteContext) -> dict[str, Any]:
    if outcome.halt or outcome.changes or outcome.verdict in (Verdict.ALLOW, Verdict.ASK):
        raise NotExpressible("halt" if outcome.halt else f"the answer {outcome.verdict.word}")
    if outcome.verdict is Verdict.DENY and not outcome.notes and not outcome.requests:
        reason = outcome.reason or f"Blocked by hook {context.id}"
        return {"type": "gate"} if reason == DEFAULT_REASON else {"type": "gate", "reason": reason}
    if outcome.verdict is Verdict.SILENT and len(outcome.notes) + len(outcome.requests) == 1:
        return _write_note(outcome.notes[0], context) if outcome.notes else _write_compact(outcome.requests[0], context)
    raise NotExpressible("an answer with several parts")


def _write_say(action: TemplateAnswer, context: WriteContext) -> dict[str, Any]:
    """digitorn does not render placeholders in answers."""
    texts = [text for _, text in action.notes] + ([action.reason] if action.reason else [])
    plain = [constant_text(text) for text in texts]
    if len(plain) != 1 or plain[0] is None:
        raise NotExpressible("placeholders in an answer")
    if action.notes:
        note = action.notes[0][0]
        constant = Note(plain[0], note.audience, note.place, note.role, note.position)
        return _write_answer(Outcome(notes=(*action.outcome.notes, constant)), context)
    return _write_answer(Outcome(action.outcome.verdict, plain[0], halt=action.outcome.halt), context)


def _write_note(note: Note, context: WriteContext) -> dict[str, Any]:
    if note.audience is Audience.USER:
        raise NotExpressible("a message to the user")
    if not note.text:
        raise NotExpressible("an empty message")
    if note.place is NotePlace.RESULT:
        return {"type": "transform_result", "transformation": {"inject_note": note.text}}
    value = {"type": "inject_message", "content": note.text}
    if note.place is NotePlace.MESSAGE:
        return value | {"strategy": "new_message", "role": note.role, "position": note.position}
    if note.place is NotePlace.CONTEXT:
        context.losses.append("the place of its message; it goes into the last user message")
    return value | {"strategy": _STRATEGY_BY_PLACE[note.place]}


def _write_compact(request: Compact, context: WriteContext) -> dict[str, Any]:
    value = {
        "type": "compact_context",
        "strategy": request.strategy,
        "keep_recent": request.keep_recent,
        "summary_max_tokens": request.summary_max_tokens,
        "summary_prompt": request.summary_prompt,
        "target_pressure": request.target_pressure,
        "cooldown_turns": context.cooldown_turns or 0,
    }
    return {key: each for key, each in value.items() if each is not None}


def _write_notify(action: Notify) -> dict[str, Any]:
    value = {
        "type": "notify",
        "title": write_template(action.title, numbers=True),
        "message": write_template(action.message, numbers=True),
        "level": action.level,
        "tag": action.tag,
    }
    return {key: each for key, each in value.items() if each}


def _write_change(edits: tuple[Edit, ...]) -> dict[str, Any]:
    match edits:
        case (Append(("tool", "result"), text),):
            plain = constant_text(text)
            if not plain:
                raise NotExpressible("placeholders in what is appended to a result")
            return {"type": "transform_result", "transformation": {"append_to_result": plain}}
    values: dict[str, Any] = {}
    removed: list[str] = []
    for edit in edits:
        match edit:
            case Set(("tool", "input", key), value) if not removed:
                values[str(key)] = write_literal(value.value)
            case Remove(("tool", "input", key)):
                removed.append(str(key))
            case _:
                raise NotExpressible(f"this change of {'.'.join(map(str, edit.path))}")
    if not values and not removed:
        raise NotExpressible("an empty change")
    transformation = {key: each for key, each in (("set", values), ("remove", removed)) if each}
    return {"type": "transform_params", "transformation": transformation}


def _write_run(action: RunProgram, on_error: Outcome, context: WriteContext) -> dict[str, Any]:
    program = action.program
    if program.shell is None:
        raise NotExpressible("a program without a shell")
    if action.only_if is not None:
        raise NotExpressible(context.words.only_if)
    if program != CommandTemplate(program.shell, inherit_env=program.inherit_env, cwd=program.cwd):
        raise NotExpressible("the stdin or environment of its program")
    if action.result_parser != ResultParser(ResultFormat.ERROR):
        raise NotExpressible("how the exit code and the output of its command count")
    if program.inherit_env is not True:
        context.losses.append("that its program gets few environment variables; it gets all")
    if on_error not in (SILENT, INJECT_ON_ERROR):
        raise NotExpressible("what its failure counts as")
    value: dict[str, Any] = {"type": "shell", "command": write_template(program.shell)}
    if program.cwd is not None:
        value["cwd"] = write_template(program.cwd)
    if action.timeout != DEFAULT_SHELL_TIMEOUT:
        value["timeout"] = write_duration(action.timeout, _SECOND)
    return value | ({"on_error": "inject"} if on_error == INJECT_ON_ERROR else {})


def _write_call(call: CallTool, name: str, context: WriteContext) -> dict[str, Any]:
    if omits_absent_fields(call.input.value):
        context.losses.append("that a field is omitted if its fact is absent; it becomes empty text")
    if call.tell is not TellWhen.NEVER:
        return _write_call_inject(call, context)
    module, dot, rest = call.tool.partition(".")
    if name == "module_action" and module and dot and rest and not call.literal:
        return {"type": name, "module": module, "action": rest, "action_params": write_data(call.input)}
    value: dict[str, Any] = {"type": "pipe", "to": call.tool, "map": write_data(call.input)}
    if call.literal:
        value["extra"] = dict(call.literal)
    return value if call.is_quiet else {**value, "on_error": "log"}


def _write_call_inject(call: CallTool, context: WriteContext) -> dict[str, Any]:
    module, dot, rest = call.tool.partition(".")
    if not (module and dot and rest) or call.literal:
        raise NotExpressible("a call whose result the agent reads, of a tool without a module or with literal fields")
    if call.place is not NotePlace.MESSAGE or call.role != "system":
        context.losses.append("the place of its call's result; it becomes a system message")
    value = {"type": "module_action_inject", "module": module, "action": rest, "action_params": write_data(call.input)}
    value["format"] = "always" if call.tell is TellWhen.ALWAYS else "auto"
    return value | ({"prefix": call.prefix} if call.prefix else {})


def _write_chain(chain: Chain, context: WriteContext) -> dict[str, Any]:
    both = _write_append_and_note(chain)
    if both is not None:
        return both
    actions = [_write_step(step, context) for step in chain.steps]
    return {"type": "chain", "stop_on_failure": chain.stop_on_failure, "actions": actions}


def _write_append_and_note(chain: Chain) -> dict[str, Any] | None:
    """A transform_result with two parts was read as a chain."""
    match chain.steps:
        case (
            ChainStep("transform_result", ChangeFacts((Append(("tool", "result"), text),))),
            ChainStep(
                "transform_result", FixedAnswer(Outcome(Verdict.SILENT, "", (), (Note(note, place=NotePlace.RESULT),)))
            ),
        ) if (plain := constant_text(text)) and note:
            return {"type": "transform_result", "transformation": {"append_to_result": plain, "inject_note": note}}
    return None


def _write_step(step: ChainStep, context: WriteContext) -> dict[str, Any]:
    action = replace(step.action, is_quiet=step.is_quiet) if isinstance(step.action, CallTool) else step.action
    value = write_action(action, step.on_error or SILENT, context, step.name)
    if step.ends_chain and value["type"] != "pipe":
        raise NotExpressible("a step other than a pipe whose failure ends the chain")
    if not step.action.instant and not isinstance(step.action, (RunProgram, Chain)) and step.timeout != DEFAULT_TIMEOUT:
        context.losses.append(f"the timeout of {write_duration(step.timeout, _SECOND)} s of its {step.name}")
    return value | ({"on_error": "raise"} if step.ends_chain else {})


def _write_diagnose(action: Diagnose) -> dict[str, Any]:
    return {
        "type": "lsp_diagnose",
        "path_field": list(action.path_fields),
        "content_field": list(action.content_fields),
        "publish": action.publish,
        "inject_result": action.inject,
        "read_from_disk": action.read_from_disk,
    }


def _write_custom(name: str, params: Any) -> dict[str, Any]:
    if name in ACTIONS or not isinstance(params, dict) or "type" in params:
        raise NotExpressible(f"the registered action {name}")
    return {"type": name, **params}


def write_condition(condition: Condition) -> dict[str, Any]:
    match condition:
        case Always():
            return {"type": "always"}
        case Never():
            return {"type": "never"}
        case All(parts):
            return {"type": "all_of", "conditions": [write_condition(part) for part in parts]}
        case AnyOf(parts):
            return {"type": "any_of", "conditions": [write_condition(part) for part in parts]}
        case Not(part):
            return {"type": "not", "condition": write_condition(part)}
        case CustomCondition(name, _, params):
            return _write_custom_condition(name, params)
        case Matches(ToolName(vocabulary), Shorthand(word, text)):
            return {"type": "tool_name", "match": _write_tool_names(vocabulary, word, text)}
        case Matches(Fact(("error", "code")), Shorthand("tool", text)):
            return {"type": "error_type", "match": text}
        case _:
            return _write_simple_condition(condition)


def _write_simple_condition(condition: Condition) -> dict[str, Any]:
    match condition:
        case ToolKindIs(kind) if VOCABULARY.names.get(kind):
            return {"type": "tool_name", "match": VOCABULARY.names[kind][0]}
        case Equals(("tool", "ok"), False):
            return {"type": "tool_failed"}
        case RecentMessagesContain(keyword, last) if last == LAST_MESSAGES:
            return {"type": "content_contains", "keyword": keyword}
        case MultipleOf(path, number) if path == TURN:
            return {"type": "turn_count", "every": number}
        case Comparison():
            return _write_comparison(condition)
        case ExpressionCondition(formula, places, _, false_on_error) if (
            dict(places) == EXPRESSION_NAMES and false_on_error == formula.may_fail
        ):
            return {"type": "expression", "expr": formula.source}
        case _:
            raise NotExpressible(condition=condition)


def _write_comparison(condition: Comparison) -> dict[str, Any]:
    path, comparison, number = condition.path, condition.comparison, condition.number
    if path == TURN and comparison == "equals" and isinstance(number, int) and number >= 0:
        return {"type": "turn_count", "threshold": number}
    if path in _THRESHOLD_TYPES and comparison == "above" and number >= 0 and (path != PRESSURE or number <= 1):
        return {"type": _THRESHOLD_TYPES[path], "threshold": number}
    if (
        path in _EXPRESSION_NAME_BY_PATH
        and comparison in _OPERATORS
        and (number > 0 or (number == 0 and comparison == "above"))
    ):
        return {"type": "expression", "expr": f"{_EXPRESSION_NAME_BY_PATH[path]} {_OPERATORS[comparison]} {number!r}"}
    # An absent fact counts as 0 in an expression, but this comparison never holds then.
    raise NotExpressible("this comparison of a number")


def _write_custom_condition(name: str, params: Any) -> dict[str, Any]:
    if name in CONDITIONS or not isinstance(params, dict) or "type" in params:
        raise NotExpressible(f"the registered condition {name}")
    return {"type": name, **params}


def _write_tool_names(vocabulary: Vocabulary, word: str, text: str) -> str:
    if (word == "exactly" and not set(text) & set("*?[|")) or (word == "like" and not set(text) & set("?[|")):
        word = "tool"
    if word != "tool":
        raise NotExpressible("a pattern for the tool's name that is not a glob")
    if vocabulary.name == VOCABULARY.name:
        return text
    return "|".join(name for part in text.split("|") for name in _translate_tool_name(vocabulary, part.strip()))


def _translate_tool_name(vocabulary: Vocabulary, name: str) -> list[str]:
    """A name of another vocabulary, and digitorn's name for that kind of tool."""
    if name == "*":
        return [name]
    if set(name) & set("*?["):
        raise NotExpressible(f"the tool names {name} of {vocabulary.name}")
    kinds = [kind for kind in ToolKind if name in vocabulary.names.get(kind, ())]
    if not kinds and name in VOCABULARY.known_names:
        raise NotExpressible(f"the tool name {name}, which is another tool in digitorn")
    return [name, *(VOCABULARY.names[kind][0] for kind in kinds if VOCABULARY.names.get(kind))]
