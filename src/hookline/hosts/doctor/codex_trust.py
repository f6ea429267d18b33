"""Checks whether Codex trusts hookline's hooks. It silently skips hooks that it does not trust.

Codex stores the hash of each trusted handler in config.toml, under `hooks.state`. The key is the path of the hooks
file, the event, and the indexes of the group and the handler; the hash is of the handler as canonical JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hookline.config.document import Document
from hookline.hosts.agents.machine import Machine
from hookline.hosts.doctor.finding import Finding, good_finding, problem_finding
from hookline.hosts.install.text_files import read_file_text
from hookline.hosts.install.undo import own_entry_paths

_TOPIC: Final = "trust"
_FIX: Final = "start codex, type /hooks, and accept the hooks of hookline"
_DEFAULT_TIMEOUT: Final = 600  # seconds


def check_trust(document: Document, path: Path, machine: Machine) -> Finding:
    config = machine.directory_from_variable("CODEX_HOME", machine.home / ".codex") / "config.toml"
    try:
        states = tomllib.loads(read_file_text(config) or "").get("hooks", {}).get("state", {})
    except (tomllib.TOMLDecodeError, AttributeError):
        return problem_finding(
            _TOPIC, f"{machine.display_path(config)} cannot be read", "fix it; Codex cannot read it either"
        )
    missing, changed, off = [], [], []
    for event, key, hash in _own_handlers(document, path):
        state = states.get(key) if isinstance(states, dict) else None
        if not isinstance(state, dict) or not state.get("trusted_hash"):
            missing.append(event)
        elif state["trusted_hash"] != hash:
            changed.append(event)
        elif state.get("enabled") is False:
            off.append(event)
    return _trust_finding(missing, changed, off)


def _trust_finding(missing: list[str], changed: list[str], off: list[str]) -> Finding:
    parts = [
        f"{word}: {', '.join(events)}"
        for word, events in (("not trusted", missing), ("changed since it was trusted", changed), ("disabled", off))
        if events
    ]
    return (
        problem_finding(_TOPIC, "; ".join(parts), _FIX) if parts else good_finding(_TOPIC, "Codex trusts every entry")
    )


def _own_handlers(document: Document, path: Path) -> Iterator[tuple[str, str, str]]:
    """The event of each handler of hookline, and Codex's key and hash for it."""
    for _, event, group, *inner in own_entry_paths(document, "codex"):
        entry = document.value_at(("hooks", event, group))
        indexes = [int(inner[1])] if inner else range(len(entry["hooks"]))
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(event)).lower()
        for index in indexes:
            yield (
                str(event),
                f"{path}:{label}:{group}:{index}",
                _handler_hash(label, entry.get("matcher"), entry["hooks"][index]),
            )


def _handler_hash(label: str, matcher: Any, handler: dict[str, Any]) -> str:
    normal = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": max(int(handler.get("timeout", _DEFAULT_TIMEOUT)), 1),
        "async": bool(handler.get("async", False)),
    }
    identity = {"event_name": label, "hooks": [normal], **({"matcher": matcher} if matcher is not None else {})}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
