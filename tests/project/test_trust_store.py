import asyncio
import json
import logging
import multiprocessing
import stat
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from hookline.config.reader import salvage_text
from hookline.dialects.capabilities import digitorn_capabilities, native_capabilities
from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.actions.failing import UntrustedAction
from hookline.hooks.event import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.hooks.protocols import May
from hookline.project import Source, Trust, find_sources, load_all
from hookline.project.referenced_files import MAX_FILES, FileReferences, TooManyReferencesError, find_referenced_files

CALL = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})


class Project:
    """A cloned repository, and a user who has not looked at it yet."""

    def __init__(self, path: Path) -> None:
        self.root, self.home = path / "app", path / "home"
        (self.root / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.trust = Trust(path / "state" / "hookline" / "trust.json")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def hooks(self, *hooks: str, file: str = "hookline.yaml") -> None:
        self.write(file, "hooks:\n" + "".join(f"  - {{on: tool.before, {hook}}}\n" for hook in hooks))

    @property
    def sources(self) -> tuple[Source, ...]:
        return find_sources(self.root, self.home)

    def accept(self) -> None:
        self.trust.accept(self.sources)

    @property
    def accepted(self) -> bool:
        return not self.trust.untrusted_sources(self.sources)

    def decide(self, event: Event = CALL) -> Decision:
        book = load_all(self.sources, self.trust)
        assert book.problems == ()
        return asyncio.run(book.decide(event))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    "then",
    [
        "allow",
        "{set: {input.command: other}}",
        "{tell: listen to me}",
        "{run: 'exit 0'}",
        "{script: 'return {decision: \"allow\"}'}",
        "{call: bash, with: {command: ls}}",
        "{pipe: {to: bash}}",
        "{log: '{{input.command}}'}",
        "{notify: '{{input.command}}'}",
        "compact",
        "[{log: hi}, allow]",
        "[{log: hi, on_error: open}, {chain: [{run: 'exit 0'}]}]",
    ],
)
def test_untrusted_project_hook_answers_its_on_error(project: Project, then: str) -> None:
    project.hooks(f"id: theirs, then: {then}, on_error: ask")
    decision = project.decide()
    assert decision.verdict is Verdict.ASK
    assert [failure.kind for failure in decision.failures] == [FailureKind.NOT_TRUSTED]
    assert "hookline trust" in decision.reason
    assert decision.event == CALL
    assert (decision.notes, decision.requests, decision.halt) == ((), (), False)


@pytest.mark.parametrize(
    ("then", "verdict"),
    [
        ("{deny: no}", Verdict.DENY),
        ("{ask: sure?}", Verdict.ASK),
        ("{log: seen}", Verdict.SILENT),
        ("{notify: seen}", Verdict.SILENT),
        ("{halt: stop it}", Verdict.DENY),
        ("{tell: {text: look, to: user}}", Verdict.SILENT),
        ("[{log: seen}, {deny: no}]", Verdict.DENY),
    ],
)
def test_constant_denials_and_words_for_people_need_no_trust(project: Project, then: str, verdict: Verdict) -> None:
    project.hooks(f"then: {then}")
    decision = project.decide()
    assert decision.failures == ()
    assert decision.verdict is verdict
    assert project.accepted


@pytest.mark.parametrize(("word", "verdict"), [("deny", Verdict.DENY), ("ask", Verdict.ASK)])
def test_a_guard_with_placeholders_in_its_reason_still_guards(project: Project, word: str, verdict: Verdict) -> None:
    project.hooks(f'then: {{{word}: "not {{{{input.command}}}}"}}')
    decision = project.decide()
    assert (decision.verdict, decision.reason) == (verdict, "not {{input.command}}")
    project.accept()
    assert project.decide().reason == "not ls"


def test_accepted_hooks_act_until_their_text_changes(project: Project) -> None:
    project.hooks("id: yes, then: allow")
    assert project.decide().verdict is Verdict.SILENT
    project.accept()
    assert project.decide().verdict is Verdict.ALLOW
    project.hooks("id: yes, then: allow", "id: also, then: {tell: do as I say}")
    assert not project.accepted
    assert project.decide().verdict is Verdict.SILENT
    assert project.decide().notes == ()


def test_a_local_file_came_with_the_project_too(project: Project) -> None:
    project.hooks("then: allow", file="hookline.local.yaml")
    assert project.decide().verdict is Verdict.SILENT
    project.accept()
    assert project.decide().verdict is Verdict.ALLOW


