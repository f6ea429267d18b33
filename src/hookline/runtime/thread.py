"""A thread: the stored conversation of one agent, and its progress."""

from __future__ import annotations

import base64
import binascii
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from hookline.engine.decision import Decision
from hookline.errors import Halted, HooklineError
from hookline.hooks.event import copy_fact
from hookline.hooks.host import Abort, ToolResult, current_hook
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.apps.app import Agent, AgentSide
from hookline.runtime.models.tokens import messages_tokens
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import CallEnd, Injection, QueuedToolRow
from hookline.runtime.tools.unknown_fields import drop_unknown_fields
from hookline.standard_agents.messages import find_message_error

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.tools.tool_definition import Tool
    from hookline.runtime.tools.toolbox import Toolbox

_MILLISECONDS: Final = 1000
_log = logging.getLogger("hookline")


class MessageNotStoredError(HooklineError):
    """A hook denied storing or changing a message."""


@dataclass(slots=True)
class Progress:
    """The progress of a thread. Before the first step: the next flow, side a, step 0, not stopped."""

    flow: str = field(default_factory=lambda: f"flow_{os.urandom(6).hex()}")
    side: str = "a"
    step: int = 0
    turns: int = 0  # of this thread that have begun
    in_turn: bool = False  # a turn is running or was interrupted
    is_unsaved: bool = False  # a turn has ended since it was stored
    turns_left: int | None = None  # for the current prompt, including this turn
    stopped: bool = False
    halted: str | None = None  # why hooks want the agent to stop
    prompt: str = ""  # the last prompt
    tokens: int = 0  # of the last request and its answer, if known; set by event_facts
    estimate: int = 0  # estimate for the same messages
    metadata: dict[str, Any] = field(default_factory=dict)  # shared by hooks during a turn

    @property
    def columns(self) -> dict[str, Any]:
        """`turn` is the number of the running turn; between turns, the bitwise inverse of the next one."""
        turn = self.turns - 1 if self.in_turn else ~self.turns
        return {"flow": self.flow, "side": self.side, "step": self.step, "turn": turn}

    @property
    def turn(self) -> int:
        """The number of the current turn, or of the last one."""
        return max(self.turns - 1, 0)

    @property
    def facts(self) -> dict[str, Any]:
        return {"flow": self.flow, "side": self.side, "step": self.step, "stopped": self.stopped}


@dataclass(slots=True)
class SubagentTask:
    """What a sub-agent was started for."""

    call: str  # of its parent
    task: str
    result: dict[str, Any] | None = None  # None until it has ended
    running: bool = False  # in this process, now


@dataclass(slots=True)
class _CountedTokens:
    history: list[dict[str, Any]] | None  # whose first messages are counted; it only grows
    messages: int = 0
    tokens: int = 0


