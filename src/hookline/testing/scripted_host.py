"""A host for tests: scripted tools and model, recorded requests, a thread in memory, and a clock that you control."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from hookline.engine.book import Book
from hookline.engine.decision import Decision, background_time
from hookline.engine.limits import FireCounts
from hookline.engine.nested_calls import call_tool_from_hook
from hookline.errors import HooklineError, UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.host import Abort, Command, Host, Notice, ProgramResult, ToolResult, current_hook
from hookline.hooks.outcome import Verdict
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runners.local_host import LocalHost
from hookline.standard_agents.messages import find_message_error

_MILLISECONDS: Final = 1000


class MessageRejectedError(HooklineError):
    """A hook denied that a message is stored or changed."""


class MemoryThread:
    """A thread in memory; hooks see its messages. `facts` are the session's."""

    def __init__(self, id: str, host: Host, book: Book | None = None, facts: Mapping[str, Any] | None = None) -> None:
        self.id = id
        self.abort = Abort()
        self.messages: list[dict[str, Any]] = []
        self.files: dict[str, tuple[bytes, str]] = {}
        self.queued: list[tuple[str, dict[str, Any]]] = []
        self._host = host
        self._book = Book() if book is None else book
        self._facts = {**(facts or {}), "thread": {"id": id}}

    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        end = max(len(self.messages) - offset, 0)
        start = 0 if limit is None else max(end - limit, 0)
        return copy.deepcopy(self.messages[start:end])

    async def inject_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """Raises MessageRejectedError if a hook denies it."""
        new = {"id": f"message_{len(self.messages) + 1}", "role": "user", "content": None, **message}
        new.setdefault("created_at", int(self._host.clock.wall() * _MILLISECONDS))
        _check_message(new)
        if _is_caused_by_itself():
            return new
        stored = await self._pass_hooks("message.create", {"message": new}, "message")
        self.messages.append(stored)
        await self._notify_hooks("message.created", stored)
        return copy.deepcopy(stored)

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        """Raises MessageRejectedError if a hook denies it."""
        at = next((at for at, held in enumerate(self.messages) if held.get("id") == id), None)
        if at is None:
            raise HooklineError(f"there is no message {id!r} in the thread {self.id}")
        _check_message(updates)
        if _is_caused_by_itself():
            return copy.deepcopy(self.messages[at])
        given = await self._pass_hooks(
            "message.update", {"message": {"id": id, "updates": updates}}, "message", "updates"
        )
        self.messages[at] = {**self.messages[at], **given}
        await self._notify_hooks("message.updated", self.messages[at])
        return copy.deepcopy(self.messages[at])

    async def read_file(self, path: str) -> bytes | None:
        found = self.files.get(path)
        return None if found is None else found[0]

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        self.files[path] = (bytes(data), mime_type)
        return self._file_reference(path)

    async def list_files(self, path: str = "") -> list[dict[str, Any]]:
        inside = f"{path.strip('/')}/" if path.strip("/") else ""
        return [self._file_reference(name) for name in sorted(self.files) if name.startswith(inside) or name == path]

    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self._host.call_tool(name, input)

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        self.queued.append((name, input))

    def _file_reference(self, path: str) -> dict[str, Any]:
        data, mime_type = self.files[path]
        name = path.rpartition("/")[2]
        return {"id": path, "type": "file", "path": path, "name": name, "mimeType": mime_type, "size": len(data)}

    async def _pass_hooks(self, event: str, facts: dict[str, Any], *place: str) -> dict[str, Any]:
        decision = await self._book.decide(Event(event, {**self._facts, **facts}), self._host)
        if decision.verdict is Verdict.DENY:
            raise MessageRejectedError(decision.reason)
        left = decision.event.read(place)
        return copy.deepcopy(left) if isinstance(left, dict) else {}

    async def _notify_hooks(self, event: str, message: dict[str, Any]) -> None:
        await self._book.decide(Event(event, {**self._facts, "message": copy.deepcopy(message)}), self._host)


_NEW_YEAR: Final = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@dataclass(slots=True)
class FakeClock:
    """A clock that moves only when you tell it to."""

    passed: float = 0.0

    def now(self) -> float:
        return self.passed

    def wall(self) -> float:
        return _NEW_YEAR + self.passed

    def advance(self, length: timedelta) -> None:
        self.passed += length.total_seconds()


@dataclass(frozen=True, slots=True)
class RecordedCall:
    tool: str
    input: dict[str, Any]


def _is_caused_by_itself() -> bool:
    who = current_hook.get()
    return who is not None and who.caused_itself


def _check_message(fields: dict[str, Any]) -> None:
    wrong = find_message_error(fields)
    if wrong is not None:
        raise MessageRejectedError(f"the message was not stored: {wrong}")


class ScriptedHost(LocalHost):
    """Programs and scripts run for real. A tool or model that is not scripted raises UnavailableError.

    `called`, `published` and `prompts` record what hooks requested. With a `book`, tool calls that hooks make are decided like
    any other before they are answered.
    """

    def __init__(
        self,
        tools: Mapping[str, ToolResult] | None = None,
        *,
        answers: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        book: Book | None = None,
    ) -> None:
        self.time = FakeClock()
        super().__init__(FireCounts(), self.time)
        self.tools = dict(tools or {})
        self.answers = list(answers)  # the model's answers, in order
        self.env = dict(env or {})  # added to the environment of programs
        self.book = book
        self.facts: dict[str, Any] = {}  # of the session, for calls that hooks make
        self.called: list[RecordedCall] = []
        self.published: list[Notice] = []
        self.prompts: list[str] = []
        self.threads: dict[str, MemoryThread] = {}

    def tool_names(self) -> tuple[str, ...]:
        return tuple(self.tools)

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        if name not in self.tools:
            raise UnavailableError(f"there is no tool {name!r} here")
        if self.book is None:
            return self._answer(name, input)
        return await call_tool_from_hook(self.book, self, self.facts, (name, input), self._answer_decided)

    async def _answer_decided(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        return self._answer(name, input)

    def _answer(self, name: str, input: dict[str, Any]) -> ToolResult:
        self.called.append(RecordedCall(name, input))
        return self.tools[name]

    async def run_program(self, command: Command) -> ProgramResult:
        return await super().run_program(replace(command, env={**self._inherited_env(command), **command.env}))

    async def complete(self, prompt: str) -> str:
        if not self.answers:
            raise UnavailableError("needs a model, and there is none here")
        self.prompts.append(prompt)
        return self.answers.pop(0)

    async def investigate(self, prompt: str, event: Event) -> str:
        return await self.complete(prompt)

    async def publish(self, notice: Notice) -> None:
        self.published.append(notice)

    def thread(self, id: str) -> MemoryThread:
        """The thread with this id; created empty."""
        if id not in self.threads:
            self.threads[id] = MemoryThread(id, self, self.book, self.facts)
        return self.threads[id]

    async def settle(self, decision: Decision) -> None:
        """Waits for the decision's background hooks, each at most its timeout."""
        await self.drain(background_time(decision))

    def _inherited_env(self, command: Command) -> dict[str, str]:
        if command.inherit_env is False:
            return {}
        names = self.env if command.inherit_env is True else command.inherit_env
        return {name: self.env[name] for name in names if name in self.env and name not in command.without_env}
