"""Records what hosts decide. Every host makes its decisions through a Recorder."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline import __version__
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.errors import MustWait
from hookline.hooks.event import Event
from hookline.hooks.hook_files import HookFiles
from hookline.hooks.host import NO_HOST, Host, ToolResult, inherited_environment
from hookline.hooks.record_settings import RecordedFacts, Telemetry
from hookline.lazy_dataclasses import dataclass
from hookline.project.private_file import write_private_file
from hookline.record.entry import (
    ALWAYS_RECORDED,
    RemovedFacts,
    answer_entry,
    decision_entry,
    hook_spoke,
    is_recorded,
    judges_stored_results,
    outcome_entry,
)
from hookline.record.facts import (
    MAX_TEXT,
    AsTheyAre,
    RecordableFacts,
    environment_secrets,
    may_have_secret,
    own_secrets,
)
from hookline.record.segment import RecordDirectory, record_directory
from hookline.record.silent_entry import SilentEntries
from hookline.record.writer import RecordWriter, encode_record

DECISION_MADE: Final = "decision.made"
_MAX_LINE: Final = 1 << 16
_KEEP_AGAIN_SECONDS: Final = 5.0
_FAST_PATH_EVENTS: Final = ALWAYS_RECORDED - {"tool.failed"}  # hooks on tool.after may change what it says
_MAX_FAST_PATH_BOOKS: Final = 4  # each stays in memory
EntryMaker = Callable[[AsTheyAre], dict[str, Any]]
_log = logging.getLogger("hookline")


class Recorder:
    """Decides, and records the decision before the caller has it. Recording never raises and never changes a decision."""

    def __init__(self, directory: RecordDirectory) -> None:
        self._directory = directory
        about = {"machine": os.uname().nodename, "owner": str(os.getuid()), "version": __version__}
        self._writer = RecordWriter(directory, about, self._on_new_file)
        self._keep: timedelta | None = None  # as the user's own file says, once a book has told it
        self._kept: set[str] = set()  # hashes of the hook files that are on disk
        self._keep_again_at = 0.0  # after a failure
        self._telemetry: Telemetry | None = None  # as the user's environment says
        self._is_own_program = False
        self._silent = SilentEntries(environment_secrets())
        # By id: books whose silent decisions only need a line in the file. It holds them, so that no id is used again.
        self._fast_path_books: dict[int, Book] = {}

    async def decide(self, book: Book, event: Event, host: Host = NO_HOST, explain: bool = False) -> Decision:
        begun = time.perf_counter()
        decision = await book.decide(event, host, explain)
        self.write_decision(book, event, decision, time.perf_counter() - begun)
        if book.hears(DECISION_MADE) and (is_recorded(event.name) or hook_spoke(decision)):
            shown = RemovedFacts(event, decision, book.hears).hide(event)
            await book.decide(_decision_made(shown, decision), host)
        return decision

    def decide_now(self, book: Book, event: Event, host: Host = NO_HOST) -> Decision:
        """Raises MustWait, like the book's method; nothing is recorded then."""
        if id(book) not in self._fast_path_books and book.hears(DECISION_MADE):
            raise MustWait("hooks on decision.made run in the background; use `await recorder.decide(…)`")
        begun = time.perf_counter()
        decision = book.decide_now(event, host)
        self.write_decision(book, event, decision, time.perf_counter() - begun)
        return decision

    def write_repeated(self, book: Book, asked: Event, decision: Decision) -> None:
        """A decision that follows from an earlier one: no hook was asked again."""
        self._write(book, lambda recordable: {**decision_entry(asked, decision, 0.0, recordable), "again": True})

    def write_decision(self, book: Book, asked: Event, decision: Decision, seconds: float) -> None:
        if id(book) in self._fast_path_books and asked.name in _FAST_PATH_EVENTS:
            try:
                silent, secrets = self._silent, own_secrets.known
                if (
                    own_secrets.secret
                    or len(os.environ) != own_secrets.variables
                    or inherited_environment.get() is not None
                ):
                    secrets = environment_secrets()  # most processes need no call here, which costs time after a pause
                if silent.secrets is not secrets:
                    silent = self._silent = SilentEntries(secrets)
                text = silent.encode(asked, decision, seconds, book.files.hash)
                if text is not None:
                    self._writer.write(text)
                    return
            except Exception:  # such as a value that is not JSON: the longer way finds out
                pass
        if asked.name not in ALWAYS_RECORDED and not hook_spoke(decision):
            return
        removed = RemovedFacts(asked, decision, book.hears)
        record = self._write(book, lambda recordable: decision_entry(asked, decision, seconds, recordable, removed))
        telemetry = book.record.telemetry or self._telemetry
        if telemetry is not None and book.record.enabled:
            self._send(telemetry, book, record, lambda recordable: decision_entry(asked, decision, seconds, recordable))

    def write_outcome(self, book: Book, call: Event, result: ToolResult) -> None:
        """What came of a call about which no hook is asked afterwards."""
        self._write(book, lambda recordable: outcome_entry(call, result, recordable, book.hears))

    def write_answer(
        self, book: Book, event: Event, approved: bool, by: str = "user", *, edit_denied: bool = False
    ) -> None:
        """What a person answered to a question about the event. `edit_denied`: hooks denied the input that the person
        approved instead.
        """
        self._write(book, lambda recordable: answer_entry(event, approved, by, recordable, edit_denied=edit_denied))

    def archive_if_due(self) -> None:
        """Moves the records of ended processes into archives, at most once in ten minutes."""
        from hookline.record.archive import archive_if_due  # few processes come to it

        self._writer.close_old_file()
        archive_if_due(self._directory, lambda: self._keep)

    def _on_new_file(self) -> None:
        """Archives beside the decision, which must not wait for it. A process that ends leaves it to the next one."""
        self._kept.clear()  # somebody may have removed the whole record
        self._fast_path_books.clear()
        if self._directory.is_archiving_due() and self._directory.has_many_live_files():
            with suppress(RuntimeError):  # the process is ending
                threading.Thread(target=self.archive_if_due, name="hookline-archive", daemon=True).start()

    def close(self) -> None:
        self._writer.close()

    def use_environment(self, env: Mapping[str, str]) -> None:
        """For a host that is the user's own program: the standard variables of OpenTelemetry count.

        It ends once its decisions are sent. No agent waits for its end, as for that of a hook.
        """
        self._is_own_program = True
        if any(name.startswith("OTEL_EXPORTER_OTLP_") for name in env):
            from hookline.record.telemetry import telemetry_of_environment  # few processes send anything

            self._telemetry = telemetry_of_environment(env)
            self._fast_path_books.clear()

    def _send(self, telemetry: Telemetry, book: Book, record: str, make_entry: EntryMaker) -> None:
        from hookline.record.telemetry import sender_for

        try:
            masks = book.record.facts is not RecordedFacts.FULL
            entry = make_entry(RecordableFacts(RecordedFacts.NONE, masks=masks))
            seconds = entry["ms"] / 1000
            sender = sender_for(telemetry)
            if self._is_own_program:
                sender.wait_at_exit()
            sender.send({**entry, "record": record, "hooks": book.files.hash}, seconds)
        except Exception:  # as for records
            _log.warning("a decision could not be sent", exc_info=True)

    def _write(self, book: Book, make_entry: EntryMaker) -> str:
        """The record's id; "" if there is none."""
        settings = book.record
        if settings.keep is not None and settings.keep != self._keep:
            self._keep = settings.keep
            self._fast_path_books.clear()
        if not settings.enabled:
            return ""
        try:
            hooks = self._keep_files(book.files)
            self._allow_fast_path(book)
            text = _encode_short(make_entry, settings.facts, hooks) or _encode_long(make_entry, settings.facts, hooks)
            return self._writer.write(text)
        except Exception:  # a bug here must not be the reason that a decision is late or lost
            _log.warning("a decision could not be recorded", exc_info=True)
            self._writer.count_lost()
            return ""

    def _allow_fast_path(self, book: Book) -> None:
        """If its files are kept, facts are masked, nobody else is told of its decisions, and no result is left out."""
        settings = book.record
        sends = settings.telemetry is not None or self._telemetry is not None
        if book.files.hash not in self._kept or settings.facts is not RecordedFacts.MASKED:
            return
        if sends or book.hears(DECISION_MADE) or judges_stored_results(book.hears):
            return
        if len(self._fast_path_books) >= _MAX_FAST_PATH_BOOKS:
            self._fast_path_books.clear()
        self._fast_path_books[id(book)] = book

    def _keep_files(self, files: HookFiles) -> str:
        """Keeps the texts of the hooks in force, once, before a record names their hash.

        If that fails, for example because the disk is full, it is tried again later: the record is worth more.
        """
        digest = files.hash
        if digest not in self._kept and time.monotonic() >= self._keep_again_at:
            path = self._directory.hooks / f"{digest}.json"
            try:
                if not path.exists():
                    self._directory.create()
                    write_private_file(path, files.data)
                self._kept.add(digest)
            except OSError as error:
                _log.debug("the texts of hooks could not be kept: %s", error)
                self._keep_again_at = time.monotonic() + _KEEP_AGAIN_SECONDS
        return digest


