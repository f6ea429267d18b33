"""Files that hooks name by path count for trust."""

import json
import time
from pathlib import Path

import pytest

from hookline.hooks.event import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.project.referenced_files import MAX_FILES, FileReferences, TooManyReferencesError, find_referenced_files
from project.cloned_project import CALL, Project


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("./scripts/check.sh", "scripts/check.sh"),
        ("bash scripts/check.sh --fast", "scripts/check.sh"),
        ("python3 'my hooks/guard.py'", "my hooks/guard.py"),
        ("python3 my\\\\ hooks/guard.py", "my hooks/guard.py"),
        ("$PROJECT_DIR/tools/x", "tools/x"),
        ('\\"${PROJECT_DIR}\\"/tools/x', "tools/x"),
        ("scan {{workspace}}/tools/x {{input.command}}", "tools/x"),
        ("cd tools/deep && ./x", "tools/deep/x"),
        ("FOO=conf/x.env sh -c '. conf/x.env'", "conf/x.env"),
        ("sh <tools/x", "tools/x"),
        ("~/anything/tools/x", "tools/x"),
        ("sh hooks/a,b.sh", "hooks/a,b.sh"),
        ("sh $PROJECT_DIR/hooks/a,b.sh", "hooks/a,b.sh"),
        ("X=hooks/a,b.sh:y sh $X", "hooks/a,b.sh"),
        ("python3 hooks/check:v2.py", "hooks/check:v2.py"),
        ("sh hooks/a=b.sh", "hooks/a=b.sh"),
        ("sh hooks/a#b.sh", "hooks/a#b.sh"),
        ("sh hooks/a!b.sh", "hooks/a!b.sh"),
        ("sh <>hooks/x.sh", "hooks/x.sh"),
        ("cd a && cd b && sh x.sh", "a/b/x.sh"),
        ("sh " + "./" * 2_000 + "hooks/x.sh", "hooks/x.sh"),
        ("sh -c 'sh \\\"my hooks/x.sh\\\"'", "my hooks/x.sh"),
        ("sh hooks/{x,y}.sh", "hooks/y.sh"),
        ("sh hooks/*.sh", "hooks/x.sh"),
        ("hooks/*.sh", "hooks/x.sh"),
        ("sh hooks/$NAME.sh", "hooks/x.sh"),
        ("for f in hooks/*; do sh $f; done", "hooks/x.sh"),
        ("for f in $PROJECT_DIR/hooks/*; do . $f; done", "hooks/x.sh"),
        ("for f in hooks/*; do ./$f; done", "hooks/x.sh"),
        ('find hooks -name \\"*.sh\\" -exec sh {} \\\\;', "hooks/deep/x.sh"),
        ("find hooks -type f -exec {} +", "hooks/deep/x"),
        ("find hooks -type f | xargs -n 1 sh", "hooks/deep/x"),
        ("cat hooks/* | sh", "hooks/x.sh"),
        ("run-parts hooks", "hooks/x"),
        ("sh hooks/[a-z].sh", "hooks/x.sh"),
        ("sh hooks/[^a].sh", "hooks/x.sh"),
        ("sh hooks/[[:alpha:]].sh", "hooks/x.sh"),
        ("[ -d hooks ] && sh hooks/*.sh", "hooks/x.sh"),
        ("x=$(sh hooks/*.sh)", "hooks/x.sh"),
        ("sh -c 'for f in hooks/*; do sh $f; done'", "hooks/x.sh"),
        ("run-parts --regex x hooks", "hooks/x"),
    ],
)
def test_a_changed_script_asks_again(project: Project, command: str, script: str) -> None:
    path = project.write(script, "exit 0\n")
    project.hooks(f'then: {{run: "{command}"}}, on_error: open')
    assert not project.accepted
    project.accept()
    assert project.accepted
    path.write_text("exit 1\n")
    assert not project.accepted
    path.write_text("exit 0\n")
    assert project.accepted


