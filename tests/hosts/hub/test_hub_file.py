"""Which hub this user's hosts ask."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hosts.hub.hub_file import (
    AskAt,
    JoinedHub,
    check_hub_url,
    hub_file_path,
    read_joined_hub,
    write_hub_file,
)

HUB = JoinedHub("https://hub.example", "secret", "team", AskAt.HUB, reports=True)


def test_what_was_written_is_read_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    write_hub_file(tmp_path / "state", HUB)
    assert read_joined_hub(tmp_path / "state") == HUB
    assert stat.S_IMODE(hub_file_path(tmp_path / "state").stat().st_mode) == 0o600
    assert HUB.api == "https://hub.example/api/v1"


def test_no_file_is_no_hub(tmp_path: Path) -> None:
    assert read_joined_hub(tmp_path) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"url": "x", "key": "k"}', '{"url": "http://far.example", "key": "k"}']
)
def test_a_damaged_file_is_no_hub(tmp_path: Path, text: str) -> None:
    hub_file_path(tmp_path).write_text(text)
    os.chmod(hub_file_path(tmp_path), 0o600)
    assert read_joined_hub(tmp_path) is None


def test_a_file_that_others_can_write_or_a_link_is_no_hub(tmp_path: Path) -> None:
    write_hub_file(tmp_path, HUB)
    os.chmod(hub_file_path(tmp_path), 0o622)
    assert read_joined_hub(tmp_path) is None
    (tmp_path / "real").write_text(json.dumps({"url": HUB.url, "key": "k"}))
    hub_file_path(tmp_path).unlink()
    hub_file_path(tmp_path).symlink_to(tmp_path / "real")
    assert read_joined_hub(tmp_path) is None


@pytest.mark.parametrize("url", ["hub.example", "ftp://x", "https://u@x", "https://x?q", "http://x", "https://x:port"])
def test_a_url_that_is_not_of_a_hub_is_refused(url: str) -> None:
    with pytest.raises(HooklineError):
        check_hub_url(url)


def test_plain_http_is_for_this_machine_only() -> None:
    assert check_hub_url("http://127.0.0.1:8765/") == "http://127.0.0.1:8765"
    assert check_hub_url("https://hub.example/team/") == "https://hub.example/team"
