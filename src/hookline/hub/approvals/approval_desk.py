"""Takes questions, shows them, and takes the first answer to each.

There are two kinds: a question of another host (`question_…`), which waits for the answer at the API, and an approval of a
session in the hub's own database (`approval_…`), which the session's process finds there.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from hookline.hub.approvals.denied_edits import DeniedEdits
from hookline.hub.bus.event_bus import APPROVALS
from hookline.hub.store.decision_table import DecisionTable
from hookline.hub.store.outage_log import OutageLog
from hookline.hub.store.question_table import WAITING, QuestionRow, QuestionTable, mask_text
from hookline.lazy_dataclasses import replace
from hookline.record.record_reader import Record
from hookline.runtime.gate import fingerprint
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import ApprovalRow

MAX_WAITING: Final = 1_000
MAX_WAITING_OF_KEY: Final = 250  # so that one machine cannot keep all others from asking
MAX_SECONDS: Final = 3600.0  # for a person
_MAX_LOADED: Final = 100  # answers that are read when the hub starts
_MASK_SECONDS: Final = 30.0  # after which answers are masked whose host does not wait any more
_LOOK_SECONDS: Final = 0.3  # between two looks at the database, which other processes and hubs write too

Publish = Callable[..., Awaitable[None]]


class ApprovalDesk:
    def __init__(self, questions: QuestionTable, store: Store, publish: Publish) -> None:
        self.on_change: Callable[[], Awaitable[None]] | None = None  # tells other hubs to look
        self._questions = questions
        self._store = store
        self._publish = publish
        self._denied_edits = DeniedEdits(DecisionTable(store.database))
        self._changed = asyncio.Event()
        self._is_ending = False
        self._shown: dict[str, dict[str, Any]] = {}  # those that wait, as they were published
        self.outage = OutageLog("waiting questions cannot be read", "waiting questions are read again")

    async def load(self) -> None:
        """Watches edits again that were approved before the hub started: hooks may still deny them."""
        newest = await self.history(_MAX_LOADED, None)
        since = time.time() - MAX_SECONDS
        for each in reversed(newest):
            if each["denied_by"] is None and (each["answered_at"] or 0.0) >= since:
                self._denied_edits.watch(each)

    async def ask(self, about: dict[str, Any], key: str) -> dict[str, Any] | None:
        """Stores the question, and shows it. None if too many wait. One that the host has sent before is stored once."""
        sent = about.get("id")
        if sent is not None and await self.is_asked_by(sent, key):
            return await self.find(sent)
        if len(self._shown) >= MAX_WAITING or await self._questions.count_waiting(key) >= MAX_WAITING_OF_KEY:
            return None
        now = time.time()
        seconds = min(max(float(about.pop("seconds")), 0.0), MAX_SECONDS)
        row = QuestionRow(
            id=about.pop("id", None) or _new_id(),
            origin="",
            key=key,
            input_hash=fingerprint(about["tool"], about["input"]),
            created=now,
            expires=now + seconds,
            **about,
        )
        if not await self._questions.add(row):
            if await self.is_asked_by(row.id, key):
                return await self.find(row.id)
            row = replace(row, id=_new_id())  # another host's question has this id
            await self._questions.add(row)
        earlier = await self._questions.find_remembered(row)
        if earlier is not None:
            await self._questions.close(row.id, "approved", time.time(), by=earlier.by, why="for this session")
        else:
            await self._look_everywhere()
        found = await self.find(row.id)
        assert found is not None
        return found

    async def find(self, id: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = None
        if id.startswith("question_"):
            question = await self._questions.find(id)
            found = None if question is None else _question_json(question)
        elif (approval := await self._store.approval(id)) is not None:
            found = _approval_json(approval)
        return None if found is None else (await self._denied_edits.add_to([found]))[0]

    async def wait(self, id: str, seconds: float) -> dict[str, Any] | None:
        """Returns when it does not wait any more, or when the time is over."""
        until = asyncio.get_running_loop().time() + seconds
        while True:
            changed = self._changed
            found = await self.find(id)
            left = until - asyncio.get_running_loop().time()
            if found is None or found["state"] != WAITING or left <= 0 or self._is_ending:
                return found
            try:
                async with asyncio.timeout(min(left, 1.0)):  # another hub on this database may take the answer
                    await changed.wait()
            except TimeoutError:
                continue

    def end_waits(self) -> None:
        """The hub stops: whoever waits asks again when it is back."""
        self._is_ending = True
        self._wake()

    async def answer(self, id: str, yes: bool, by: str, **more: Any) -> bool:
        """False if somebody was faster, or the time is over. `more`: edited, why, remember."""
        if id not in self._shown:  # asked since the last look: whoever listens hears the question before its answer
            await self.look()
        now = time.time()
        if id.startswith("question_"):
            done = await self._questions.close(id, "approved" if yes else "denied", now, by=by, **more)
        else:
            done = await self._store.answer_approval(id, yes, by, now, **more)
        self._wake()  # the host that waits does not wait for consoles to be told
        await self._look_everywhere()
        return done

    async def is_asked_by(self, id: str, key: str) -> bool:
        question = await self._questions.find(id)
        return question is not None and question.key == key

    async def withdraw(self, id: str, key: str) -> bool:
        """By the host that asked."""
        if not await self.is_asked_by(id, key):
            return False
        await self._questions.close(id, "withdrawn", time.time())
        await self._look_everywhere()
        return True

    async def mark_edit_denied(self, id: str, key: str) -> bool:
        """By the host that asked: its hooks denied the input that the person let run."""
        if not await self.is_asked_by(id, key) or not await self._questions.mark_edit_denied(id):
            return False
        if (found := await self.find(id)) is not None:
            await self._publish_answer(found, f"edit-denied:{id}")
        return True

    async def waiting(self) -> list[dict[str, Any]]:
        now = time.time()
        questions = [_question_json(row) for row in await self._questions.waiting() if row.expires > now]
        approvals = [_approval_json(row) for row in await self._store.waiting_approvals() if row.expires > now]
        return sorted((*questions, *approvals), key=lambda each: each["created"])

    async def history(self, limit: int, before: float | None) -> list[dict[str, Any]]:
        """Newest first."""
        questions = [_question_json(row) for row in await self._questions.recent(limit, before)]
        approvals = [_approval_json(row) for row in await self._store.answered_approvals(limit, before)]
        newest = sorted((*questions, *approvals), key=lambda each: -each["created"])[:limit]
        return await self._denied_edits.add_to(newest)

    async def run(self) -> None:
        """Until it is cancelled: shows what other processes ask and answer in this database."""
        masked_at = 0.0
        while True:
            try:
                now = time.time()
                await self._questions.expire(now)
                if now - masked_at >= _MASK_SECONDS:
                    await self._questions.mask_answers(now)
                    masked_at = now
                await self.look()
                self.outage.report_success()
            except Exception as error:
                self.outage.report(error)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _look_everywhere(self) -> None:
        await self.look()
        if self.on_change is not None:
            await self.on_change()

    async def look(self) -> None:
        """Publishes what is new and what does not wait any more."""
        now = {each["id"]: each for each in await self.waiting()}
        before, self._shown = self._shown, now
        for id, each in now.items():
            if id not in before:
                about = {"rooms": _rooms(each), "session_id": each["session"], "once": f"asked:{id}"}
                await self._publish("approval_request", each, **about)
        for id, each in before.items():
            if id not in now:
                found = await self.find(id) or {**each, "state": "withdrawn", "denied_by": None}
                self._denied_edits.watch(found)
                await self._publish_answer(found, f"answered:{id}")
        if now.keys() != before.keys():
            self._wake()

    @property
    def has_edits(self) -> bool:
        """Whether hooks may still deny an input that a person edited."""
        return self._denied_edits.is_watching

    async def show_denied_edits(self, records: Iterable[Record]) -> None:
        """Tells of edited inputs that hooks denied, by records that are new in the database."""
        for each in self._denied_edits.take_denied(records):
            if (found := await self.find(each["id"])) is not None:
                await self._publish_answer(found, f"denied:{each['id']}")

    async def _publish_answer(self, found: dict[str, Any], once: str) -> None:
        answer = {name: mask_text(found[name]) for name in ("id", "state", "by", "edited", "why", "denied_by")}
        await self._publish("approval_answered", answer, rooms=_rooms(found), session_id=found["session"], once=once)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _new_id() -> str:
    return f"question_{uuid.uuid4().hex[:16]}"


def _rooms(question: dict[str, Any]) -> tuple[str, ...]:
    return (APPROVALS, f"session:{question['session']}") if question["session"] else (APPROVALS,)


_SHARED: Final = ("id", "session", "call", "tool", "input", "reason", "hook", "created", "expires")
_ANSWER: Final = ("by", "answered_at", "edited", "why", "remember")


def _question_json(row: QuestionRow) -> dict[str, Any]:
    names = (*_SHARED, *_ANSWER, "host", "machine", "user", "agent", "can_edit", "state")
    return {name: getattr(row, name) for name in names}


def _approval_json(row: ApprovalRow) -> dict[str, Any]:
    state = {None: WAITING if row.expires > time.time() else "expired", True: "approved", False: "denied"}
    return {
        **{name: getattr(row, name) for name in (*_SHARED, *_ANSWER)},
        "host": "hookline",
        "machine": "",
        "user": "",
        "agent": "",
        "can_edit": True,
        "state": state[row.answered],
    }