@pytest.mark.parametrize("then", ['{run: [bash, "scripts/x.sh"]}', "{script: \"callTool('bash', 'scripts/x.sh')\"}"])
def test_scripts_named_by_an_argv_or_a_script_count(project: Project, then: str) -> None:
    path = project.write("scripts/x.sh", "exit 0\n")
    project.hooks(f"then: {then}, on_error: open")
    project.accept()
    path.write_text("exit 1\n")
    assert not project.accepted


@pytest.mark.parametrize("then", ["[run-parts, hooks]", "[find, hooks, -exec, sh, '{}', ;]"])
def test_a_directory_that_an_argv_runs_counts(project: Project, then: str) -> None:
    path = project.write("hooks/x", "exit 0\n")
    project.hooks(f"then: {{run: {then}}}, on_error: open")
    project.accept()
    path.write_text("exit 1\n")
    assert not project.accepted
    path.write_text("exit 0\n")
    assert project.accepted
    project.write("hooks/new", "")
    assert not project.accepted


@pytest.mark.parametrize(
    "command",
    [
        "ruff check src",
        "python3 -m ruff check src",
        "tools/lint src/*.py",
        "find src | xargs ruff check",
        "$RUFF check src",
        '"${RUFF:-ruff}" check src && echo "$FILE"',
        "[ -f pyproject.toml ] && ruff check src",
        'if [ -n "$INPUT" ]; then ruff check src; fi',
        '[[ "$INPUT" == *src* ]] && exit 2',
        "echo '[AUDIT] {{input.command}} in src' >> /var/log/audit.log",
        'echo "[$(date -Iseconds)] src: $INPUT" >> /tmp/log.txt',
        """python3 -c "import json,sys; d=json.load(sys.stdin); print(d['src'])" """,
        """python3 -c 'import sys; x = [* sys.argv]; print(* x, "src")'""",
        'case "$1" in a) echo src;; src/*.py) exit 2;; *) ruff check src;; esac',
        "case $1 in\n  a)\n    exit 1\n    ;;\n  *)\n    ruff check src\n    ;;\nesac",
        "grep -qE '^[a-z]+ src/[*]' && exit 2",
    ],
)
def test_what_a_command_only_reads_may_change(project: Project, command: str) -> None:
    path = project.write("src/x.py", "")
    project.hooks(f"then: {{run: {json.dumps(command)}}}, on_error: open")
    project.accept()
    path.write_text("1\n")
    project.write("new-file", "")
    assert project.accepted


@pytest.mark.parametrize(
    "then",
    [
        "{script: \"const bad = ['rm -rf', 'src']; if (bad.some(b => toolInput['command'].includes(b))) return null\"}",
        "{script: \"/**\\n * Looks at src.\\n */\\nif (['bash', 'src'].includes(toolName)) return null\"}",
        "[{run: 'true'}, {tell: 'Tests first, then src/x.py'}]",
        "[{log: '{{tool.name}} and src/x.py'}, allow]",
        "[{judge: 'Is src/x.py well written?'}]",
    ],
)
def test_what_hooks_only_speak_of_may_change(project: Project, then: str) -> None:
    path = project.write("src/x.py", "")
    project.hooks(f"then: {then}, on_error: open")
    project.accept()
    path.write_text("1\n")
    assert project.accepted


@pytest.mark.parametrize(
    "app",
    [
        "agent: {id: a, prompt: You maintain src/x.py}",
        "agent: {id: a, prompt: {text: You maintain src/x.py}}",
        "agent: {id: a, side_a: {prompt: src/x.py}, side_b: {prompt: No}}",
        "triggers: [{id: t, files: src/x.py, prompt: Look at src/x.py}]",
    ],
)
def test_what_an_app_only_speaks_of_may_change(project: Project, app: str) -> None:
    path = project.write("src/x.py", "")
    project.write("hookline.yaml", app)
    assert not project.accepted
    project.accept()
    path.write_text("1\n")
    assert project.accepted


