"""One run of a framework's agent: what happens in it becomes events, and decisions become answers for the framework.

Every method may be called from async code, or from sync code through `FrameworkHooks.run_sync`. None raises because of a
hook: whatever fails before a tool runs is a refusal.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hookline.engine.decision import Decision
from hookline.frameworks.conversation import Conversation
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage, UnusableMessages, messages_after_hooks
from hookline.frameworks.support import REQUEST_EVENTS
from hookline.frameworks.tool_defaults import NO_DEFAULTS, ToolDefaults
from hookline.hooks.event import MISSING, deep_equal
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hooks.outcome import Audience, Note, NotePlace, Verdict
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question, new_call_id
from hookline.lazy_dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from hookline.frameworks.framework_hooks import FrameworkHooks

M = TypeVar("M")

_MAX_OPEN_CALLS: Final = 10_000
NOT_STARTED: Final = "The hooks did not let this run start."
_log = logging.getLogger("hookline")

current_run: Final[ContextVar[AgentRun | None]] = ContextVar("current_run", default=None)
"""The run whose tool is running."""


@dataclass(frozen=True, slots=True)
class FrameworkCall:
    """A tool call as the framework shows it."""

    name: str
    input: dict[str, Any]  # plain data
    id: str = field(default_factory=new_call_id)
    defaults: ToolDefaults = field(default=NO_DEFAULTS, compare=False)  # of its tool

    @property
    def shown(self) -> dict[str, Any]:
        """The input as hooks and people see it: with the defaults."""
        return self.defaults.fill(self.input)

    @property
    def key(self) -> str:
        """Models may give several calls the same id. A default makes no difference, whether it is given or not."""
        return f"{self.id}\n{self.name}\n{json.dumps(self.shown, sort_keys=True, default=str)}"

    def has_input_of(self, other: FrameworkCall) -> bool:
        return deep_equal(self.shown, other.shown)

    def with_shown(self, left: dict[str, Any]) -> FrameworkCall:
        """The call that hooks left. The tool itself puts in the defaults that they left alone."""
        return replace(self, input=self.defaults.leave_out(left, self.input))


@dataclass(frozen=True, slots=True)
class _OpenCall:
    decision: Decision
    call: FrameworkCall
    decided: FrameworkCall  # without what hooks removed from it
    asked: Decision | None = None  # approval.request
    approved: bool | None = None  # what a person answered

    @property
    def is_waiting(self) -> bool:
        return self.asked is not None and self.approved is None

    @property
    def question(self) -> Question:
        """A person reads the input as hooks left it."""
        decision = self.decision
        return Question(decision.full_reason, self.call.name, decision.event.read(("tool", "input")), decision.by)


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What to do with a tool call: exactly one of `refusal`, `question` and `input`."""

    input: dict[str, Any] | None = None  # give the tool this input; its defaults are not in it
    refusal: str | None = None  # do not run it; the model reads this
    question: Question | None = None  # ask a person in the framework's own way, then call before_tool again
    is_changed: bool = False  # hooks changed the input
    halts: bool = False
    opened: _OpenCall | None = None


@dataclass(frozen=True, slots=True)
class ResultAnswer:
    """What the model reads of a tool's result."""

    value: Any  # as the hooks left it
    ok: bool
    is_changed: bool  # the value is not the tool's own
    notes: str = ""  # for the model, after the value

    @property
    def text(self) -> str:
        return "\n".join(part for part in (value_text(self.value), self.notes) if part)


@dataclass(frozen=True, slots=True)
class StartAnswer:
    prompt: str  # as the hooks left it, with their notes
    refusal: str | None = None  # the model must not be called; the user reads this
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    halted: str | None = None  # the model must not be called
    system: str | None = None  # in place of the system prompt, if hooks changed it
    messages: list[Any] | None = None  # the framework's messages, if hooks changed them


