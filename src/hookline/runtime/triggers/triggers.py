"""Sessions that triggers start, each for one exchange.

All triggers of an app, from the moment they may fire until they may not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from hookline.errors import Denied, HooklineError
from hookline.runtime.app import Trigger, TriggerKind
from hookline.runtime.notes import inject_notes
from hookline.runtime.triggers.activation import Activation, ActivationHandler, ActivationResult
from hookline.runtime.updates import ExchangeEnded

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.runtime import Runtime
    from hookline.runtime.triggers.cron import WallClock
    from hookline.runtime.triggers.http_routes import ListenOptions


_log = logging.getLogger("hookline")
_READY_TIMEOUT: Final = 10.0  # seconds until changes of files are seen


class Triggers:
    """`fire` starts a turn. For a cron or a file it may take as long as the turn does: what comes meanwhile waits.
    For a route, whoever asked waits for its answer, so it should return once the turn has begun.

        async with Triggers(app.triggers, workspace, fire) as triggers: ...
    """

    def __init__(
        self,
        triggers: Iterable[Trigger],
        workspace: Path,
        fire: ActivationHandler,
        *,
        listening: ListenOptions | None = None,  # None: any free port of this machine, with a token made now
        clock: WallClock | None = None,  # None: the system's
    ) -> None:
        self._triggers = tuple(triggers)
        self._workspace = workspace
        self._fire = fire
        self._listening = listening
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self.address: str | None = None  # where the routes are, as http://127.0.0.1:8123
        self.token: str | None = None  # what their requests bear

    async def __aenter__(self) -> Self:
        """Raises HooklineError if the address cannot be had; nothing runs then."""
        self._start_routes()
        self._start_crons()
        try:
            await self._start_files()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    def _triggers_of(self, kind: TriggerKind) -> list[Trigger]:
        return [trigger for trigger in self._triggers if trigger.kind is kind]

    def _start_routes(self) -> None:
        triggers = self._triggers_of(TriggerKind.HTTP)
        if not triggers:
            return
        from hookline.runtime.triggers.http_routes import ListenOptions, Routes

        listening = self._listening or ListenOptions()
        routes = Routes(triggers, listening, self._fire)
        self.address, self.token = routes.bind(), listening.token
        self._start(routes.run())

    def _start_crons(self) -> None:
        triggers = self._triggers_of(TriggerKind.CRON)
        if not triggers:
            return
        from hookline.runtime.triggers.cron import SystemWallClock, run_cron

        clock = self._clock or SystemWallClock()
        for trigger in triggers:
            self._start(run_cron(trigger, self._fire_and_log, clock))

    async def _start_files(self) -> None:
        triggers = self._triggers_of(TriggerKind.FILE)
        if not triggers:
            return
        from hookline.runtime.triggers.file_changes import FileWatch

        watch = FileWatch(triggers, self._workspace, self._fire_and_log)
        running = self._start(watch.run())
        ready = asyncio.ensure_future(watch.watching.wait())
        try:
            await asyncio.wait((running, ready), timeout=_READY_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._log_failure(work))
        self._tasks.append(task)
        return task

    async def _log_failure(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except* HooklineError as errors:
            _log.error("a trigger stopped: %s", errors.exceptions[0])

    async def _fire_and_log(self, fired: Activation) -> ActivationResult:
        """Nobody waits for the answer, so what goes wrong is a line in the log, and the next one comes all the same."""
        try:
            answer = await self._fire(fired)
        except HooklineError as error:
            _log.warning("trigger %s: %s", fired.trigger.id, error)
            return ActivationResult()
        if answer.denied is not None:
            _log.warning("trigger %s was denied: %s", fired.trigger.id, answer.denied)
        return answer

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        for each in ended:
            if isinstance(each, Exception):
                raise each


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