def test_a_name_through_a_link_is_that_of_the_file_behind_it(project: Project) -> None:
    path = project.write("far/x.sh", "")
    project.write("far/deep/y", "")
    (project.root / "link").symlink_to("far/deep")
    project.hooks("then: {run: sh link/../x.sh}, on_error: open")
    project.accept()
    path.write_text("exit 1\n")
    assert not project.accepted


@pytest.mark.parametrize(
    "command",
    [
        " ".join("/d" * 31 + f"/{number}" for number in range(10_000)),
        "sh " + "{a,b}" * 20,
        "cd " + " ".join(f"e{number}" for number in range(70)),
    ],
)
@pytest.mark.timing
def test_a_text_that_takes_too_long_to_look_up_is_never_trusted(project: Project, command: str) -> None:
    for number in range(70):
        (project.root / f"e{number}").mkdir()
    project.hooks(f"then: {{run: '{command}'}}, on_error: open")
    begun = time.monotonic()
    with pytest.raises(TooManyReferencesError):
        project.accept()
    assert not project.accepted
    assert time.monotonic() - begun < 30


def test_a_script_that_appears_later_asks_again(project: Project) -> None:
    project.hooks("then: {run: ./later.sh}, on_error: open")
    project.accept()
    assert project.accepted
    project.write("later.sh", "exit 0\n")
    assert not project.accepted


def test_a_script_named_from_the_files_own_directory_counts(project: Project) -> None:
    project.hooks("then: {run: ./guard.sh}, on_error: open", file=".hookline/guard.yaml")
    path = project.write(".hookline/guard.sh", "exit 0\n")
    project.accept()
    path.write_text("exit 1\n")
    assert not project.accepted


def test_files_outside_the_project_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "outside.sh").write_text("")
    (tmp_path / "app/inside.sh").write_text("")
    words = ("../outside.sh", str(tmp_path / "outside.sh"), "inside.sh", "/bin/sh", "\ud800", "a" * 999)
    assert find_referenced_files(FileReferences(words), tmp_path / "app", tmp_path / "app") == (
        tmp_path / "app/inside.sh",
    )


def test_a_file_that_names_more_than_can_be_watched_is_never_trusted(project: Project) -> None:
    for number in range(MAX_FILES + 1):
        project.write(f"many/{number}", "")
    project.hooks(
        'then: {run: "' + " ".join(f"many/{number}" for number in range(MAX_FILES + 1)) + '"}, on_error: open'
    )
    with pytest.raises(TooManyReferencesError):
        project.accept()
    assert not project.accepted
    assert [failure.kind for failure in project.decide().failures] == [FailureKind.NOT_TRUSTED]


