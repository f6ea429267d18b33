"""Which addresses a URL may lead to: the public ones, and what was allowed by name."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable
from typing import Final

from hookline.runtime.tools.workspace import Refused, printable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address
_COMPATIBLE: Final = ipaddress.ip_network("::/96")


async def addresses(host: str, port: int, private: Iterable[str]) -> tuple[str, ...]:
    """Where the host is, asked once. Raises Refused unless some of it is public, or `host` or `host:port` is in `private`."""
    allowed = {each.lower() for each in private}
    free = host.lower() in allowed or f"{host.lower()}:{port}" in allowed
    found = await _found(host, port)
    usable = tuple(str(address) for address in found if free or is_public(address))
    if not usable:
        raise Refused(f"{printable(host)} is not a public address; it is not fetched unless it is allowed by name")
    return usable


async def _found(host: str, port: int) -> list[Address]:
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refused(f"there is no host {printable(host)[:200]}") from None
    texts = dict.fromkeys(str(answer[4][0]).partition("%")[0] for answer in answers)
    return [ipaddress.ip_address(text) for text in texts]


def is_public(address: Address) -> bool:
    """False for every address that leads, or may be made to lead, into a network of our own."""
    inner = _within(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def _within(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _TRANSLATED or address in _COMPATIBLE:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None if address.teredo is None else address.teredo[1]
