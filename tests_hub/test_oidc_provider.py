"""Signing in with a provider that others wrote: oidc-provider-mock, which is built on Authlib's server."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import oidc_provider_mock
import pytest
from served_hub import served_hub


def test_a_person_signs_in_with_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_OIDC_SECRET", "any")
    with oidc_provider_mock.run_server_in_thread() as provider:
        issuer = f"http://localhost:{provider.server_port}"
        people = {"ann": ["ops"], "bob": ["visitors"]}
        for name, groups in people.items():
            claims = {"groups": groups, "preferred_username": name}
            assert httpx.put(f"{issuer}/users/{name}", json=claims).status_code == 204
        settings = {
            "oidc": {"issuer": issuer, "client_id": "hub", "secret_env": "HUB_OIDC_SECRET", "roles": {"ops": "editor"}}
        }
        config = tmp_path / "hub.json"
        config.write_text(json.dumps(settings))
        with served_hub(tmp_path, "--config", str(config)) as hub, httpx.Client(base_url=hub.url) as browser:
            ann = _sign_in(browser, "ann")
            code = ann.headers["location"].partition("#enter=")[2]
            entered = browser.post("/api/v1/enter", json={"code": code}).json()
            assert (entered["user"]["name"], entered["role"]) == ("ann", "editor")
            token = {"authorization": f"Bearer {entered['token']}"}
            assert browser.get("/api/v1/me", headers=token).json()["role"] == "editor"
            bob = _sign_in(browser, "bob")
            assert (bob.status_code, "location" in bob.headers) == (403, False)


def _sign_in(browser: httpx.Client, name: str) -> httpx.Response:
    """What a browser does, at the hub and at the provider."""
    begun = browser.get("/oidc/login")
    authorized = httpx.post(begun.headers["location"], data={"sub": name})
    assert authorized.status_code == 302, authorized.text
    return browser.get(authorized.headers["location"])
