"""What a coding agent is to us: it fires events, and obeys a decision that is said in its own protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.project.sources import SourceLayer

DialectLayer = tuple[str, SourceLayer]
"""A dialect's user, project or local files."""

FAIL_CLOSED_EVENTS: Final = frozenset({"tool.before", "approval.request", "prompt.submit", "subagent.start"})
"""Denied when no decision can be made. `stop` is not among them: denying it makes the agent continue."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the agent reads: a hook program's output and exit code."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Ability:
    """What one event of an agent can be told. What it cannot becomes the safe nearest answer, as `instead` says."""

    deny: bool = False
    ask: bool = False
    allow: bool = False
    change: bool = False  # the facts that the event lets hooks change
    context: bool = False  # text for the agent
    halt: bool = False
    user: bool = False  # text for the user, beside the reason of a deny
    instead: Mapping[str, str] = field(default_factory=dict)  # "ask" → "deny: nobody can be asked"


@dataclass(frozen=True, slots=True)
class AgentEvent:
    name: str  # as the agent calls it
    event: str  # ours
    ability: Ability


@dataclass(frozen=True, slots=True)
class ParsedPayload:
    """A payload with the events it describes, so that it is read once: one event, or one for each file of a patch.

    There are none if the payload is not one that hooks can decide about.
    """

    name: str  # of the event, as the agent calls it
    payload: Mapping[str, Any]
    events: tuple[Event, ...] = ()


class CodingAgent(Protocol):
    @property
    def name(self) -> str:
        """As `hookline install NAME` says it, and as `host.name` tells hooks: claude-code, codex, gemini-cli …"""

    @property
    def title(self) -> str: ...
    @property
    def verified(self) -> bool:
        """True if it was seen to work by running the agent itself; else from its documentation."""

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Those to install, none of which fires for the same thing as another."""

    @property
    def project_variables(self) -> Sequence[str]:
        """The environment variables in which the agent tells its hooks where the project is, best first."""

    @property
    def native_layers(self) -> frozenset[DialectLayer]:
        """The files that the agent obeys without us, so that their hooks are not run twice."""

    def find_event(self, name: str) -> AgentEvent | None:
        """The event that goes by that name, or by another one that the agent has for it."""

    def read(self, name: str, payload: Mapping[str, Any], workspace: str = "") -> ParsedPayload:
        """Never raises, whatever the payload contains.

        `workspace` is the project directory that the agent's environment names. Without it, the payload's own
        directory counts.
        """

    def reply(self, parsed: ParsedPayload, decisions: Sequence[Decision]) -> Reply:
        """One reply to all decisions about a payload, in the agent's own protocol. Any deny denies the whole call.

        The decisions are about `parsed.events`, in order. If there are fewer, the call is denied where the agent
        can do that: nothing runs without a decision. Notes are included; failures are not, because only the caller
        knows which ones the user has already seen.
        """
