"""Sessions that triggers start, each for one exchange."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from hookline.errors import Denied, HooklineError
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.runtime import Runtime
from hookline.runtime.triggers.trigger import Activation, ActivationResult, TriggerKind
from hookline.runtime.triggers.triggers import Triggers
from hookline.runtime.updates import ExchangeEnded

if TYPE_CHECKING:
    from hookline.runtime.triggers.http_routes import ListenOptions

MAX_TURNS: Final = 64  # turns started by requests, at the same time

FiredCallback = Callable[[Activation, ActivationResult], None]
DoneCallback = Callable[[Activation, "ExchangeEnded | HooklineError"], None]


class TriggerServer:
    """Starts a session for each trigger that fires.

    `async with TriggerServer(runtime) as server: await server.run_forever()`. A request is answered as soon as hooks
    let the turn start; a cron or file trigger waits until the turn has ended.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        listen: ListenOptions | None = None,
        on_fired: FiredCallback = lambda activation, result: None,
        on_done: DoneCallback = lambda activation, outcome: None,
    ) -> None:
        self._runtime = runtime
        self._on_fired = on_fired
        self._on_done = on_done
        self._turns: set[asyncio.Task[None]] = set()
        self._beginning = 0  # activations that hooks are deciding about
        self.triggers = Triggers(runtime.app.triggers, runtime.workspace, self.fire, listen=listen)

    async def __aenter__(self) -> Self:
        """Raises HooklineError if the app has no triggers or the address is not available."""
        if not self._runtime.app.triggers:
            raise HooklineError("this app has no triggers; write `triggers:` into hookline.yaml")
        await self.triggers.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the triggers and cancels running turns. Their sessions can be resumed."""
        try:
            await self.triggers.__aexit__(kind, error, trace)
        finally:
            for turn in self._turns:
                turn.cancel()
            await asyncio.gather(*self._turns, return_exceptions=True)

    async def run_forever(self) -> None:
        await asyncio.Event().wait()

    async def fire(self, activation: Activation) -> ActivationResult:
        """Starts a session unless hooks deny the agent's start or the activation itself.

        Raises HooklineError if the session cannot be started, or if MAX_TURNS requests are running already.
        """
        if activation.trigger.kind is TriggerKind.HTTP and len(self._turns) + self._beginning >= MAX_TURNS:
            raise HooklineError(f"{MAX_TURNS} turns are running already; try again when one of them has ended")
        self._beginning += 1
        try:
            answer, session = await self._activate(activation)
        finally:
            self._beginning -= 1
        self._on_fired(activation, answer)
        if session is None:
            return answer
        turn = asyncio.ensure_future(self._run_turn(session, activation))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        if activation.trigger.kind is not TriggerKind.HTTP:
            await turn
        return answer

    async def _activate(self, activation: Activation) -> tuple[ActivationResult, AgentSession | None]:
        try:
            session = await self._runtime.start(activation.trigger.agent)
        except Denied as denied:
            return ActivationResult(denied=str(denied)), None
        try:
            prompt = {"role": "user", "content": activation.prompt}
            facts = {"trigger": activation.facts, "messages": [*await session.main.history(), prompt]}
            decision = await session.decide(session.main, "activation", facts)
            session.main.defer_notes(decision)
        except HooklineError:
            await self._runtime.end(session, "failed")
            raise
        if decision.denied or decision.halt:
            await self._runtime.end(session, "denied")
            return ActivationResult(session.id, decision.full_reason or "hooks denied the activation"), None
        return ActivationResult(session.id), session

    async def _run_turn(self, session: AgentSession, activation: Activation) -> None:
        outcome: ExchangeEnded | HooklineError | None = None
        try:
            async for update in session.say(activation.prompt):
                outcome = update if isinstance(update, ExchangeEnded) and update.thread == session.id else outcome
        except HooklineError as error:
            outcome = error
        await self._runtime.end(session, "exit")
        if outcome is not None:
            self._on_done(activation, outcome)
