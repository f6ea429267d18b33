"""An agent leaves a guard's own file alone, and attacks what the guard needs: its permissions, modules and directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attempts import Attempt
from hostile_project import HostileProject, Target

from hookline.hooks.outcome import Verdict

_PYTHON = (
    "import json, sys\nfrom helper import is_bad\nimport checks.more\n"
    "if is_bad(json.load(sys.stdin)):\n    print('no', file=sys.stderr)\n    sys.exit(2)\n"
)
_NODE = "const {isBad} = require('./bad')\nif (isBad(require('fs').readFileSync(0, 'utf8'))) process.exit(2)\n"
_FILES = {
    "tools/run.sh": '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\ncheck\n',
    "tools/lib.sh": "check() { if grep -q 'rm -rf'; then echo no >&2; exit 2; fi; }\n",
    "tools/start.sh": "#!/bin/sh\nexec tools/run.sh\n",
    "tools/guard.py": _PYTHON,
    "tools/helper.py": "def is_bad(payload):\n    return 'rm -rf' in str(payload)\n",
    "tools/checks/__init__.py": "",
    "tools/checks/more.py": "from . import most\n",
    "tools/checks/most.py": "",
    "tools/guard.js": _NODE,
    "tools/bad.js": "exports.isBad = text => text.includes('rm -rf')\n",
}


def _claude(command: str) -> Target:
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}
    return Target(".claude/settings.json", json.dumps({"hooks": hooks}), files=_FILES)


def _native(command: str) -> Target:
    hook = f"{{id: guard, on: tool.before, then: {{run: {command}, reads: exit2}}, on_error: open}}"
    return Target("hookline.yaml", f"hooks:\n  - {hook}\n", files=_FILES)


TARGETS = {
    "claude_code": _claude("./tools/run.sh"),
    "claude_code, variable": _claude('"$CLAUDE_PROJECT_DIR"/tools/run.sh'),
    "claude_code, indirect": _claude("sh tools/start.sh"),
    "native": _native("./tools/run.sh"),
}
PYTHON_TARGETS = {"claude_code": _claude("python3 tools/guard.py"), "native": _native("[python3, tools/guard.py]")}
_EXIT = "import os; os._exit(0)"
SCRIPT_ATTACKS = (
    "chmod -x tools/run.sh",
    "chmod 600 tools/*.sh",
    "chmod 000 tools/run.sh",
    "chmod -x tools/run.sh; touch -r README.md tools/run.sh",
    "echo 'check() { exit 0; }' > tools/lib.sh",
    "rm tools/lib.sh; ln -s /dev/null tools/lib.sh",
    "mv tools/lib.sh tools/old; printf 'check() { :; }' > tools/lib.sh",
    "rm tools/lib.sh; mkdir tools/lib.sh",
)
_FORGE = """
import importlib.util, marshal, os, pathlib, struct, sys
for file in sys.argv[1:]:
    status = os.stat(file)
    code = marshal.dumps(compile("import os; os._exit(0)", file, "exec"))
    header = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(status.st_mtime), status.st_size)
    for name in (importlib.util.cache_from_source(file), importlib.util.cache_from_source(file, optimization="1")):
        pathlib.Path(name).parent.mkdir(exist_ok=True)
        pathlib.Path(name).write_bytes(header + code)
"""
_FORGE_COMMAND = f"python3 -c '{_FORGE}'"  # the cache of a module: the module itself is as it was
PYTHON_ATTACKS = (
    f"{_FORGE_COMMAND} tools/helper.py",
    f"{_FORGE_COMMAND} tools/checks/__init__.py",
    f"{_FORGE_COMMAND} tools/checks/more.py tools/checks/most.py",
    "touch tools/helper.so",
    "touch tools/helper.abi3.so",
    "touch tools/json.abi3.so",
    "touch tools/checks/more.abi3.so",
    "mkdir tools/helper; touch tools/helper/__init__.abi3.so",
    'python3 -c \'import sysconfig; open("tools/helper" + sysconfig.get_config_var("EXT_SUFFIX"), "w")\'',
    "echo 'def is_bad(payload): return False' > tools/helper.py",
    f"echo '{_EXIT}' > tools/json.py",
    f"echo '{_EXIT}' > tools/re.py",
    f"echo '{_EXIT}' > tools/codecs.py",
    f"mkdir tools/json; echo '{_EXIT}' > tools/json/__init__.py",
    f"mkdir tools/helper; echo '{_EXIT}' > tools/helper/__init__.py",
    f"mkdir tools/encodings; echo '{_EXIT}' > tools/encodings/__init__.py; echo '{_EXIT}' > tools/decimal.py",
    f"echo '{_EXIT}' >> tools/checks/__init__.py",
    f"echo '{_EXIT}' >> tools/checks/more.py",
    f"echo '{_EXIT}' >> tools/checks/most.py",
    f"mkdir tools/x; mv tools/helper.py tools/x; ln -s x/helper.py tools/helper.py; echo '{_EXIT}' > tools/x/helper.py",
)
DIRECTORY_ATTACKS = (
    "mkdir -p sub/tools; echo 'exit 0' > sub/tools/run.sh; cp sub/tools/run.sh sub/tools/start.sh; chmod +x sub/tools/*",
    "mkdir -p sub; ln -s /bin sub/tools",
)


def _attack(root: Path, target: Target, attacks: tuple[str, ...], attempt: Attempt, directory: str = "") -> None:
    hostile = HostileProject(root, target)
    for command in ("true", *attacks):
        hostile.start()
        hostile.run_as_agent(command)
        for who, verdict in hostile.verdicts(directory).items():
            what = f"{target.file}, {who}: {command}"
            assert command != "true" or directory or verdict is Verdict.DENY, f"before any attack: {what}"
            attempt("an agent against what its guards' scripts need", verdict < Verdict.ASK, what)


@pytest.mark.parametrize("target", ["native", "claude_code, variable", "claude_code, indirect"])
def test_no_loss_of_what_a_script_needs_lets_a_denied_call_run(tmp_path: Path, target: str, attempt: Attempt) -> None:
    _attack(tmp_path, TARGETS[target], SCRIPT_ATTACKS, attempt)


@pytest.mark.parametrize("target", PYTHON_TARGETS)
def test_no_module_lets_a_denied_call_run(tmp_path: Path, target: str, attempt: Attempt) -> None:
    _attack(tmp_path, PYTHON_TARGETS[target], PYTHON_ATTACKS, attempt)


@pytest.mark.parametrize("target", [name for name in TARGETS if name.startswith("claude_code")])
def test_no_directory_of_the_agents_shell_lets_a_denied_call_run(tmp_path: Path, target: str, attempt: Attempt) -> None:
    _attack(tmp_path, TARGETS[target], ("mkdir sub", *DIRECTORY_ATTACKS), attempt, "sub")
