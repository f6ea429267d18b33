"""The chat at a terminal, from its greeting to its end."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from hookline.cli.chat.chat import Chat
from hookline.cli.chat.line import Line, history_of
from hookline.cli.chat.opening import Options, beginning, opened
from hookline.cli.chat.screen import Screen
from hookline.cli.chat.words import hooks_words
from hookline.cli.log import log_to
from hookline.cli.place import home


async def talk(options: Options, first: str | None) -> None:
    """Raises HooklineError if there is no agent to talk to, and Denied if hooks do not let it start."""
    chat = Chat(Screen(Console(highlight=False)))
    log_to(lambda line: chat.say(line, "dim"))
    async with opened(options, watch=chat.watch, ask=chat.ask, explain=True) as runtime:
        for problem in runtime.problems:
            chat.say(str(problem), "yellow")
        begins = await beginning(runtime, options)
        chat.runtime, chat.model_name = runtime, begins.model
        chat.say(f"hookline · {begins.agent} · {begins.model} · {hooks_words(runtime.book)} · /help", "bold")
        chat.screen.begin(begins.id)
        chat.session, cut_off = await begins.begun(runtime)
        if begins.row is not None:
            await chat.show_past()
        line = Line(history_of(runtime.workspace, _state()), chat.commands, chat.status)
        await chat.talk(line, first, cut_off=cut_off)


def _state() -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if os.path.isabs(given) else home() / ".local" / "state") / "hookline"
