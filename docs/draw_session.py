"""Draws the picture of the README: two commands, and then Claude Code's own screen, which obeys the pack.

    python docs/draw_session.py [FOLDER]

Claude Code is the real one from npm (`make test-agents` installs it), in a terminal of tmux, with a home of its own. Its
model is scripted: it asks for the three commands of CALLS. Without tmux or Claude Code, nothing is drawn.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.fake_model import FINAL_TEXT, ModelServer

DOCS: Final = Path(__file__).parent
NAME: Final = "session.svg"
CALLS: Final = ("ls src", "rm -rf src", "git push --force origin main")
PROMPT: Final = "Tidy up this project and publish it."
_AGENTS: Final = DOCS.parent / ".cache/agents/node_modules"
_FONT_FACE: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_WIDTH, _HEIGHT = 92, 40
_SECONDS: Final = 120


def main(folder: Path = DOCS) -> None:
    claude = next(iter(sorted(_AGENTS.glob("@anthropic-ai/claude-code-*/claude"))), None)
    if claude is None or shutil.which("tmux") is None:
        print(f"{NAME} is not drawn: it needs tmux, and Claude Code from npm (make test-agents installs it)")
        return
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        open(os.devnull, "w") as nowhere,
        ModelServer(CALLS) as model,
    ):
        home = Path(place)
        project = home / "shop"
        (project / "src").mkdir(parents=True)
        (project / "src/app.py").write_text("print('hello')\n", "utf-8")
        console = Console(record=True, width=_WIDTH, file=nowhere, force_terminal=True, color_system="truecolor")
        environment = make_environment(home, model.url)
        for command in ("hookline init --pack recommended", "hookline install claude-code"):
            console.print(Text(f"$ {command}", style="bold"))
            console.print(Text.from_ansi(run_hookline(project, environment, *command.split()[1:]).rstrip()))
        console.print(Text("$ claude", style="bold"))
        screen = run_agent(project, environment, [str(claude), "--verbose", "--allowedTools", "Bash"], model)
        console.print(Text.from_ansi(cut_screen(screen)))
        picture = console.export_svg(title="Claude Code with hookline", unique_id="session")
    (folder / NAME).write_text(_FONT_FACE.sub("", picture).replace("Fira Code, monospace", "monospace"), "utf-8")


def make_environment(home: Path, url: str) -> dict[str, str]:
    """A user who has answered Claude Code's first questions."""
    start = get_agent("claude-code").headless_run(url, home)
    assert start is not None
    key = start.environment["ANTHROPIC_API_KEY"]
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(home / "shop"): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(answers), "utf-8")
    closed = "http://127.0.0.1:9"  # no server listens there
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "HTTP_PROXY": closed,
        "HTTPS_PROXY": closed,
        "NO_PROXY": "127.0.0.1,localhost",
        **start.environment,
    }


def run_hookline(project: Path, environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hookline", *words],
        cwd=project,
        env={**environment, "COLUMNS": str(_WIDTH), "FORCE_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def run_agent(project: Path, environment: dict[str, str], command: list[str], model: ModelServer) -> str:
    """The agent's screen after it has done what the model asked for, with colours."""
    tmux = ["tmux", "-L", f"hookline-{os.getpid()}", "-f", os.devnull]
    settings = [f"{name}={value}" for name, value in environment.items()]
    size = ["-x", str(_WIDTH), "-y", str(_HEIGHT)]
    line = shlex.join(["env", "-i", *settings, *command, "--permission-mode", "default"])
    subprocess.run([*tmux, "new-session", "-d", *size, "-c", str(project), line], check=True)

    def screen(*options: str) -> str:
        return subprocess.run([*tmux, "capture-pane", "-p", *options], capture_output=True, text=True).stdout

    try:
        wait_for(lambda: "❯" in screen())
        subprocess.run([*tmux, "send-keys", "-l", PROMPT], check=True)
        wait_for(lambda: PROMPT in screen())
        subprocess.run([*tmux, "send-keys", "Enter"], check=True)
        wait_for(lambda: any(len(request.results) == len(CALLS) for request in model.requests))
        wait_for(lambda: FINAL_TEXT in screen())
        return screen("-e")
    finally:
        subprocess.run([*tmux, "kill-server"])


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not condition():
        if time.monotonic() > end:
            sys.exit("Claude Code did not come to an end")
        time.sleep(0.2)


def cut_screen(screen: str) -> str:
    """Without what is below the answer: empty lines and the input field. Many fonts have no ⎿, so it is drawn as └."""
    lines = screen.splitlines()
    last = max(at for at, line in enumerate(lines) if FINAL_TEXT in line)
    found = "\n".join(line.rstrip() for line in lines[: last + 1])
    return re.sub(r"\n{3,}", "\n\n", found).replace("⎿", "└")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
