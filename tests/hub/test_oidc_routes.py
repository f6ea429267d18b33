from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hub.config.hub_config import OidcSettings
from hookline.hub.oidc_routes import oidc_routes
from hub.hub_sandbox import async_test, open_hub


@async_test
async def test_without_a_provider_there_are_no_routes(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        assert oidc_routes(hub) == []


@async_test
async def test_a_hub_without_its_secret_does_not_start(tmp_path: Path) -> None:
    settings = OidcSettings("https://login.example.org", "hub", "NOT_SET")
    lines = {"config_file": Path("hub.yaml"), "lines": {"oidc": 2, "oidc.secret_env": 5}}
    with pytest.raises(HooklineError, match=r"hub\.yaml:5  oidc\.secret_env: the variable NOT_SET is not set"):
        async with open_hub(tmp_path, oidc=settings, env={}, **lines):
            pass
