"""Files that a trusted script sources, imports or starts count for trust; what it reads as data does not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hookline.hooks.outcome import Verdict
from hookline.project.referenced_files import TooManyReferencesError
from hookline.project.script_imports import add_imported_files
from project.cloned_project import Project

SCRIPTS = {".sh": "sh", ".bash": "bash", ".py": "python3", ".js": "node", ".rb": "ruby", ".pl": "perl", ".lua": "lua"}


def guard(project: Project, script: str, text: str) -> None:
    project.write(script, text)
    program = SCRIPTS.get(Path(script).suffix, "sh")
    command = "make check" if script == "Makefile" else "npm run check" if script == "package.json" else ""
    project.hooks(f"then: {{run: {command or f'{program} {script}'}}}, on_error: open")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("script", "text", "imported"),
    [
        ("tools/guard.sh", ". tools/lib.sh", "tools/lib.sh"),
        ("tools/guard.sh", ". ./lib", "tools/lib"),
        ("tools/guard.sh", 'source "$(dirname "$0")/lib.sh"', "tools/lib.sh"),
        ("tools/guard.sh", 'here=$(cd "$(dirname "$0")" && pwd)\n. "$here/lib/rules"', "tools/lib/rules"),
        ("tools/guard.sh", 'D="$(dirname "${BASH_SOURCE[0]}")"\nsource "${D}/../lib/rules.sh"', "lib/rules.sh"),
        ("tools/guard.sh", "for f in rules.d/*.sh; do . $f; done", "rules.d/a.sh"),
        ("tools/guard.sh", "exec python3 tools/judge.py", "tools/judge.py"),
        ("tools/guard.sh", "if ./tools/judge.sh; then exit 2; fi", "tools/judge.sh"),
        ("tools/guard.sh", "cat tools/rules.sh | bash", "tools/rules.sh"),
        ("tools/guard", ". tools/lib.sh", "tools/lib.sh"),
        ("tools/guard.py", "import rules", "tools/rules.py"),
        ("tools/guard.py", "import os, rules as r", "tools/rules.py"),
        ("tools/guard.py", "from rules import judge", "tools/rules.py"),
        ("tools/guard.py", "from lib.rules import judge", "tools/lib/rules.py"),
        ("tools/guard.py", "from lib.rules import judge", "tools/lib/__init__.py"),
        ("tools/guard.py", "from lib import (\n    rules,\n    more,\n)", "tools/lib/more.py"),
        ("tools/guard.py", "def f():\n    import rules", "tools/rules.py"),
        ("tools/guard.py", "import importlib\nimportlib.import_module('lib.rules')", "tools/lib/rules.py"),
        ("tools/guard.py", "import sys\nsys.path.insert(0, 'lib')\nimport rules", "lib/rules.py"),
        ("tools/guard.py", "import json", "tools/json.py"),
        ("tools/guard.py", "import json", "tools/re.py"),
        ("tools/guard.py", "import json", "tools/enum/__init__.py"),
        ("tools/guard.py", "import subprocess\nsubprocess.run(['bash', 'tools/judge.sh'])", "tools/judge.sh"),
        ("tools/guard.py", "import os\nos.system('bash tools/judge.sh -x')", "tools/judge.sh"),
        ("tools/guard.py", "exec((Path(__file__).parent / 'rules.py').read_text())", "tools/rules.py"),
        ("tools/guard.js", "const r = require('./rules')", "tools/rules.js"),
        ("tools/guard.js", "const r = require('../lib/rules')", "lib/rules/index.js"),
        ("tools/guard.js", 'import r from "./rules.mjs"', "tools/rules.mjs"),
        ("tools/guard.rb", "require_relative 'rules'", "tools/rules.rb"),
        ("tools/guard.pl", "use lib 'lib';\nuse My::Rules;", "lib/My/Rules.pm"),
        ("tools/guard.lua", 'local r = require("lib.rules")', "lib/rules.lua"),
        ("Makefile", "check:\n\tsh tools/judge.sh", "tools/judge.sh"),
        ("Makefile", "-include tools/judge.mk\ncheck:\n\ttrue", "tools/judge.mk"),
        ("package.json", '{"scripts": {"check": "node tools/judge.js"}}', "tools/judge.js"),
    ],
)
def test_what_a_script_runs_in_turn_counts(project: Project, script: str, text: str, imported: str) -> None:
    path = project.write(imported, "1\n")
    guard(project, script, text)
    project.accept()
    path.write_text("2\n")
    assert not project.accepted
    assert project.decide().verdict is Verdict.ASK
    path.write_text("1\n")
    assert project.accepted
    path.unlink()
    assert not project.accepted
    assert project.decide().verdict is Verdict.ASK


def test_it_is_followed_from_file_to_file(project: Project) -> None:
    project.write("tools/a.py", "from b import x")
    project.write("tools/b.py", "import c; import a")
    last = project.write("tools/c.py", "1")
    guard(project, "tools/guard.sh", "python3 tools/a.py")
    project.accept()
    last.write_text("2")
    assert not project.accepted
    assert project.decide().verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("text", "appeared"),
    [
        ("import json", "tools/json.py"),
        ("import rules", "tools/rules.py"),
        ("1", "tools/os.py"),
        ("import rules", "tools/rules.cpython-311-x86_64-linux-gnu.so"),
        ("import rules.more", "tools/rules/more.abi3.so"),
        ("import rules.more", "tools/rules/__init__.so"),
        ("1", "tools/json/__init__.abi3.so"),
    ],
)
def test_a_module_that_appears_is_a_change(project: Project, text: str, appeared: str) -> None:
    guard(project, "tools/guard.py", text)
    project.accept()
    project.write(appeared, "1")
    assert not project.accepted
    assert project.decide().verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("script", "text", "data"),
    [
        ("tools/guard.sh", "# see tools/other.sh\nexit 0", "tools/other.sh"),
        ("tools/guard.sh", "grep -q x rules.txt", "rules.txt"),
        ("tools/guard.sh", "echo $(date) >> audit.log", "audit.log"),
        ("tools/guard.sh", "cat README.md", "README.md"),
        ("tools/guard.sh", "ruff check pyproject.toml", "pyproject.toml"),
        ("tools/guard.py", "open('audit.log', 'a').write('x')", "audit.log"),
        ("tools/guard.py", "import json\njson.load(open('rules.json'))", "rules.json"),
        ("tools/guard.py", "import rules", "other.py"),
        ("tools/guard.py", "import json", "tools/data/json.txt"),
        ("tools/guard.js", "require('fs').appendFileSync('audit.log', 'x')", "audit.log"),
    ],
)
def test_what_a_script_only_reads_or_writes_may_change(project: Project, script: str, text: str, data: str) -> None:
    path = project.write(data, "1\n")
    guard(project, script, text)
    project.accept()
    path.write_text("2\n")
    assert project.accepted


def test_a_large_file_is_not_searched(tmp_path: Path) -> None:
    bundle, other = tmp_path / "bundle.js", tmp_path / "other.js"
    bundle.write_text("require('./other')\n" + "//" * 200_000)
    other.write_text("1")
    assert add_imported_files([bundle], tmp_path) == (bundle,)


@pytest.mark.slow
def test_a_circle_of_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(1_002):
        (tmp_path / f"m{number}.py").write_text(f"import m{number + 1}")
    with pytest.raises(TooManyReferencesError):
        add_imported_files([tmp_path / "m0.py"], tmp_path)


def test_it_takes_little_time_for_a_usual_guard(tmp_path: Path) -> None:
    script = tmp_path / "guard.py"
    script.write_text("import json, sys, rules\n" + "".join(f"x = 'text {each}'\n" for each in range(300)))
    (tmp_path / "rules.py").write_text("import re\n")
    add_imported_files([script], tmp_path)
    start = time.perf_counter()
    for _ in range(20):
        add_imported_files([script], tmp_path)
    assert (time.perf_counter() - start) / 20 < 0.05
