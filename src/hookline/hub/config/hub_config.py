"""How a hub runs: where it listens, under which names it is reached, and what it keeps."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.settings import ExtraHooks

DEFAULT_PORT: Final = 8765
FRAMES: Final = ("hooks", "agent", "net")
"""The sandboxed frames of a browser agent's page."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    cert: Path
    key: Path


@dataclass(frozen=True, slots=True)
class OidcSettings:
    issuer: str
    client_id: str
    secret_env: str = ""
    roles: dict[str, str] = field(default_factory=dict)  # group → role
    default: str = ""  # the role of everybody else; empty: refused


@dataclass(frozen=True, slots=True, kw_only=True)
class HubConfig:
    state: Path  # hookline's state directory
    name: str = field(default_factory=lambda: os.uname().nodename)
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT  # 0: any free one
    public_url: str = ""
    tls: TlsFiles | None = None
    store: str = ""  # a URL; empty: the runtime's default store
    redis: str = ""  # a URL; between several hubs on one database
    peer_url: str = ""  # where other hubs reach this one; empty: where it listens
    workspaces: tuple[Path, ...] = ()
    agents_path: Path | None = None
    tools: dict[str, bool] = field(default_factory=dict)  # bash, filesystem → enabled
    own_hooks: ExtraHooks | None = None  # of its file, in the flo dialect, commands included
    config_file: Path | None = None
    lines: Mapping[str, int] = field(default_factory=dict)  # of the settings in that file
    approvals_patience: timedelta = timedelta(minutes=10)
    approvals_ask: str = "auto"
    record_keep: timedelta = timedelta(days=30)
    record_most: int = 1_000_000
    oidc: OidcSettings | None = None
    sandbox_host: str = ""  # with {frame}; empty: {frame}.localhost on loopback, else the hub's own
    reads_record: bool = True  # takes the record of this machine and user
    demo: bool = False
    home: Path | None = None  # of the agents that the hub runs; None: the user's
    env: Mapping[str, str] | None = None  # of the agents that the hub runs; None: the hub's own

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def scheme(self) -> str:
        return "https" if self.tls is not None else "http"

    @property
    def url(self) -> str:
        """Where people reach it, without a slash at the end."""
        if self.public_url:
            return self.public_url.rstrip("/")
        return f"{self.scheme}://{_bracketed(self.host)}:{self.port}"

    @property
    def local_url(self) -> str:
        """Where programs on this machine reach it."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"{self.scheme}://{_bracketed(host)}:{self.port}"

    @property
    def own_peer_url(self) -> str:
        """Where other hubs on the same database reach it."""
        return self.peer_url.rstrip("/") or self.local_url

    @property
    def agents_directory(self) -> Path:
        return self.agents_path or self.state / "agents"

    def check(self) -> None:
        """Raises HooklineError if others could read what is sent, or if the hub cannot know its own name."""
        if self.public_url and not is_origin(self.public_url):
            problem = f"public_url {self.public_url!r} is not a URL such as https://hub.example.org"
            raise self.wrong_value("public_url", problem)
        self._check_peers()
        self._check_oidc()
        self._check_workspaces()
        if self.is_loopback:
            return
        if self.tls is None and not self.public_url.startswith("https://"):
            fix = "set `tls`, or `public_url: https://…` of a proxy that has TLS"
            raise self.wrong_value("host", f"host {self.host} can be reached by others: {fix}")
        if not self.public_url and self.host in ("0.0.0.0", "::"):
            problem = f"with host {self.host} the hub does not know its own name: set `public_url`"
            raise self.wrong_value("host", problem)

    def wrong_value(self, field: str, problem: str) -> HooklineError:
        """The error to raise, with file and line if the value comes from the file."""
        line = self.lines.get(field)
        return HooklineError(problem if line is None else f"{self.config_file}:{line}  {problem}")

    def _check_oidc(self) -> None:
        parts = urlsplit("" if self.oidc is None else self.oidc.issuer)
        if self.oidc is not None and parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise self.wrong_value("oidc.issuer", f"oidc.issuer: {self.oidc.issuer!r} is not an https URL")

    def _check_workspaces(self) -> None:
        for path in self.workspaces:
            if not path.is_dir():
                raise self.wrong_value("workspaces", f"workspaces: {path} is not a directory")

    def _check_peers(self) -> None:
        if self.redis and not self.store.startswith("postgres"):
            problem = "several hubs need one PostgreSQL: set `store: postgresql://…` beside `redis`"
            raise self.wrong_value("redis", problem)
        if not self.peer_url:
            if self.redis and not self.is_loopback and (self.tls is None or self.host in ("0.0.0.0", "::")):
                problem = "other hubs must reach this one with TLS: set `peer_url: https://…` beside `redis`"
                raise self.wrong_value("redis", problem)
            return
        if not is_origin(self.peer_url):
            problem = f"peer_url {self.peer_url!r} is not a URL such as https://hub-1.internal:8765"
            raise self.wrong_value("peer_url", problem)
        if self.peer_url.startswith("http://") and not is_loopback(urlsplit(self.peer_url).hostname or ""):
            problem = "peer_url must be https: hubs send each other the tokens of their callers"
            raise self.wrong_value("peer_url", problem)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_origin(url: str) -> bool:
    """Whether it can stand in a header: a scheme, a name and maybe a port."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = parts.scheme in ("http", "https") and parts.path in ("", "/") and not parts.query and not parts.fragment
    is_name = all(char.isalnum() or char in "-._:[]" for char in parts.netloc)
    return plain and bool(parts.hostname) and is_name and url.isprintable() and port != 0


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
