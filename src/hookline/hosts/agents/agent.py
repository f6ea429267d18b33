"""What a coding agent is to us: it fires events, and obeys a decision that is said in its own protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.project.sources import SourceLayer

DialectLayer = tuple[str, SourceLayer]
"""Of a dialect: the user's, the project's or the local ones."""


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

    def read(self, name: str, payload: Mapping[str, Any], workspace: str = "") -> tuple[Event, ...]:
        """The events that a payload tells of: one, or one for each file of a patch; none where it is not ours.

        `workspace` is the project's directory as the agent's environment tells it; without it the payload's own
        directory counts. Never raises for what a payload says.
        """

    def reply(self, name: str, payload: Mapping[str, Any], decisions: Sequence[Decision]) -> Reply:
        """One answer for all decisions of one payload, in the agent's own protocol: any deny denies the whole.

        The decisions are those about the events of `read`, in order; fewer deny where that can be done, for what
        nobody judged must not run. Notes are said; failures are not, for only the caller knows whether they were
        said before.
        """
