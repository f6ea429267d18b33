"""The results of hook programs, as coding agents other than Claude Code read them.

Where an agent lets a call pass although its hook means to stop it (a deny that it cannot parse, exit code 2 without a
message), the hook is obeyed. An answer that only says that the agent may go on allows nothing: the hooks of these agents
say so about every call, and elsewhere it would replace the question to a person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hookline.hooks.actions.claude_result import claude_block_outcome, parse_claude_result
from hookline.hooks.actions.json_result import (
    MAX_REASON_CHARS,
    DuplicateKey,
    block_outcome,
    describe_bad_decision,
    parse_answer_object,
    strip_padding,
    text_value,
    unreadable_as_deny,
    unreadable_error,
)
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import SILENT, ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.hooks.tool_input import to_host_fields
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import json

_CLAUDE_PARSER: Final = ResultParser(ResultFormat.CLAUDE)
_TEXT_CONTEXT_EVENTS: Final = ("session.start", "prompt.submit")
_CONTROL_LINE: Final = "HOOK_CONTROL\t"
_MAX_ATTEMPTS: Final = 100
_VERDICT_WORDS: Final = {
    "allow": Verdict.SILENT,
    "approve": Verdict.SILENT,
    "ask": Verdict.ASK,
    "block": Verdict.DENY,
    "deny": Verdict.DENY,
}


def parse_agent_result(format: ResultFormat, finished: ProgramResult, event: Event) -> Outcome:
    return _PARSERS[format](finished, event)


def _parse_codex(finished: ProgramResult, event: Event) -> Outcome:
    """Claude Code's answers. Codex changes an input only together with an allow, and asks whom it would ask anyway."""
    outcome = _CLAUDE_PARSER.parse(finished, event)
    if event.name != "tool.before":
        return outcome
    changes = outcome.changes if outcome.verdict is Verdict.ALLOW else ()
    return _without_allow(replace(outcome, changes=changes))


def _parse_droid(finished: ProgramResult, event: Event) -> Outcome:
    """Claude Code's answers, but a changed input is merged into the old one."""
    outcome = _CLAUDE_PARSER.parse(finished, event)
    if event.name != "tool.before":
        return outcome
    return replace(outcome, changes=tuple((path, _merge_input(event, value)) for path, value in outcome.changes))


def _merge_input(event: Event, changed: Any) -> Any:
    input = event.read(("tool", "input"))
    return {**input, **changed} if isinstance(input, dict) and isinstance(changed, dict) else changed


def _parse_kimi(finished: ProgramResult, event: Event) -> Outcome:
    """Exit code 2 blocks before a tool, at a prompt and once at a stop, and so does Claude Code's JSON for a deny."""
    can_block = event.name in ("tool.before", "prompt.submit", "stop")
    if finished.exit_code == 2 and can_block:
        return block_outcome(finished.stderr.strip(), event)
    if finished.exit_code:
        raise _failure(finished)
    answer = _read_object(finished.stdout, finished, event)
    if answer is None and event.name != "prompt.submit":  # there, all of it is context
        _reject_invalid_json(finished.stdout)
    answer = answer or {}
    specific = answer.get("hookSpecificOutput")
    if can_block and isinstance(specific, dict) and specific.get("permissionDecision") == "deny":
        return Outcome(Verdict.DENY, text_value(specific, "permissionDecisionReason"))
    text = (text_value(answer, "message") or finished.stdout.strip()) if event.name == "prompt.submit" else ""
    return Outcome(notes=(Note(text),)) if text else SILENT


def _parse_qwen(finished: ProgramResult, event: Event) -> Outcome:
    """After exit code 2 only stderr counts; otherwise stdout, or stderr if that is empty, whatever the exit code."""
    blocks = finished.exit_code == 2
    text = finished.stderr if blocks else finished.stdout if finished.stdout.strip() else finished.stderr
    answer = _read_object(text, finished, event)
    if blocks:
        given = SILENT if answer is None else _parse_qwen_answer(answer, event)
        is_denied = given.verdict is Verdict.DENY or given.halt
        return given if is_denied else claude_block_outcome(text.strip(), event)
    if answer is not None:
        return _parse_qwen_answer(answer, event)
    _reject_invalid_json(text)
    if finished.exit_code:
        raise _failure(finished)
    text = text.strip()
    is_context = event.name in _TEXT_CONTEXT_EVENTS and bool(finished.stdout.strip())
    return Outcome(notes=(Note(text, Audience.AGENT if is_context else Audience.USER),)) if text else SILENT


