"""A hub that serves in a process of its own, from the checkout's environment."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass
class ServedHub:
    url: str
    token: str
    key: str


@contextmanager
def served_hub(directory: Path, *options: str) -> Iterator[ServedHub]:
    env = {**os.environ, "HOME": str(directory), "XDG_STATE_HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}
    command = [str(ROOT / ".venv/bin/hookline"), "hub", "--port", "0", "--workspace", str(directory), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as hub:
        try:
            assert hub.stdout is not None
            url = hub.stdout.readline().split()[-1]
            code = hub.stdout.readline().partition("#enter=")[2].strip()
            request = urllib.request.Request(
                f"{url}/api/v1/enter", json.dumps({"code": code}).encode(), {"content-type": "application/json"}
            )
            token = json.load(urllib.request.urlopen(request))["token"]
            (hub_file,) = (directory / "hookline/hubs").glob("*.json")
            yield ServedHub(url, token, json.loads(hub_file.read_text())["key"])
        finally:
            hub.terminate()
            hub.wait(30)
