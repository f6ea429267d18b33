"""Opens the runtime and runs the chat in a terminal."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from hookline.cli.chat.chat import Chat
from hookline.cli.chat.prompt import InputLine, prompt_history
from hookline.cli.chat.render import Screen, format_hook_count
from hookline.cli.chat.start import RunOptions, open_runtime, prepare_session
from hookline.cli.context import home
from hookline.cli.logging_setup import log_to


async def run_chat(options: RunOptions, first: str | None) -> None:
    """Raises HooklineError if no agent can start, and Denied if hooks do not let it start."""
    chat = Chat(Screen(Console(highlight=False)))
    log_to(lambda line: chat.say(line, "dim"))
    async with open_runtime(options, watch=chat.watch, ask=chat.ask, explain=True) as runtime:
        for problem in runtime.warnings:
            chat.say(str(problem), "yellow")
        begins = await prepare_session(runtime, options)
        chat.runtime, chat.model_name = runtime, begins.model
        chat.say(f"hookline · {begins.agent} · {begins.model} · {format_hook_count(runtime.book)} · /help", "bold")
        chat.screen.begin(begins.id)
        chat.session, cut_off = await begins.start(runtime)
        if begins.row is not None:
            await chat.show_history()
        line = InputLine(prompt_history(runtime.workspace, _state_directory()), chat.commands, chat.status)
        await chat.talk(line, first, cut_off=cut_off)


def _state_directory() -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if os.path.isabs(given) else home() / ".local" / "state") / "hookline"
