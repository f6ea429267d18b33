"""The hub's demo: a hub in a scratch directory, agents that seem to work on this machine, and two that really do.

Every decision is made by real hooks and recorded as always. Only the agents are made up, and the models of the real ones are
scripts. Nothing needs a key or a network.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from hookline.demo.demo import PROMPT, demo_project
from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.running_hub import Hub
from hookline.project import Trust, find_sources, load_file, trust_file_path
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory

PROJECT: Final = Path(__file__).parent / "hub_project"
BOARD: Final = Path(__file__).parent / "release_board"
BOARD_PROMPT: Final = "Show what is left for the release, and publish it."
_HISTORY: Final = 40  # sessions that are over when the demo begins
_PAUSE_SECONDS: Final = (0.2, 1.2)  # between two steps of an agent
_PAGE_SECONDS: Final = 0.2  # between two looks for an open page
_WAITING: Final = 3  # questions that wait at a time


class _Call(NamedTuple):
    tool: str
    kind: str
    input: dict[str, Any]
    result: str = "ok"


_NO_FORCE: Final = {
    "id": "no-force-push",
    "matcher": "^bash$",
    "inputMatchers": {"command": "git push.*--force"},
    "action": "deny",
    "reason": "Others work on this branch.",
    "priority": 10,
}
_LOG_FETCH: Final = {"id": "log-fetch", "matcher": "^fetch$", "action": "log"}
_RULES: Final = (([_NO_FORCE], "After Monday"), ([_NO_FORCE, _LOG_FETCH], "See what is fetched"))
"""The versions of the rules for everyone, each with its note."""

_AGENTS: Final = (
    ("claude-code", "ada", "Bash", "Edit", "Read"),
    ("codex", "ben", "shell", "apply_patch", "read_file"),
    ("gemini-cli", "cleo", "run_shell_command", "replace", "read_file"),
    ("cursor", "ada", "Shell", "Write", "Read"),
    ("mcp", "ben", "run", "write_file", "read_file"),
    ("python", "nightly", "bash", "edit", "read"),
)
_PROMPTS: Final = (
    "Fix the rounding error in the invoice",
    "Add a test for the discount",
    "Why is the search slow?",
    "Update the dependencies",
    "Prepare the release",
)
_COMMANDS: Final = (
    ("pytest -q tests/test_invoice.py", "12 passed in 0.8 s"),
    ("git status", "nothing to commit"),
    ("ls src", "invoice.py search.py shop.py"),
    ("npm test", "48 passed"),
    ("grep -rn TODO src", "src/search.py:14: # TODO: index"),
    ("rm -rf build", ""),
    ("python -m build", "built shop-1.4.0.tar.gz"),
    ("git push origin fix-rounding", "pushed"),
    ("./deploy production", "deployed"),
    ("curl -s https://api.example.com/health", '{"ok": true}'),
)
_FILES: Final = ("src/invoice.py", "src/search.py", "tests/test_invoice.py", "README.md", ".env", "config/shop.toml")


@contextmanager
def demo_config(host: str, port: int) -> Iterator[HubConfig]:
    """A hub of its own: state, home and database are in a scratch directory, which is removed at the end."""
    with demo_project() as (workspace, _):
        place = workspace.parent
        shop = place / "shop"
        shutil.copytree(PROJECT, shop)
        home = place / "home"
        state = home / ".local" / "state" / "hookline"
        Trust(trust_file_path(home)).accept(find_sources(shop, home))
        yield HubConfig(
            state=state, host=host, port=port, name="demo", home=home, env={}, workspaces=(workspace, shop), demo=True
        )


async def play_hub_demo(hub: Hub, pace: float = 1.0) -> None:
    """Until it is cancelled. `pace` is how slowly agents work; 0 means as fast as they can."""
    workspace, shop = hub.config.workspaces
    for number, (rules, note) in enumerate(_RULES):
        await hub.rules.save("everyone", json.dumps({"hooks": {"PreToolUse": rules}}, indent=2), number, "ada", note)
    book = load_file(shop / "hookline.yaml")
    recorders = [Recorder(record_directory(hub.config.state)) for _ in _AGENTS]
    chance = random.Random(7)
    agents = [
        _MadeUpAgent(hub, *about, shop, (book, recorder), chance)
        for about, recorder in zip(_AGENTS, recorders, strict=True)
    ]
    try:
        for number in range(_HISTORY):
            await agents[number % len(agents)].work(0)
        async with asyncio.TaskGroup() as group:
            group.create_task(_work_really(hub, workspace))
            group.create_task(_work_in_a_page(hub))
            for agent in agents:
                group.create_task(agent.work_on(pace))
    finally:
        for recorder in recorders:
            recorder.close()


async def _work_really(hub: Hub, workspace: Path) -> None:
    """A session of hookline's own agent, with hooks of six formats; its questions wait for you."""
    session = await hub.sessions.start(workspace, None, "ada")
    await hub.sessions.say(session.id, PROMPT, "ada")