def test_a_file_that_a_hook_only_writes_does_not_count(project: Project) -> None:
    project.write("audit.log", "")
    project.write("check.sh", "exit 0\n")
    project.hooks("then: {run: \"sh ./check.sh && echo seen >> audit.log 2>'err.log'\"}, on_error: closed")
    project.accept()
    event = Event(CALL.name, {**CALL.facts, "cwd": str(project.root)})
    assert project.decide(event).verdict is Verdict.SILENT
    assert (project.root / "audit.log").read_text() == "seen\n"
    assert project.accepted
    project.write("check.sh", "exit 1\n")
    assert not project.accepted


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("python3 -m tools.scan", "tools/scan.py"),
        ("python3 -m tools.scan", "tools/scan/__main__.py"),
        ("python3 -um tools.scan", "tools/__init__.py"),
        ("python3 -mtools.scan", "tools/scan.py"),
        ("python3 tools", "tools/__main__.py"),
        ("python3 -m pytest -q", "conftest.py"),
        ("node tools/scan", "tools/scan.js"),
        ("node tools/scan", "tools/scan/index.js"),
        ("node tools/scan", "tools/scan/package.json"),
        ("node -r ./x main.js", "x.js"),
        ("node --require=./x main.js", "x.js"),
        ("node --import ./x.mjs main.js", "x.mjs"),
        ("bun tools/scan", "tools/scan.ts"),
        ("awk -fx", "x"),
        ("awk -f x data", "x"),
        ("sed -fx data", "x"),
        ("jq -f tools/x.jq data.json", "tools/x.jq"),
        ("go run ./x", "x/main.go"),
        ("go run ./x", "x/other.go"),
        ("go run .", "main.go"),
        ("go test ./...", "main.go"),
        ("perl -Ix -My -e 1", "x/y.pm"),
        ("perl -Ix -MY::Z -e 1", "x/Y/Z.pm"),
        ("perl -I x -My main.pl", "x/y.pm"),
        ("ruby -Ix -ry -e 1", "x/y.rb"),
        ("lua -lx main.lua", "x.lua"),
        ("git -c core.hooksPath=x commit", "x/pre-commit"),
        ("git -c core.hookspath=x/y commit", "x/y/pre-commit"),
        ("git -c core.fsmonitor=./x status", "x"),
        ("git -c alias.x='!sh y' x", "y"),
        ("make lint", "Makefile"),
        ("make -fx lint", "x"),
        ("make -C sub lint", "sub/Makefile"),
        ("npm run lint", "package.json"),
        ("npx eslint .", "eslint.config.js"),
        ("./gradlew check", "gradlew"),
        ("./gradlew check", "build.gradle"),
        ("just lint", "justfile"),
        ("tox -e lint", "tox.ini"),
        ("pytest -q", "conftest.py"),
        ("cd sub && make", "sub/Makefile"),
        (". ./env.sh", "env.sh"),
        ("source env.sh", "env.sh"),
        ("BASH_ENV=./env.sh bash -c true", "env.sh"),
        ("env -S 'sh x.sh'", "x.sh"),
        ("cat x.sh | sh", "x.sh"),
        ("grep -v '^#' x.sh | bash -s", "x.sh"),
        ('sh -c "$(cat x.sh)"', "x.sh"),
        ('eval "$(cat x.sh)"', "x.sh"),
        ('echo "$(sh x.sh)" >> log', "x.sh"),
        ("echo `sh x.sh`", "x.sh"),
        ("bash <(cat x.sh)", "x.sh"),
        ("{ cat x.sh; } | sh", "x.sh"),
        ("(cat x.sh) | sh", "x.sh"),
        ("for f in a; do cat x.sh; done | sh", "x.sh"),
        ("cp x.sh /tmp/y && sh /tmp/y", "x.sh"),
        ("cat x.sh > /tmp/y; sh /tmp/y", "x.sh"),
        ("cat x.sh | tee /tmp/y; sh /tmp/y", "x.sh"),
        ("X=x.sh; sh $X", "x.sh"),
        ("X=x.sh; cat $X | sh", "x.sh"),
        ("read X < x.sh; eval $X", "x.sh"),
        ("while read -r l; do eval $l; done < x.sh", "x.sh"),
        ("xargs -a x.sh sh -c", "x.sh"),
        ("rg --pre ./x.sh foo", "x.sh"),
        ("sort --compress-program=./x.sh f", "x.sh"),
        ("test -f x.sh && ./x.sh", "x.sh"),
        ("sudo -u me ./x.sh", "x.sh"),
        ("timeout 5 nice ./x.sh", "x.sh"),
        ("echo a > x.sh; sh x.sh", "x.sh"),
        ("find . -name x.sh -exec sh {} +", "x.sh"),
        ("ssh -o ProxyCommand=./x.sh host", "x.sh"),
        ("LD_PRELOAD=./x.so ls", "x.so"),
        ("git --exec-path=lib scan", "lib/git-scan"),
        ("python3 -c 'import os, tools.scan'", "tools/scan.py"),
        ("python3 -c 'from scan import x'", "scan.py"),
        ("""node -e 'require("./x")'""", "x.js"),
        ("php -d auto_prepend_file=x.php y.php", "x.php"),
        ("NODE_OPTIONS='--require ./x.js' node y.js", "x.js"),
        ("PYTHONPATH=lib python3 -m scan", "lib/scan.py"),
        ("bash --rcfile x.sh -i", "x.sh"),
        ("perl -Mlib=lib -MX -e 1", "lib/X.pm"),
        ("grep -qf x && exit 2", "x"),
        ("echo a | grep -vxFf x", "x"),
        ("egrep -q --file=x", "x"),
        ("rg -qf x", "x"),
        ("jq -e --slurpfile denied x '.a'", "x"),
        ("jq --rawfile denied x .a", "x"),
    ],
)
def test_every_way_to_run_a_file_counts(project: Project, command: str, script: str) -> None:
    path = project.write(script, "1\n")
    project.hooks(f"then: {{run: {json.dumps(command)}}}, on_error: open")
    project.accept()
    path.write_text("2\n")
    assert not project.accepted
    path.write_text("1\n")
    assert project.accepted
    path.unlink()
    assert not project.accepted
    assert project.decide().verdict is Verdict.ASK


