"""Hooks of a project act fully only after the user trusts them."""

import asyncio
import json
import logging
import multiprocessing
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hookline.config.reader import salvage_text
from hookline.dialects.capabilities import digitorn_capabilities, native_capabilities
from hookline.errors import HooklineError
from hookline.hooks.actions.failing import UntrustedAction
from hookline.hooks.event import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.hooks.protocols import May
from hookline.project import Source, Trust, load_all
from project.cloned_project import CALL, Project


def _about_trust(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if "trust" in record.getMessage()]


def _accept_each(state: Path, sources: Iterable[Source]) -> None:
    for source in sources:
        Trust(state).accept([source])


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
    assert (decision.verdict, decision.halt) == (verdict, False)


@pytest.mark.parametrize("then", ["{log: seen}", "{notify: seen}", "{tell: {text: look, to: user}}"])
def test_a_file_that_acts_the_same_without_trust_need_not_be_reviewed(project: Project, then: str) -> None:
    project.hooks(f"then: {then}")
    assert project.accepted


@pytest.mark.parametrize(("word", "verdict"), [("deny", Verdict.DENY), ("ask", Verdict.ASK)])
def test_a_guard_with_placeholders_in_its_reason_still_guards(project: Project, word: str, verdict: Verdict) -> None:
    project.hooks(f'id: g, then: {{{word}: "not {{{{input.command}}}}"}}')
    decision = project.decide()
    assert decision.verdict is verdict
    assert [note.text for note in decision.notes] == ["g (hookline.yaml:2): not {{input.command}}"]
    project.accept()
    assert project.decide().reason == "not ls"


def test_accepted_hooks_act_until_their_trust_is_withdrawn(project: Project) -> None:
    project.hooks("id: yes, then: allow")
    assert project.decide().verdict is Verdict.SILENT
    project.accept()
    assert project.decide().verdict is Verdict.ALLOW
    assert project.trust.revoke(project.sources) == project.sources
    assert project.decide().verdict is Verdict.SILENT
    assert project.trust.revoke(project.sources) == ()


def test_what_a_change_adds_waits_and_what_was_accepted_stays(project: Project) -> None:
    project.hooks("id: yes, then: allow")
    project.accept()
    project.hooks("id: also, then: {tell: do as I say}")
    assert not project.accepted
    decision = project.decide()
    assert (decision.verdict, decision.by, decision.notes) == (Verdict.ALLOW, "yes", ())
    project.accept()
    assert [note.text for note in project.decide().notes] == ["do as I say"]


def _replace_by_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _replace_by_link(path: Path) -> None:
    path.with_name("other.yaml").write_text("hooks: []\n")
    path.unlink()
    path.symlink_to("other.yaml")


