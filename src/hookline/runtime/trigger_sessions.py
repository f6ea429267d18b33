"""Sessions that triggers start, each for one exchange."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from hookline.errors import Denied, HooklineError
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.notes import inject_notes
from hookline.runtime.runtime import Runtime
from hookline.runtime.triggers.trigger import Activation, ActivationResult, TriggerKind
from hookline.runtime.triggers.triggers import Triggers
from hookline.runtime.updates import ExchangeEnded

if TYPE_CHECKING:
    from hookline.runtime.triggers.http_routes import ListenOptions

MAX_TURNS: Final = 64  # at once, of those that requests start

FiredCallback = Callable[[Activation, ActivationResult], None]
DoneCallback = Callable[[Activation, "ExchangeEnded | HooklineError"], None]


class TriggerServer:
    """Fires an app's triggers: `async with Serving(runtime) as serving: await serving.forever()`.

    Whoever asked a route has an answer once hooks let the turn begin; a cron or a file waits for the turn's end.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        listening: ListenOptions | None = None,
        fired: FiredCallback = lambda fired, answer: None,
        done: DoneCallback = lambda fired, how: None,
    ) -> None:
        self._runtime = runtime
        self._fired = fired
        self._done = done
        self._turns: set[asyncio.Task[None]] = set()
        self._beginning = 0  # whose hooks are asked whether they may
        self.triggers = Triggers(runtime.app.triggers, runtime.workspace, self.fire, listening=listening)

    async def __aenter__(self) -> Self:
        """Raises HooklineError if the app has no triggers, or their address cannot be had."""
        if not self._runtime.app.triggers:
            raise HooklineError("this app has no triggers; write `triggers:` into hookline.yaml")
        await self.triggers.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing fires any more; turns that go on are cancelled, and their sessions can be resumed."""
        try:
            await self.triggers.__aexit__(kind, error, trace)
        finally:
            for turn in self._turns:
                turn.cancel()
            await asyncio.gather(*self._turns, return_exceptions=True)

    async def run_forever(self) -> None:
        await asyncio.Event().wait()

    async def fire(self, fired: Activation) -> ActivationResult:
        """A new session, unless hooks deny it: the agent's start, or the activation itself.

        Raises HooklineError if it cannot be started, or if requests have started as many as may go on at once.
        """
        if fired.trigger.kind is TriggerKind.HTTP and len(self._turns) + self._beginning >= MAX_TURNS:
            raise HooklineError(f"{MAX_TURNS} turns go on already; ask again when one of them has ended")
        self._beginning += 1
        try:
            answer, session = await self._activate(fired)
        finally:
            self._beginning -= 1
        self._fired(fired, answer)
        if session is None:
            return answer
        turn = asyncio.ensure_future(self._run_turn(session, fired))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        if fired.trigger.kind is not TriggerKind.HTTP:
            await turn
        return answer

    async def _activate(self, fired: Activation) -> tuple[ActivationResult, AgentSession | None]:
        try:
            session = await self._runtime.start(fired.trigger.agent)
        except Denied as denied:
            return ActivationResult(denied=denied.reason), None
        try:
            decision = await session.decide(session.main, "activation", {"trigger": fired.facts})
            await inject_notes(session.main, decision)
        except HooklineError:
            await self._runtime.end(session, "failed")
            raise
        if decision.denied or decision.halt:
            await self._runtime.end(session, "denied")
            return ActivationResult(session.id, decision.reason or "hooks did not let it start"), None
        return ActivationResult(session.id), session

    async def _run_turn(self, session: AgentSession, fired: Activation) -> None:
        how: ExchangeEnded | HooklineError | None = None
        try:
            async for happening in session.say(fired.prompt):
                how = happening if isinstance(happening, ExchangeEnded) and happening.thread == session.id else how
        except HooklineError as error:
            how = error
        await self._runtime.end(session, "exit")
        if how is not None:
            self._done(fired, how)