def _parse_qwen_answer(answer: dict[str, Any], event: Event) -> Outcome:
    """Claude Code's answer, in which `decision` may also be deny, allow or ask. Before a tool it changes nothing."""
    decision = answer.get("decision")
    if decision == "ask" and event.name == "tool.before":
        return Outcome(Verdict.ASK, text_value(answer, "reason"))
    words = {"deny": "block", "allow": "approve", "ask": None}
    known = {**answer, "decision": words.get(decision, decision) if isinstance(decision, str) else decision}
    outcome = parse_claude_result(known, event)
    return _without_allow(replace(outcome, changes=())) if event.name == "tool.before" else outcome


def _parse_gemini(finished: ProgramResult, event: Event) -> Outcome:
    """stdout, or stderr if that is empty. JSON is the answer, whatever the exit code; text with exit code 2 or more denies."""
    text = finished.stdout if finished.stdout.strip() else finished.stderr
    answer = _read_object(text, finished, event)
    outcome = SILENT if answer is None else _parse_gemini_answer(answer, event)
    text = text.strip()[:MAX_REASON_CHARS]
    if answer is not None and (finished.exit_code != 2 or outcome.verdict is Verdict.DENY or outcome.halt):
        return outcome
    if finished.exit_code == 2 or (finished.exit_code > 2 and text):
        return _gemini_block(text, event)
    if finished.exit_code:
        raise _failure(finished)
    return Outcome(notes=(Note(text, Audience.USER),)) if text else SILENT


def _parse_gemini_answer(answer: dict[str, Any], event: Event) -> Outcome:
    given = answer.get("hookSpecificOutput")
    specific: dict[str, Any] = given if isinstance(given, dict) else {}
    message, context = text_value(answer, "systemMessage"), text_value(specific, "additionalContext")
    notes = (Note(message, Audience.USER),) if message else ()
    if answer.get("continue") is False and EVENTS[event.name].accepts & May.HALT:
        why = text_value(answer, "stopReason") or text_value(answer, "reason")
        return Outcome(reason=why, notes=(*((Note(why, Audience.USER),) if why else ()), *notes), halt=True)
    outcome = _read_verdict(answer.get("decision"), text_value(answer, "reason"), event, _gemini_block)
    if outcome.verdict is Verdict.DENY:
        return replace(outcome, notes=(*outcome.notes, *notes))
    if context and EVENTS[event.name].accepts & May.NOTES and event.name not in ("tool.before", *ENDING_EVENTS):
        notes = (*notes, Note(context))
    changes: Changes = ()
    if event.name == "tool.before" and isinstance(specific.get("tool_input"), dict):
        changes = ((("tool", "input"), _merge_input(event, to_host_fields(event, specific["tool_input"]))),)
    return replace(outcome, notes=(*outcome.notes, *notes), changes=(*outcome.changes, *changes))


def _gemini_block(text: str, event: Event) -> Outcome:
    """After a tool, the reason takes the place of its result."""
    if event.name == "tool.after" and text:
        return Outcome(changes=((("tool", "result"), text),))
    if EVENTS[event.name].accepts & May.DENY and event.name != "history.compact":
        return Outcome(Verdict.DENY, text)
    return Outcome(notes=(Note(text, Audience.USER),)) if text else SILENT


def _parse_cursor(finished: ProgramResult, event: Event) -> Outcome:
    """Exit code 2 denies with the text of stdout. Before a tool or a sub-agent, an answer that cannot be read denies too."""
    if finished.exit_code == 2:
        return _cursor_block((finished.stdout.strip() or finished.stderr.strip())[:MAX_REASON_CHARS], event)
    if finished.exit_code:
        raise _failure(finished)
    text = strip_padding(finished.stdout)
    if not text:
        return SILENT
    answer = _last_object(text, finished, event)
    must_answer = event.name in ("tool.before", "subagent.start")
    if answer is None:
        if must_answer:
            return Outcome(Verdict.DENY, "its answer is not JSON")
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "answered text that is not JSON")
    word = answer.get("permission", answer.get("decision"))
    if must_answer and word is not None and (not isinstance(word, str) or word not in _VERDICT_WORDS):
        return Outcome(Verdict.DENY, describe_bad_decision(word, event))
    return _parse_cursor_answer(answer, word, event)


def _parse_cursor_answer(answer: dict[str, Any], word: Any, event: Event) -> Outcome:
    for_agent, for_user = (
        _text_of(answer, "agent_message", "agentMessage"),
        _text_of(answer, "user_message", "userMessage"),
    )
    reason = for_agent or for_user or text_value(answer, "reason")
    if answer.get("continue") is False:
        if EVENTS[event.name].accepts & May.DENY:
            return Outcome(Verdict.DENY, for_user or reason)
        return Outcome(reason=reason, halt=True) if EVENTS[event.name].accepts & May.HALT else SILENT
    follow_up = text_value(answer, "followup_message")
    if event.name in ENDING_EVENTS and (follow_up or word == "block"):
        return Outcome(Verdict.DENY, follow_up or reason)
    known = word if isinstance(word, str) and word in _VERDICT_WORDS else None
    outcome = _read_verdict(known, reason, event, _cursor_block)
    notes = [Note(for_user, Audience.USER)] if for_user and for_user != outcome.reason else []
    if outcome.verdict is Verdict.DENY:
        return replace(outcome, notes=(*outcome.notes, *notes))
    context = text_value(answer, "additional_context")
    notes += [Note(context)] if context and EVENTS[event.name].accepts & May.NOTES else []
    changes: Changes = ()
    if event.name == "tool.before" and isinstance(answer.get("updated_input"), dict):
        changes = ((("tool", "input"), _merge_input(event, to_host_fields(event, answer["updated_input"]))),)
    return replace(outcome, notes=(*outcome.notes, *notes), changes=changes)


