"""`hookline bridge`"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from hookline.cli.async_runner import run_async
from hookline.cli.bridge_model import ask_user_model
from hookline.cli.logging_setup import is_debugging
from hookline.cli.options import Verb
from hookline.errors import HooklineError
from hookline.lazy_dataclasses import replace

if TYPE_CHECKING:
    from hookline.hosts.agents.agent import Reply
    from hookline.hosts.bridge.protocol import AgentCall


@click.command("bridge", cls=Verb, short_help="Answer an event of a coding agent: payload on stdin, reply on stdout.")
@click.argument("agent")
@click.argument("event")
@click.option("--direct", is_flag=True, help="Decide in this process instead of in the engine.")
@click.option("--overdue", is_flag=True, hidden=True)
@click.option("--spent", type=click.IntRange(min=0), default=0, hidden=True)
def verb(agent: str, event: str, direct: bool, overdue: bool, spent: int) -> None:
    """Answer one event of a coding agent. `hookline install` makes the agent call this.

    \b
    hookline bridge claude-code PreToolUse < payload.json

    EVENT is the agent's own name for it, and the payload is on stdin. The reply follows the agent's own protocol:
    stdout, stderr and the exit code.
    """
    if sys.platform == "win32":
        raise HooklineError("coding agents cannot call hookline on Windows yet")
    from hookline.hosts.bridge import client

    if not direct and not overdue:
        client.main([agent, event])
    stderr = os.dup(2)
    try:
        _decide_in_process(agent, event, overdue, timedelta(milliseconds=spent), stderr)
    except HooklineError:
        raise
    except Exception as error:  # a broken installation must not let a tool run
        client.exit_without_answer(event, error, stderr)


def _decide_in_process(agent: str, event: str, overdue: bool, spent: timedelta, stderr: int) -> None:
    from hookline.hosts.bridge import responder
    from hookline.hosts.bridge.hook_cache import LoadOnce
    from hookline.record.recorder import finish_sending

    call = replace(read_call(agent, event), spent=spent)
    reply = (
        responder.overdue_reply(agent, event)
        if overdue
        else run_async(responder.respond_directly(call, LoadOnce(ask_user_model)))
    )
    write_reply(reply, stderr)
    finish_sending()
    os._exit(reply.exit_code)


def read_call(agent: str, event: str) -> AgentCall:
    """The call, with its payload on stdin. From here on, the log goes to the agent's log file unless you debug."""
    from hookline.hosts.bridge import client
    from hookline.hosts.bridge.log_file import log_to_file
    from hookline.hosts.bridge.protocol import AgentCall

    payload = sys.stdin.buffer.read(client.MAX_PAYLOAD + 1)
    cwd = os.getcwd() if os.path.exists(".") else ""
    call = AgentCall(agent, event, payload, cwd, dict(os.environb))
    if not is_debugging():
        log_to_file(call.user_directories.hookline_state)
    return call


def write_reply(reply: Reply, stderr: int) -> None:
    from hookline.hosts.bridge import client

    for descriptor, text in ((1, reply.stdout), (stderr, reply.stderr)):
        client._write_all(descriptor, text.encode("utf-8", "replace"))
