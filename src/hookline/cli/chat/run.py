"""`hookline run`: an agent with hooks, in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from hookline.cli.async_runner import run_async
from hookline.cli.options import Verb
from hookline.errors import HooklineError, extra_required

if TYPE_CHECKING:
    from hookline.cli.chat.start import RunOptions

_MAX_PROMPT: Final = 1_000_000  # characters of a prompt from stdin
_LAST_SESSION: Final = ""


@click.command("run", cls=Verb, short_help="An agent with hooks, in the terminal.")
@click.argument("first", metavar="[PROMPT]", required=False)
@click.option(
    "-p", "--print", "prompt", metavar="TEXT", help="Print the answer to this and end; - reads it from stdin."
)
@click.option("--json", "as_json", is_flag=True, help="Print all that happens, one JSON object a line.")
@click.option("--model", metavar="NAME", help="A model, as provider:model, or script:FILE; before all that files name.")
@click.option("--agent", metavar="ID", help="Which agent of the app; without it, the first.")
@click.option("--app", metavar="FILE", help="The app of this file, which is trusted, instead of the one found here.")
@click.option("--config", metavar="FILE", help="Only the hooks of this file, which is trusted.")
@click.option(
    "--resume", is_flag=False, flag_value=_LAST_SESSION, metavar="[ID]", help="Go on with this session, or the last."
)
@click.option("--sessions", is_flag=True, help="List the sessions of this directory.")
@click.option("--store", metavar="URL", help="Where sessions are kept: sqlite:///FILE or postgresql://…")
@click.option("--yes", is_flag=True, help="With -p: whatever hooks ask about, the answer is yes.")
@click.option("--serve", is_flag=True, help="Wait for the app's triggers until interrupted.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="With --serve: where routes listen; else any.",
)
@click.option("--demo", is_flag=True, help="A scripted session, offline: it shows what hooks do and ends by itself.")
def verb(
    first: str | None,
    prompt: str | None,
    as_json: bool,
    sessions: bool,
    yes: bool,
    serve: bool,
    port: int,
    demo: bool,
    **chosen: str | None,
) -> int | None:
    """Talk to an agent that works in this directory under the hooks in force here.

    \b
    hookline run                            a chat; /help says what it can do
    hookline run -p "What does this do?"    one answer, for scripts
    hookline run --resume                   go on with the last session
    hookline run --demo                     what hooks do, without a model or a key

    With -p the exit code is 0 if there is an answer, 2 if hooks refused the prompt or stopped the agent, 3 if
    somebody had to be asked, who was not there, 1 if it failed, and 130 or 143 if it was interrupted or terminated.
    """
    with extra_required("hookline run needs our agent", "agent"):
        from hookline.cli.chat.start import RunOptions
    if demo:
        _play_demo()
        return None
    if yes and prompt is None:
        raise HooklineError("--yes answers for nobody where you can be asked: it goes with -p")
    options = RunOptions(**chosen)
    if sessions:
        return run_async(_list_sessions(options, as_json))
    if serve:
        from hookline.cli.chat.trigger_server import serve_triggers as served

        return run_async(served(options, port))
    if prompt is not None or as_json or not _is_terminal():
        return _run_prompt(options, prompt if prompt is not None else first, as_json, yes)
    from hookline.cli.chat.terminal import run_chat

    return run_async(run_chat(options, first))


def _run_prompt(options: RunOptions, prompt: str | None, as_json: bool, yes: bool) -> int:
    from hookline.cli.chat.one_shot import run_once

    if prompt is None and options.resume is None:
        raise HooklineError("this is no terminal to chat in: give the prompt with -p TEXT, or -p - for stdin")
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
        print_table(head, rows) if rows else out("There are no sessions of this directory yet.")


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _read_stdin() -> str:
    text = sys.stdin.read(_MAX_PROMPT + 1)
    if len(text) > _MAX_PROMPT:
        raise HooklineError(f"the prompt on stdin is longer than {_MAX_PROMPT:,} characters")
    if not text.strip():
        raise HooklineError("there is no prompt on stdin")
    return text


def _play_demo() -> None:
    from rich.console import Console

    from hookline.cli.chat.render import Screen
    from hookline.cli.logging_setup import log_to
    from hookline.demo.demo import run_demo

    screen = Screen(Console(highlight=False))
    log_to(lambda line: screen.say(line, "dim"))
    run_async(run_demo(screen))
