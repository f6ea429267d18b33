"""The hooks of one adapter: its session, its conversations and its runs."""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar

from hookline.config.problem import OnProblem
from hookline.errors import HooklineError
from hookline.frameworks.agent_run import AgentRun, current_run
from hookline.frameworks.conversation import Conversation
from hookline.frameworks.support import FrameworkSupport
from hookline.hooks.events import BACKGROUND_EVENTS
from hookline.hooks.tools import KIND_BY_VALUE, kind_of_name
from hookline.hosts.python.session import AskCallback, Session, session

T = TypeVar("T")

_MAX_CONVERSATIONS: Final = 1000  # then the one that was used longest ago ends
_MAX_RUNS: Final = 10_000  # that wait for a person, or never ended
_log = logging.getLogger("hookline")


class HookOptions(TypedDict, total=False):
    """What every adapter can be given. Without any, the hooks of the current directory are used."""

    directory: str | Path  # whose hooks are used, as far as they are trusted
    config: str | Path  # a file that is used instead, and trusted
    ask: AskCallback  # asks a person, instead of the framework's own way
    id: str  # of the session, for runs without a thread
    on_problem: OnProblem  # "warn": go on without the hooks that cannot be used
    kinds: Mapping[str, str]  # tool → kind, for tools whose names say nothing
    tools: Iterable[Callable[..., Any]]  # Python functions that hooks may call


class FrameworkHooks:
    """One adapter's hooks. It serves many runs at once, from async code and from threads."""

    def __init__(self, support: FrameworkSupport, options: HookOptions) -> None:
        self.support = support
        unknown = set(options) - set(HookOptions.__annotations__)
        if unknown:
            raise HooklineError(
                f"{sorted(unknown)[0]!r} is not an option; the options are {', '.join(HookOptions.__annotations__)}"
            )
        self._kinds = _checked_kinds(options.get("kinds", {}))
        self.session: Session = session(
            options.get("directory", "."),
            config=options.get("config"),
            host_name=support.name,
            ask=options.get("ask"),
            id=options.get("id"),
            on_problem=options.get("on_problem", "raise"),
        )
        for tool in options.get("tools", ()):
            self.session.guard(tool)
        self._lock = threading.Lock()
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._runs: OrderedDict[str, AgentRun] = OrderedDict()
        self.warn_about_silent_hooks(self.support.title, self.support.events)
        _open_hooks.add(self)

    @cached_property
    def fact_roots(self) -> dict[str, frozenset[str]]:
        """For each event, the first names of the facts that hooks read; "" is the whole event."""
        return {
            event: frozenset(str(path[0]) if path else "" for path in self.session.book.reads(event))
            for event in self.support.events
        }

    def kind_of(self, tool: str) -> str:
        return self._kinds.get(tool) or str(kind_of_name(tool))

    def new_run(self, *, thread: str | None = None, agent: str = "", key: str | None = None) -> AgentRun:
        """A run of an agent. Inside of another run's tool, it is that run's sub-agent.

        key: under which `find_run` finds it again, if the framework's callbacks have no better way.
        """
        parent = current_run.get()
        if parent is not None and parent.is_over:
            parent = None
        conversation = parent.conversation if parent is not None else self._conversation(thread)
        run = AgentRun(self, conversation, agent, parent, key or uuid.uuid4().hex)
        with self._lock:
            self._runs[run.key] = run
            while len(self._runs) > _MAX_RUNS:
                self._runs.popitem(last=False)
        return run

    def find_run(self, key: str) -> AgentRun | None:
        return self._runs.get(key)

    def run_of(self, key: str, *, thread: str | None = None, agent: str = "") -> AgentRun:
        """The run with this key. One that is not known, such as one resumed in another process, is made."""
        return self._runs.get(key) or self.new_run(thread=thread, agent=agent, key=key)

    def drop_run(self, run: AgentRun) -> None:
        with self._lock:
            self._runs.pop(run.key, None)

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for `work` of an AgentRun from sync code."""
        return self.session.run_in_place(work)

    def close(self) -> None:
        """Fires `agent.end` and `session.end` for each conversation, and waits for background hooks."""
        with self._lock:
            ended, self._conversations = list(self._conversations.values()), OrderedDict()
            self._runs.clear()
        _open_hooks.discard(self)
        try:
            for conversation in ended:
                self._end(conversation)
        finally:
            self.session.close()

    def __del__(self) -> None:
        """Ends the sessions of an adapter that is no longer used. Only the end of the program waits for it."""
        if getattr(self, "_conversations", None):
            threading.Thread(target=self.close, name="hookline-close").start()

    async def aclose(self) -> None:
        """Like `close`, from async code."""
        await self.session.drain()
        await asyncio.to_thread(self.close)

    def _conversation(self, thread: str | None) -> Conversation:
        id = thread or self.session.id
        with self._lock:
            found = self._conversations.get(id)
            if found is None:
                found = self._conversations[id] = Conversation(id, self.session.call_tool)
                self.session.threads[id] = found
            self._conversations.move_to_end(id)
            oldest = (
                self._conversations.popitem(last=False)[1] if len(self._conversations) > _MAX_CONVERSATIONS else None
            )
        if oldest is not None:
            threading.Thread(target=self._end, args=(oldest,), name="hookline-end").start()
        return found

    def _end(self, conversation: Conversation) -> None:
        self.session.threads.pop(conversation.id, None)
        if conversation.is_started:
            self.run_sync(AgentRun(self, conversation, "", None, "").end_conversation())

    def warn_about_silent_hooks(self, title: str, events: Collection[str]) -> None:
        """A hook on an event that is never shown would be a guard that nobody hears."""
        shown = {*events, *BACKGROUND_EVENTS}
        silent = [hook for hook in self.session.book.hooks if hook.event not in shown]
        for event in dict.fromkeys(hook.event for hook in silent):
            ids = ", ".join(hook.id for hook in silent if hook.event == event)
            _log.warning("%s never fires %s: %s will not run", title, event, ids)


def hosted_tool_reason(tool: str) -> str:
    """Why an agent does not run with a tool that the model's provider runs."""
    return f"Hooks cannot decide about {tool}. Use allow_hosted=True."


def _checked_kinds(kinds: Mapping[str, str]) -> dict[str, str]:
    for kind in kinds.values():
        if kind not in KIND_BY_VALUE:
            raise HooklineError(f"{kind!r} is not a kind of tool; the kinds are {', '.join(KIND_BY_VALUE)}")
    return dict(kinds)


_open_hooks: Final[weakref.WeakSet[FrameworkHooks]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """A program that never closes its adapters still has the end of its sessions."""
    for hooks in list(_open_hooks):
        try:
            hooks.close()
        except Exception:  # the program is ending; one adapter must not keep the others from it
            _log.warning("the sessions of %s could not be ended", hooks.support.title, exc_info=True)
