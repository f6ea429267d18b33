"""Draws the pictures of the record: what `hookline why`, `replay` and `watch` show, exported from the terminal as SVG.

    python docs/draw_record.py [FOLDER]

It makes a record of its own, with the example of docs/record.md, in a directory that it removes.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from hookline.cli.waiting_approvals import WaitingApprovals
from hookline.cli.watch_app import WatchApp
from hookline.record.segment import record_directory
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import ApprovalRow, SessionRow, ThreadRow

DOCS: Final = Path(__file__).parent
_FILE: Final = re.compile(r"^```\w+ (?:file=(\S+)|native)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FONT_FACE: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_WIDTH: Final = 96


def main(folder: Path = DOCS) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write_example(home)
        state = home / ".local/state/hookline"
        run(home, "python agent.py")
        pictures = {
            "record-why.svg": draw_commands(home, "hookline log --event tool.before", "hookline why"),
            "record-replay.svg": draw_commands(home, "hookline replay --with new.yaml --fail-on loosened"),
            "record-watch.svg": asyncio.run(draw_watch(state)),
        }
    for name, picture in pictures.items():
        (folder / name).write_text(picture, "utf-8")


def write_example(directory: Path, page: str = "record.md") -> None:
    """The files that the page shows."""
    for found in _FILE.finditer((DOCS / page).read_text("utf-8")):
        path = directory / (found[1] or "hookline.yaml")
        if not path.exists():
            path.write_text(found[2], "utf-8")


def run(home: Path, command: str) -> str:
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "FORCE_COLOR": "1", "COLUMNS": str(_WIDTH), "TZ": "UTC"}
    words = shlex.split(command)
    program = [sys.executable, "-m", "hookline"] if words[0] == "hookline" else [sys.executable]
    done = subprocess.run([*program, *words[1:]], cwd=home, env=env | _python_path(), capture_output=True, text=True)
    return done.stdout + done.stderr


def _python_path() -> dict[str, str]:
    return {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}


def draw_commands(home: Path, *commands: str) -> str:
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=_WIDTH, file=nowhere, force_terminal=True, color_system="standard")
        for command in commands:
            console.print(Text(f"$ {command}", style="bold"))
            console.print(Text.from_ansi(run(home, command)))
        return without_fonts(console.export_svg(title="hookline"))


async def draw_watch(state: Path) -> str:
    store = await Store.open(f"sqlite:///{state}/sessions.db")
    now = time.time()
    await store.add_session(SessionRow("helper-1", "app", "helper", "/work", "ann", created=now, last_used=now))
    await store.add_thread(ThreadRow("helper-1", "helper-1", "helper", parent=None, depth=0, created=now))
    asked = {"command": "git push --tags origin main"}
    about = ("helper-1", "helper-1", "call_1", "bash", asked, "hash", "This pushes.", "ask-push")
    await store.add_approval(ApprovalRow("approval_1", *about, now, now + 583))
    await store.close()
    app = WatchApp(record_directory(state), WaitingApprovals(None, state))
    async with app.run_test(size=(_WIDTH, 20)) as pilot:
        while "waiting" not in str(app.query_one("#status").render()):
            await pilot.pause(0.1)
        await pilot.pause()
        return without_fonts(app.export_screenshot(title="hookline watch"))


def without_fonts(picture: str) -> str:
    """Shown in the reader's own font: a picture must not load anything."""
    return _FONT_FACE.sub("", picture).replace("Fira Code, monospace", "monospace")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