class AgentRun:
    """From a prompt to the final answer. Sub-agents are runs with a parent."""

    def __init__(
        self, hooks: FrameworkHooks, conversation: Conversation, agent: str, parent: AgentRun | None, key: str
    ) -> None:
        self.hooks = hooks
        self.conversation = conversation
        self.agent = agent
        self.parent = parent
        self.key = key
        self.prompt = ""  # as the hooks left it
        self.prompt_given = ""
        self.changed_prompt: str | None = None  # with notes, for an adapter that changes it in the request
        self.turn = -1
        self.is_over = False
        self._halted: str | None = None
        self._in_turn = False
        self._denied_stops = 0
        self._notes: list[Note] = []  # for the model's next request
        self._call_notes: dict[str, list[str]] = {}
        self._system_notes: list[str] = []
        self._placed_notes: list[tuple[int, str]] = []  # index in the messages, text

    @property
    def halted(self) -> str | None:
        """Why the agent must stop. A halt stops the parents too."""
        return self._halted if self.parent is None else self.parent.halted

    def _must_stop(self) -> bool:
        return self.halted is not None

    @contextmanager
    def tool_context(self) -> Iterator[None]:
        """Around a tool's execution: an agent that it starts is this run's sub-agent."""
        token = current_run.set(self)
        try:
            yield
        finally:
            current_run.reset(token)

    async def start(self, prompt: str | None) -> StartAnswer:
        """Fires what happens before the model reads the prompt. None: a paused run goes on, without a prompt."""
        given = prompt or ""
        self.prompt = self.prompt_given = given
        try:
            if prompt is None:
                return StartAnswer(given, await self._open_session())
            return await (self._start_subagent(given) if self.parent is not None else self._start(given))
        except Exception as error:
            return StartAnswer(given, self._failure("the prompt was not sent", error))

    async def _start(self, prompt: str) -> StartAnswer:
        refused = await self._open_session()
        if refused is not None:
            return StartAnswer(prompt, refused)
        decision = await self._fire("prompt.submit", prompt=prompt)
        if self.halted is not None or decision.denied:
            return StartAnswer(prompt, decision.full_reason or self.halted or NOT_STARTED)
        left = decision.event.facts.get("prompt")
        text = left if isinstance(left, str) else prompt
        text, refusal = await self._create_message("user", text)
        if refusal is not None:
            return StartAnswer(prompt, refusal)
        self.prompt = text
        notes = self.take_notes()
        full = f"{text}\n\n{notes}" if notes else text
        return StartAnswer(full, is_changed=full != prompt)

    async def _open_session(self) -> str | None:
        """Fires the session's and the agent's start, once. Returns why the agent may not start, if so."""
        if self.parent is not None:
            return None
        conversation = self.conversation
        if not conversation.is_started:
            conversation.is_started = True
            await self._fire("session.start", session={**self._session_facts(), "source": "startup"})
            if self.hooks.session.book.hears("thread.created"):
                await self._fire("thread.created")
        if self.agent not in conversation.agents:
            started = await self._fire("agent.start")
            if started.denied:
                return started.full_reason or NOT_STARTED
            conversation.agents.add(self.agent)
        return None

    async def _start_subagent(self, prompt: str) -> StartAnswer:
        about = {"id": self.key, "name": self.agent, "task": prompt, "agent": {"id": self.agent, "name": self.agent}}
        if self.hooks.session.book.hears("subagent.created"):
            await self._fire("subagent.created", subagent=about)
        decision = await self._fire("subagent.start", subagent=about, tool={"input": {"task": prompt}})
        if self.halted is not None or decision.denied:
            return StartAnswer(prompt, decision.full_reason or self.halted or NOT_STARTED)
        notes = self.take_notes()
        full = f"{prompt}\n\n{notes}" if notes else prompt
        return StartAnswer(full, is_changed=full != prompt)

    async def before_model(
        self, messages: Sequence[M] = (), form: MessageFormat[M] | None = None, system: str | None = None
    ) -> RequestAnswer:
        """Fires what happens before a request. Without `form`, hooks cannot change it."""
        try:
            return await self._before_model(messages, form, system)
        except UnusableMessages as error:
            self._halt(f"The request was not sent: {error}.")
        except Exception as error:
            self._halt(self._failure("the request was not sent", error))
        return RequestAnswer(self.halted)

    async def _before_model(
        self, messages: Sequence[M], form: MessageFormat[M] | None, system: str | None
    ) -> RequestAnswer:
        refused = await self._open_session()
        await self._end_turn()
        if refused is not None or self.halted is not None:
            return RequestAnswer(refused or self.halted)
        self._in_turn, self.turn = True, self.turn + 1
        self.conversation.turns += 1
        heard = self.hooks.session.book.hears
        if self.parent is None and form is not None:
            self.conversation.show_messages(messages, form.read)
        if not self.conversation.had_first_turn:
            self.conversation.had_first_turn = True
            if heard("session.first_turn"):
                await self._fire("session.first_turn", prompt=self.prompt)
        if not self._is_request_read(form) and not heard("turn.start"):
            return RequestAnswer(self.halted)
        plain = [form.read(each) for each in messages] if form is not None else []
        left = plain
        if heard("turn.start"):
            left = await self._change_messages("turn.start", left, form, prompt=self.prompt)
        if self._must_stop():
            return RequestAnswer(self.halted)
        self._place_notes(len(left), form is not None)
        if form is None:
            return RequestAnswer()
        new_system = await self._system(system)
        if heard("history.filter"):
            left = await self._change_messages("history.filter", left, form)
        left = self._with_placed_notes(left)
        if heard("history.request"):
            left, new_system = await self._change_request(left, new_system)
        changed = None if left == plain else messages_after_hooks(messages, plain, left, form)
        return RequestAnswer(system=new_system if new_system != system else None, messages=changed)

    def _is_request_read(self, form: object) -> bool:
        """False if no hook and no note is about the request, which may be long."""
        heard = self.hooks.session.book.hears
        waiting = self._notes or self._placed_notes or self._system_notes
        return form is not None and (bool(waiting) or any(map(heard, REQUEST_EVENTS)))

    async def _system(self, system: str | None) -> str | None:
        full = "\n\n".join(part for part in (system, *self._system_notes) if part) or system
        if full is None or not self.hooks.session.book.hears("history.system"):
            return full
        decision = await self._fire("history.system", system=full)
        left = decision.event.facts.get("system")
        if not isinstance(left, str):
            raise UnusableMessages("hooks did not leave a text as the system prompt")
        return left

    async def _change_messages(
        self, event: str, plain: list[PlainMessage], form: object, **facts: Any
    ) -> list[PlainMessage]:
        """Messages get an id and a time for hooks on stored messages, and lose them again."""
        stored = [{**self._stored_keys(at), **each} for at, each in enumerate(plain)]
        if form is not None:
            facts["messages"] = stored
        left = (await self._fire(event, **facts)).event.facts.get("messages")
        if form is None or left is stored or left == stored:
            return plain
        if not isinstance(left, list) or not all(isinstance(each, dict) for each in left):
            raise UnusableMessages("hooks did not leave a list of messages")
        return [{key: value for key, value in each.items() if key not in ("id", "created_at")} for each in left]

    def _stored_keys(self, at: int) -> dict[str, Any]:
        stored = self.conversation.messages
        return {"id": f"m{at}", "created_at": stored[at]["created_at"] if at < len(stored) else 0}

    async def _change_request(
        self, left: list[PlainMessage], system: str | None
    ) -> tuple[list[PlainMessage], str | None]:
        """Hooks on the request see the system prompt as its first message."""
        first = [{"role": "system", "content": system}] if system is not None else []
        decision = await self._fire("history.request", request={"messages": [*first, *left]})
        sent = decision.event.read(("request", "messages"))
        if not isinstance(sent, list) or not all(isinstance(each, dict) for each in sent):
            raise UnusableMessages("hooks did not leave a list of messages")
        if not first:
            return sent, system
        if not sent or sent[0].get("role") != "system" or not isinstance(sent[0].get("content"), str):
            raise UnusableMessages("hooks removed the system prompt")
        return sent[1:], sent[0]["content"]

    def _place_notes(self, count: int, can_place: bool) -> None:
        """Notes stay where the model first read them, in later requests too."""
        if not can_place:
            return
        notes, self._notes = self._notes, []
        self._system_notes += [note.text for note in notes if note.place is NotePlace.SYSTEM]
        text = _join(note.text for note in notes if note.place is not NotePlace.SYSTEM)
        if text:
            self._placed_notes.append((count, text))

    def _with_placed_notes(self, messages: list[PlainMessage]) -> list[PlainMessage]:
        left = list(messages)
        for added, (at, text) in enumerate(self._placed_notes):
            left.insert(min(at + added, len(left)), {"role": "user", "content": text})
        if self.hooks.support.keeps_requests:
            self._placed_notes, self._system_notes = [], []
        return left

    async def after_model(self, text: str, calls: Sequence[dict[str, Any]] = ()) -> str:
        """The model's text as the hooks left it. What must not be stored is withheld."""
        try:
            left, refusal = await self._create_message("assistant", text, list(calls))
            return left if refusal is None else f"[withheld: {refusal}]"
        except Exception as error:
            self._halt(self._failure("the answer was not used", error))
            return "[withheld]"

    async def model_failed(self, error: BaseException) -> None:
        """The model could not be called."""
        try:
            if self.hooks.session.book.hears("model.error"):
                about = {"code": error_code(error), "message": str(error)[:2000]}
                await self._fire("model.error", error=about)
        except Exception as failure:
            self._halt(self._failure("the model was not called again", failure))

    async def before_tool(
        self,
        call: FrameworkCall,
        *,
        is_preview: bool = False,
        approved: bool | None = None,
        answered: str | None = None,
    ) -> CallAnswer:
        """Decides about one call.

        is_preview: the framework will ask about the same call again before it runs. approved: what a person answered in the
        framework's own way. answered: the id of the question, as the framework stored it.
        """
        try:
            return await self._before_tool(call, is_preview, approved, answered)
        except Exception as error:
            return CallAnswer(refusal=self._failure(f"{call.name} was not called", error))

    async def _before_tool(
        self, call: FrameworkCall, is_preview: bool, approved: bool | None, answered: str | None
    ) -> CallAnswer:
        if self.halted is not None:
            if not is_preview:
                asked = {**self.facts("tool.before"), "tool": self._tool_facts(call)}
                self.hooks.session.record_after_halt(asked, self.halted)
            return CallAnswer(refusal=f"Not run: the agent was stopped. {self.halted}", halts=True)
        refused = await self._open_session()
        if refused is not None:
            return CallAnswer(refusal=refused)
        opened = self.conversation.open_calls.pop(call.key, None)
        if opened is None:
            opened = await self._decide_call(call)
            approved = approved and self._take_approval(opened, answered)
        answer, opened = await self._answer_call(call, opened, approved)
        if is_preview or answer.question is not None:
            self._remember(call, opened)
        if answer.input is not None:
            return replace(answer, opened=opened)
        if answer.refusal is not None and not is_preview:
            notes = _join(self._call_notes.pop(call.id, ()))
            return CallAnswer(refusal=f"{answer.refusal}\n{notes}" if notes else answer.refusal, halts=answer.halts)
        return answer

    async def _decide_call(self, call: FrameworkCall) -> _OpenCall:
        """The tool puts its default in the place of an argument that hooks removed, so they decide about the default, too."""
        facts = self._tool_facts(call)
        decision = await self._fire("tool.before", tool=facts, call=call)
        left = decision.event.read(("tool", "input"))
        is_changed = isinstance(left, dict) and not deep_equal(left, facts["input"])
        if decision.denied or decision.halt or not is_changed:
            return _OpenCall(decision, call, call)
        after = call.with_shown(left)
        if deep_equal(after.shown, left):
            return _OpenCall(decision, call, call)
        again = await self._fire("tool.before", tool={**facts, "input": after.shown}, call=call)
        is_weaker = decision.verdict is Verdict.ASK and again.verdict < Verdict.ASK
        return _OpenCall(replace(decision, event=again.event) if is_weaker else again, call, after)

    def _take_approval(self, opened: _OpenCall, answered: str | None) -> bool | None:
        """None: what the person read was another input, or another tool, or nobody knows what it was."""
        calls, id = self.conversation.open_calls, opened.call.id
        waiting = [each for each in list(calls.values()) if each.call.id == id and each.is_waiting]
        for each in waiting:
            calls.pop(each.call.key, None)
        known = {answered, *(question_id(each.question) for each in waiting)}
        return True if question_id(opened.question) in known else None

    def keep_decision(self, call: FrameworkCall, answer: CallAnswer) -> None:
        """The framework interrupted the tool, and will start the same call from its beginning."""
        if answer.opened is not None:
            self._remember(call, answer.opened)

    def keep_question(self, call: FrameworkCall, answer: CallAnswer) -> None:
        """Like keep_decision, for a framework that keeps the answers of people and gives them again, in their order."""
        if answer.opened is not None:
            self._remember(call, replace(answer.opened, approved=None))

    def _remember(self, call: FrameworkCall, opened: _OpenCall) -> None:
        """With the conversation: a paused call may go on in another run."""
        calls = self.conversation.open_calls
        calls[call.key] = opened
        while len(calls) > _MAX_OPEN_CALLS:
            calls.popitem(last=False)

    async def _answer_call(
        self, call: FrameworkCall, opened: _OpenCall, approved: bool | None
    ) -> tuple[CallAnswer, _OpenCall]:
        decision = opened.decision
        if decision.denied or decision.halt:
            reason = decision.full_reason or f"{call.name} was denied"
            return CallAnswer(refusal=reason, halts=decision.halt), opened
        left = decision.event.read(("tool", "input"))
        if not isinstance(left, dict):
            return CallAnswer(refusal=f"A hook replaced the input of {call.name} with something else."), opened
        is_changed = not deep_equal(left, call.shown)
        after = opened.decided.with_shown(left) if is_changed else call
        if not deep_equal(after.shown, left):
            return CallAnswer(refusal=removed_default_reason(call.name, left, after.shown)), opened
        go = CallAnswer(after.input, is_changed=is_changed)
        if decision.verdict is not Verdict.ASK:
            return go, opened
        if opened.asked is None:
            tool = decision.event.facts["tool"]
            asked = await self._fire("approval.request", tool=tool, approval={"reason": decision.reason}, call=call)
            opened = replace(opened, asked=asked)
        return await self._answer_question(call, opened, go, approved)

    async def _answer_question(
        self, call: FrameworkCall, opened: _OpenCall, go: CallAnswer, approved: bool | None
    ) -> tuple[CallAnswer, _OpenCall]:
        decision, asked, around = opened.decision, opened.asked, self.hooks.session
        if asked is not None and (asked.denied or asked.halt):
            refusal = asked.full_reason or f"{call.name} was not approved"
            return CallAnswer(refusal=refusal, halts=asked.halt), opened
        if asked is not None and asked.verdict is Verdict.ALLOW:
            return go, opened
        question = opened.question
        if opened.approved is None:
            if approved is None:
                if not around.can_ask and self.hooks.support.pauses:
                    return CallAnswer(question=question), opened
                approved = await around.ask_person(question, decision)
            else:
                around.record_answer(decision, approved)
            opened = replace(opened, approved=approved)
        refusal = decision.full_reason or f"{call.name} was not approved"
        return go if opened.approved else CallAnswer(refusal=refusal), opened

    async def after_tool(
        self, call: FrameworkCall, result: Any, *, input: dict[str, Any] | None = None, error: str | None = None
    ) -> ResultAnswer:
        """What the model reads. `input` is the one that the tool was given; `error` is set if the tool failed."""
        self.conversation.tool_calls += 1
        plain = to_plain_value(result)
        try:
            return await self._after_tool(call, plain, input, error)
        except Exception as failure:
            text = self._failure(f"the result of {call.name} was withheld", failure)
            return ResultAnswer(text, False, True)

    async def _after_tool(
        self, call: FrameworkCall, plain: Any, input: dict[str, Any] | None, error: str | None
    ) -> ResultAnswer:
        ended: dict[str, Any] = {"ok": error is None}
        if plain is not None or error is None:
            ended["result"] = plain
        if error is not None:
            ended["error"] = error
        ran = call if input is None else replace(call, input=input)
        facts = {**self._tool_facts(ran), **ended}
        heard = self.hooks.session.book.hears
        shown = "tool.succeeded" if error is None else "tool.failed"
        for event in (shown, "tool.after", "tool.store"):
            if event == "tool.after" or heard(event):
                facts = (await self._fire(event, tool=facts, call=call)).event.facts["tool"]
        facts = await self._store_result(call, facts)
        notes = _join((*self._call_notes.pop(call.id, ()), *self._undelivered_notes()))
        left = facts.get("result", MISSING)
        ok = facts.get("ok") is True
        if not ok:
            return self._failed_answer(facts, ended, notes)
        changed = left is MISSING or error is not None or not deep_equal(left, plain)
        return ResultAnswer("" if left is MISSING else left, True, changed, notes)

    def _failed_answer(self, facts: dict[str, Any], ended: dict[str, Any], notes: str) -> ResultAnswer:
        text = facts.get("error") or facts.get("result") or "Withheld by a hook"
        same = not ended["ok"] and deep_equal(facts.get("error"), ended.get("error"))
        changed = not (same and deep_equal(facts.get("result", MISSING), ended.get("result", MISSING)))
        return ResultAnswer(text, False, changed, notes)

    async def _store_result(self, call: FrameworkCall, facts: dict[str, Any]) -> dict[str, Any]:
        """Hooks on messages see a result as a message of the role tool."""
        if not self.hooks.session.book.hears("message.create"):
            return facts
        key = "result" if facts.get("ok") is True else "error"
        text, refusal = await self._create_message("tool", value_text(facts.get(key, "")), [], call)
        if refusal is not None:
            return {**facts, "ok": False, "error": refusal, "result": ""}
        return facts if text == value_text(facts.get(key, "")) else {**facts, key: text}

    def _undelivered_notes(self) -> list[str]:
        """Notes that no request can carry here go with the next result."""
        if "history.request" in self.hooks.support.events:
            return []
        notes, self._notes = self._notes, []
        return [note.text for note in notes]

    async def stop(self, text: str) -> str | None:
        """The model ended without a tool call. Returns what the model reads if it must go on."""
        if self.parent is not None:
            return await self._stop_subagent(text)
        try:
            await self._end_turn()
            if self.halted is not None:
                return None
            facts = {"reason": "end_turn", "active": self._denied_stops > 0, "message": text}
            decision = await self._fire("stop", stop=facts)
        except Exception as error:
            self._halt(self._failure("the agent was stopped", error))
            return None
        return self._continue_reason(decision)

    async def _stop_subagent(self, text: str) -> str | None:
        about = {"id": self.key, "name": self.agent, "agent": {"id": self.agent, "name": self.agent}}
        facts = {"active": self._denied_stops > 0, "message": text}
        try:
            await self._end_turn()
            decision = await self._fire("subagent.end", subagent=about, stop=facts, tool={"result": text, "ok": True})
        except Exception as error:
            self._halt(self._failure("the agent was stopped", error))
            return None
        return self._continue_reason(decision)

    def _continue_reason(self, decision: Decision) -> str | None:
        if not decision.denied or decision.halt or self.halted is not None:
            return None
        if self._denied_stops >= MAX_DENIED_STOPS:
            _log.warning("%s was denied a stop %d times in a row; it stops now", self.agent, MAX_DENIED_STOPS)
            return None
        self._denied_stops += 1
        return decision.full_reason or "Please continue."

    async def finish(self) -> None:
        """The run is over, however it ended."""
        self.is_over = True
        self.hooks.drop_run(self)
        try:
            await self._end_turn()
        except Exception as error:
            self._failure("the run was over", error)

    async def end_conversation(self) -> None:
        """Hooks in the background come before the last events."""
        await self.hooks.session.wait_for_background(self.conversation.id)
        for agent in sorted(self.conversation.agents):
            self.agent = agent
            await self._fire("agent.end")
        await self._fire("session.end", session={**self._session_facts(), "reason": "exit"})
        await self.hooks.session.drain()

    def take_notes(self) -> str:
        """Returns and clears what hooks want the model to read next."""
        notes, self._notes = self._notes, []
        return _join(note.text for note in notes)

    def add_note(self, text: str) -> None:
        """Something that the model reads with its next request."""
        self._notes.append(Note(text))

    def change_agent(self, name: str) -> None:
        """Another agent takes the run over."""
        self.agent = name

    def halt(self, reason: str) -> None:
        """Stops the agent because the adapter cannot obey a decision otherwise."""
        self._halt(reason)

    async def _end_turn(self) -> None:
        if self._in_turn:
            self._in_turn = False
            if self.hooks.session.book.hears("turn.end"):
                await self._fire("turn.end")

    async def _create_message(
        self, role: str, text: str, calls: list[dict[str, Any]] | None = None, call: FrameworkCall | None = None
    ) -> tuple[str, str | None]:
        """The text as hooks left it, and why the message must not be stored, if so."""
        heard = self.hooks.session.book.hears
        if not heard("message.create") and not heard("message.created"):
            return text, None
        message: dict[str, Any] = {"id": new_call_id().replace("call", "msg"), "role": role, "content": text}
        if calls:
            message["tool_calls"] = json.dumps(calls, ensure_ascii=False, default=str)
        if call is not None:
            message |= {"tool_call_id": call.id, "name": call.name}
        decision = await self._fire("message.create", message=message)
        if decision.denied:
            return text, decision.full_reason or "a hook denied the message"
        left = decision.event.facts.get("message")
        if not isinstance(left, dict) or {**left, "content": ""} != {**message, "content": ""}:
            return text, "hooks changed more of a message than its text"
        if not isinstance(left.get("content"), str):
            return text, "hooks left no text in a message"
        if heard("message.created"):
            await self._fire("message.created", message=left)
        return left["content"], None

    async def _fire(self, event: str, *, call: FrameworkCall | None = None, **facts: Any) -> Decision:
        if event not in self.hooks.support.events:
            raise AssertionError(f"{self.hooks.support.name} does not declare {event}")
        decision = await self.hooks.session.fire(event, {**self.facts(event), **facts})
        if decision.halt:
            self._halt(decision.full_reason or "Stopped by a hook")
        for note in decision.notes:
            if note.audience is Audience.USER:
                _log.info("%s", note.text, extra={"session": self.conversation.id})
            elif call is not None and note.place is not NotePlace.SYSTEM:
                self._call_notes.setdefault(call.id, []).append(note.text)
            else:
                self._notes.append(note)
        return decision

    def _halt(self, reason: str) -> None:
        root = self
        while root.parent is not None:
            root = root.parent
        root._halted = root._halted or reason
        self.conversation.abort.abort(reason)

    def facts(self, event: str) -> dict[str, Any]:
        """What every event of this run has."""
        facts: dict[str, Any] = {
            "session": self._session_facts(),
            "thread": {"id": self.conversation.id},
            "turn": {"number": max(self.turn, 0)},
            "execution": {
                "flow": self.key,
                "side": "a",
                "step": max(self.turn, 0),
                "stopped": self.halted is not None,
            },
        }
        if self.agent:
            facts["agent"] = {"id": self.agent, "name": self.agent}
        if "messages" in self.hooks.fact_roots.get(event, ()):
            facts["messages"] = list(self.conversation.messages)
        return facts

    def _session_facts(self) -> dict[str, Any]:
        held = self.conversation
        return {"id": held.id, "tool_calls": held.tool_calls, "turns": held.turns}

    def _tool_facts(self, call: FrameworkCall) -> dict[str, Any]:
        return {
            "name": call.name,
            "kind": self.hooks.kind_of(call.name),
            "id": call.id,
            "caller": "",
            "input": to_plain_value(call.shown),
        }

    def _failure(self, what: str, error: BaseException) -> str:
        """The text of an error may have secrets, so only its type is told."""
        _log.error("hooks failed, so %s", what, exc_info=error)
        return f"Hooks could not decide ({type(error).__name__}), so {what}."


_ERROR_WORDS: Final = (
    ("ratelimit", "rate_limit"),
    ("contextlength", "context_overflow"),
    ("contextoverflow", "context_overflow"),
    ("timeout", "timeout"),
    ("authentic", "auth"),
    ("permission", "auth"),
    ("connect", "network"),
    ("billing", "billing"),
    ("quota", "billing"),
)


def error_code(error: BaseException) -> str:
    """By the name of the exception's class: every vendor's SDK has its own classes."""
    name = type(error).__name__.lower()
    return next((code for word, code in _ERROR_WORDS if word in name), "internal")


def removed_default_reason(tool: str, left: dict[str, Any], shown: dict[str, Any]) -> str:
    """Why a tool does not run with what hooks left, if it puts in what they removed."""
    removed = ", ".join(name for name in shown if name not in left) or "a value"
    return (
        f"Not run: a hook removed {removed} from the input of {tool}, which has a default. Hooks must keep or set it."
    )


def _join(texts: Any) -> str:
    return "\n\n".join(dict.fromkeys(texts))
