from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import ConfigError, HooklineError
from hookline.hub.config.hub_config import HubConfig, OidcSettings, TlsFiles
from hookline.hub.config.hub_config_reader import find_config_file, read_hub_config

DEFAULTS = HubConfig(state=Path("/state"))


def read(directory: Path, value: Any, name: str = "hub.json") -> tuple[HubConfig, list[str]]:
    (directory / name).write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    config, warnings = read_hub_config(directory / name, DEFAULTS)
    return config, [str(each).partition("  ")[2] for each in warnings]


def test_every_setting_is_read(tmp_path: Path) -> None:
    text = """name: office
host: 0.0.0.0
port: 9000
public_url: https://hub.example
tls: {cert: cert.pem, key: /keys/key.pem}
store: postgresql://hub@db/hub
redis: redis://cache
peer_url: https://hub-1.internal:9000
workspaces: [work, /tmp]
agents_path: agents
tools: {bash: {enabled: false}, filesystem: {enabled: true}}
approvals: {patience: 5m, ask: hub}
record: {keep: 90d, most: 5000}
oidc: {issuer: https://id.example, client_id: hub, secret_env: SECRET, roles: {admins: owner}, default: viewer}
sandbox_host: '{frame}.sandbox.example'
"""
    config, warnings = read(tmp_path, text, "hub.yaml")
    assert warnings == []
    assert (config.name, config.host, config.port) == ("office", "0.0.0.0", 9000)
    assert config.tls == TlsFiles(tmp_path / "cert.pem", Path("/keys/key.pem"))
    assert config.workspaces == (tmp_path / "work", Path("/tmp"))
    assert config.agents_directory == tmp_path / "agents"
    assert config.tools == {"bash": False, "filesystem": True}
    assert (config.approvals_patience, config.approvals_ask) == (timedelta(minutes=5), "hub")
    assert (config.record_keep, config.record_most) == (timedelta(days=90), 5000)
    assert config.oidc == OidcSettings("https://id.example", "hub", "SECRET", {"admins": "owner"}, "viewer")
    (tmp_path / "work").mkdir()
    config.check()


def test_flos_spellings_are_accepted(tmp_path: Path) -> None:
    value = {
        "publicHost": "hub.example",
        "tls": {"certFile": "c", "keyFile": "k"},
        "sandboxPath": "/data/agents",
        "tools": {"bash": {"enabled": True}},
        "hooks": {"PreToolUse": [{"matcher": "^bash$", "command": "echo {{input.command}}", "continueOnError": True}]},
    }
    config, warnings = read(tmp_path, value)
    assert warnings == []
    assert (config.public_url, config.agents_path) == ("https://hub.example", Path("/data/agents"))
    assert config.own_hooks is not None
    assert [hook.event for hook in config.own_hooks.layer.hooks] == ["tool.before"]
    assert config.own_hooks.files[0].dialect == "flo"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"port": 99999}, "hub.json:2  port"),
        ({"port": "80"}, "hub.json:2  port"),
        ({"host": 7}, "hub.json:2  host"),
        ({"tls": {"cert": "c"}}, "key is missing"),
        ({"hots": "0.0.0.0"}, 'hub.json:2  "hots" is not a key'),
        ({"hooks": {"PreToolUse": [{"matcher": "(", "action": "deny"}]}}, "hub.json:5"),
        ({"hooks": {"PreToolUse": [{"action": "dney"}]}}, "hub.json:5"),
        ({"record": {"keep": 30}}, "hub.json:3  record.keep"),
        ({"record": {"facts": "none"}}, "hookline.yaml"),
        ({"approvals": {"ask": "nobody"}}, "hub.json:3"),
        ({"oidc": {"issuer": "x"}}, "client_id is missing"),
        ({"oidc": {"issuer": "x", "client_id": "y", "default": "king"}}, "hub.json:5"),
        ({"sandbox_host": "one.example"}, "has no {frame}"),
        ([], "hub.json:1"),
        ("{", "hub.json"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_line(value: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, value)
    assert problem in str(raised.value).replace(f"{tmp_path}/", "")


def test_an_unknown_key_is_a_warning(tmp_path: Path) -> None:
    _, warnings = read(tmp_path, {"colour": "green"})
    assert len(warnings) == 1
    assert '"colour" is not a key of the hub\'s settings' in warnings[0]


def test_the_file_is_found_in_the_config_directory(tmp_path: Path) -> None:
    assert find_config_file(tmp_path) is None
    (tmp_path / "hub.json").write_text("{}")
    assert find_config_file(tmp_path) == tmp_path / "hub.json"
    (tmp_path / "hub.yaml").write_text("")
    assert find_config_file(tmp_path) == tmp_path / "hub.yaml"


@pytest.mark.parametrize(
    "setting",
    [
        {"host": "0.0.0.0"},
        {"public_url": "https://hub.example/path"},
        {"publicHost": "two names"},
        {"peer_url": "http://10.0.0.1"},
        {"redis": "redis://cache"},
        {"workspaces": "no-such-directory"},
    ],
)
def test_a_value_that_is_wrong_beside_others_has_its_line_too(setting: dict[str, str], tmp_path: Path) -> None:
    config, _ = read(tmp_path, {"name": "office", **setting})
    with pytest.raises(HooklineError, match=r"hub\.json:3  "):
        config.check()


@pytest.mark.parametrize("host", ["{frame} *; script-src *", "{frame}.example.org/path", "{frame}.a.org, b.org"])
def test_the_names_of_frames_cannot_change_a_policy(host: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"hub\.json:2  sandbox_host"):
        read(tmp_path, {"sandbox_host": host})


def test_a_wrong_setting_of_the_provider_has_its_own_line(tmp_path: Path) -> None:
    config, _ = read(tmp_path, {"oidc": {"client_id": "hub", "issuer": "http://login.example", "secret_env": "S"}})
    with pytest.raises(HooklineError, match=r"hub\.json:4  oidc\.issuer"):
        config.check()
    assert config.lines["oidc.secret_env"] == 5
