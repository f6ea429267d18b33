"""What hooks tell people, as programs hear it: the official clients of Socket.IO for Python and JavaScript."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
import socketio
from agent_pages import Api, wait_for
from browser_hub import ROOT, WAIT, HubProcess, find_violations
from playwright.sync_api import BrowserContext, Page, expect

MODULES = ROOT / ".cache/console/node_modules"
NODES = (shutil.which("node"), str(ROOT / ".cache/node/bin/node"))
WORKSPACE = """
model: script:model.yaml
hooks:
  - {id: lint, on: tool.after, when: {tool: write_file}, then: {diagnose: true}, on_error: open}
  - id: tell
    on: tool.after
    when: {tool: write_file}
    then: {notify: {message: 'wrote {{tool.input.path}}', title: Written, level: warning, tag: files}}
  - {id: bye, on: session.end, then: {log: over}}
"""
STEPS = [
    {"call": {"write_file": {"path": "a.py", "content": "import os\n"}}},
    {"say": "first"},
    {"call": {"write_file": {"path": "a.py", "content": "x = 1\n"}}},
    {"say": "second"},
]


class PythonClient:
    def __init__(self, hub: HubProcess, api: Api, *rooms: str) -> None:
        self.heard: list[dict[str, Any]] = []
        self._client = socketio.Client()
        self._client.on("event", self.heard.append, namespace="/events")
        self._client.connect(hub.url, auth={"token": api.token}, namespaces=["/events"], transports=["websocket"])
        for room in rooms:
            assert self._client.call("join", {"room": room}, namespace="/events")["ok"]

    def close(self) -> None:
        self._client.disconnect()


class JavaScriptClient:
    def __init__(self, hub: HubProcess, api: Api, *rooms: str) -> None:
        node = next(each for each in NODES if each and Path(each).exists())
        script = Path(__file__).with_name("bus_client.mjs")
        command = [node, str(script), str(MODULES), hub.url, api.token, *rooms]
        self.heard: list[dict[str, Any]] = []
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        wait_for(lambda: self.heard)
        assert self.heard.pop(0) == {"type": "joined"}

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard.append(json.loads(line))

    def close(self) -> None:
        self._process.kill()
        self._process.wait(20)


@pytest.fixture(scope="module")
def hub() -> Iterator[HubProcess]:
    home = Path(tempfile.mkdtemp(prefix="hlb"))
    hub = HubProcess(home, "--workspace", str(home / "project"))
    (hub.workspace / "model.yaml").write_text(json.dumps({"steps": STEPS}), encoding="utf-8")
    hub.write_hooks(WORKSPACE)
    hub.start()
    yield hub
    hub.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def session(hub: HubProcess, api: Api) -> str:
    started: dict[str, Any] = api.call("POST", "/sessions", {"workspace": str(hub.workspace)})
    return str(started["id"])


def say(api: Api, session: str) -> None:
    api.call("POST", f"/sessions/{session}/messages", {"text": "go"})
    wait_for(lambda: api.call("GET", f"/sessions/{session}")["state"] == "idle", 60)


@pytest.mark.parametrize("client_type", [PythonClient, JavaScriptClient])
def test_notifications_and_diagnostics_are_heard(
    client_type: type[PythonClient | JavaScriptClient], hub: HubProcess, api: Api, session: str
) -> None:
    client = client_type(hub, api, f"session:{session}", "channel:diagnostics")

    def heard(type: str, room: str) -> list[dict[str, Any]]:
        return [each["payload"] for each in list(client.heard) if each["type"] == type and each["room"] == room]

    def diagnostics() -> list[dict[str, Any]]:
        return [each["payload"] for each in heard("preview:resource_set", "channel:diagnostics")]

    try:
        say(api, session)
        wait_for(lambda: diagnostics())
        told = {"title": "Written", "message": "wrote a.py", "level": "warning", "tag": "files", "hook_id": "tell"}
        assert wait_for(lambda: heard("hook_notification", f"session:{session}")) == [told]
        [found] = diagnostics()
        assert (found["file_path"], found["source_module"]) == ("a.py", "hook")
        assert "os" in found["items"][0]["message"]
        say(api, session)
        wait_for(lambda: len(diagnostics()) == 2)
        assert diagnostics()[1]["items"] == []
    finally:
        client.close()


def test_the_console_shows_them(page: Page, context: BrowserContext, hub: HubProcess, api: Api, session: str) -> None:
    other = context.new_page()
    for each in (other, page):
        each.goto(f"{hub.url}/sessions/{session}")
        expect(each.get_by_role("textbox", name="Message")).to_be_visible()
    page.get_by_role("textbox", name="Message").fill("Write it.")
    page.get_by_role("button", name="Send").click()
    for each in (other, page):
        expect(each.get_by_role("log", name="Chat").locator(".chat-user")).to_have_text(["Write it."], timeout=WAIT)
    expect(page.get_by_text("Written: wrote a.py")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("region", name="Diagnostics")).to_contain_text("a.py", timeout=WAIT)
    wait_for(lambda: api.call("GET", f"/sessions/{session}")["state"] == "idle", 60)
    say(api, session)
    expect(page.get_by_role("region", name="Diagnostics")).to_have_count(0, timeout=WAIT)


def test_a_deleted_session_is_told_and_gone(page: Page, hub: HubProcess, api: Api, session: str) -> None:
    """Only what was recorded about its decisions stays."""
    client = PythonClient(hub, api, "live")
    page.goto(f"{hub.url}/sessions")
    row = page.get_by_role("row").filter(has_text=session[:24])
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row.get_by_role("button", name="Delete")).to_have_count(0, timeout=WAIT)
    with pytest.raises(HTTPError, match="404"):
        api.call("GET", f"/sessions/{session}/messages")
    wait_for(lambda: any(each["type"] == "session_ended" for each in list(client.heard)))
    ended = [each["payload"] for each in client.heard if each["type"] == "session_ended"]
    client.close()
    assert ended == [{"id": session, "reason": "deleted"}]


HOST = """
import sys, hookline

