"""A session as a file of lines in Claude Code's format, for programs of hooks that read `transcript_path`."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hookline.hooks.event import Event
from hookline.hooks.tool_input import to_vocabulary
from hookline.hooks.tool_name import tool_name_in
from hookline.hooks.tools import VOCABULARIES
from hookline.runtime.history import calls_of

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession

_MAX_AGE: Final = 30 * 86_400.0  # seconds after which a transcript is deleted
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
_VOCABULARY: Final = VOCABULARIES["claude_code"]
_NAMESPACE: Final = uuid.UUID("6f0d2a5e-3c1b-5e7a-9d40-1f6f1c6f2b11")

log = logging.getLogger("hookline")


class Transcript:
    """The messages of a session's main thread as they are stored. Only the user can read the file.

    It is written when a program is about to run that is told its path.
    """

    def __init__(self, session: AgentSession, directory: Path) -> None:
        self._session = session
        name = session.id if _PLAIN_ID.fullmatch(session.id) else hashlib.sha256(session.id.encode()).hexdigest()
        self.path = directory / f"{name}.jsonl"
        self._written: list[dict[str, Any]] = []

    async def write_for(self, stdin: bytes) -> None:
        """Brings the file up to date if this input of a program names it."""
        if os.fsencode(self.path) in stdin:
            await self.write()

    async def write(self) -> None:
        history = await self._session.main.history()
        known = len(self._written)
        if self._written and history == self._written:
            return
        results = {row.call: row.ok is not False for row in await self._session.store.calls(self._session.main.id)}
        appends = bool(known) and history[:known] == self._written and self.path.exists()
        lines = "".join(self._lines(history, known if appends else 0, results))
        try:
            self._write_text(lines, appends)
        except OSError as error:
            log.warning("cannot write the transcript: %s", error)
            return
        self._written = history

    def _write_text(self, lines: str, appends: bool) -> None:
        if not appends:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _delete_old(self.path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_APPEND if appends else os.O_TRUNC)
        with open(os.open(self.path, flags, 0o600), "w", encoding="utf-8", errors="replace") as file:
            file.write(lines)

    def _lines(self, history: list[dict[str, Any]], first: int, results: Mapping[str, bool]) -> Iterator[str]:
        row = self._session.row
        base = {"isSidechain": False, "userType": "external", "cwd": row.workspace, "sessionId": self._session.id}
        parent: str | None = None
        for number, message in enumerate(history):
            for index, entry in enumerate(_entries(message, results)):
                own = str(uuid.uuid5(_NAMESPACE, f"{self._session.id} {message.get('id', number)} {index}"))
                if number >= first:
                    whole = {"parentUuid": parent, **base, **entry, "uuid": own, "timestamp": _timestamp(message)}
                    yield json.dumps(whole, ensure_ascii=False, separators=(",", ":"), default=str) + "\n"
                parent = own


def _entries(message: Mapping[str, Any], results: Mapping[str, bool]) -> Iterator[dict[str, Any]]:
    """Claude Code writes each block of an answer as a line of its own."""
    content, role = message.get("content") or "", message.get("role")
    if role == "assistant":
        blocks = [*([{"type": "text", "text": content}] if content else []), *map(_tool_use, calls_of(dict(message)))]
        why = "tool_use" if calls_of(dict(message)) else "end_turn"
        head = {"id": str(message.get("id", "")), "type": "message", "role": role}
        for block in blocks:
            yield {"type": role, "message": {**head, "content": [block], "stop_reason": why}}
    elif role == "tool":
        id = str(message.get("tool_call_id") or "")
        block = {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": not results.get(id, True)}
        yield {"type": "user", "message": {"role": "user", "content": [block]}}
    elif role == "user":
        yield {"type": "user", "message": {"role": "user", "content": content}}
    else:
        yield {"type": "system", "content": content}


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    """With Claude Code's names of the tool and its fields."""
    name, text = call["function"]["name"], call["function"].get("arguments") or "{}"
    try:
        input = json.loads(text)
    except (ValueError, RecursionError):
        input = {}
    if not isinstance(input, dict):
        input = {}
    event = Event("tool.before", {"tool": {"name": name, "input": input}})
    return {
        "type": "tool_use",
        "id": call["id"],
        "name": tool_name_in(event, _VOCABULARY) or name,
        "input": to_vocabulary(event, _VOCABULARY),
    }


def _timestamp(message: Mapping[str, Any]) -> str:
    created = message.get("created_at")
    seconds = created / 1000 if isinstance(created, (int, float)) else 0
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _delete_old(directory: Path) -> None:
    for path in _old_files(directory):
        path.unlink(missing_ok=True)


def _old_files(directory: Path) -> Iterable[Path]:
    return [path for path in directory.glob("*.jsonl") if time.time() - path.lstat().st_mtime > _MAX_AGE]
