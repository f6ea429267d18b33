from __future__ import annotations

from pathlib import Path

from hookline.hub.access.hub_addresses import HubAddresses
from hookline.hub.config.hub_config import HubConfig, TlsFiles


def addresses(**settings: object) -> HubAddresses:
    return HubAddresses.of(HubConfig(state=Path("/state"), **settings))  # type: ignore[arg-type]


def test_a_local_hub_is_reached_by_the_names_of_this_machine_with_its_port() -> None:
    found = addresses(port=8000)
    assert found.hosts == {"127.0.0.1:8000", "localhost:8000", "[::1]:8000"}
    assert "http://localhost:8000" in found.origins
    assert found.frame_urls["agent"][:2] == ("http://agent.localhost:8000", "http://agent-2.localhost:8000")
    assert len(set(found.frame_urls["agent"])) == 16
    assert {"agent-16.localhost:8000", "hooks-2.localhost:8000"} <= found.frame_hosts


def test_browsers_leave_the_usual_port_out() -> None:
    tls = TlsFiles(Path("c"), Path("k"))
    found = addresses(host="10.0.0.5", port=443, tls=tls)
    assert found.hosts == {"10.0.0.5:443", "10.0.0.5"}
    assert found.origins == {"https://10.0.0.5:443", "https://10.0.0.5"}


def test_behind_a_proxy_it_has_the_public_name_too() -> None:
    found = addresses(port=8000, public_url="https://Hub.example.org/")
    assert {"hub.example.org", "hub.example.org:443", "127.0.0.1:8000"} <= found.hosts
    assert "https://hub.example.org" in found.origins
    assert "http://hub.example.org" not in found.origins
    assert found.frame_urls["hooks"] == ("https://Hub.example.org",)


def test_frames_may_have_names_of_their_own() -> None:
    found = addresses(port=8000, sandbox_host="{frame}.sandbox.example")
    assert found.frame_urls["net"] == ("http://net.sandbox.example",)
    assert "net.sandbox.example" in found.frame_hosts