@dataclass(frozen=True, slots=True)
class RecordedBook:
    """A book whose decisions are recorded."""

    book: Book
    recorder: Recorder

    async def decide(self, event: Event, host: Host = NO_HOST) -> Decision:
        return await self.recorder.decide(self.book, event, host)


def _decision_made(asked: Event, decision: Decision) -> Event:
    """The event with the facts that were asked about, for hooks that tell others what was decided."""
    made = {
        "event": asked.name,
        "verdict": decision.verdict.name.lower(),
        "reason": decision.reason,
        "hook": decision.by or "",
    }
    return Event(DECISION_MADE, {**asked.facts, "decision": made})


_recorders: Final[dict[Path, Recorder]] = {}
_recorders_lock: Final = threading.Lock()


def recorder_of(state: Path) -> Recorder:
    """The recorder of this process for hookline's state directory."""
    with _recorders_lock:
        if state not in _recorders:
            _recorders[state] = Recorder(record_directory(state))
        return _recorders[state]


def archive_all() -> None:
    """Of every recorder of this process, for a host that lives long."""
    with _recorders_lock:
        known = list(_recorders.values())
    for recorder in known:
        recorder.archive_if_due()


def finish_sending() -> None:
    """Before a process ends at once: another one sends what waits for OpenTelemetry."""
    if (telemetry := sys.modules.get("hookline.record.telemetry")) is not None:
        telemetry.finish_sending()