async def _work_in_a_page(hub: Hub) -> None:
    """A browser agent with a session that begins to work when you open its page."""
    prompt = "You keep the board of the release: what is done, and what is left."
    about: dict[str, Any] = {"model": "script:model.yaml", "tools": [], "network": []}
    agent = await hub.agents.add("ada", name="Release board", prompt=prompt, **about)
    workspace = Path(agent.workspace)
    shutil.copytree(BOARD, workspace, dirs_exist_ok=True, ignore=shutil.ignore_patterns("rules.json"))
    home = hub.config.home or Path.home()
    Trust(trust_file_path(home)).accept(find_sources(workspace, home))
    rules = (BOARD / "rules.json").read_text("utf-8")
    await hub.rules.save(f"agent:{agent.id}", rules, 0, "ada", "Show what is written, but no keys")
    session = await hub.sessions.start(workspace, None, "ada")
    await _wait_for_page(hub, session.id)
    with suppress(HooklineError):  # you were faster, or have ended the session
        await hub.sessions.say(session.id, BOARD_PROMPT, "ada")


async def _wait_for_page(hub: Hub, session: str) -> None:
    while True:
        page = hub.pages.open.find(session)
        if page is not None and page.has("agent"):
            return
        await asyncio.sleep(_PAGE_SECONDS)


class _MadeUpAgent:
    """Decides and records what a coding agent might do."""

    def __init__(
        self,
        hub: Hub,
        host: str,
        user: str,
        shell: str,
        edit: str,
        read: str,
        directory: Path,
        deciding: tuple[Book, Recorder],
        chance: random.Random,
    ) -> None:
        self._hub = hub
        self._host, self._user = host, user
        self._tools = {"shell": shell, "edit": edit, "read": read}
        self._directory = directory
        self._book, self._recorder = deciding
        self._chance = chance
        self._calls = 0

    async def work_on(self, pace: float) -> None:
        while True:
            await self.work(pace)

    async def work(self, pace: float) -> None:
        """One session."""
        session = f"{self._host}-{self._chance.getrandbits(32):08x}"
        await self._decide("session.start", session, {})
        await self._decide("prompt.submit", session, {"prompt": self._chance.choice(_PROMPTS)})
        for _ in range(self._chance.randint(2, 8)):
            if pace:
                await asyncio.sleep(pace * self._chance.uniform(*_PAUSE_SECONDS) * len(_AGENTS))
            await self._call(session, self._choose(), asks=pace > 0)
        await self._decide("session.end", session, {"reason": "done"})

    def _choose(self) -> _Call:
        kind = self._chance.choice(("shell", "shell", "edit", "read"))
        if kind == "shell":
            command, result = self._chance.choice(_COMMANDS)
            return _Call(self._tools[kind], kind, {"command": command}, result)
        path = self._chance.choice(_FILES)
        input = {"path": path} if kind == "read" else {"path": path, "old": "total = 0", "new": "total = Decimal(0)"}
        return _Call(self._tools[kind], kind, input)

    async def _call(self, session: str, call: _Call, *, asks: bool) -> None:
        self._calls += 1
        id = f"call_{self._calls}"
        tool = {"name": call.tool, "kind": call.kind, "input": call.input, "id": id}
        event = self._event("tool.before", session, {"tool": tool})
        decision = await self._recorder.decide(self._book, event)
        if decision.denied:
            return
        if decision.verdict.word == "ask":
            if not asks or len(await self._hub.approvals.waiting()) >= _WAITING:
                approved = self._chance.random() < 0.6
                self._recorder.write_answer(self._book, event, approved, "ada")
            else:
                approved = await self._ask(session, id, call, (decision.reason, decision.by or ""))
                self._recorder.write_answer(self._book, event, approved, "you")
            if not approved:
                return
        ok = self._chance.random() < 0.93
        ended = {**tool, "ok": ok, **({"result": call.result} if ok else {"error": "exit code 1"})}
        await self._decide("tool.after" if ok else "tool.failed", session, {"tool": ended})

    async def _ask(self, session: str, call: str, about: _Call, why: tuple[str, str]) -> bool:
        """Waits for somebody at the console; nobody means no."""
        question = await self._hub.approvals.ask(
            {
                "host": self._host,
                "machine": self._hub.machine,
                "user": self._user,
                "session": session,
                "agent": "",
                "call": call,
                "tool": about.tool,
                "input": about.input,
                "reason": why[0],
                "hook": why[1],
                "can_edit": self._host in ("claude-code", "python", "mcp"),
                "seconds": 300.0,
            },
            "",
        )
        while question is not None and question["state"] == "waiting" and time.time() < question["expires"]:
            await asyncio.sleep(0.2)
            question = await self._hub.approvals.find(question["id"])
        return question is not None and question["state"] == "approved"

    async def _decide(self, name: str, session: str, facts: dict[str, Any]) -> None:
        await self._recorder.decide(self._book, self._event(name, session, facts))

    def _event(self, name: str, session: str, facts: dict[str, Any]) -> Event:
        about = {
            "host": {"name": self._host},
            "user": {"name": self._user},
            "session": {"id": session},
            "cwd": str(self._directory),
        }
        return Event(name, {**about, **facts})