def _cursor_block(text: str, event: Event) -> Outcome:
    """A hook of Cursor that only hears what happened stops nothing."""
    if EVENTS[event.name].accepts & May.DENY and event.name != "history.compact":
        return Outcome(Verdict.DENY, text)
    return Outcome(notes=(Note(text, Audience.USER),)) if text else SILENT


def _parse_copilot(finished: ProgramResult, event: Event) -> Outcome:
    """Before a tool every exit code but 0 denies, at a permission 2 does; on other events a failure stops nothing.

    After a tool that failed, 2 hands the output to the agent.
    """
    text = _without_progress(finished.stdout)
    if finished.exit_code and event.name == "tool.before":
        said = finished.stderr.strip() or finished.stdout.strip() or f"exit code {finished.exit_code}"
        return Outcome(Verdict.DENY, said[:MAX_REASON_CHARS])
    if finished.exit_code == 2 and event.name == "approval.request":
        given = _object_or_empty(text)
        decided = _parse_copilot_approval({**given, "behavior": "deny"}, None)
        return replace(decided, reason=decided.reason or finished.stderr.strip()[:MAX_REASON_CHARS])
    if finished.exit_code == 2 and event.name == "tool.after" and event.read(("tool", "ok")) is False:
        said = text_value(_object_or_empty(text), "additionalContext") or text.strip()
        return Outcome(notes=(Note(said),)) if said else SILENT
    if finished.exit_code:
        raise _failure(finished)
    answer = _read_object(text, finished, event)
    if answer is not None:
        return _parse_copilot_answer(answer, event)
    found = _objects_in(text)
    if not found:
        _reject_invalid_json(text)
    outcomes = (_parse_copilot_answer(each, event) for each in found)
    return next((each for each in outcomes if each.verdict >= Verdict.ASK or each.halt), SILENT)


def _without_progress(text: str) -> str:
    """Copilot takes progress out of the output, wherever it stands: a line that is an object with a message."""
    return "\n".join(line for line in text.split("\n") if not _is_progress(_object_or_empty(line)))


def _is_progress(line: dict[str, Any]) -> bool:
    return line.get("type") == "progress" and isinstance(line.get("message"), str)


def _objects_in(text: str) -> list[dict[str, Any]]:
    """The JSON objects in a text. After the attempts, whatever is left is no answer to any reader."""
    found, at, decoder = [], 0, json.JSONDecoder()
    for _ in range(_MAX_ATTEMPTS):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            value, at = decoder.raw_decode(text, at)
            found.append(value)
        except (ValueError, RecursionError):
            at += 1
    return found


def _object_or_empty(text: str) -> dict[str, Any]:
    try:
        return parse_answer_object(text) or {}
    except DuplicateKey:
        return {}


def _parse_copilot_answer(answer: dict[str, Any], event: Event) -> Outcome:
    """Its own keys, or Claude Code's in `hookSpecificOutput`."""
    given = answer.get("hookSpecificOutput")
    flat = {**answer, **(given if isinstance(given, dict) else {})}
    reason = _text_of(flat, "permissionDecisionReason", "reason", "message")
    word = flat.get("permissionDecision", flat.get("decision"))
    if event.name == "approval.request":
        return _parse_copilot_approval(flat, word)
    if answer.get("continue") is False and EVENTS[event.name].accepts & May.HALT:
        return Outcome(reason=text_value(answer, "stopReason") or reason, halt=True)
    outcome = _read_verdict(word, reason, event, block_outcome)
    if outcome.verdict is Verdict.DENY:
        return outcome
    context = text_value(flat, "additionalContext")
    if context and EVENTS[event.name].accepts & May.NOTES:
        outcome = replace(outcome, notes=(*outcome.notes, Note(context)))
    return replace(outcome, changes=_copilot_changes(flat, event))


def _parse_copilot_approval(flat: dict[str, Any], word: Any) -> Outcome:
    decided = word if isinstance(word, dict) else flat
    if decided.get("behavior") == "deny":
        return Outcome(Verdict.DENY, text_value(decided, "message"), halt=decided.get("interrupt") is True)
    return SILENT