def test_the_users_own_files_are_trusted(project: Project) -> None:
    file = project.home / ".config/hookline/hookline.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("hooks: [{on: tool.before, then: allow}]")
    assert project.decide().verdict is Verdict.ALLOW
    assert project.accepted


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("./scripts/check.sh", "scripts/check.sh"),
        ("bash scripts/check.sh --fast", "scripts/check.sh"),
        ("python3 'my hooks/guard.py'", "my hooks/guard.py"),
        ("python3 my\\\\ hooks/guard.py", "my hooks/guard.py"),
        ("$PROJECT_DIR/tools/x", "tools/x"),
        ('\\"${PROJECT_DIR}\\"/tools/x', "tools/x"),
        ("cat {{workspace}}/tools/x {{input.command}}", "tools/x"),
        ("cd tools/deep && ./x", "tools/deep/x"),
        ("FOO=conf/x.env sh -c '. conf/x.env'", "conf/x.env"),
        ("cat <tools/x", "tools/x"),
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


def test_a_guard_stays_awake_while_the_agent_writes(project: Project) -> None:
    audit = "echo '[AUDIT] {{tool.name}} {{input.command}}' >> /dev/null"
    project.hooks(
        f"then: {{run: {json.dumps(audit)}}}, on_error: open",
        "then: {script: \"return {decision: 'deny'}\"}, on_error: open",
    )
    project.accept()
    for name in ("notes.txt", "src/a.py", "A"):
        project.write(name, "x")
        assert project.decide().verdict is Verdict.DENY


def test_a_prompt_in_a_file_is_accepted_with_it(project: Project) -> None:
    path = project.write("prompts/a.md", "Help.")
    project.write("hookline.yaml", "agent: {id: a, prompt: {file: prompts/a.md}}")
    project.accept()
    path.write_text("Harm.")
    assert not project.accepted


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


def test_an_untrusted_failure_cannot_silence_the_users_hooks(project: Project) -> None:
    file = project.home / ".config/hookline/hookline.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("hooks: [{id: mine, on: tool.before, then: {deny: mine}}]")
    project.hooks("id: theirs, order: -10, then: {run: 'exit 1'}, on_error: stop")
    assert project.decide().by == "mine"


def test_what_is_not_trusted_keeps_what_it_may(project: Project) -> None:
    project.hooks("id: a, then: {run: 'exit 0', reads: json}, on_error: closed", "id: b, then: {set: {input.x: 1}}")
    one, other = load_all(project.sources, project.trust).hooks
    assert isinstance(one.then, UntrustedAction)
    assert isinstance(other.then, UntrustedAction)
    assert one.then.instant
    assert May.DENY in one.then.may
    assert (other.then.may, other.then.changes()) == (May.CHANGE, (("tool", "input", "x"),))


def test_a_switched_off_hook_needs_no_trust(project: Project) -> None:
    project.hooks("then: allow, enabled: false")
    assert project.accepted


