"""Files in the state directory that say which hub this user's hosts ask, and the key that they show there.

`hookline hub join` writes `hub.json`. A hub that runs on this machine has a file of its own in `hubs`, which `running_hubs`
finds.
"""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass
from hookline.project.private_file import write_private_file

FILE_NAME: Final = "hub.json"
_MAX_SIZE: Final = 16_384  # bytes
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


class AskAt(StrEnum):
    """Where a person is asked about a call of a coding agent."""

    AUTO = "auto"  # at the hub where the agent cannot ask by itself, or runs without a person
    HOST = "host"  # never at the hub
    HUB = "hub"  # always at the hub


@dataclass(frozen=True, slots=True)
class JoinedHub:
    url: str
    key: str
    name: str = ""
    ask: AskAt = AskAt.AUTO
    reports: bool = False  # this machine's record is sent to it; a hub on this machine reads it by itself
    takes_rules: bool = False
    started: float = 0.0  # of a hub on this machine; the hub that started first is asked
    store: str = ""  # names the database of a hub on this machine
    runs: bool = True  # False: it ran on this machine, and has ended

    @property
    def api(self) -> str:
        return f"{self.url}/api/v1"


def hub_file_path(state: Path) -> Path:
    return state / FILE_NAME


def check_hub_url(url: str) -> str:
    """The URL without a slash at its end. Raises HooklineError: over plain HTTP, anybody between could answer."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or True)
    except ValueError:
        is_valid = False
    if not is_valid or not url.isprintable() or parts.query or parts.fragment or parts.username:
        raise HooklineError(f"{url!r} is not the URL of a hub; write https://…")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise HooklineError("a hub on another machine needs https")
    return url.rstrip("/")


def write_hub_file(state: Path, hub: JoinedHub) -> None:
    """Only its owner may read it: it has a key. Raises HooklineError."""
    try:
        write_private_file(hub_file_path(state), encode_hub(hub))
    except OSError as error:
        raise HooklineError(f"{hub_file_path(state)} cannot be written: {error.strerror}") from error


def encode_hub(hub: JoinedHub) -> bytes:
    about = {
        "url": hub.url,
        "key": hub.key,
        "name": hub.name,
        "ask": str(hub.ask),
        "reports": hub.reports,
        "takes_rules": hub.takes_rules,
        "started": hub.started,
        "store": hub.store,
    }
    return json.dumps(about, indent=1).encode() + b"\n"


def read_hub_file(path: Path) -> JoinedHub | None:
    """None without a hub. A file that others can write, or that is damaged, counts as none: nobody may answer for you."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            return None
        data = file.read(_MAX_SIZE)
    try:
        return _parse(json.loads(data))
    except (TypeError, ValueError, HooklineError, RecursionError):
        return None


def read_joined_hub(state: Path) -> JoinedHub | None:
    """The hub that `hookline hub join` named."""
    hub = read_hub_file(hub_file_path(state))
    return hub if hub is not None and hub.reports else None


def _parse(about: Any) -> JoinedHub:
    if not isinstance(about, dict) or not isinstance(about.get("url"), str) or not isinstance(about.get("key"), str):
        raise TypeError("not a hub file")
    return JoinedHub(
        check_hub_url(about["url"]),
        about["key"],
        about["name"] if isinstance(about.get("name"), str) else "",
        AskAt(about.get("ask", AskAt.AUTO)),
        about.get("reports") is True,
        about.get("takes_rules") is True,
        float(about.get("started", 0.0)),
        str(about.get("store", "")),
    )
