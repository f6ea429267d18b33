"""Where the engine listens for agents that call HTTP hooks, and the word that they must say.

Both are chosen once, when an agent is plugged in so, and stand in a file that only the user can read.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError

HOST: Final = "127.0.0.1"
FILE: Final = "http.json"
_VERSION: Final = 1
_PORTS: Final = range(20_000, 32_000)  # below those that systems give to outgoing connections
_TRIES: Final = 200


@dataclass(frozen=True, slots=True)
class Address:
    port: int
    token: str = field(repr=False)

    @property
    def host(self) -> str:
        """As a caller names it in its Host header."""
        return f"{HOST}:{self.port}"

    def url(self, agent: str, event: str) -> str:
        return f"http://{self.host}/hookline/{agent}/{event}"


def address_in(kept: Path) -> Address | None:
    """None where none was chosen, or others than the user could have read or written it."""
    try:
        descriptor = os.open(kept / FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, encoding="utf-8") as file:
            status = os.fstat(descriptor)
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                return None
            said = json.load(file)
        address = Address(int(said["port"]), str(said["token"]))
        return address if said["version"] == _VERSION and address.port in _PORTS and len(address.token) >= 32 else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def choose_address(kept: Path) -> Address:
    """The one that is in force, else a new one. Raises HooklineError."""
    found = address_in(kept)
    if found is not None:
        return found
    chosen = Address(_free_port(), secrets.token_urlsafe(32))
    said = {"version": _VERSION, "port": chosen.port, "token": chosen.token}
    try:
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        (kept / FILE).unlink(missing_ok=True)
        descriptor = os.open(kept / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(said, file)
    except OSError as error:
        raise HooklineError(f"{kept / FILE} cannot be written: {error.strerror}") from None
    return chosen


def forget_address(kept: Path) -> None:
    (kept / FILE).unlink(missing_ok=True)


def bound(address: Address) -> socket.socket:
    """Raises OSError where another program has the port."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, address.port))
        listening.listen(1024)
    except OSError:
        listening.close()
        raise
    return listening


def _free_port() -> int:
    for _ in range(_TRIES):
        port = secrets.choice(_PORTS)
        try:
            bound(Address(port, "")).close()
        except OSError:
            continue
        return port
    raise HooklineError(f"no port of {HOST} is free between {_PORTS.start} and {_PORTS.stop}")
