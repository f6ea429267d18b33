"""An exchange: turns from a prompt to the final answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from itertools import groupby
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.errors import Denied, Halted, HooklineError
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.runtime.apps.app import MAX_STEPS
from hookline.runtime.effects import apply_effects, apply_requests
from hookline.runtime.history import CONTINUE_PROMPT
from hookline.runtime.notes import inject_notes
from hookline.runtime.recovery import NOT_RUN, open_calls
from hookline.runtime.subagent import abandon_subagents
from hookline.runtime.thread import MessageNotStoredError, StoredThread
from hookline.runtime.tool_calls import ToolCalls
from hookline.runtime.turn import Turn, TurnResult
from hookline.runtime.updates import Ending, ExchangeEnded

_PROMPT_COUNT_KEY: Final = "prompts"  # where a session stores its number of prompts


class Exchange:
    """Runs one thread until it has answered; with two AIs, both sides in turn."""

    def __init__(self, thread: StoredThread) -> None:
        self.thread = thread
        self.session = thread.session
        self.answer = ""
        self._steps = 0
        self._side_steps = 0  # steps of the current side
        self._rounds = 0  # answers of two AIs
        self._denied_stops = 0  # times that hooks prevented the current stop

    async def start(self, prompt: str) -> ExchangeEnded:
        """Submits a person's prompt to the hooks, stores and answers it."""
        return await self._run_to_end(self._submit_within_limit(prompt))

    async def resume(self) -> ExchangeEnded:
        """Continues an interrupted exchange from the store."""
        return await self._run_to_end(self._resume_interrupted())

    async def start_task(self, task: str) -> ExchangeEnded:
        """Answers a task from another agent. It is not a prompt of a person."""
        self._begin_flow(task)
        return await self._run_to_end(self._answer_message(task))

    async def finish_answered(self) -> ExchangeEnded:
        """Ends an exchange that was interrupted after its answer."""
        return await self._run_to_end(self._reuse_last_answer())

    async def continue_after(self, decision: Decision) -> ExchangeEnded:
        """Continues because a hook denied the end."""
        return await self._run_to_end(self._answer_message(_continuation_text(decision)))

    async def _run_to_end(self, work: Awaitable[tuple[Ending, str]]) -> ExchangeEnded:
        """Emits ExchangeEnded however the exchange ends."""
        try:
            ending, text = await self._save_counts_after(work)
            if ending in (Ending.SESSION_STOP, Ending.SESSION_FAIL):  # the text is the result of a tool
                text = await self._permitted_text(text)
        except Halted as halted:
            ending, text = Ending.HALTED, str(halted)
        except HooklineError as error:
            ending, text = Ending.FAILED, str(error)
        except asyncio.CancelledError:
            self._emit_end(Ending.CANCELLED, self.thread.abort.reason or "cancelled")
            raise
        return self._emit_end(ending, text)

    async def _save_counts_after(self, work: Awaitable[tuple[Ending, str]]) -> tuple[Ending, str]:
        """Saves the counts and the end of the last turn, however the exchange ends."""
        try:
            return await work
        finally:
            await self.session.save_if_changed(self.thread)

    async def _permitted_text(self, text: str) -> str:
        """The session ends in any case."""
        try:
            return await self.session.interception.on_output(self.thread, text)
        except Halted as halted:
            return str(halted)

    def _emit_end(self, ending: Ending, text: str) -> ExchangeEnded:
        self.thread.progress.stopped = True
        ended = ExchangeEnded(self.thread.id, self.thread.agent.id, ending, text)
        self.session.emit(ended)
        return ended

    async def _submit_within_limit(self, prompt: str) -> tuple[Ending, str]:
        """Limits the prompts of a session. For two AIs the answers to each prompt are limited instead."""
        agent, id, store = self.thread.agent, self.session.id, self.session.store
        most = agent.max_session_turns
        if most is None or agent.side_b is not None:
            return await self._submit_prompt(prompt)
        taken = await store.get_value(id, _PROMPT_COUNT_KEY) or 0
        if taken >= most:
            return Ending.STEPS, f"prompt limit reached: this session allows {most} prompts"
        await store.set_value(id, _PROMPT_COUNT_KEY, taken + 1)
        ending, text = await self._submit_prompt(prompt)
        if ending is Ending.REFUSED:
            await store.set_value(id, _PROMPT_COUNT_KEY, taken)
        return ending, text

    async def _submit_prompt(self, prompt: str) -> tuple[Ending, str]:
        await self._close_interrupted()
        self._begin_flow(prompt)
        decision = await self.session.decide(self.thread, "prompt.submit", {"prompt": prompt})
        if decision.denied or decision.halt:  # the prompt is neither stored nor sent
            return Ending.REFUSED, decision.full_reason
        left = decision.event.facts.get("prompt")
        try:
            text = await self.session.interception.on_input(self.thread, left if isinstance(left, str) else prompt)
        except Denied as denied:
            return Ending.REFUSED, str(denied)
        self.thread.progress.prompt = text
        if self.thread.agent.side_b is not None:  # store whose turn it is, in case of a crash
            await self.session.save(self.thread)
        labels = self.session.interception.take_labels(self.thread)
        await self.thread.inject_message({"role": "user", "content": text} | labels)
        for answered in (*self.thread.take_deferred_notes(), decision):
            await inject_notes(self.thread, answered)
        await apply_requests(self.thread, decision)
        return await self._run_sides()

    async def _reuse_last_answer(self) -> tuple[Ending, str]:
        self.answer = str((await self.thread.history())[-1].get("content") or "")
        await Turn(self.thread).abandon()
        return Ending.ANSWERED, self.answer

    async def _answer_message(self, text: str) -> tuple[Ending, str]:
        await self.thread.inject_message({"role": "user", "content": text})
        return await self._run_sides()

    async def _close_interrupted(self) -> None:
        """Ends what was interrupted before a new prompt. Every open call gets a result; none is run."""
        await abandon_subagents(self.thread)
        calling = ToolCalls(self.thread)
        for requested, row in await open_calls(self.thread):
            try:
                await (calling.reject(requested, NOT_RUN) if row is None else calling.recover(requested, row))
            except (
                MessageNotStoredError,
                Halted,
            ) as error:  # the model sees that the result is missing
                self.session.emit_status(
                    self.thread, f"the result of {requested.name} was not stored: {error}", "warning"
                )
        await Turn(self.thread).abandon()

    async def _resume_interrupted(self) -> tuple[Ending, str]:
        progress, messages = self.thread.progress, await self.thread.history()
        last = next((message.get("content") for message in reversed(messages) if message["role"] == "user"), None)
        progress.stopped, progress.halted, progress.prompt = False, None, last or ""
        self._steps = self._side_steps = progress.step
        if self.thread.agent.side_b is not None:
            self._rounds, self._side_steps = _count_answers(messages, progress.side)
        progress.turns_left = self._steps_left() + 1
        done = await Turn(self.thread).finish()
        end = await self._ending_after(done) if done is not None and (done.called or done.ending is not None) else None
        return await self._run_sides() if end is None else await self._alternate_sides(*end)

    def _begin_flow(self, prompt: str) -> None:
        progress = self.thread.progress
        if progress.step:  # the first flow started with the thread
            progress.flow = f"flow_{os.urandom(6).hex()}"
        progress.side, progress.step, progress.turns_left = "a", 0, None
        progress.stopped, progress.halted, progress.prompt = False, None, prompt

    async def _run_sides(self) -> tuple[Ending, str]:
        """Runs one side, or two AIs in turn until one of them ends the exchange."""
        waited = await Turn(self.thread).run_queued(TurnResult())
        if waited.ending is not None:
            return waited.ending, waited.text
        return await self._alternate_sides(*await self._run_side())

    async def _alternate_sides(self, ending: Ending, text: str) -> tuple[Ending, str]:
        """After one side has answered, lets the other side answer if it is an AI."""
        agent, progress = self.thread.agent, self.thread.progress
        while agent.side_b is not None and ending is Ending.ANSWERED:
            self._rounds += 1
            if self._rounds >= (agent.max_session_turns or MAX_STEPS):
                return Ending.STEPS, text
            progress.side, self._side_steps = "b" if progress.side == "a" else "a", 0
            await self.session.save(self.thread)
            ending, text = await self._run_side()
        return ending, text

    async def _run_side(self) -> tuple[Ending, str]:
        while True:
            left = self._steps_left()
            if left <= 0:
                made = self._steps if self._steps >= MAX_STEPS else self._side_steps
                return Ending.STEPS, f"step limit reached: {made} steps"
            self._steps, self._side_steps, self.thread.progress.turns_left = self._steps + 1, self._side_steps + 1, left
            end = await self._ending_after(await Turn(self.thread).run())
            if end is not None:
                return end

    def _steps_left(self) -> int:
        return min(MAX_STEPS - self._steps, (self.thread.side.max_steps or MAX_STEPS) - self._side_steps)

    async def _ending_after(self, turned: TurnResult) -> tuple[Ending, str] | None:
        """None if another turn follows: tools returned results, or the agent has to continue."""
        side = self.thread.side
        if turned.ending is not None:
            return turned.ending, turned.text
        self.answer = turned.text or self.answer
        if side.stop_tool is not None and side.stop_tool in turned.called:
            return Ending.ANSWERED, self.answer
        if turned.called or (turned.queued and self._may_continue()):
            return None
        if not side.stop_on_response:
            await self.thread.inject_message({"role": "user", "content": CONTINUE_PROMPT})
            return None
        if self.thread.parent is not None:  # its parent fires subagent.end
            return Ending.ANSWERED, self.answer
        return await self._fire_stop(turned.text)

    async def _fire_stop(self, text: str) -> tuple[Ending, str] | None:
        stop = {"reason": "end_turn", "active": self._denied_stops > 0, "message": text}
        decision = await self.session.decide(self.thread, "stop", {"stop": stop})
        halted = await apply_effects(self.thread, decision)
        if halted is not None:
            raise Halted(halted)
        done = await Turn(self.thread).run_queued(TurnResult())
        if done.ending is not None:
            return done.ending, done.text
        if not (decision.denied or done.queued) or not self._may_continue():
            self._denied_stops = 0
            return Ending.ANSWERED, self.answer
        if decision.denied:
            await self.thread.inject_message({"role": "user", "content": _continuation_text(decision)})
        return None

    def _may_continue(self) -> bool:
        """Counts one more denied stop; False if there were too many."""
        self._denied_stops += 1
        return self._denied_stops <= MAX_DENIED_STOPS


def _count_answers(messages: list[dict[str, Any]], side: str) -> tuple[int, int]:
    """How often two AIs have answered since the last user message, and the steps of the current side."""
    last_prompt = max((at for at, message in enumerate(messages, 1) if message["role"] == "user"), default=0)
    sides = [message.get("side") for message in messages[last_prompt:] if message["role"] == "assistant"]
    runs = [(who, len(list(steps))) for who, steps in groupby(sides)]
    mine = runs.pop()[1] if runs and runs[-1][0] == side else 0
    return len(runs), mine


def _continuation_text(decision: Decision) -> str:
    """The reason of the hook, unless it is only the default text, which is no instruction."""
    return CONTINUE_PROMPT if decision.reason in ("", f"Blocked by hook {decision.by}") else decision.reason
