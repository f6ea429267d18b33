"""Actions in the format's own words."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.digitorn.actions import ACTIONS, INJECTED, REASON, SHELL_TIMEOUT, TIMEOUT
from hookline.dialects.digitorn.write_texts import constant_of, leaves_out, literal_of, text_of, value_of
from hookline.dialects.unsaid import Unsaid, unsaid_action
from hookline.hooks.action import Action
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.call import Call, Tell
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.actions.change import Append, Change, Edit, Remove, Set
from hookline.hooks.actions.custom import Custom
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.outcome import SILENT, Audience, Compact, Note, Outcome, Place, Verdict

_PLACES: Final = {Place.LAST_USER: "auto", Place.SYSTEM: "system", Place.CONTEXT: "auto"}


@dataclass(slots=True)
class Writing:
    """One hook being written; `remarks` are what of it is lost although the rest is said."""

    id: str
    cooldown_turns: int | None = None
    remarks: list[str] = field(default_factory=list)


def action_value(action: Action, on_error: Outcome, writing: Writing, name: str = "") -> dict[str, Any]:
    """`name` is what a chain calls the step, which settles how a call is said."""
    if on_error != SILENT and isinstance(action, (Notify, Change, Call, Chain, Diagnose, Custom)):
        raise Unsaid("its answer to an error")
    match action:
        case Answer(outcome):
            return _answer(outcome, writing)
        case Say():
            return _say(action, writing)
        case Log(text, level):
            return {"type": "log", "message": text_of(text, numbers=True), "level": level}
        case Notify():
            return _notify(action)
        case Change(edits):
            return _change(edits)
        case Run():
            return _run(action, on_error)
        case Call():
            return _call(action, name, writing)
        case Chain():
            return _chain(action, writing)
        case Diagnose():
            return _diagnose(action)
        case Custom(registered, _, params):
            return _custom(registered, params)
        case _:
            raise unsaid_action(action)


def _answer(outcome: Outcome, writing: Writing) -> dict[str, Any]:
    if outcome.halt or outcome.changes or outcome.verdict in (Verdict.ALLOW, Verdict.ASK):
        raise Unsaid("halt" if outcome.halt else f"the answer {outcome.verdict.word}")
    if outcome.verdict is Verdict.DENY and not outcome.notes and not outcome.requests:
        reason = outcome.reason or f"Blocked by hook {writing.id}"
        return {"type": "gate"} if reason == REASON else {"type": "gate", "reason": reason}
    if outcome.verdict is Verdict.SILENT and len(outcome.notes) + len(outcome.requests) == 1:
        return _note(outcome.notes[0], writing) if outcome.notes else _compact(outcome.requests[0], writing)
    raise Unsaid("an answer of several parts")


def _say(action: Say, writing: Writing) -> dict[str, Any]:
    """Only where nothing in it has to be rendered."""
    texts = [text for _, text in action.notes] + ([action.reason] if action.reason else [])
    plain = [constant_of(text) for text in texts]
    if len(plain) != 1 or plain[0] is None:
        raise Unsaid("placeholders in an answer")
    if action.notes:
        note = action.notes[0][0]
        kept = Note(plain[0], note.audience, note.place, note.role, note.position)
        return _answer(Outcome(notes=(*action.outcome.notes, kept)), writing)
    return _answer(Outcome(action.outcome.verdict, plain[0], halt=action.outcome.halt), writing)


def _note(note: Note, writing: Writing) -> dict[str, Any]:
    if note.audience is Audience.USER:
        raise Unsaid("words for the user")
    if not note.text:
        raise Unsaid("an empty message")
    if note.place is Place.RESULT:
        return {"type": "transform_result", "transformation": {"inject_note": note.text}}
    value = {"type": "inject_message", "content": note.text}
    if note.place is Place.MESSAGE:
        return value | {"strategy": "new_message", "role": note.role, "position": note.position}
    if note.place is Place.CONTEXT:
        writing.remarks.append("where its message stands: it goes to the last user message")
    return value | {"strategy": _PLACES[note.place]}


def _compact(request: Compact, writing: Writing) -> dict[str, Any]:
    value = {
        "type": "compact_context",
        "strategy": request.strategy,
        "keep_recent": request.keep_recent,
        "summary_max_tokens": request.summary_max_tokens,
        "summary_prompt": request.summary_prompt,
        "target_pressure": request.target_pressure,
        "cooldown_turns": writing.cooldown_turns or 0,
    }
    return {key: held for key, held in value.items() if held is not None}


def _notify(action: Notify) -> dict[str, Any]:
    value = {
        "type": "notify",
        "title": text_of(action.title, numbers=True),
        "message": text_of(action.message, numbers=True),
        "level": action.level,
        "tag": action.tag,
    }
    return {key: held for key, held in value.items() if held}


def _change(edits: tuple[Edit, ...]) -> dict[str, Any]:
    match edits:
        case (Append(("tool", "result"), text),):
            plain = constant_of(text)
            if not plain:
                raise Unsaid("placeholders in what is appended to a result")
            return {"type": "transform_result", "transformation": {"append_to_result": plain}}
    values: dict[str, Any] = {}
    removed: list[str] = []
    for edit in edits:
        match edit:
            case Set(("tool", "input", key), value) if not removed:
                values[str(key)] = literal_of(value.value)
            case Remove(("tool", "input", key)):
                removed.append(str(key))
            case _:
                raise Unsaid(f"this change of {'.'.join(map(str, edit.path))}")
    said = {key: held for key, held in (("set", values), ("remove", removed)) if held}
    if not said:
        raise Unsaid("a change of nothing")
    return {"type": "transform_params", "transformation": said}


def _run(action: Run, on_error: Outcome) -> dict[str, Any]:
    program = action.program
    if program.shell is None or action.only_if is not None:
        raise Unsaid("a program without a shell" if program.shell is None else "only_if")
    if program != Program(program.shell, cwd=program.cwd):
        raise Unsaid("what its program gets on stdin or in its environment")
    if action.reading != Reading(Reads.ERROR):
        raise Unsaid(f"how its program's end is read ({action.reading.how})")
    if on_error not in (SILENT, INJECTED):
        raise Unsaid("its answer to an error")
    value: dict[str, Any] = {"type": "shell", "command": text_of(program.shell)}
    if program.cwd is not None:
        value["cwd"] = text_of(program.cwd)
    if action.timeout != SHELL_TIMEOUT:
        value["timeout"] = seconds(action.timeout)
    return value | ({"on_error": "inject"} if on_error == INJECTED else {})


def seconds(length: timedelta) -> float | int:
    total = length.total_seconds()
    return int(total) if total.is_integer() else total


def _call(call: Call, name: str, writing: Writing) -> dict[str, Any]:
    if leaves_out(call.input.value):
        writing.remarks.append("a field that is left out where its fact is absent: it becomes empty text")
    if call.tell is not Tell.NEVER:
        return _call_inject(call, writing)
    module, dot, rest = call.tool.partition(".")
    if name == "module_action" and module and dot and rest and not call.literal:
        return {"type": name, "module": module, "action": rest, "action_params": value_of(call.input)}
    value: dict[str, Any] = {"type": "pipe", "to": call.tool, "map": value_of(call.input)}
    return value | ({"extra": dict(call.literal)} if call.literal else {})


def _call_inject(call: Call, writing: Writing) -> dict[str, Any]:
    module, dot, rest = call.tool.partition(".")
    if not (module and dot and rest) or call.literal:
        raise Unsaid("a call whose answer the agent is told, of a tool without a module or with literal fields")
    if call.place is not Place.MESSAGE or call.role != "system":
        writing.remarks.append("where the answer of its call stands: it becomes a system message")
    value = {"type": "module_action_inject", "module": module, "action": rest, "action_params": value_of(call.input)}
    value["format"] = "always" if call.tell is Tell.ALWAYS else "auto"
    return value | ({"prefix": call.prefix} if call.prefix else {})


def _chain(chain: Chain, writing: Writing) -> dict[str, Any]:
    both = _append_and_note(chain)
    if both is not None:
        return both
    actions = [_step(step, writing) for step in chain.steps]
    return {"type": "chain", "stop_on_failure": chain.stop_on_failure, "actions": actions}


def _append_and_note(chain: Chain) -> dict[str, Any] | None:
    """A transform_result of two parts is a chain inside."""
    match chain.steps:
        case (
            Step("transform_result", Change((Append(("tool", "result"), text),))),
            Step("transform_result", Answer(Outcome(Verdict.SILENT, "", (), (Note(note, place=Place.RESULT),)))),
        ) if (plain := constant_of(text)) and note:
            return {"type": "transform_result", "transformation": {"append_to_result": plain, "inject_note": note}}
    return None


def _step(step: Step, writing: Writing) -> dict[str, Any]:
    value = action_value(step.action, step.on_error or SILENT, writing, step.name)
    if step.ends_chain and value["type"] != "pipe":
        raise Unsaid("a step other than a pipe whose failure ends the chain")
    if not step.action.instant and not isinstance(step.action, (Run, Chain)) and step.timeout != TIMEOUT:
        writing.remarks.append(f"the {seconds(step.timeout)} s that its {step.name} may take")
    return value | ({"on_error": "raise"} if step.ends_chain else {})


def _diagnose(action: Diagnose) -> dict[str, Any]:
    return {
        "type": "lsp_diagnose",
        "path_field": list(action.path_fields),
        "content_field": list(action.content_fields),
        "publish": action.publish,
        "inject_result": action.inject,
        "read_from_disk": action.read_from_disk,
    }


def _custom(name: str, params: Any) -> dict[str, Any]:
    if name in ACTIONS or not isinstance(params, dict) or "type" in params:
        raise Unsaid(f"the registered action {name}")
    return {"type": name, **params}
