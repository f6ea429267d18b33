"""What an HTTP call does not tell: where the session's project is, and the agent's environment.

The commands with which a session and each of its prompts begin tell both. The project is also kept with the session,
so that the next engine knows it; the environment is not, for it may hold secrets.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from hookline.hosts.agent import CodingAgent
from hookline.hosts.bridge.call import Call, Place
from hookline.hosts.bridge.sessions import Sessions
from hookline.hosts.bridge.twins import ENTRY
from hookline.hosts.table import NAMES
from hookline.hosts.table import agent as agent_named

BY_COMMAND: Final = frozenset({"SessionStart", "UserPromptSubmit"})
"""The events with which sessions and turns begin. They are told by commands always: a command starts the engine where
there is none, and brings the agent's environment. Claude Code does not tell the first by HTTP at all."""
_MOST: Final = 500  # sessions
Environment = Mapping[bytes, bytes]


class Known:
    def __init__(self, own: Environment, sessions: Callable[[Place], Sessions]) -> None:
        """`own` is the engine's environment, for a session of which nothing else is known."""
        self._own = own
        self._sessions = sessions
        self._environments: OrderedDict[str, Environment] = OrderedDict()

    def remember(self, call: Call) -> None:
        """Of a command that an agent called."""
        session, cwd = _told(call.payload)
        if not session or call.agent not in NAMES:
            return
        own = {name: value for name, value in call.environment.items() if name != os.fsencode(ENTRY)}
        self._environments[session] = own
        self._environments.move_to_end(session)
        while len(self._environments) > _MOST:
            self._environments.popitem(last=False)
        project = next((value for name in _variables(call.agent) if (value := call.variable(name))), cwd)
        self._sessions(call.place).set_project(session, project)

    def call(self, agent: str, event: str, payload: bytes) -> Call:
        """The call that the agent's command would have made; of an unknown session, the first directory counts."""
        session, cwd = _told(payload)
        environment = self._environments.get(session)
        if environment is not None:
            return Call(agent, event, payload, cwd, environment)
        call = Call(agent, event, payload, cwd, self._own)
        project = self._sessions(call.place).project(session, cwd) if session else cwd
        told = {os.fsencode(name): os.fsencode(project) for name in _variables(agent)[:1] if project}
        return Call(agent, event, payload, cwd, {**self._own, **told})


def _variables(agent: str) -> tuple[str, ...]:
    spoken: CodingAgent = agent_named(agent)
    return tuple(spoken.project_variables)


def _told(payload: bytes) -> tuple[str, str]:
    """The session's id and its directory; empty where the payload does not say."""
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        return "", ""
    found = [told.get(key) if isinstance(told, dict) else None for key in ("session_id", "cwd")]
    session, cwd = (each if isinstance(each, str) and "\0" not in each else "" for each in found)
    return session, cwd if os.path.isabs(cwd) else ""
