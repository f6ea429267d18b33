"""A coding agent: the events it fires, how it takes a decision, and what installs and tests hookline in it.

Everything about one agent is in its own module, which defines `AGENT`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hosts.agents.agent_event import AgentEvent
from hookline.hosts.agents.entries import DesiredFile, HookCommand
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, merge_for, replace_surrogates
from hookline.hosts.agents.payload import Facts, decode_object, join_parts
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.project.sources import Source, SourceLayer

DialectLayer = tuple[str, SourceLayer]
"""A dialect's user, project or local files."""


def layers_of(*dialects: str) -> frozenset[DialectLayer]:
    """All files of these dialects."""
    return frozenset((dialect, layer) for dialect in dialects for layer in SourceLayer)


def is_native(source: Source, layers: Collection[DialectLayer], unread_files: Iterable[str]) -> bool:
    """Whether an agent that runs the hooks of these layers itself reads this file."""
    return (source.dialect, source.layer) in layers and not any(source.path.match(each) for each in unread_files)


SAMPLE_COMMAND: Final = "echo hookline doctor"
SAMPLE_ID: Final = "hookline-doctor"
HEADLESS_PROMPT: Final = "Do what the script says."
FAKE_API_KEY: Final = "none"


class Proof(StrEnum):
    """How it is known that the agent sends such payloads and obeys such replies."""

    RUN = "run"
    """The agent itself runs with a scripted model in `make test-agents`."""
    CAPTURES = "captures"
    """The agent ran and its payloads and what it obeyed were written down; the tests do not run it."""
    SOURCE = "source"
    """Its source code or the code that it ships says so."""
    DOCUMENTATION = "documentation"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the agent reads: the output and exit code of a hook program."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class ParsedPayload:
    """A payload with the events it describes, so that it is read once: one event, or one for each file of a patch.

    There are none if the payload is not one that hooks can decide about.
    """

    name: str  # of the event, as the agent calls it
    payload: Mapping[str, Any]
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class HeadlessRun:
    """How to start the agent without a person."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class CodingAgent(ABC):
    name: str  # as in `hookline install NAME` and in the fact `host.name`: claude-code, codex, gemini-cli …
    title: str
    proof: Proof
    versions: tuple[str, ...]  # for which `proof` holds, oldest first; empty if its documentation names none
    events: tuple[AgentEvent, ...]  # those to install; no two fire for the same thing
    timeout: timedelta  # after this the agent kills its hook and continues
    programs: tuple[str, ...]  # its names on the PATH
    homes: tuple[str, ...]  # the directories that it creates in the user's home
    home_variable: str = ""  # the environment variable that moves the first of them
    advice: str = ""  # what the user still has to do after `hookline install`
    project_variables: tuple[str, ...] = ()  # that tell hooks where the project is, best first
    has_project_hooks: bool = True  # it reads hooks from a file in the project
    deny_ends_run: bool = False  # a denied tool ends the run, and the model is not told why
    hook_environment: Mapping[str, str] = field(default_factory=dict)  # that marks a program as a hook of this agent
    native_layers: frozenset[DialectLayer] = frozenset()  # hooks that the agent runs itself, so hookline must not
    unread_files: tuple[str, ...] = ()  # of those layers, files of another program, which the agent does not read
    ignores_some_hooks: bool = False  # of those layers: hookline runs the hooks that name it in `ignored_by`
    ignores_links: bool = False  # it ignores a project's file if a part of its path in the project is a link
    json_reader: JsonReader | None = None  # None: it is not known how strict it is
    event_aliases: Mapping[str, str] = field(default_factory=dict)  # other names of an event → the listed one
    project_settings: tuple[str, ...] = ()  # files that can disable hooks and override the user's, strongest first
    user_settings: tuple[str, ...] = ()  # in its own directory, beside the file with hookline's entries
    managed_files: tuple[str, ...] = ()  # the administrator's, which can do so too; `*` is any name

    def runs_hooks_of(self, source: Source) -> bool:
        """Whether it runs the hooks of this file itself."""
        return is_native(source, self.native_layers, self.unread_files)

    @property
    def vocabulary_name(self) -> str:
        return self.name.replace("-", "_")

    @property
    def verified(self) -> bool:
        """Whether the agent itself was seen to obey."""
        return self.proof in (Proof.RUN, Proof.CAPTURES)

    def find_event(self, name: str) -> AgentEvent | None:
        """The event with that name, or with that alias."""
        return self._events_by_name.get(self.event_aliases.get(name, name))

    def translate_event(self, name: str, event: AgentEvent) -> str:
        """Its own name for another agent's event; "" if it has none. It may differ in case, or altogether."""
        same = [each.name for each in self.events if each.event == event.event]
        if self.find_event(name) is not None:
            return name
        return next((each for each in same if each.lower() == name.lower()), same[0] if same else "")

    @cached_property
    def _events_by_name(self) -> Mapping[str, AgentEvent]:
        return {each.name: each for each in reversed(self.events)}

    def event_timeout(self, name: str) -> timedelta:
        known = self.find_event(name)
        return known.timeout if known is not None and known.timeout is not None else self.timeout

    def read(self, name: str, payload: Mapping[str, Any], workspace: str = "") -> ParsedPayload:
        """Never raises, whatever the payload contains.

        `workspace` is the project directory that the agent's environment names. Without it, the payload's own
        directory counts.
        """
        known = self.find_event(name)
        if known is None or not isinstance(payload, Mapping):
            return ParsedPayload(name, payload)
        events = tuple(
            Event(known.event, {"host": {"name": self.name}, **_with_directories(facts, workspace)})
            for facts in self.facts(name, known.event, payload)
        )
        return ParsedPayload(name, payload, events)

    def reply(self, parsed: ParsedPayload, decisions: Sequence[Decision]) -> Reply:
        """One reply to all decisions about a payload, in the agent's own protocol. Any deny denies the whole call.

        The decisions are about `parsed.events`, in order. If there are fewer, the call is denied where the agent
        can do that: nothing runs without a decision. Notes are included; failures are not, because only the caller
        knows which ones the user has already seen.
        """
        known = self.find_event(parsed.name)
        if known is None or not parsed.events or not EVENTS[known.event].accepts:
            return self.empty_reply()
        answer = merge_for(known.ability, parsed.events, decisions)
        if answer.is_changed and answer.event == "tool.before":
            answer = replace(answer, new=join_parts(self.called_input(parsed.payload), answer.new))
        reply = self.render(parsed, answer)
        if known.ability.user or not answer.message or reply.exit_code:  # an agent reads the stderr of a denying hook
            return reply
        return _append_stderr(reply, answer.message)

    @abstractmethod
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        """The facts of each event in the payload; empty if hooks have nothing to decide there."""

    @abstractmethod
    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        """The answer in the agent's own protocol. It never exceeds the event's ability."""

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        """The input of the tool call in the payload, before it is split into parts."""
        return decode_object(payload.get("tool_input"))

    def empty_reply(self) -> Reply:
        """The reply that leaves everything to the agent."""
        return Reply()

    def home_directories(self, machine: Machine) -> tuple[Path, ...]:
        first, *others = (machine.home / name for name in self.homes)
        return (machine.directory_from_variable(self.home_variable, first), *others)

    def settings_path(self, machine: Machine, scope: InstallScope, user: str, project: str) -> Path:
        """`user` is relative to the agent's own directory, `project` to the project."""
        if scope is InstallScope.PROJECT:
            return machine.project / project
        return self.home_directories(machine)[0] / user

    @abstractmethod
    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        """The files that make the agent call hookline. They need not exist yet."""

    def find_obstacle(self, machine: Machine) -> tuple[str, str]:
        """Why the user's agent does not run hookline although its files are there, and what to do. Empty if it does."""
        return "", ""

    def find_fault(self, text: str, settings: Mapping[str, Any]) -> str:
        """Why the agent ignores a JSON file with this text, which contains these settings; "" if it reads it."""
        flaw = self.json_reader.find_flaw(text) if self.json_reader is not None else ""
        return f"{self.title} ignores this file: {flaw}" if flaw else ""

    @abstractmethod
    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        """The event and payload that the agent sends before it runs `SAMPLE_COMMAND` in the directory."""

    def headless_run(self, url: str, home: Path) -> HeadlessRun | None:
        """How to start it with the model at `url` and nothing of the user's. None if that is not possible.

        It may write a file that the agent needs into `home`.
        """
        return None

    def hook_switch(self, settings: Mapping[str, Any]) -> tuple[str, bool | None]:
        """The setting that disables hooks, and whether it does so in this file. None if the file does not set it."""
        return "disableAllHooks", settings.get("disableAllHooks")

    def managed_switch(self, settings: Mapping[str, Any]) -> str:
        """The setting with which an administrator's file keeps the user's hooks from running; "" if it does not."""
        for name in ("allowManagedHooksOnly", "allow_managed_hooks_only"):
            if settings.get(name) is True:
                return name
        switch, is_off = self.hook_switch(settings)
        return switch if is_off is True else ""


def write_if_absent(file: Path, settings: Mapping[str, Any]) -> str:
    """Writes the settings unless the file exists. Returns its path."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), "utf-8")
    return str(file)


def _with_directories(facts: Facts, workspace: str) -> Facts:
    """Fills in `cwd` and `workspace`, each from the other where only one is known."""
    cwd = facts.get("cwd") or workspace
    return {**facts, "cwd": cwd, "workspace": workspace or facts.get("workspace") or cwd} if cwd else facts


def _append_stderr(reply: Reply, message: str) -> Reply:
    stderr = "\n".join(part for part in (reply.stderr, replace_surrogates(message)) if part)
    return Reply(reply.stdout, stderr, reply.exit_code)