@hookline.guard(kind="shell")
def bash(command: str) -> str:
    return f"ran {command}"

with hookline.session(config="hookline.yaml"):
    bash("ls")
    print("reported", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("client_type", [PythonClient, JavaScriptClient])
def test_hosts_that_begin_and_end_are_heard_and_shown(
    client_type: type[PythonClient | JavaScriptClient], page: Page, hub: HubProcess, api: Api
) -> None:
    client = client_type(hub, api, "live")

    def heard(type: str, pid: int) -> list[dict[str, Any]]:
        return [
            each["payload"] for each in list(client.heard) if each["type"] == type and each["payload"]["pid"] == pid
        ]

    page.goto(f"{hub.url}/hosts")
    host = hub.start_python(HOST)
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == "reported\n"
        [up] = wait_for(lambda: heard("host_up", host.pid))
        assert up["running"]
        row = page.get_by_role("row").filter(has_text=f"pid {host.pid}")
        expect(row).to_contain_text("running", timeout=WAIT)
        assert heard("host_down", host.pid) == []
        assert find_violations(page) == []
    finally:
        host.kill()
        host.communicate()
    [down] = wait_for(lambda: heard("host_down", host.pid))
    assert (down["id"], down["reason"], down["running"]) == (up["id"], "ended", False)
    expect(row).to_contain_text("ended", timeout=WAIT)
    client.close()


def test_what_does_not_work_at_the_hub_is_heard_and_shown(page: Page, hub: HubProcess, api: Api) -> None:
    client = PythonClient(hub, api, "live")
    page.goto(hub.url)
    expect(page.get_by_text("Records are not taken for now")).to_have_count(0)
    host = hub.start_python(HOST)
    assert host.stdout is not None
    assert host.stdout.readline() == "reported\n"
    host.communicate()
    live = hub.home / "state/hookline/record/live"
    live.rename(live.with_name("aside"))
    live.write_text("not a directory")
    try:
        notice = page.get_by_role("status").filter(has_text="Records are not taken for now")
        expect(notice).to_be_visible(timeout=WAIT)
        assert find_violations(page) == []
        page.goto(f"{hub.url}/approvals")  # a page that is not in the room `live`
        expect(notice).to_be_visible(timeout=WAIT)
        [problem] = api.call("GET", "/problems")["items"]
        assert problem["part"] == "record"
    finally:
        live.unlink()
        live.with_name("aside").rename(live)
    page.goto(hub.url)
    expect(page.get_by_text("Records are not taken for now")).to_have_count(0, timeout=WAIT)
    wait_for(lambda: [each["payload"]["over"] for each in client.heard if each["type"] == "problem"] == [False, True])
    client.close()
    assert api.call("GET", "/problems")["items"] == []