@pytest.mark.parametrize(
    "command",
    [
        "echo '[AUDIT] {{input.command}}' >> {{workspace}}/x",
        "echo a >> x",
        'echo a > "x" 2>&1',
        "echo a &> x",
        "echo a >| x",
        "echo a >>$PWD/x",
        'echo a >> "$PWD/x"',
        "echo a >> ${PWD}/x",
        'LOG=$PWD/x; echo a >> "$LOG"',
        "LOG=x; cat $LOG",
        "date | tee -a x",
        "date | tee x > /dev/null",
        "touch x",
        "touch $PWD/x && true",
        "mkdir -p d && touch d/y x",
        "rm -f x",
        "cat x",
        "cat < x",
        "cat x | head -1",
        "grep -q foo x && exit 2",
        "head -5 x | wc -l",
        "test -f x && exit 2",
        "[ -s x ] || exit 0",
        "[[ -f x ]] && exit 2",
        "if grep -q y x; then exit 2; fi",
        "jq -r .a x",
        "jq -e '.a == 1' < x",
        "ls -l x",
        "cp x /tmp/backup",
        "awk '{print $1}' x",
        "sed s/a/b/ x",
        "wc -l x >> log",
        "sort -o x /dev/null",
        "curl -o x https://example.com",
        "echo x",
        "printf '%s' x >> log",
        "diff x /dev/null",
        "scan {{input.x}}",
    ],
)
def test_a_file_that_is_only_written_or_read_as_data_may_change(project: Project, command: str) -> None:
    project.hooks(f"then: {{run: {json.dumps(command)}}}, on_error: open")
    project.accept()
    path = project.write("x", "1\n")
    assert project.accepted
    project.accept()
    path.write_text("2\n")
    assert project.accepted


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "digitorn.yaml",
            "runtime: {hooks: [{id: a, on: tool_end, action: {type: module_action, module: filesystem, action: write, action_params: {path: x, content: b}}}]}",
        ),
        ("hookline.yaml", "hooks: [{on: tool.after, then: {call: write_file, with: {path: x, content: 'sh x'}}}]"),
        (
            "hub.json",
            """{"hooks": {"PostToolUse": [{"action": "script", "script": "await callTool('write_file', {path: 'x', content: 'a'})"}]}}""",
        ),
        (
            "hub.json",
            """{"hooks": {"PostToolUse": [{"action": "script", "script": "await callTool('bash', {command: 'echo a >> x'})"}]}}""",
        ),
        (
            "hub.json",
            """{"hooks": {"PostToolUse": [{"command": "echo \\"[AUDIT] {{toolName}}\\" >> {{sandbox}}/x"}]}}""",
        ),
        (
            ".microai/settings.json",
            """{"hooks": {"PostToolUse": [{"command": "echo $INPUT | tee -a $PWD/x"}]}}""",
        ),
    ],
)
def test_what_a_hook_of_any_dialect_writes_may_change(project: Project, file: str, text: str) -> None:
    project.write(file, text)
    assert not project.accepted
    project.accept()
    project.write("x", "2\n")
    assert project.accepted