def _copilot_changes(flat: dict[str, Any], event: Event) -> Changes:
    changed = flat.get("modifiedArgs", flat.get("updatedInput"))
    if event.name == "tool.before" and isinstance(changed, dict):
        return ((("tool", "input"), to_host_fields(event, changed)),)
    result = flat.get("modifiedResult")
    if event.name == "tool.after" and isinstance(result, dict):
        text = _text_of(result, "textResultForLlm", "text_result_for_llm")
        return ((("tool", "result"), text),) if text else ()
    return ()


def _parse_cline(finished: ProgramResult, event: Event) -> Outcome:
    """Exit codes mean nothing. The last line that begins with HOOK_CONTROL and a tab is the answer, else all of stdout."""
    lines = [line for line in finished.stdout.split("\n") if line.startswith(_CONTROL_LINE)]
    text = lines[-1].removeprefix(_CONTROL_LINE) if lines else finished.stdout
    answer = _last_object(strip_padding(text), finished, event)
    if answer is None:
        if finished.exit_code:
            raise _failure(finished)
        _reject_invalid_json(text)
        return SILENT
    reason, context = text_value(answer, "errorMessage"), _text_of(answer, "contextModification", "context")
    if answer.get("cancel") is True or answer.get("shouldContinue") is False:  # the second is of older versions
        if EVENTS[event.name].accepts & May.DENY and event.name not in ENDING_EVENTS:
            return Outcome(Verdict.DENY, reason)
        return Outcome(reason=reason, halt=True) if EVENTS[event.name].accepts & May.HALT else SILENT
    outcome = SILENT
    if event.name == "tool.before" and isinstance(answer.get("overrideInput"), dict):
        outcome = Outcome(changes=((("tool", "input"), to_host_fields(event, answer["overrideInput"])),))
    takes_context = context and event.name in ("tool.before", "tool.after")
    return replace(outcome, notes=(Note(context),)) if takes_context else outcome


def _text_of(answer: dict[str, Any], *keys: str) -> str:
    return next((text for key in keys if (text := text_value(answer, key))), "")


def _last_object(text: str, finished: ProgramResult, event: Event) -> dict[str, Any] | None:
    """The whole text as an object, or its last line that is one: programs may report progress before."""
    answer = _read_object(text, finished, event)
    if answer is not None:
        return answer
    found = [_read_object(line, finished, event) for line in text.split("\n") if line.lstrip().startswith("{")]
    if found and found[-1] is not None:
        return found[-1]
    start = text.rfind("\n{")
    return _read_object(text[start + 1 :], finished, event) if start >= 0 else None


def _read_verdict(word: Any, reason: str, event: Event, block: Callable[[str, Event], Outcome]) -> Outcome:
    if word is None or word == "":
        return SILENT
    if not isinstance(word, str) or word not in _VERDICT_WORDS:
        raise unreadable_error(describe_bad_decision(word, event), event, reason)
    verdict = _VERDICT_WORDS[word]
    if verdict is Verdict.DENY:
        return block(reason, event)
    asks = verdict is Verdict.ASK and EVENTS[event.name].accepts & May.ASK
    return Outcome(Verdict.ASK, reason) if asks else SILENT


def _without_allow(outcome: Outcome) -> Outcome:
    return replace(outcome, verdict=Verdict.SILENT, reason="") if outcome.verdict is Verdict.ALLOW else outcome


def _read_object(text: str, finished: ProgramResult, event: Event) -> dict[str, Any] | None:
    try:
        answer = parse_answer_object(text)
    except DuplicateKey as twice:
        raise unreadable_as_deny(str(twice), event) from None
    if answer is None and finished.is_cut and strip_padding(text).startswith("{"):
        raise unreadable_as_deny("its answer is longer than what is kept of a program's output", event)
    return answer


def _reject_invalid_json(text: str) -> None:
    """Text that should be an answer and is not one may have been a deny, so the user sees that the hook failed."""
    if strip_padding(text).startswith("{"):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "answered invalid JSON")


def _failure(finished: ProgramResult) -> ActionError:
    said = finished.stderr.strip() or f"exit code {finished.exit_code}"
    return ActionError(FailureKind.EXIT, said[:MAX_REASON_CHARS])


_PARSERS: Final[dict[ResultFormat, Callable[[ProgramResult, Event], Outcome]]] = {
    ResultFormat.CLINE: _parse_cline,
    ResultFormat.CODEX: _parse_codex,
    ResultFormat.COPILOT: _parse_copilot,
    ResultFormat.CURSOR: _parse_cursor,
    ResultFormat.DROID: _parse_droid,
    ResultFormat.GEMINI: _parse_gemini,
    ResultFormat.KIMI: _parse_kimi,
    ResultFormat.QWEN: _parse_qwen,
}
