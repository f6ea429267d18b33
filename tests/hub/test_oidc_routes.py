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


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (OidcSettings("http://login.example.org", "hub"), "must be an https URL"),
        (OidcSettings("https://login.example.org", "hub", "NOT_SET"), "the variable NOT_SET is not set"),
    ],
)
@async_test
async def test_a_hub_with_wrong_settings_does_not_start(settings: OidcSettings, what: str, tmp_path: Path) -> None:
    with pytest.raises(HooklineError, match=what):
        async with open_hub(tmp_path, oidc=settings, env={}):
            pass
