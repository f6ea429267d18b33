"""Edited inputs that hooks denied: the person said yes, and nothing ran. The host reports it, and its record says which hook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from hookline.hub.store.decision_table import DecisionTable
from hookline.hub.store.question_table import mask_text
from hookline.hub.store.record_line import CallName, call_of
from hookline.record.record_reader import Record

_CLOCK_SECONDS: Final = 60.0  # by which the clocks of a host and the hub may differ
_MAX_RECENT: Final = 100

Question = dict[str, Any]


class DeniedEdits:
    def __init__(self, decisions: DecisionTable) -> None:
        self._decisions = decisions
        self._recent: dict[CallName, Question] = {}  # edits whose hooks may still decide

    @property
    def is_watching(self) -> bool:
        return bool(self._recent)

    async def add_to(self, questions: Sequence[Question]) -> list[Question]:
        """With `denied_by`: the decision about the edited input if it was a deny, else None."""
        calls = {_call_of_edit(each) for each in questions if _is_edit(each)}
        denials = await self._decisions.denials(calls)
        return [{**each, "denied_by": next(_denials_of(each, denials), None)} for each in questions]

    def watch(self, question: Question) -> None:
        """A question that was just answered."""
        if _is_edit(question) and question["state"] == "approved":
            self._recent[_call_of_edit(question)] = question
            while len(self._recent) > _MAX_RECENT:
                del self._recent[next(iter(self._recent))]

    def take_denied(self, records: Iterable[Record]) -> list[Question]:
        """Those of the watched ones that new records deny."""
        denied = []
        for record in records:
            if record.get("event") == "tool.before" and record.get("verdict") != "ask":
                question = self._recent.pop(call_of(record), None)
                if question is not None and _is_denial(record):
                    denied.append(question)
        return denied


def _is_edit(question: Question) -> bool:
    """Its state is `denied` if the host reported the denial. A question that a person denied has no edited input."""
    return question["edited"] is not None and question["state"] in ("approved", "denied")


def _call_of_edit(question: Question) -> CallName:
    """As the record of the decision about the edited input has it."""
    named = {"call": question["call"]} if question["call"] else {}
    facts = {"tool": {"input": mask_text(question["edited"])}}
    return call_of({"session": question["session"], "tool": question["tool"], "facts": facts, **named})


def _is_denial(record: Record) -> bool:
    return record.get("verdict") == "deny" or record.get("halt") is True


def _denials_of(question: Question, denials: Iterable[Record]) -> Iterator[dict[str, str]]:
    if not _is_edit(question):
        return
    call = _call_of_edit(question)
    for record in denials:
        at = datetime.fromisoformat(record["at"]).timestamp()
        # Without ids for calls, the same input may have been denied before.
        if call_of(record) == call and (question["call"] or at >= question["answered_at"] - _CLOCK_SECONDS):
            yield {
                "decision": record["id"],
                "hook": str(record.get("hook") or ""),
                "reason": str(record.get("reason") or ""),
            }
