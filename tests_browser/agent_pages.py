"""Browser agents of a test: made by the API, with a scripted model, and opened in a page."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser_hub import WAIT, HubProcess
from playwright.sync_api import Frame, Page, expect


class Api:
    """The hub's API, as the signed-in person."""

    def __init__(self, hub: HubProcess, signed_in: dict[str, Any]) -> None:
        self.hub = hub
        stored = {each["name"]: each["value"] for each in signed_in["origins"][0]["localStorage"]}
        self.token = stored["hookline.token"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.hub.url}/api/v1{path}", data, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or b"null")


class BrowserAgent:
    """One with a session of its own."""

    def __init__(self, api: Api, name: str, steps: list[Any], network: tuple[str, ...] = ()) -> None:
        self.api = api
        body = {"name": name, "model": "script:model.yaml", "network": list(network)}
        made = api.call("POST", "/agents", body)
        self.id: str = made["id"]
        self.workspace = Path(made["workspace"])
        (self.workspace / "model.yaml").write_text(json.dumps({"steps": steps}), encoding="utf-8")
        self.session: str = api.call("POST", "/sessions", {"agent": self.id})["id"]

    @property
    def url(self) -> str:
        return f"{self.api.hub.url}/agents/{self.id}/sessions/{self.session}"

    def open(self, page: Page) -> Frame:
        """The agent's frame, once the page drives the session."""
        page.goto(self.url)
        return self.frame(page)

    def frame(self, page: Page) -> Frame:
        expect(page.get_by_text("This page runs it")).to_be_visible(timeout=WAIT)
        return next(each for each in page.frames if "/sandbox/agent" in each.url)

    def say(self, text: str = "go") -> None:
        self.api.call("POST", f"/sessions/{self.session}/messages", {"text": text})

    def wait(self, seconds: float = 60) -> list[dict[str, Any]]:
        """Its messages, once it has answered."""
        wait_for(lambda: self.api.call("GET", f"/sessions/{self.session}")["state"] == "idle", seconds)
        items: list[dict[str, Any]] = self.api.call("GET", f"/sessions/{self.session}/messages")["items"]
        return items

    def results(self) -> list[str]:
        """What the tools answered, in the order of the calls."""
        return [str(each.get("content")) for each in self.wait() if each.get("role") == "tool"]

    def add_rules(self, *rules: dict[str, Any], event: str = "PreToolUse") -> None:
        self.set_rules({"hooks": {event: list(rules)}})

    def set_rules(self, rules: dict[str, Any]) -> None:
        set = f"agent:{self.id}"
        head = self.api.call("GET", f"/rules/{set}")
        base = head.get("head", head.get("number", 0))
        self.api.call("PUT", f"/rules/{set}", {"text": json.dumps(rules), "base": base, "note": ""})


def call(tool: str, **input: Any) -> dict[str, Any]:
    """A step of the model."""
    return {"call": {tool: input}}


def wait_for(condition: Callable[[], Any], seconds: float = 30) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found
