from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from bridge_sandbox import wait_for
from hookline.hosts.hub.hub_file import JoinedHub, write_hub_file


@pytest.fixture
def hub(hookline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Calls `hookline hub …` with a state directory of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return lambda *arguments: hookline("hub", *arguments)


def test_users_are_added_listed_and_removed(hub: Any) -> None:
    assert "/#enter=" in hub("open").stdout
    added = hub("users", "add", "ann", "--role", "approver")
    assert added.stdout.startswith("http://127.0.0.1:8765/#enter=")
    listed = json.loads(hub("users", "list", "--json").stdout)
    assert [each["role"] for each in listed] == ["owner", "approver"]
    assert "ann" in hub("users", "list").stdout
    assert hub("open", "--user", "ann").exit_code == 0
    assert hub("open", "--user", "bob").exit_code == 1
    assert hub("users", "add", "ann").exit_code == 1
    assert hub("users", "remove", listed[0]["name"]).exit_code == 1  # the only owner
    assert hub("users", "remove", "ann").stdout == "Removed ann.\n"
    assert hub("users", "remove", "ann").exit_code == 1


def test_a_key_is_printed_once(hub: Any) -> None:
    key = hub("keys", "add", "laptop").stdout.strip()
    assert key.startswith("hlk_")
    assert key not in hub("keys", "list", "--json").stdout
    assert "laptop" in hub("keys", "list").stdout
    assert hub("keys", "remove", "laptop").stdout == "Removed 1 key.\n"
    assert hub("keys", "remove", "laptop").exit_code == 1


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31mred", "x" * 101])
@pytest.mark.parametrize("kind", ["users", "keys"])
def test_a_name_that_a_list_cannot_show_is_refused(hub: Any, kind: str, name: str) -> None:
    refused = hub(kind, "add", name)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "a name has 1 to 100 characters, in one line" in refused.stderr
    assert json.loads(hub(kind, "list", "--json").stdout) == []


def test_the_store_of_the_options_counts_for_commands(hub: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/other.db"
    hub("--store", url, "keys", "add", "elsewhere")
    assert "elsewhere" in hub("--store", url, "keys", "list").stdout
    assert "elsewhere" not in hub("keys", "list").stdout


def test_verify_says_what_is_broken(hub: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/hub.db"
    assert hub("--store", url, "verify").stdout == "intact: 0 records of 0 processes\n"
    with create_engine(url).begin() as connection:
        connection.execute(text("INSERT INTO books VALUES ('x', '{}', 1)"))
    result = hub("--store", url, "verify")
    assert (result.exit_code, result.stdout) == (2, "broken: hooks x: their texts were changed\n")


def test_a_wrong_setting_is_named_with_its_line(hub: Any, tmp_path: Path) -> None:
    (tmp_path / "hub.json").write_text('{\n"port": "x"}')
    result = hub("--config", str(tmp_path / "hub.json"), "users", "list")
    assert result.exit_code == 1
    assert "hub.json:2  port" in result.stderr


@pytest.mark.slow
def test_the_hub_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "hookline", "hub", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as hub:
        assert hub.stdout is not None
        lines = [hub.stdout.readline() for _ in range(3)]
        assert lines[0].startswith("hookline hub: http://127.0.0.1:")
        assert "/#enter=" in lines[1]
        hub.send_signal(signal.SIGINT)
        assert hub.wait(20) == 0


@pytest.mark.slow
def test_the_console_is_opened_in_the_browser(tmp_path: Path) -> None:
    """`xdg-open` is what opens a link on Linux."""
    opened, program = tmp_path / "opened", tmp_path / "xdg-open"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new; mv {opened}.new {opened}\n')
    program.chmod(0o755)
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "hookline", "hub", "--port", "0", "--open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as hub:
        assert hub.stdout is not None
        lines = [hub.stdout.readline() for _ in range(3)]
        wait_for(opened.exists)
        hub.send_signal(signal.SIGINT)
        assert hub.wait(20) == 0
    assert opened.read_text() == lines[1].split()[-1]


@pytest.mark.slow
def test_a_second_hub_says_which_one_agents_ask_and_links_lead_to_their_own(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "hookline", "hub"]
    others = [*command, "--store", f"sqlite:///{tmp_path / 'other.db'}"]

    def open_link(hub: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*hub, "open"], capture_output=True, text=True, env=env, check=True)

    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True, env=env) as first:
        assert first.stdout is not None
        url = first.stdout.readline().split()[-1]
        with subprocess.Popen([*others, "--port", "0"], stdout=subprocess.PIPE, text=True, env=env) as second:
            assert second.stdout is not None
            lines = [second.stdout.readline() for _ in range(5)]
            assert lines[2].startswith(f"Agents here keep asking {url}, which runs already.")
            assert lines[4].startswith("An agent with a shell of your user can")
            assert open_link(command).stdout.startswith(f"{url}/#enter=")
            assert open_link(others).stdout.startswith(f"{lines[0].split()[-1]}/#enter=")
            second.send_signal(signal.SIGINT)
            assert second.wait(20) == 0
        first.send_signal(signal.SIGINT)
        assert first.wait(20) == 0
    assert "no hub of yours runs on this database" in open_link(command).stderr


@pytest.mark.slow
def test_a_hub_says_that_agents_ask_the_joined_one(tmp_path: Path) -> None:
    write_hub_file(tmp_path / "hookline", JoinedHub("https://hub.example.org", "key", reports=True))
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "hookline", "hub"]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True, env=env) as hub:
        assert hub.stdout is not None
        lines = [hub.stdout.readline() for _ in range(3)]
        assert lines[2].startswith("Agents here keep asking https://hub.example.org, which you joined.")
        hub.send_signal(signal.SIGINT)
        assert hub.wait(20) == 0
    link = subprocess.run([*command, "open"], capture_output=True, text=True, env=env, check=True).stdout
    assert "http://127.0.0.1:8765/#enter=" in link  # a code of this hub is not sent to the other one
