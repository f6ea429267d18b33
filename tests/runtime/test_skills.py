import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.book import Book, Layer
from hookline.errors import HooklineError
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.event import Event
from hookline.hooks.hook import Scope
from hookline.hooks.outcome import Verdict
from hookline.project import load_text
from hookline.runtime.session_hooks import dump_session_hooks, load_session_hooks
from hookline.runtime.skills import Skills, skill_sources

REVIEW = """---
name: review
description: Reviews a
  branch
allowedTools: [read_file, grep]
license: MIT
hooks:
  PreToolUse:
    - {matcher: ^bash$, action: deny, reason: Reviews run nothing}
---
# Review

Review $ARGUMENTS now. Again: {{ arguments }}. Not {{other}}.
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def skills(project: Any) -> Skills:
    write(project.home / ".config" / "hookline" / "skills", "review", REVIEW)
    return of(project)


def of(project: Any, **more: Any) -> Skills:
    return Skills(project.load(), project.root, project.home, project.trust, **more)


def test_a_skill_is_read_with_its_front_matter(skills: Skills) -> None:
    assert skills.problems == ()
    [skill] = skills
    assert (skill.name, skill.description) == ("review", "Reviews a branch")
    assert skill.body.startswith("# Review")
    assert skills.format_list() == "- review: Reviews a branch"
    assert skills.format_list() in skills.prompt_text()


def test_arguments_are_text_and_are_not_expanded_again(skills: Skills) -> None:
    text = skills.invoke("review", "main $ARGUMENTS {{arguments}}", "a", "s").text
    given = "main $ARGUMENTS {{arguments}}"
    assert text == f"# Review\n\nReview {given} now. Again: {given}. Not {{{{other}}}}."


def test_its_hooks_hold_for_that_agent_in_that_session_alone(skills: Skills) -> None:
    invoked = skills.invoke("review", "", "a", "s")
    book = Book([Layer("session", invoked.hooks)])

    def verdict(tool: str, agent: str = "a", session: str = "s") -> Verdict:
        facts = {"tool": {"name": tool, "input": {}}, "agent": {"id": agent}, "session": {"id": session}}
        return asyncio.run(book.decide(Event("tool.before", facts))).verdict

    assert verdict("bash") is Verdict.DENY
    assert verdict("read_file") is Verdict.ALLOW
    assert verdict("write_file") is Verdict.SILENT
    assert verdict("bash", agent="b") is Verdict.SILENT
    assert verdict("bash", session="t") is Verdict.SILENT


def test_a_deny_beats_what_a_skill_allows(skills: Skills) -> None:
    own = load_text("hooks: [{id: no, on: tool.before, then: {deny: no}}]", "hookline.yaml").hooks
    book = Book([Layer("user", own), Layer("session", skills.invoke("review", "", "a", "s").hooks)])
    facts = {"tool": {"name": "grep", "input": {}}, "agent": {"id": "a"}, "session": {"id": "s"}}
    assert asyncio.run(book.decide(Event("tool.before", facts))).denied


def test_what_is_stored_brings_the_same_hooks_back(skills: Skills) -> None:
    invoked = skills.invoke("review", "", "a", "s")
    assert [part.scope for part in invoked.parts] == [Scope(agent="a", session="s")]
    again = load_session_hooks(dump_session_hooks(invoked.parts))
    assert again.problems == ()
    assert [(hook.id, hook.scope, hook.origin) for hook in again.hooks] == [
        (hook.id, hook.scope, hook.origin) for hook in invoked.hooks
    ]
    assert len(again.hooks) == 2
    assert "# Review" not in invoked.parts[0].text


@pytest.mark.parametrize("written", ["allowed-tools: read_file, grep", "allowed-tools: [read_file, grep]"])
def test_allowed_tools_in_another_spelling(project: Any, written: str) -> None:
    write(project.home / ".config" / "hookline" / "skills", "x", f"---\n{written}\n---\nDo it.\n")
    [hook] = of(project).invoke("x", "", "a", "s").hooks
    for tool in ("read_file", "grep"):
        assert hook.when.holds(Event("tool.before", {"tool": {"name": tool, "input": {}}}))


def test_without_hooks_nothing_is_stored_and_unplaced_arguments_stand_below(project: Any) -> None:
    path = write(project.home / ".config" / "hookline" / "skills", "plain", "Do it.\n")
    skills = of(project)
    invoked = skills.invoke("plain", "with care", "a", "s")
    assert (invoked.text, invoked.parts, invoked.hooks) == ("Do it.\n\nArguments: with care", (), ())
    (path.parent / "template.txt").write_text("x")
    assert skills.invoke("plain", "", "a", "s").text == f"Do it.\n\nThe files of this skill are in {path.parent}."


def test_named_arguments_take_a_word_each_and_the_last_one_the_rest(project: Any) -> None:
    text = "---\narguments: [branch, wish]\n---\nOn {{branch}}: {{wish}}."
    write(project.home / ".config" / "hookline" / "skills", "x", text)
    skills = of(project)
    assert skills.invoke("x", "main be quick  now", "a", "s").text == "On main: be quick  now."
    assert skills.invoke("x", "main", "a", "s").text == "On main: ."
    assert skills.invoke("x", "", "a", "s").text == "On : ."


def test_a_skill_that_is_not_there_is_one_clear_line(skills: Skills) -> None:
    with pytest.raises(HooklineError, match="there is no skill 'other'; there is: review"):
        skills.invoke("other", "", "a", "s")


def test_a_projects_skill_waits_for_trust_and_stays_as_it_was_when_it_changes(project: Any) -> None:
    write(project.root / ".hookline" / "skills", "review", REVIEW)
    before = of(project)
    assert [problem.code for problem in before.problems] == ["not-trusted"]
    assert len(before) == 0
    project.accept()
    assert [skill.name for skill in of(project)] == ["review"]
    (accepted,) = of(project)
    write(project.root / ".hookline" / "skills", "review", REVIEW.replace("deny", "allow"))
    assert list(of(project)) == [accepted]
    project.accept()
    assert list(of(project)) != [accepted]


def test_a_trusted_skill_that_is_gone_stays_until_that_is_accepted(project: Any) -> None:
    path = write(project.root / ".hookline" / "skills", "review", REVIEW)
    project.accept()
    (accepted,) = of(project)
    shutil.rmtree(path.parent)
    assert list(of(project)) == [accepted]
    gone = skill_sources((), project.root, project.home, trust=project.trust)
    assert [source.path for source in project.trust.untrusted_sources(gone)] == [path]
    project.trust.accept(gone)
    assert not list(of(project))
    assert skill_sources((), project.root, project.home, trust=project.trust) == ()


@pytest.mark.parametrize("text", ["Do evil.\n", "---\nname: x\n---\nDo evil.\n"])
def test_words_alone_wait_too(project: Any, text: str) -> None:
    write(project.root / ".hookline" / "skills", "x", text)
    assert len(of(project)) == 0
    project.accept()
    assert len(of(project)) == 1


def test_a_file_that_a_skill_names_is_part_of_what_was_accepted(project: Any) -> None:
    path = write(project.root / ".hookline" / "skills", "x", "Run scripts/do.sh as it is.\n")
    (path.parent / "scripts").mkdir()
    (path.parent / "scripts" / "do.sh").write_text("good")
    project.accept()
    assert len(of(project)) == 1
    (path.parent / "scripts" / "do.sh").write_text("evil")
    assert len(of(project)) == 0


def test_the_folders_of_an_app(project: Any) -> None:
    write(project.root / "more", "a", "Do a.\n")
    project.write("hookline.yaml", "skills: more\n")
    assert [problem.code for problem in of(project).problems] == ["not-trusted"]
    assert [skill.name for skill in of(project, named=True)] == ["a"]
    project.accept()
    assert [skill.name for skill in of(project)] == ["a"]


def test_a_skill_that_is_not_trusted_hides_no_other(project: Any) -> None:
    write(project.root / ".hookline" / "skills", "x", "Evil.\n")
    write(project.home / ".config" / "hookline" / "skills", "x", "Good.\n")
    assert [skill.body for skill in of(project)] == ["Good."]
    project.accept()
    skills = of(project)
    assert [skill.body for skill in skills] == ["Evil."]
    assert [problem.code for problem in skills.problems] == ["duplicate-id"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("---\nname: x\n---\n", "empty"),
        ("---\nname: ../x\n---\nDo it.", "bad-name"),
        ("---\nname: [x\n---\nDo it.", "syntax"),
        ("---\nname: x\nDo it.", "front-matter"),
        ("x" * 200_001, "too-large"),
    ],
)
def test_what_is_no_skill_is_a_problem_and_leaves_the_others(project: Any, text: str, code: str) -> None:
    folder = project.home / ".config" / "hookline" / "skills"
    write(folder, "a", text)
    write(folder, "b", "Do b.\n")
    skills = of(project)
    assert [problem.code for problem in skills.problems] == [code]
    assert [skill.name for skill in skills] == ["b"]


def test_a_hook_that_is_wrong_is_a_problem_and_the_skill_stays(project: Any) -> None:
    write(
        project.home / ".config" / "hookline" / "skills",
        "x",
        "---\nhooks: {PreToolUse: [{action: explode}, {action: deny}]}\n---\nDo it.",
    )
    skills = of(project)
    assert len(skills.problems) == 1
    broken, denying = skills.invoke("x", "", "a", "s").hooks
    assert (type(broken.then), type(denying.then)) == (HoldCall, FixedAnswer)


def test_a_file_of_the_project_that_a_skill_speaks_of_may_change(project: Any) -> None:
    write(project.root / ".hookline" / "skills", "x", "Look at src/app.py and scripts/do.sh.\n")
    project.write("src/app.py", "")
    script = project.write(".hookline/skills/x/scripts/do.sh", "")
    project.accept()
    project.write("src/app.py", "1")
    project.write("scripts/do.sh", "1")
    assert [skill.name for skill in of(project)] == ["x"]
    script.write_text("exit 1")
    assert not list(of(project))