def _encode_short(make_entry: EntryMaker, how: RecordedFacts, hooks: str) -> str | None:
    """The record's text if nothing in it must be cut or masked, which costs a third of looking at every value."""
    try:
        entry = make_entry(AsTheyAre(how))
        entry["hooks"] = hooks
        text = encode_record(entry)
    except (TypeError, ValueError, RecursionError):  # a value that is not JSON
        return None
    if len(text) > MAX_TEXT or (how is not RecordedFacts.FULL and may_have_secret(text, environment_secrets())):
        return None
    return text


def _encode_long(make_entry: EntryMaker, how: RecordedFacts, hooks: str) -> str:
    recordable = RecordableFacts(how, masks=how is not RecordedFacts.FULL)
    entry = {**make_entry(recordable), "hooks": hooks}
    if recordable.cut:
        entry["cut"] = recordable.cut
    text = encode_record(entry)
    return text if len(text) <= _MAX_LINE else encode_record(_without_texts(entry))


def _without_texts(entry: dict[str, Any]) -> dict[str, Any]:
    """What is left of a record that is too long: everything but its facts and longer texts."""
    plain = {key: value for key, value in entry.items() if not isinstance(value, (dict, list))}
    return {**{key: value[:1000] if isinstance(value, str) else value for key, value in plain.items()}, "cut": 1}
