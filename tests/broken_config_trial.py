"""Loads one damaged file as every way to start does, and says whether its guard was lost unseen."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import hookline
from config_mutations import CALL, GUARDED, Target, differences
from hookline.config.problem import errors_of
from hookline.config.reader import salvage_text
from hookline.engine.book import Book
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.bridge.hook_cache import LoadOnce
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.responder import respond
from hookline.project import Source, Trust, find_sources, load_all, trust_file_path
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import read_source
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings

_AGENT = get_agent("gemini-cli")  # it runs none of the files itself
_BUILD = "build"  # the directory that the guarded call deletes


class Trial:
    """A directory with the target's file, which its user trusts. Faster if os.fsync does nothing."""

    def __init__(self, target: Target, root: Path) -> None:
        self._target = target
        self.project, self._home, self._store = root / "project", root / "home", root / "sessions.db"
        self.file = self.project / target.name
        self.file.parent.mkdir(parents=True)
        self._home.mkdir()
        self._trust = Trust(trust_file_path(self._home))
        self._number = 0

    def failures(self, data: bytes, *, play: bool = False) -> Iterator[str]:
        """What is wrong with how a file with this content is treated.

        With `play`, `hookline run` also finds the file by itself, and plays a session in which a model makes the call.
        """
        self._number += 1
        self.file.write_bytes(data)
        sources = [replace(source, project=None) for source in find_sources(self.project, self._home)]
        book = load_all(sources, self._trust)
        is_refused, is_found = bool(errors_of(book.problems)), _check_finds_errors(sources)
        may_run = self._is_another_guard(data)
        if is_found and not is_refused:
            yield "check finds an error, but a session starts"
        if is_refused and not is_found:
            yield "a session refuses the file, but check finds no error"
        if not is_refused and not may_run and not guards(book):
            yield "the guard is lost, and nobody says so"
        for way in self._ways_to_start() if is_refused else ():
            yield f"{way} accepts the file"
        self._accept()
        yield from asyncio.run(self._lost_in_agents(is_refused, may_run, play))

    def _accept(self) -> None:
        """Trusts the file as it is now, and no earlier version. One that cannot be read cannot be trusted."""
        found = find_sources(self.project, self._home)
        self._trust.revoke(found)
        with suppress(HooklineError):
            self._trust.accept(found)

    def _ways_to_start(self) -> Iterator[str]:
        """The ways for Python code that start with this file."""
        with suppress(ConfigError):
            hookline.load(self.file, self._target.dialect)
            yield "load"
        with suppress(ConfigError):
            hookline.session(self.file.parent, config=self.file)
            yield "session"

    async def _lost_in_agents(self, is_refused: bool, may_run: bool, play: bool) -> list[str]:
        """The agents in which the guard is lost unseen."""
        found = []
        if is_refused or not may_run:
            ways = {"run --config": self._settings(config=self.file, dialect=self._target.dialect)}
            for name, settings in {**ways, **({"run": self._settings()} if play else {})}.items():
                if await self._runs_call(settings, is_refused, play):
                    found.append(f"{name} starts, and the guard is lost")
            if not await self._is_told_or_denied(is_refused):
                found.append("the bridge lets the call run and says nothing")
        return found

    def _settings(self, **more: object) -> Settings:
        call = ScriptStep(calls=(("bash", {"command": f"{GUARDED} {_BUILD}"}),))
        return Settings(
            home=self._home,
            env={"PATH": os.environ["PATH"]},
            model=ScriptedModel([call, "done"]),
            store=f"sqlite:///{self._store}",
            unattended=True,
            **more,  # type: ignore[arg-type]
        )

    async def _runs_call(self, settings: Settings, is_refused: bool, play: bool) -> bool:
        """Whether `hookline run` starts with the file, although it has errors or does not guard the call."""
        try:
            async with Runtime.open(self.project, settings) as runtime:
                if is_refused:
                    return True
                if (await runtime.book.decide(CALL)).verdict < Verdict.ASK:
                    return True
                if not play:
                    return False
                build = self.project / _BUILD
                build.mkdir(exist_ok=True)
                async for _ in (await runtime.start()).say("go"):
                    pass
                return not build.exists()
        except HooklineError:
            return False

    async def _is_told_or_denied(self, is_refused: bool) -> bool:
        """Whether the first event of a coding agent's session tells the person what is wrong, or the call is denied."""
        event, payload = _AGENT.sample_call(str(self.project))
        command = {"command": f"{GUARDED} {_BUILD}"}
        payload = {**payload, "session_id": f"s{self._number}", "tool_input": command}
        environment = {b"HOME": os.fsencode(self._home), b"PATH": os.fsencode(os.environ["PATH"])}
        call = AgentCall(_AGENT.name, event, json.dumps(payload).encode(), str(self.project), environment)
        reply = await respond(call, LoadOnce())
        said = json.loads(reply.stdout) if reply.stdout else {}
        if is_refused:
            return self.file.name in str(said)
        return said.get("decision") in ("deny", "block", "ask")

    def _is_another_guard(self, data: bytes) -> bool:
        """Nothing of the guard is left, or it differs only in what is its author's own choice."""
        marks = (GUARDED.encode(), b"no-rm")
        if not any(mark in data for mark in marks):
            return True
        document, _ = salvage_text(data, self._target.name)
        if document is None:
            return False
        changed = list(differences(self._target.value, document.value))
        return bool(changed) and all(path in self._target.other_guards for path in changed)


def guards(book: Book) -> bool:
    return asyncio.run(book.decide(CALL)).verdict >= Verdict.ASK


def _check_finds_errors(sources: list[Source]) -> bool:
    files = [read_source(source) for source in sources]
    found = [problem for file in files for problem in file.problems]
    return bool(errors_of([*found, *lint_hooks([hook for file in files for hook in file.hooks])]))
