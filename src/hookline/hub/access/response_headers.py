"""Every policy and header that the hub sends, as data."""

from __future__ import annotations

from collections.abc import Mapping
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
    frames = " ".join(f"{url}/sandbox/{frame}" for frame, url in addresses.frame_urls.items())
    policy = {**_CONSOLE_POLICY, "frame-src": frames}
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
    }


FRAME: Final[Mapping[str, str]] = {"cache-control": "no-store"}
"""Of the documents of frames, which bring a policy of their own."""
