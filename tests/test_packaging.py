"""`pip install hookline` without extras: how much it installs, and that everything but our agent works."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge_sandbox import BridgeSandbox, deny_reason

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MAX_PACKAGES = 20
MAX_BYTES = 40_000_000
OFFLINE = ("error sending request", "Failed to fetch", "client error (Connect)", "dns error", "Network connectivity")

HOOKS = """\
hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: '^rm'}}, then: {deny: Never.}}
  - {id: no-shout, on: tool.before, when: {tool: mcp.tiny.shout}, then: {deny: Not so loud.}}
  - {id: audit, on: tool.after, then: {run: cat}, on_error: open}
"""
SCRIPT_HOOKS = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "^bash$",
                "action": "script",
                "script": "if (toolInput.command.includes('curl')) return {decision: 'deny', reason: 'No curl.'}",
            }
        ]
    }
}
CASE = """\
note: rm is denied
file: ../../hookline.yaml
event: {name: tool.before, tool: {name: bash, input: {command: rm x}}}
expect: {verdict: deny, by: no-rm}
"""
MCP_SERVER = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "tiny", "version": "1"}}
    elif message.get("method") == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("whisper", "shout")]
        result = {"tools": tools}
    elif message.get("method") == "tools/call":
        result = {"content": [{"type": "text", "text": "heard " + message["params"]["name"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def run_uv(*arguments: str) -> str:
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    done = subprocess.run([uv, *arguments], capture_output=True, text=True, timeout=300, cwd=ROOT)
    if done.returncode != 0 and any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it requires, in the versions of the lock."""
    directory = tmp_path_factory.mktemp("packaging")
    run_uv("build", "--quiet", "--wheel", "--out-dir", str(directory / "dist"))
    (wheel,) = (directory / "dist").glob("hookline-*.whl")
    venv = directory / "venv"
    run_uv("venv", "--quiet", "--python", sys.executable, str(venv))
    versions = directory / "versions.txt"
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    versions.write_text("\n".join(line.rstrip(" \\") for line in lock if line[:1].isalnum()))
    run_uv("pip", "install", "--quiet", "--python", str(venv), "--constraint", str(versions), str(wheel))
    return venv


class Machine(BridgeSandbox):
    """A user's machine with the installed package and nothing else."""

    def __init__(self, root: Path, venv: Path) -> None:
        super().__init__(root, {"PATH": f"{venv / 'bin'}:/usr/bin:/bin"})
        self.venv = venv

    def hookline(self, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["hookline", *arguments],
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.project,
            env=self.environment,
            executable=str(self.venv / "bin/hookline"),
        )


@pytest.fixture
def machine(venv: Path) -> Iterator[Machine]:
    root = Path(tempfile.mkdtemp(prefix="hl"))  # a socket's path is short
    machine = Machine(root, venv)
    machine.project.mkdir()
    machine.home.mkdir()
    (root / "run").mkdir(mode=0o700)
    machine.write_hooks(HOOKS)
    yield machine
    if (pid := machine.engine_pid()) is not None:
        os.kill(pid, signal.SIGTERM)
    shutil.rmtree(root, ignore_errors=True)


def test_it_is_small(venv):
    packages = json.loads(run_uv("pip", "list", "--python", str(venv), "--format", "json"))
    assert len(packages) <= MAX_PACKAGES, [package["name"] for package in packages]
    (site_packages,) = venv.glob("lib/python*/site-packages")
    subprocess.run([venv / "bin" / "python", "-m", "compileall", "-q", site_packages], check=False, timeout=120)
    size = sum(path.stat().st_size for path in site_packages.rglob("*") if path.is_file())
    assert size <= MAX_BYTES


def test_the_quick_start(machine):
    (machine.project / "hookline.yaml").unlink()
    assert machine.hookline("init").returncode == 0
    assert "no problem" in machine.hookline("check").stdout
    assert "ask-before-push" in machine.hookline("list").stdout
    fired = machine.hookline("fire", "tool.before", "--tool", "bash", "--input", '{"command": "git push"}')
    assert (fired.returncode, fired.stdout.partition(":")[0]) == (3, "ask")


def test_trust_and_the_programs_of_hooks(machine):
    machine.hookline("trust", "--revoke")
    assert machine.hookline("trust").returncode == 3
    trusted = machine.hookline("trust", "--yes")
    assert (trusted.returncode, trusted.stdout.splitlines()[-1]) == (0, "Trusted: hookline.yaml")
    assert machine.hookline("fire", "tool.after", "--tool", "bash", "--input", "{}").returncode == 0