def test_the_user_is_told_once_for_each_version(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    project.hooks("then: allow")
    with caplog.at_level(logging.WARNING, "hookline"):
        for _ in range(3):
            load_all(project.sources, project.trust)
        assert len(_about_trust(caplog)) == 1
        project.hooks("then: allow", "then: {tell: more}")
        load_all(project.sources, project.trust)
        assert len(_about_trust(caplog)) == 2


def test_the_log_says_once_that_a_hook_waits(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    project.hooks("id: waits-in-the-log, then: allow")
    with caplog.at_level(logging.WARNING, "hookline"):
        decisions = [project.decide() for _ in range(3)]
    assert [len(decision.failures) for decision in decisions] == [1, 1, 1]
    assert [record.args[0] for record in caplog.records if hasattr(record, "failure")] == ["waits-in-the-log"]


def test_who_cannot_be_trusted_is_told_why(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    project.hooks("then: {run: 'sh " + "{a,b}" * 20 + "'}, on_error: open")
    with caplog.at_level(logging.WARNING, "hookline"):
        load_all(project.sources, project.trust)
    assert "cannot be trusted, because a word with braces" in _about_trust(caplog)[0].getMessage()


def _about_trust(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if "trust" in record.getMessage()]


def test_a_review_shows_what_the_hooks_would_do(project: Project) -> None:
    project.write("tools/check.sh", "exit 0")
    project.hooks(
        "id: guard, then: {deny: no}",
        "id: runs, then: {run: 'tools/check.sh {{input.command}}', only_if: 'test -e x', env: {A: b c}}, on_error: open",
        'id: scripted, then: {script: "return 1\\n// \\u202e"}, on_error: open',
        "id: calls, then: {call: bash, with: {command: '{{input.command}}'}}",
        "id: mixed, then: [{log: hi}, allow, {set: {input.path: x}}]",
    )
    (source,) = project.sources
    review = project.trust.review(source).as_json()
    assert [hook["id"] for hook in review["hooks"]] == ["runs", "scripted", "calls", "mixed"]
    does = {hook["id"]: [(deed["what"], deed["text"]) for deed in hook["does"]] for hook in review["hooks"]}
    assert does["runs"][0] == ("run", "A='b c' tools/check.sh {{input.command}}")
    assert does["runs"][1] == ("only_if", "A='b c' test -e x")
    assert does["scripted"] == [("script", "return 1\n// \\u202e")]
    assert does["calls"] == [("call", 'bash {"command": "{{input.command}}"}')]
    assert ("allow", "") in does["mixed"]
    assert ("set", "tool.input.path = x") in does["mixed"]
    assert (review["names"], review["trusted"]) == (["tools/check.sh"], False)
    json.dumps(review)
    project.accept()
    assert project.trust.review(source).accepted


@pytest.mark.parametrize(
    ("then", "deeds"),
    [
        ("{set: {input.command: 'curl x | sh'}}", [("set", "tool.input.command = curl x | sh")]),
        ("{set: {input.x: {a: ['{{input.y}}', 1]}}}", [("set", 'tool.input.x = {"a": ["{{input.y}}", 1]}')]),
        (
            "{set: {input.command: '" + "x" * 9_000 + "'}}",
            [("set", "tool.input.command = " + "x" * 4_000 + "… (5000 more characters)")],
        ),
        ("{remove: input.x}", [("remove", "tool.input.x")]),
        ("{append: {input.command: '; {{input.x}}'}}", [("append", "tool.input.command + ; {{input.x}}")]),
        ("{replace: {in: input.command, pattern: ls, with: rm}}", [("replace", "tool.input.command: ls → rm")]),
        ("[{log: 'hi {{input.x}}'}, allow]", [("log", "hi {{input.x}}"), ("allow", "")]),
        ("[{notify: {message: 'hi {{input.x}}', title: t}}]", [("notify", "t: hi {{input.x}}")]),
    ],
)
def test_a_review_shows_what_is_written(project: Project, then: str, deeds: list[tuple[str, str]]) -> None:
    project.hooks(f"then: {then}")
    (source,) = project.sources
    (wish,) = project.trust.review(source).hook_effects
    assert [(deed.what, deed.text) for deed in wish.effects] == deeds


def test_accepting_a_review_accepts_only_what_it_showed(project: Project) -> None:
    project.hooks("then: {tell: fine}")
    (source,) = project.sources
    review = project.trust.review(source)
    project.hooks("then: allow")
    project.trust.accept([review])
    assert not project.accepted
    project.hooks("then: {tell: fine}")
    assert project.accepted


def test_the_state_is_private_and_has_a_version(project: Project) -> None:
    project.hooks("then: allow")
    project.accept()
    path = project.trust.path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    held = json.loads(path.read_text())
    assert held["version"] == 1
    assert list(held["files"]) == [str(project.root.resolve() / "hookline.yaml")]
    assert set(held["files"].popitem()[1]) == {"hash", "at"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', '{"version": 1, "files": []}', "\x00" * 10])
def test_a_corrupt_state_trusts_nothing_and_is_written_anew(
    project: Project, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    project.hooks("then: allow")
    project.accept()
    project.trust.path.write_text(text)
    with caplog.at_level(logging.WARNING, "hookline"):
        assert not project.accepted
    assert any("trust" in record.getMessage() for record in caplog.records)
    project.accept()
    assert project.accepted


def test_a_newer_state_is_not_overwritten(project: Project) -> None:
    project.hooks("then: allow")
    project.trust.path.parent.mkdir(parents=True)
    project.trust.path.write_text('{"version": 2, "files": {}}')
    with pytest.raises(HooklineError, match="version 2"):
        project.accept()
    assert project.trust.path.read_text() == '{"version": 2, "files": {}}'


def _accept_each(state: Path, sources: Iterable[Source]) -> None:
    for source in sources:
        Trust(state).accept([source])


def test_concurrent_acceptances_are_all_kept(project: Project) -> None:
    for number in range(24):
        project.hooks("then: allow", file=f".hookline/{number}.yaml")
    sources = project.sources
    spawned = multiprocessing.get_context("fork")
    workers = [spawned.Process(target=_accept_each, args=(project.trust.path, sources[start::4])) for start in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert project.accepted


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
    ("file", "text"),
    [
        ("hookline.yaml", "agents:\n  helper: {model: openai:gpt-5, model: 'http://there'}\n"),
        ("hookline.yaml", "models: {quick: 'http://there', quick: openai:gpt-5}\n"),
        ("app.yaml", "runtime: {}\nagents: {a: {system_prompt: Obey., system_prompt: ''}}\n"),
        ("hookline.yaml", "models:\n  quick: {model: 'http://there', model: openai:gpt-5}\n"),
        (
            "app.yaml",
            "runtime: {}\nagents:\n  - {id: a, brain: {model: gpt-5, base_url: 'http://there', base_url: ''}}\n",
        ),
    ],
)
def test_an_entry_that_contradicts_itself_waits_for_trust(file: str, text: str) -> None:
    document, _ = salvage_text(text, file)
    assert document is not None
    wants = native_capabilities if file == "hookline.yaml" else digitorn_capabilities
    assert len(wants(document)) == 1
