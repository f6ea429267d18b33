"""`hookline ahp`"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from datetime import timedelta
from typing import Final

import click

from hookline.cli.async_runner import run_async
from hookline.cli.bridge_model import ask_user_model
from hookline.cli.context import current_directory
from hookline.cli.options import Verb
from hookline.errors import HooklineError
from hookline.runners.server_process import PipeClosedError, Stdio

_RUNNING: Final = "HOOKLINE_AHP"  # in the environment of its hooks' programs
_DRAIN_TIMEOUT: Final = timedelta(seconds=10)  # for background hooks when the harness has left


@click.command(cls=Verb, short_help="Answer an agent that speaks the Agent Hooks Protocol.")
def verb() -> int:
    """Answer an agent that speaks the Agent Hooks Protocol (AHP): it sends JSON-RPC messages on stdin and reads responses
    from stdout, one a line. Configure the agent to start this command, once or for each event.

    \b
    hookline ahp < messages.jsonl

    The hooks are those of the directory that the agent names, otherwise of the current one. `hookline serve` answers the
    same over HTTP: POST /ahp on its socket. Exit code: 0 when the agent closes stdin.
    """
    if sys.platform == "win32":
        raise HooklineError("hookline ahp does not work on Windows yet")
    if _RUNNING in os.environ:
        raise HooklineError("a hook of hookline ahp asks hookline ahp again; point its action ahp at another backend")
    run_async(_answer_messages())
    return 0


async def _answer_messages() -> None:
    from hookline.hosts.bridge.hook_cache import HookCache
    from hookline.hosts.protocols.agent_hooks_protocol import AgentHooksBackend
    from hookline.hosts.protocols.local_decider import LocalDecider

    directory = current_directory()
    harness = await Stdio.claim()
    engine = HookCache(ask_user_model)
    environment = {**os.environb, _RUNNING.encode(): b"1"}
    backend = AgentHooksBackend(LocalDecider(engine, environment).decide, directory)
    try:
        async for line in harness:
            response = await backend.answer(line)
            if response is not None:
                await harness.send(json.dumps(response, ensure_ascii=False).encode("utf-8", "replace"))
    except PipeClosedError:
        pass  # the harness has left
    finally:
        await engine.local_host.drain(_DRAIN_TIMEOUT)
        engine.close()
        with suppress(PipeClosedError):
            await harness.close()