def test_case_files(machine):
    cases = machine.project / "tests/hooks"
    cases.mkdir(parents=True)
    (cases / "rm.yaml").write_text(CASE)
    assert "1 passed" in machine.hookline("test").stdout


def test_every_format_is_converted_and_described(machine):
    for dialect in ("native", "flo", "microai", "ai_agents", "digitorn", "claude_code", "hook_interchange"):
        assert json.loads(machine.hookline("schema", dialect).stdout)["$schema"]
        assert "bug" not in machine.hookline("convert", "hookline.yaml", "--to", dialect).stderr
    assert machine.hookline("convert", "hookline.yaml", "--to", "native").returncode == 0


def test_a_script_of_flo_decides(machine):
    (machine.project / "hub.json").write_text(json.dumps(SCRIPT_HOOKS))
    machine.hookline("trust", "--yes")
    fired = machine.hookline("fire", "PreToolUse", "--tool", "bash", "--input", '{"command": "curl x"}')
    assert (fired.returncode, fired.stdout.splitlines()[0]) == (2, "deny: No curl.")


def test_it_is_plugged_into_a_coding_agent(machine):
    installed = machine.hookline("install", "claude-code")
    assert installed.returncode == 0, installed.stderr
    settings = json.loads((machine.home / ".claude/settings.json").read_text())
    (group, *_) = settings["hooks"]["PreToolUse"]
    command = group["hooks"][0]["command"]
    done = subprocess.run(
        ["sh", "-c", command],
        input=machine.payload("rm -rf x"),
        capture_output=True,
        timeout=60,
        cwd=machine.project,
        env=machine.environment,
    )
    assert deny_reason(done.stdout.decode()) == "Never."
    assert machine.hookline("doctor", "claude-code", "--json").stdout.startswith("{")
    assert machine.hookline("uninstall", "claude-code").returncode == 0


@pytest.mark.parametrize("options", [[], ["--direct"]], ids=["engine", "direct"])
def test_the_bridge_denies(machine, options):
    done = machine.hookline("bridge", *options, "claude-code", "PreToolUse", input=machine.payload("rm x").decode())
    assert deny_reason(done.stdout) == "Never.", done.stderr


def test_the_proxy_stands_before_an_mcp_server(machine):
    (machine.project / "server.py").write_text(MCP_SERVER)
    params: dict[str, Any] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"id": 1, "method": "initialize", "params": params},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "whisper", "arguments": {}}},
        {"id": 3, "method": "tools/call", "params": {"name": "shout", "arguments": {}}},
    ]
    process = subprocess.Popen(
        [machine.venv / "bin/hookline", "mcp", "--", sys.executable, "server.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=machine.project,
        env=machine.environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers = {}
    with process:
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message:
                answer = json.loads(process.stdout.readline())
                answers[answer["id"]] = answer["result"]
        process.stdin.close()
    assert process.returncode == 0
    assert answers[1]["serverInfo"]["name"] == "tiny"
    assert answers[2]["content"][0]["text"] == "heard whisper"
    assert answers[3]["isError"]
    assert "Not so loud." in answers[3]["content"][0]["text"]


def test_python_guards_a_tool(machine):
    code = (
        "import asyncio, hookline\n"
        "@hookline.guard\n"
        "async def bash(command): return 'ran'\n"
        "async def main():\n"
        "    async with hookline.session():\n"
        "        print(await bash(command='ls'))\n"
        "        try: await bash(command='rm x')\n"
        "        except hookline.Denied as denied: print(denied.reason)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [machine.venv / "bin/python", "-c", code],
        capture_output=True,
        text=True,
        cwd=machine.project,
        env=machine.environment,
        timeout=60,
    )
    assert done.stdout.split("\n")[:2] == ["ran", "Never."], done.stderr


@pytest.mark.parametrize(
    ("arguments", "need", "extra"),
    [
        (["run"], "hookline run needs hookline's agent", "agent"),
        (["mcp", "--url", "http://127.0.0.1:9/mcp"], "hookline mcp --url needs an MCP client", "mcp"),
    ],
)
def test_an_extra_that_is_missing_is_named(machine, arguments, need, extra):
    done = machine.hookline(*arguments)
    assert done.returncode == 1
    assert need in done.stderr
    assert done.stderr.count("\n") == 1
    program, verb, requirement = shlex.split(done.stderr.partition("Install it: ")[2])
    assert (program, verb) == ("pip", "install")
    assert requirement.endswith(f"[{extra}]")
    run_uv("pip", "install", "--dry-run", "--python", str(machine.venv), requirement)
