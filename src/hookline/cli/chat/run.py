"""`hookline run`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from hookline.cli.async_runner import run_async
from hookline.cli.options import Verb, dialect_option, keep_going_option
from hookline.errors import HooklineError, extra_required

if TYPE_CHECKING:
    from hookline.cli.chat.start import RunOptions

_MAX_PROMPT: Final = 1_000_000  # characters of a prompt from stdin
_LAST_SESSION: Final = ""


@click.command("run", cls=Verb, short_help="Chat with an agent that works under your hooks.")
@click.argument("first", metavar="[PROMPT]", required=False)
@click.option(
    "-p", "--print", "prompt", metavar="TEXT", help="Print the answer to this prompt and exit; - reads it from stdin."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything that happens, one JSON object per line.")
@click.option("--model", metavar="NAME", help="Use this model: provider:model or script:FILE. It overrides the config.")
@click.option("--agent", metavar="ID", help="Use this agent of the app; by default, the first.")
@click.option("--app", metavar="FILE", help="Use and trust the app in this file instead of the one found here.")
@click.option("--config", metavar="FILE", help="Use and trust only the hooks in this file.")
@dialect_option
@click.option(
    "--resume", is_flag=False, flag_value=_LAST_SESSION, metavar="[ID]", help="Resume this session, or the last one."
)
@click.option("--sessions", is_flag=True, help="List the sessions of this directory.")
@click.option("--store", metavar="URL", help="Where to store sessions: sqlite:///FILE or postgresql://…")
@click.option("--yes", is_flag=True, help="With -p: approve everything that hooks ask about.")
@click.option("--serve", is_flag=True, help="Serve the app's triggers until interrupted.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="With --serve: port for HTTP triggers; by default, any free one.",
)
@keep_going_option
@click.option("--demo", is_flag=True, help="Play a scripted session, offline, that shows what hooks do.")
def verb(
    first: str | None,
    prompt: str | None,
    as_json: bool,
    sessions: bool,
    yes: bool,
    serve: bool,
    port: int,
    demo: bool,
    keep_going: bool,
    **chosen: str | None,
) -> int | None:
    """Chat with an agent that works in this directory under the active hooks.

    \b
    hookline run                            a chat; /help lists its commands
    hookline run -p "What does this do?"    one answer, for scripts
    hookline run --resume                   resume the last session
    hookline run --demo                     what hooks do, without a model or a key

    It does not start if a config file has errors. Exit codes with -p: 0 it answered, 1 it failed or did not start, 2 hooks
    refused the prompt or stopped the agent, 3 a person had to approve something, 130 interrupted, 143 terminated.
    """
    with extra_required("hookline run needs hookline's agent", "agent"):
        from hookline.cli.chat.start import RunOptions
    if demo:
        _play_demo()
        return None
    if yes and prompt is None:
        raise HooklineError("--yes works only with -p")
    if chosen["dialect"] is not None and chosen["config"] is None:
        raise HooklineError("--dialect works only with --config")
    options = RunOptions(**chosen, keep_going=keep_going or sessions)
    if sessions:
        return run_async(_list_sessions(options, as_json))
    if serve:
        from hookline.cli.chat.trigger_server import serve_triggers

        return run_async(serve_triggers(options, port))
    if prompt is not None or as_json or not _is_terminal():
        return _run_prompt(options, prompt if prompt is not None else first, as_json, yes)
    from hookline.cli.chat.terminal import run_chat

    return run_async(run_chat(options, first))


def _run_prompt(options: RunOptions, prompt: str | None, as_json: bool, yes: bool) -> int:
    from hookline.cli.chat.one_shot import run_once

    if prompt is None and options.resume is None:
        raise HooklineError("stdin or stdout is not a terminal. Give the prompt with -p TEXT, or with -p - on stdin.")
    if prompt is not None and not prompt.strip():
        raise HooklineError("the prompt is empty. Write it after -p, or use -p - to read it from stdin.")
    return run_once(options, _read_stdin() if prompt == "-" else prompt, as_json=as_json, yes=yes)


async def _list_sessions(options: RunOptions, as_json: bool) -> None:
    from dataclasses import asdict

    from hookline.cli.chat.start import open_runtime, session_table, sessions_here
    from hookline.cli.output import out, out_json, print_table

    async with open_runtime(options) as runtime:
        if as_json:
            out_json([asdict(row) for row in await sessions_here(runtime)])
            return
        head, rows = await session_table(runtime)
        print_table(head, rows) if rows else out("No sessions in this directory yet.")


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _read_stdin() -> str:
    text = sys.stdin.read(_MAX_PROMPT + 1)
    if len(text) > _MAX_PROMPT:
        raise HooklineError(f"the prompt on stdin is longer than {_MAX_PROMPT:,} characters")
    if not text.strip():
        raise HooklineError("the prompt on stdin is empty")
    return text


def _play_demo() -> None:
    from rich.console import Console

    from hookline.cli.chat.render import Screen
    from hookline.cli.logging_setup import log_to
    from hookline.demo.demo import run_demo

    screen = Screen(Console(highlight=False))
    log_to(lambda line: screen.say(line, "dim"))
    run_async(run_demo(screen))
