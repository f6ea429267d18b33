"""Every policy and header that the hub sends, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hookline.hub.access.hub_addresses import HubAddresses

ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), bluetooth=(), payment=()",
}
"""Of every response."""

TLS: Final = {"strict-transport-security": "max-age=31536000"}

API: Final = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

_CONSOLE_POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "worker-src": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}


def console_headers(addresses: HubAddresses) -> Mapping[str, str]:
    """`frame-src` with paths is what keeps a frame from navigating itself elsewhere."""
    frames = " ".join(f"{url}/sandbox/{frame}" for frame, urls in addresses.frame_urls.items() for url in urls)
    policy = {**_CONSOLE_POLICY, "frame-src": frames}
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
    }


FRAME: Final[Mapping[str, str]] = {
    "cache-control": "no-store",
    "x-dns-prefetch-control": "off",
    "content-security-policy": "default-src 'none'; sandbox",
}
"""Of the documents of frames, which bring a policy of their own."""

_FRAME_POLICY: Final = {
    "sandbox": "allow-scripts",
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
_SCRIPTS: Final = {"script-src": "'unsafe-inline' 'unsafe-eval' blob:", "worker-src": "blob:"}
_FRAME_POLICIES: Final[Mapping[str, Mapping[str, str]]] = {
    "hooks": _SCRIPTS,
    "agent": {
        **_SCRIPTS,
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "font-src": "data:",
        "media-src": "data: blob:",
        "require-trusted-types-for": "'script'",
        "trusted-types": "hookline default",
    },
    "net": {},
}


def frame_headers(frame: str, addresses: HubAddresses, script: str, network: Sequence[str]) -> Mapping[str, str]:
    """Of a frame's document. `script`: the source expression of its script; `network`: origins that `net` may fetch."""
    ancestors = sorted(each for each in addresses.origins if "[" not in each)  # policies cannot name IPv6 addresses
    policy = {**_FRAME_POLICY, "frame-ancestors": " ".join(ancestors) or "'none'", **_FRAME_POLICIES[frame]}
    if frame == "net":
        policy |= {"script-src": script, "connect-src": " ".join(network) or "'none'"}
    headers = {"content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items())}
    # A frame that navigates itself opens a connection before `frame-src` is checked; this is checked first.
    return headers if frame == "net" else {**headers, "connection-allowlist": "()"}
