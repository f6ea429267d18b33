"""An agent that waits for its triggers."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Final

from hookline.cli.chat.opening import Options, beginning, opened
from hookline.cli.chat.words import shortened
from hookline.cli.output import err, write
from hookline.errors import HooklineError
from hookline.runtime.happenings import Ended, Happening, Told
from hookline.runtime.serving import Serving
from hookline.runtime.triggers.fired import Answer, Fired
from hookline.runtime.triggers.http import Listening

TOKEN: Final = "HOOKLINE_TOKEN"


async def serve(options: Options, port: int) -> None:
    """Until it is interrupted; a line for each trigger that fires, and one for what came of it."""
    token = os.environ.get(TOKEN, "")
    listening = Listening(port=port, token=token) if token else Listening(port=port)
    async with opened(options, watch=_warn, unattended=True) as runtime:
        for problem in runtime.problems:
            err(str(problem))
        await beginning(runtime, options)
        async with Serving(runtime, listening=listening, fired=_fired, done=_done) as serving:
            for trigger in runtime.app.triggers:
                at = f"{serving.triggers.address}{trigger.at}" if trigger.kind == "http" else trigger.at
                write(f"{trigger.id}  {trigger.kind}  {at}\n")
            if serving.triggers.address is not None and not token:
                write(f"Authorization: Bearer {serving.triggers.token}\n")
            await serving.forever()


def _fired(fired: Fired, answer: Answer) -> None:
    what = answer.session if answer.denied is None else f"denied: {answer.denied}"
    write(f"{_now()}  {fired.trigger.id}  {shortened(what)}\n")


def _done(fired: Fired, how: Ended | HooklineError) -> None:
    what = f"{how.ending}: {how.text}" if isinstance(how, Ended) else f"failed: {how}"
    write(f"{_now()}  {fired.trigger.id}  {shortened(what)}\n")


def _warn(happening: Happening) -> None:
    if isinstance(happening, Told) and happening.level != "info" and not happening.hook:  # else it is in the log
        err(happening.text)


def _now() -> str:
    return datetime.now().astimezone().strftime("%H:%M:%S")