class StoredThread:
    """A thread in the store. Hooks see every message before it is stored, and use this object as their thread."""

    def __init__(self, id: str, session: AgentSession, agent: Agent, parent: str | None = None, depth: int = 0) -> None:
        self.id = id
        self.session = session
        self.agent = agent
        self.parent = parent
        self.depth = depth
        self.abort = Abort()
        self.progress = Progress()
        self.subagent_task: SubagentTask | None = None
        self._deferred_requests: list[Decision] = []  # whose requests wait for the turn's end
        self._deferred_notes: list[Decision] = []  # whose notes wait for the prompt
        self._call_ids: set[str] | None = None
        self._history: list[dict[str, Any]] | None = None  # as stored; this process alone writes to the thread
        self._counted: _CountedTokens | None = None
        self._injected: list[Injection] | None = None
        self._injecting = [0, 0]  # writes of notes: begun, ended
        self._changes = [0, 0]  # of the history: begun, ended
        self._queue_is_empty = False
        self._toolbox: tuple[Toolbox, Toolbox] | None = None  # the runtime's, and the same with our own

    def set_empty(self) -> None:
        """For a thread that is new in the store: there is nothing to read."""
        self._history, self._injected, self._call_ids, self._queue_is_empty = [], [], set(), True

    def defer_notes(self, decision: Decision) -> None:
        """Until the prompt is stored that the decision was about: its notes stand beside it."""
        self._deferred_notes.append(decision)

    def take_deferred_notes(self) -> list[Decision]:
        taken, self._deferred_notes = self._deferred_notes, []
        return taken

    @property
    def store(self) -> Store:
        return self.session.store

    @property
    def model(self) -> str | None:
        """The name of its model. None: the app's."""
        return self.side.prompt.model or self.agent.model

    @property
    def side(self) -> AgentSide:
        """The side whose turn it is."""
        return self.agent.side_b if self.progress.side == "b" and self.agent.side_b is not None else self.agent.side_a

    @property
    def speaker(self) -> str:
        """The label of the current side for display; empty unless two AIs talk."""
        return "" if self.agent.side_b is None else self.side.label or self.progress.side

    @property
    def speaker_fields(self) -> dict[str, Any]:
        """Fields of an assistant message that tell which of two AIs wrote it."""
        return {} if self.agent.side_b is None else {"side": self.progress.side}

    @property
    def toolbox(self) -> Toolbox:
        """All existing tools; the agent may be allowed only some of them."""
        base = self.session.runtime.toolbox
        if self._toolbox is None or self._toolbox[0] is not base:
            self._toolbox = (base, self.session.runtime.toolbox_for(self))
        return self._toolbox[1]

    def find_hook_tool(self, name: str) -> Tool | None:
        """A tool that a hook may call: one of the agent's, or one that only hooks have."""
        return self.toolbox.find(name) or self.session.runtime.hook_tools.get(name)

    @property
    def tools(self) -> tuple[str, ...] | None:
        """Names and globs of the allowed tools; None: all. Sub-agents and skills need not be listed."""
        listed = self.side.prompt.tools
        if listed is None:
            return None
        return (*listed, "skill", *(("agent", "agents") if self.agent.subagents else ()))

    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        messages = await self.history()
        end = max(len(messages) - offset, 0)
        start = 0 if limit is None else max(end - limit, 0)
        copied: list[dict[str, Any]] = copy_fact(messages[start:end])
        return copied

    async def history(self) -> list[dict[str, Any]]:
        """The messages, oldest first. Do not modify them."""
        if self._history is not None:
            return list(self._history)
        before = list(self._changes)
        read = await self.store.messages(self.id)
        if self._changes == before and before[0] == before[1]:  # else a concurrent write may be half included
            self._history = read
        return list(read)

    async def history_tokens(self) -> int:
        """Estimated tokens of the messages. Each is counted once: a history is asked for its size twice in a turn."""
        messages = await self.history()
        known = self._counted
        if known is None or known.history is not self._history:
            known = _CountedTokens(self._history)
        known.tokens += messages_tokens(messages[known.messages :])
        known.messages = len(messages)
        self._counted = known if known.history is not None else None
        return known.tokens

    async def call_ids(self) -> set[str]:
        """All call ids of this thread. Add an id to the set when you use it."""
        if self._call_ids is None:
            begun = {row.call for row in await self.store.calls(self.id)}
            self._call_ids = begun | {str(message.get("tool_call_id", "")) for message in await self.history()}
        return self._call_ids

    async def compact(self, gone: Sequence[str], replacement: dict[str, Any]) -> None:
        """Replaces messages by one."""
        with self._track_change():
            await self.store.compact_messages(self.id, gone, replacement)
            self._history = None

    async def inject_message(
        self, message: dict[str, Any], asks_for: QueuedToolRow | None = None, ends: CallEnd | None = None
    ) -> dict[str, Any]:
        """Stores a message as the hooks leave it, and in the same transaction the end of the call whose result it has.

        Hooks see the messages of other hooks and their own, too. A message that a hook injects because of its own is
        not stored: it would inject for ever. Raises MessageNotStoredError if a hook denies it or the message is
        malformed, Halted if a hook stops the agent as well.
        """
        new = {"id": f"message_{os.urandom(8).hex()}", "role": "user", "content": None, **message}
        new.setdefault("created_at", int(self.session.clock.wall() * _MILLISECONDS))
        if self.parent is not None:
            new.setdefault("parent_id", self.parent)
            new.setdefault("depth", self.depth)
        _check_message(new)
        if _is_caused_by_itself("inject_message"):
            if ends is not None:
                await self.store.end_call(ends)
            return new
        decision = await self.session.decide(self, "message.create", {"message": new})
        stored = _value_after_hooks(decision, "message")
        for key in ("id", "created_at"):
            if stored.get(key) is None:
                stored[key] = new[key]
        if decision.event.facts["message"] is not new:
            _check_message(stored)
        self.defer_requests(decision)
        with self._track_change():
            await self.store.add_message(self.id, stored, asks_for, ends)
            if self._history is not None:
                self._history.append(stored)
        if self.session.book.hears("message.created"):
            await self.session.decide(self, "message.created", {"message": copy_fact(stored)})
        returned: dict[str, Any] = copy_fact(stored)
        return returned

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        """As `inject_message`: raises what it raises, and a hook's update because of its own update is left out."""
        _check_message(updates)
        if _is_caused_by_itself("update_message"):
            return next((each for each in await self.get_messages() if each["id"] == id), {"id": id})
        decision = await self.session.decide(self, "message.update", {"message": {"id": id, "updates": updates}})
        self.defer_requests(decision)
        left = _value_after_hooks(decision, "message", "updates")
        _check_message(left)
        with self._track_change():
            changed = await self.store.update_message(self.id, id, left)
            self._history = None
        await self.session.decide(self, "message.updated", {"message": copy_fact(changed)})
        return changed

    @contextmanager
    def _track_change(self) -> Iterator[None]:
        self._changes[0] += 1
        try:
            yield
        except BaseException:  # after an error or a cancellation the stored state is unknown
            self._history = None
            raise
        finally:
            self._changes[1] += 1

    async def injections(self) -> list[Injection]:
        """Notes that hooks added for the model."""
        if self._injected is not None:
            return self._injected
        before = list(self._injecting)
        read = await self.store.injections(self.id)
        if self._injecting == before and before[0] == before[1]:  # else a concurrent write may be missing
            self._injected = read
        return read

    async def inject(self, injection: Injection) -> None:
        known, self._injected = self._injected, None  # after an error or a cancellation the stored state is unknown
        self._injecting[0] += 1
        number = self._injecting[0]
        try:
            await self.store.add_injection(self.id, injection)
        finally:
            self._injecting[1] += 1
        if known is not None and self._injecting == [number, number]:  # else another one was stored meanwhile
            self._injected = [*known, injection]

    def defer_requests(self, decision: Decision) -> None:
        """Requests of hooks are applied at the end of the turn."""
        if decision.requests:
            self._deferred_requests.append(decision)

    def defer_effects(self, decision: Decision) -> None:
        """Keeps requests and a halt until the running step is done."""
        self.defer_requests(decision)
        if decision.halt:
            self.progress.halted = decision.full_reason

    def take_requests(self) -> list[Decision]:
        taken, self._deferred_requests = self._deferred_requests, []
        return taken

    def take_halt(self, decision: Decision) -> str | None:
        """Why the agent has to stop, because of this decision or a deferred one."""
        reason, self.progress.halted = self.progress.halted, None
        return decision.full_reason if decision.halt else reason

    def drop_unknown_fields(self, decision: Decision, tool: Tool, asked: dict[str, Any]) -> Decision:
        """Leaves out fields that hooks added and the tool does not have, with a warning."""
        decision, dropped = drop_unknown_fields(decision, tool, asked)
        if dropped:
            what = f"{tool.name} has no field {', '.join(dropped)}; what hooks put there was left out"
            self.session.emit_status(self, what, "warning")
        return decision

    async def read_file(self, path: str) -> bytes | None:
        return await self.store.read_file(self.id, path)

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        return await self.store.write_file(self.id, path, data, mime_type)

    async def list_files(self, path: str = "") -> list[dict[str, Any]]:
        return await self.store.list_files(self.id, path)

    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self.session.host_of(self).call_tool(name, input)

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        await self.store.queue_tool(self.id, name, input)
        self._queue_is_empty = False

    async def queued_tools(self) -> list[QueuedToolRow]:
        """The queued tools, in order."""
        if self._queue_is_empty:
            return []
        self._queue_is_empty = True  # set before the query, so that a tool queued meanwhile is noticed
        try:
            waiting = await self.store.queued_tools(self.id)
        except BaseException:
            self._queue_is_empty = False
            raise
        self._queue_is_empty = self._queue_is_empty and not waiting
        return waiting

    async def store_attachments(self, attachments: Any) -> list[dict[str, Any]]:
        """Stores entries with data as files of the thread; references stay unchanged.

        An entry that cannot be stored is left out, with a warning: the result does not depend on it.
        """
        stored: list[dict[str, Any]] = []
        for entry in attachments if isinstance(attachments, (list, tuple)) else ():
            if not isinstance(entry, dict):
                continue
            try:
                stored.append(await self._store_attachment(entry))
            except HooklineError as wrong:
                name = entry.get("name") or "an attachment"
                self.session.emit_status(self, f"the attachment {name} was not stored: {wrong}", "warning")
        return stored

    async def _store_attachment(self, entry: dict[str, Any]) -> dict[str, Any]:
        if "data" not in entry:
            return entry
        data = entry["data"]
        try:
            raw = base64.b64decode(data, validate=True) if isinstance(data, str) else bytes(data)
        except (binascii.Error, ValueError, TypeError):
            raise HooklineError("its data is not base64") from None
        name = str(entry.get("name") or "file")
        path = f"attachments/{os.urandom(4).hex()}/{name.rpartition('/')[2] or 'file'}"
        reference = await self.write_file(path, raw, str(entry.get("mimeType") or "application/octet-stream"))
        others = {key: value for key, value in entry.items() if key not in ("data", "mimeType")}
        return {**others, **reference, "name": name}


def _check_message(fields: dict[str, Any]) -> None:
    wrong = find_message_error(fields)
    if wrong is not None:
        raise MessageNotStoredError(f"the message was not stored: {wrong}")


def _is_caused_by_itself(method: str) -> bool:
    """True if the running hook was called because of a message that it injected or updated itself."""
    who = current_hook.get()
    if who is None or not who.caused_itself:
        return False
    _log.warning("[%s] %s was left out: the hook was called because of its own message", who.hook, method)
    return True


def _value_after_hooks(decision: Decision, *place: str) -> dict[str, Any]:
    """The value to store after hooks. Raises Halted or MessageNotStoredError."""
    if decision.halt:
        raise Halted(decision.reason, decision.by, decision.source)
    if decision.denied:
        raise MessageNotStoredError(decision.full_reason)
    value = decision.event.read(place)
    if not isinstance(value, dict):
        raise MessageNotStoredError("a hook replaced the message with something that is not an object")
    copied: dict[str, Any] = copy_fact(value)
    return copied
