"""`hookline run --serve`: an agent that waits for its triggers."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Final

from hookline.cli.chat.render import shorten_line
from hookline.cli.chat.start import RunOptions, open_runtime, prepare_session
from hookline.cli.output import err, write_now
from hookline.errors import HooklineError
from hookline.runtime.trigger_sessions import TriggerServer
from hookline.runtime.triggers.http_routes import ListenOptions
from hookline.runtime.triggers.trigger import Activation, ActivationResult
from hookline.runtime.updates import ExchangeEnded, StatusMessage, Update

TOKEN_VARIABLE: Final = "HOOKLINE_TOKEN"


async def serve_triggers(options: RunOptions, port: int) -> None:
    """Runs until interrupted. Prints a line for each trigger that fires and one for its result."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    listen = ListenOptions(port=port, token=token) if token else ListenOptions(port=port)
    async with open_runtime(options, watch=_print_warning, unattended=True) as runtime:
        for problem in runtime.warnings:
            err(str(problem))
        await prepare_session(runtime, options)
        async with TriggerServer(runtime, listen=listen, on_fired=_print_fired, on_done=_print_done) as serving:
            for trigger in runtime.app.triggers:
                at = f"{serving.triggers.address}{trigger.at}" if trigger.kind == "http" else trigger.at
                write_now(f"{trigger.id}  {trigger.kind}  {at}\n")
            if serving.triggers.address is not None and not token:
                write_now(f"Authorization: Bearer {serving.triggers.token}\n")
            await serving.run_forever()


def _print_fired(fired: Activation, answer: ActivationResult) -> None:
    what = answer.session if answer.denied is None else f"denied: {answer.denied}"
    write_now(f"{_clock_time()}  {fired.trigger.id}  {shorten_line(what)}\n")


def _print_done(fired: Activation, how: ExchangeEnded | HooklineError) -> None:
    what = f"{how.ending}: {how.text}" if isinstance(how, ExchangeEnded) else f"failed: {how}"
    write_now(f"{_clock_time()}  {fired.trigger.id}  {shorten_line(what)}\n")


def _print_warning(update: Update) -> None:
    if isinstance(update, StatusMessage) and update.level != "info" and not update.hook:  # hook messages are in the log
        err(update.text)


def _clock_time() -> str:
    return datetime.now().astimezone().strftime("%H:%M:%S")
