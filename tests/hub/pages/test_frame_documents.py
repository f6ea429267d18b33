from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette

from hookline.hub.access.hub_addresses import HubAddresses
from hookline.hub.access.request_guard import RequestGuard
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.pages.frame_documents import frame_routes
from hub.hub_sandbox import async_test


def client(directory: Path, host: str = "net.localhost:8765") -> httpx2.AsyncClient:
    addresses = HubAddresses.of(HubConfig(state=directory))
    for frame in ("hooks", "agent", "net"):
        (directory / f"frame_{frame}.js").write_text(f'const frame = "{frame}</ScRiPt><!--";', encoding="utf-8")
    app = RequestGuard(Starlette(routes=frame_routes(addresses, directory)), addresses)
    transport = httpx2.ASGITransport(app=app)  # type: ignore[arg-type]
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{host}")


def policy_of(response: httpx2.Response) -> dict[str, str]:
    parts = response.headers["content-security-policy"].split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}


@async_test
async def test_each_frame_has_a_policy_of_its_own(tmp_path: Path) -> None:
    async with client(tmp_path) as http:
        answers = {frame: await http.get(f"/sandbox/{frame}") for frame in ("hooks", "agent", "net")}
    policies = {frame: policy_of(answer) for frame, answer in answers.items()}
    for frame in ("hooks", "agent"):
        assert answers[frame].headers["connection-allowlist"] == "()"
    for policy in policies.values():
        assert policy["sandbox"] == "allow-scripts"
        assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert "http://127.0.0.1:8765" in policy["frame-ancestors"].split()
        assert "*" not in policy["frame-ancestors"]
        assert "[" not in policy["frame-ancestors"]  # no policy can name an IPv6 address, and browsers complain
    assert "connect-src" not in policies["hooks"] | policies["agent"]  # so default-src counts
    assert policies["agent"]["require-trusted-types-for"] == "'script'"
    assert policies["net"]["connect-src"] == "'none'"
    assert "unsafe" not in str(policies["net"])


@async_test
async def test_the_net_frame_reaches_the_origins_of_the_agent_and_runs_our_script_only(tmp_path: Path) -> None:
    async with client(tmp_path) as http:
        query = "origin=https://api.example.org&origin=http://127.0.0.1:9000"
        answer = await http.get(f"/sandbox/net?{query}")
    policy = policy_of(answer)
    assert policy["connect-src"] == "https://api.example.org http://127.0.0.1:9000"
    (script,) = re.findall(r"<script>(.*)</script>", answer.text)
    hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{hash}'"
    assert script == r'const frame = "net\x3C/ScRiPt>\x3C!--";'


@pytest.mark.parametrize(
    "origin",
    ["*", "'self'", "https://x.org; script-src *", "https://x.org/path", "https:", "data:", "https://*.x.org", "a b"],
)
@async_test
async def test_nothing_but_an_origin_gets_into_a_policy(origin: str, tmp_path: Path) -> None:
    async with client(tmp_path) as http:
        assert (await http.get("/sandbox/net", params={"origin": origin})).status_code == 400


@async_test
async def test_other_names_and_frames_are_refused(tmp_path: Path) -> None:
    async with client(tmp_path) as http:
        assert (await http.get("/sandbox/other")).status_code == 404
        assert (await http.get("/sandbox/..%2f..%2fx")).status_code == 404
    async with client(tmp_path, "evil.example") as http:
        assert (await http.get("/sandbox/agent")).status_code == 421
    (tmp_path / "built").mkdir()
    addresses = HubAddresses.of(HubConfig(state=tmp_path))
    app = Starlette(routes=frame_routes(addresses, tmp_path / "built"))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x") as http:  # type: ignore[arg-type]
        assert (await http.get("/sandbox/agent")).status_code == 404  # the console is not built
