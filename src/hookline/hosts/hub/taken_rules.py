"""The rules of the hub that this user takes: kept in the state directory, so that they hold while the hub is away."""

from __future__ import annotations

import importlib
import json
import logging
import shutil
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hosts.hub.hub_file import JoinedHub
from hookline.project.private_file import write_private_file
from hookline.project.sources import hub_rules_path, hub_rules_source
from hookline.project.trust_store import Trust

_MAX_TEXT: Final = 1_000_000  # characters
_TIMEOUT: Final = 10.0
log = logging.getLogger("hookline")


async def take_rules(state: Path, hub: JoinedHub) -> bool:
    """True if they have changed. Raises HooklineError if the hub cannot be asked: those that were taken before stay."""
    http = importlib.import_module("httpx2")
    headers = {"Authorization": f"Bearer {hub.key}"}
    try:
        async with http.AsyncClient(trust_env=False, timeout=_TIMEOUT) as client:
            answer = await client.get(f"{hub.api}/host-rules", headers=headers)
        text = _read_text(answer.json()) if answer.status_code == 200 else None
    except (http.HTTPError, ValueError, RecursionError) as error:
        raise HooklineError(f"the hub's rules cannot be taken: {type(error).__name__}") from None
    if text is None:
        raise HooklineError(f"the hub's rules cannot be taken: it answered with status {answer.status_code}")
    return _keep(state, text)


def _read_text(answer: Any) -> str | None:
    """None if it is not the rules of a hub."""
    text = answer.get("text") if isinstance(answer, dict) else None
    if not isinstance(text, str) or len(text) > _MAX_TEXT or not isinstance(json.loads(text), dict):
        return None
    return text


def _keep(state: Path, text: str) -> bool:
    path = hub_rules_path(state)
    data = text.encode()
    try:
        if path.exists() and path.read_bytes() == data:
            return False
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private_file(path, data)
    except OSError as error:
        raise HooklineError(f"{path} cannot be written: {error.strerror}") from error
    log.info("the hub's rules have changed")
    return True


def drop_rules(state: Path, trust: Trust) -> bool:
    """Removes them, and the trust in them. False if there were none."""
    source = hub_rules_source(state)
    if source is None:
        return False
    trust.revoke([source])
    shutil.rmtree(hub_rules_path(state).parent)
    return True