def _replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "one more space": lambda path: path.write_text(path.read_text() + " "),
    "emptied": lambda path: path.write_text(""),
    "without hooks": lambda path: path.write_text("hooks: []\n"),
    "deleted": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name("hookline.yml.bak")),
    "replaced by a directory": _replace_by_directory,
    "replaced by a link": _replace_by_link,
    "replaced by a pipe": _replace_by_pipe,
    "a dangling link": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "disabled": lambda path: path.write_text(path.read_text().replace("{on:", "{enabled: false, on:")),
    "an allow": lambda path: path.write_text("hooks: [{on: tool.before, order: -9, then: allow, on_error: stop}]\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_never_loosens(project: Project, change: str) -> None:
    project.write("guard.sh", "exit 1\n")
    project.hooks("id: guard, then: {run: 'sh guard.sh', reads: nonzero}, on_error: open", "id: wall, then: {ask: w}")
    project.accept()
    assert project.decide(_here(project)).by == "guard"
    CHANGES[change](project.root / "hookline.yaml")
    assert [source.display_path for source in project.trust.untrusted_sources(project.sources)] == ["hookline.yaml"]
    book = load_all(project.sources, project.trust)
    decision = asyncio.run(book.decide(_here(project)))
    assert (decision.verdict, decision.by) == (Verdict.DENY, "guard")
    assert "changed-since-trusted" in [problem.code for problem in book.problems]


def test_a_deleted_file_counts_until_its_deletion_is_trusted(project: Project) -> None:
    project.hooks("then: {deny: no}")
    project.accept()
    (project.root / "hookline.yaml").unlink()
    assert project.decide().reason == "no"
    project.accept()
    assert project.sources == ()
    assert project.decide().verdict is Verdict.SILENT


def test_an_agent_cannot_hide_a_file_behind_a_new_repository(project: Project) -> None:
    project.hooks("then: {deny: no}")
    project.accept()
    below = project.root / "src" / "deep"
    below.mkdir(parents=True)
    for directory in (below, below.parent):
        (directory / ".git").mkdir()
        assert project.trust.sources(below, project.home) != ()
    (project.root / ".git").rmdir()
    assert project.trust.sources(below, project.home) != ()
    assert project.trust.sources(project.root.parent, project.home) == ()


def test_guards_that_a_change_adds_are_in_force_at_once(project: Project) -> None:
    project.hooks("id: old, when: {input: {command: rm}}, then: {deny: no}")
    project.accept()
    project.hooks("id: old, when: {input: {command: mv}}, then: {deny: no}", "id: new, then: {ask: sure?}")
    assert project.decide(_call("rm a")).reason == "no"
    assert "nobody has trusted" in project.decide(_call("mv a b")).reason
    assert project.decide(_call("ls")).verdict is Verdict.ASK


def test_a_change_cannot_use_up_the_limit_of_an_accepted_hook(project: Project) -> None:
    project.hooks("id: twice, when: {input: {command: rm}}, then: {deny: no}, max_fires: 2")
    project.accept()
    project.hooks("id: twice, then: {deny: other}, max_fires: 2")
    book = load_all(project.sources, project.trust)
    for _ in range(5):
        asyncio.run(book.decide(_call("ls")))
    assert asyncio.run(book.decide(_call("rm a"))).reason == "no"


def test_a_changed_definition_is_imported_as_it_was_accepted(project: Project) -> None:
    file = project.write("agents/hooks.py", _DEFINITION.format(word="first"))
    project.write("hookline.yaml", "standard_agents: agents\n")
    project.accept()
    for change in ("edited", "deleted", "folder deleted"):
        match change:
            case "edited":
                file.write_text(_DEFINITION.format(word="second"))
            case "deleted":
                file.unlink()
            case _:
                file.parent.rmdir()
        event = Event("history.system", {"system": "Help.", "agent": {"id": "a", "name": "a", "prompt": "p"}})
        book = load_all(project.sources, project.trust)
        assert asyncio.run(book.decide(event)).event.facts["system"] == "first", change
    project.write("agents/hooks.py", _DEFINITION.format(word="second"))
    project.accept()
    assert project.decide(event).event.facts["system"] == "second"


_DEFINITION = """
from hookline.standard_agents import define_agent, define_hook, define_prompt

@define_hook(hook="after_system_message", id="word")
async def word(state, system):
    return "{word}"

define_prompt(name="p", prompt="Help.", hooks=["word"])
define_agent(name="a", side_a={{"prompt": "p"}}, hooks=["word"])
"""


def test_the_difference_to_what_was_accepted_is_shown(project: Project) -> None:
    project.write("guard.sh", "exit 1\n")
    project.hooks("id: guard, then: {run: 'sh guard.sh'}")
    (source,) = project.sources
    assert project.trust.diff(source) == ""
    project.accept()
    assert project.trust.diff(source) == ""
    project.write("guard.sh", "exit 0\n")
    assert project.trust.diff(source).splitlines()[-2:] == ["-exit 1", "+exit 0"]
    (project.root / "hookline.yaml").unlink()
    assert "-  - {on: tool.before, id: guard" in project.trust.diff(source)


def _call(command: str) -> Event:
    return Event("tool.before", {"tool": {"name": "bash", "input": {"command": command}}})


def _here(project: Project) -> Event:
    return Event(CALL.name, {**CALL.facts, "cwd": str(project.root)})


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


def test_the_state_is_private_and_has_a_version(project: Project) -> None:
    project.hooks("then: allow")
    project.accept()
    path = project.trust.path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    held = json.loads(path.read_text())
    assert held["version"] == 2
    assert list(held["files"]) == [str(project.root.resolve() / "hookline.yaml")]
    assert {"text", "runs", "at"} <= set(held["files"].popitem()[1])
    copies = list((path.parent / "accepted").iterdir())
    assert [copy.read_text() for copy in copies] == [(project.root / "hookline.yaml").read_text()]
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(copies[0].parent.stat().st_mode) == 0o700


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
    project.trust.path.write_text('{"version": 3, "files": {}}')
    with pytest.raises(HooklineError, match="version 3"):
        project.accept()
    assert project.trust.path.read_text() == '{"version": 3, "files": {}}'


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
