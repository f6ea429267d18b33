"""A hub of a test's own, what a page complains about, and what axe-core finds."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page

ROOT = Path(__file__).parents[1]
HOOKLINE = ROOT / ".venv/bin/hookline"
PYTHON = ROOT / ".venv/bin/python"
CHROMIUM_OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
DESKTOP = {"width": 1360, "height": 850}
PHONE = {"width": 390, "height": 844}
WAIT = 20_000  # milliseconds; the machine may be busy

HOOKS = r"""
hooks:
  - id: no-recursive-delete
    on: tool.before
    when: {kind: shell, input: {command: '\brm\s+-rf\b'}}
    then: {deny: Use the trash instead.}
  - id: ask-before-push
    on: tool.before
    when: {kind: shell, input: {command: '\bgit push\b'}}
    then: {ask: This changes the remote.}
  - id: locked-install
    on: tool.before
    when: {kind: shell, input: {command: '^npm install$'}}
    then: {set: {input.command: npm ci}}
"""


class HubProcess:
    """`hookline hub` on a free port, with a home directory of its own."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home = home
        self.workspace = home / "project"
        self.options = options
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HOOKLINE"))},
            "HOME": str(home),
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_RUNTIME_DIR": str(home / "run"),
        }
        (home / "run").mkdir(mode=0o700, exist_ok=True)
        (home / "bin").mkdir(exist_ok=True)
        self.workspace.mkdir(exist_ok=True)
        self.write_hooks(HOOKS)
        self.url = ""
        self.link = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self, port: int = 0) -> None:
        self._process = subprocess.Popen(
            [HOOKLINE, "hub", "--port", str(port), *self.options],
            stdout=subprocess.PIPE,
            stderr=(self.home / "hub.log").open("a"),
            text=True,
            cwd=self.workspace,
            env=self.environment,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"(https?://[^/\s]+)/#enter=\S+", line):
                self.link, self.url = found[0], found[1]
                return
        raise AssertionError(f"the hub did not start: {(self.home / 'hub.log').read_text()}")

    @property
    def bugs(self) -> str:
        """What its log says about errors of its own; empty if there were none."""
        log = (self.home / "hub.log").read_text(errors="replace")
        return log if "Traceback" in log or "has stopped" in log else ""

    def write_hooks(self, text: str) -> None:
        """The hooks file of the workspace, trusted."""
        (self.workspace / "hookline.yaml").write_text(text, encoding="utf-8")
        trusted = self.run("trust", "--yes")
        assert trusted.returncode == 0, trusted.stderr

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None

    def restart(self) -> None:
        """Killed, as by a crash, and started again at the same address."""
        port = self.port
        self.stop(signal.SIGKILL)
        self.start(port)

    def stop_engine(self) -> None:
        """The process that answered coding agents, if one did."""
        for path in (self.home / "run").rglob("*.sock"):
            with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
                connection.connect(str(path))
                pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
                os.kill(pid, signal.SIGTERM)

    def new_link(self, *options: str) -> str:
        done = self.run("hub", "open", *options)
        found = re.search(r"https?://\S+#enter=\S+", done.stdout)
        assert found, done.stdout + done.stderr
        return found[0]

    def run(self, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HOOKLINE, *arguments],
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.workspace,
            env=self.environment,
        )

    def start_python(self, script: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [PYTHON, "-c", script, *arguments],
            text=True,
            cwd=self.workspace,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run_commands(self, *commands: str) -> None:
        """A Python agent that wants to run these shell commands."""
        process = self.start_python(AGENT, *commands)
        assert process.wait(60) == 0


AGENT = """
import contextlib, sys, hookline

@hookline.guard(kind="shell")
def bash(command: str) -> str:
    return f"ran {command}"

with hookline.session(config="hookline.yaml", ask=lambda question: False):
    for command in sys.argv[1:]:
        with contextlib.suppress(hookline.Denied):
            bash(command)
"""


@dataclass
class Watched:
    """What the pages of a browser complained about."""

    violations: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def attach(self, context: BrowserContext) -> None:
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def _hear(self, message: ConsoleMessage) -> None:
        text = message.text
        if (
            "Content Security Policy" in text
            or "TrustedScript" in text
            or "Trusted Type" in text
            or "TrustedHTML" in text
        ):
            self.violations.append(text)


AXE = ROOT / ".cache/console/node_modules/axe-core/axe.min.js"
RUN_AXE = """
async () => {
  const found = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]});
  const describe = (node) => `${node.target} ${node.failureSummary}`;
  return found.violations.map((each) => ({rule: each.id, where: each.nodes.slice(0, 5).map(describe)}));
}
"""


def find_violations(page: Page) -> list[dict[str, Any]]:
    """Of WCAG A and AA."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(RUN_AXE)
    return found
