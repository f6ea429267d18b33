"""The names under which a hub is reached: what may stand in `Host` and `Origin`."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from hookline.hub.config.hub_config import FRAMES, HubConfig
from hookline.lazy_dataclasses import dataclass

_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_LOCAL_PAGES: Final = 16  # pages of browser agents whose frames have host names of their own
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HubAddresses:
    hosts: frozenset[str]  # with their ports, in lower case
    origins: frozenset[str]
    frame_hosts: frozenset[str]  # of the frames of browser agents
    frame_urls: dict[str, tuple[str, ...]]  # frame → the origins that its document may have, equally many for all

    @classmethod
    def of(cls, config: HubConfig) -> HubAddresses:
        names = [*_LOOPBACK_NAMES] if config.is_loopback or config.public_url else []
        if config.host not in ("0.0.0.0", "::"):
            names.append(f"[{config.host}]" if ":" in config.host else config.host)
        hosts = {each for name in names for each in _with_port(config.scheme, name, config.port)}
        origins = {f"{config.scheme}://{host}" for host in hosts}
        if config.public_url:
            found = _hosts_of(config.public_url)
            hosts |= found
            origins |= {f"{urlsplit(config.public_url).scheme}://{host}" for host in found}
        if config.peer_url:
            hosts |= _hosts_of(config.peer_url)
        frames = {frame: _frame_urls(config, frame) for frame in FRAMES}
        frame_hosts = frozenset(urlsplit(url).netloc for urls in frames.values() for url in urls)
        return cls(frozenset(hosts), frozenset(origins), frame_hosts, frames)


def _hosts_of(url: str) -> set[str]:
    parts = urlsplit(url)
    name = (parts.hostname or "").lower()
    shown = f"[{name}]" if ":" in name else name
    return _with_port(parts.scheme, shown, parts.port or _DEFAULT_PORTS[parts.scheme])


def _with_port(scheme: str, name: str, port: int) -> set[str]:
    """Browsers leave the usual port out."""
    given = {f"{name.lower()}:{port}"}
    return given | {name.lower()} if port == _DEFAULT_PORTS.get(scheme) else given


def _frame_urls(config: HubConfig, frame: str) -> tuple[str, ...]:
    """Browsers run frames with one host name in one process, also those of different tabs."""
    if config.sandbox_host:
        host = config.sandbox_host.replace("{frame}", frame)
        return (host if "://" in host else f"{urlsplit(config.url).scheme}://{host}",)
    if config.is_loopback and not config.public_url:
        names = [frame, *(f"{frame}-{number}" for number in range(2, _LOCAL_PAGES + 1))]
        return tuple(f"{config.scheme}://{name}.localhost:{config.port}" for name in names)
    return (config.url,)
