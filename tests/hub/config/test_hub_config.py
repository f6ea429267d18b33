from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.hub.config.hub_config import HubConfig, OidcSettings, TlsFiles

TLS = TlsFiles(Path("cert.pem"), Path("key.pem"))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host": "localhost"},
        {"host": "::1"},
        {"host": "10.0.0.5", "tls": TLS},
        {"host": "0.0.0.0", "tls": TLS, "public_url": "https://hub.example"},
        {"host": "0.0.0.0", "public_url": "https://hub.example:8443/"},
        {"public_url": "https://hub.example"},
    ],
)
def test_a_hub_that_others_cannot_listen_to_starts(settings: dict[str, Any]) -> None:
    HubConfig(state=Path("/s"), **settings).check()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"host": "0.0.0.0"}, "can be reached by others"),
        ({"host": "10.0.0.5", "public_url": "http://hub.example"}, "can be reached by others"),
        ({"host": "0.0.0.0", "tls": TLS}, "does not know its own name"),
        ({"public_url": "hub.example"}, "is not a URL"),
        ({"public_url": "https://hub.example/path"}, "is not a URL"),
        ({"public_url": "https://u:p@hub.example"}, "is not a URL"),
        ({"public_url": "https://hub.example:x"}, "is not a URL"),
        ({"public_url": "https://hub example"}, "is not a URL"),
        ({"public_url": "https://hub.example; script-src *"}, "is not a URL"),
        (
            {"host": "10.0.0.5", "public_url": "https://h", "redis": "redis://r", "store": "postgresql://s"},
            "set `peer_url",
        ),
        ({"oidc": OidcSettings("http://login.example.org", "hub")}, "oidc.issuer: .* is not an https URL"),
        ({"oidc": OidcSettings("login.example.org", "hub")}, "oidc.issuer: .* is not an https URL"),
        ({"workspaces": (Path("/"), Path("/no/such/directory"))}, "workspaces: /no/such/directory is not a directory"),
    ],
)
def test_one_that_others_could_read_does_not(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(HooklineError, match=problem):
        HubConfig(state=Path("/s"), **settings).check()


def test_where_people_and_programs_reach_it() -> None:
    config = HubConfig(state=Path("/s"), host="0.0.0.0", port=9000, public_url="https://hub.example/")
    assert (config.url, config.local_url) == ("https://hub.example", "http://127.0.0.1:9000")
    assert HubConfig(state=Path("/s"), host="::1").url == "http://[::1]:8765"
