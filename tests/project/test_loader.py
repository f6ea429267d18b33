from pathlib import Path

import pytest

from hookline.errors import ConfigError
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.project import (
    Source,
    SourceLayer,
    Trust,
    find_sources,
    load,
    load_all,
    load_file,
    load_for_directory,
    load_text,
    named_source,
    own_record_settings,
)

RM = "hooks:\n  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {deny: no}}\n"
REMOVE = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "rm -rf /"}}})


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path / "state" / "trust.json")


def test_a_loaded_file_decides(tmp_path: Path) -> None:
    file = tmp_path / "hookline.yaml"
    file.write_text(RM)
    for book in (load(file), load(str(file)), load(file, dialect="native"), load_text(RM, "hookline.yaml")):
        decision = book.decide_now(REMOVE)
        assert (decision.verdict, decision.reason, decision.by) == (Verdict.DENY, "no", "no-rm")
    assert load(file).hooks[0].origin.file == str(file)


def test_a_file_named_by_the_user_is_trusted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    file = tmp_path / "hookline.yaml"
    file.write_text("hooks: [{id: yes, on: tool.before, then: allow}]")
    assert load(file).decide_now(REMOVE).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("hookline.yaml", "hooks: [", None),
        ("other.yaml", "colour: red", "unknown-dialect"),
        ("gone.yaml", None, "no-file"),
    ],
)
def test_a_file_that_cannot_be_used_at_all_is_an_error(
    tmp_path: Path, name: str, text: str | None, code: str | None
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / name)
    assert caught.value.problems
    assert code is None or [problem.code for problem in caught.value.problems] == [code]  # type: ignore[attr-defined]


def test_an_unknown_dialect_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "hookline.yaml").write_text(RM)
    with pytest.raises(ConfigError, match="native"):
        load(tmp_path / "hookline.yaml", dialect="nativ")


def test_problems_of_a_part_leave_the_rest_in_force() -> None:
    book = load_text(RM + "  - {id: bad, on: tool.befor, then: {deny: no}}\n", "hookline.yaml")
    assert [hook.id for hook in book.hooks] == ["no-rm"]
    assert [problem.code for problem in book.problems] == ["unknown-event"]


def test_a_bad_file_leaves_the_others_in_force(tmp_path: Path, trust: Trust) -> None:
    home, root = tmp_path / "home", tmp_path / "app"
    (home / ".config/hookline").mkdir(parents=True)
    (root / ".hookline").mkdir(parents=True)
    (home / ".config/hookline/hookline.yaml").write_text("hooks: [{id: mine, on: stop, then: {log: bye}}]")
    (root / "hookline.yaml").write_text("hooks: {{{")
    (root / ".hookline/more.yaml").write_text(RM)
    book = load_all(find_sources(root, home), trust)
    assert [hook.id for hook in book.hooks] == ["mine", "hookline.yaml:unreadable", "no-rm"]
    assert [layer.name for layer in book.layers] == ["user", "project"]
    assert {problem.file for problem in book.problems} == {"hookline.yaml"}
    assert book.hooks[2].origin.file == ".hookline/more.yaml"


def test_a_vanished_file_is_a_problem(tmp_path: Path, trust: Trust) -> None:
    book = load_all([named_source(tmp_path / "gone.yaml")], trust)
    assert [hook.id for hook in book.hooks] == ["gone.yaml:unreadable"]
    assert [problem.code for problem in book.problems] == ["no-file"]


def test_a_file_that_was_found_but_is_not_a_hooks_file_is_an_error(tmp_path: Path, trust: Trust) -> None:
    (tmp_path / "settings.yaml").write_text("colour: red\n")
    source = Source(tmp_path / "settings.yaml", "settings.yaml", "native", SourceLayer.PROJECT, tmp_path)
    book = load_all([source], trust)
    assert (book.hooks, [problem.code for problem in book.problems]) == ((), ["unknown-key"])


def test_load_here_takes_what_the_user_accepted_in_this_home(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "app"
    home.mkdir()
    (root / ".git").mkdir(parents=True)
    (root / "hookline.yaml").write_text("hooks: [{id: yes, on: tool.before, then: allow}]")
    assert load_for_directory(root, home).decide_now(REMOVE).verdict is Verdict.SILENT
    Trust(home / ".local/state/hookline/trust.json").accept(find_sources(root, home))
    assert load_for_directory(root, home).decide_now(REMOVE).verdict is Verdict.ALLOW


def test_counts_live_with_the_book() -> None:
    once = "hooks: [{id: once, on: tool.before, then: {deny: no}, max_fires: 1}]"
    book = load_text(once, "hookline.yaml")
    assert [book.decide_now(REMOVE).verdict for _ in range(2)] == [Verdict.DENY, Verdict.SILENT]
    assert load_text(once, "hookline.yaml").decide_now(REMOVE).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("own", "named", "expected"),
    [
        ("record: off", "record: {facts: full}", (False, "masked", 30, False)),
        ("record: {facts: full, keep: 2d}", "", (True, "full", 2, False)),
        ("record: {keep: 2d}", "record: {facts: full, keep: 9d, opentelemetry: true}", (True, "masked", 2, False)),
        ("record: {opentelemetry: true}", "record: off", (False, "masked", 30, True)),
        ("record: {facts: full}", "record: {facts: none}", (True, "none", 30, False)),
    ],
)
def test_a_named_file_has_less_recorded_but_never_more(
    tmp_path: Path, own: str, named: str, expected: tuple[object, ...]
) -> None:
    for path, text in ((tmp_path / ".config/hookline/hookline.yaml", own), (tmp_path / "named.yaml", named)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\nhooks: []\n")
    settings = own_record_settings(tmp_path, None, tmp_path / "state")
    record = load_file(tmp_path / "named.yaml", own_record=settings).record
    assert record.keep is not None
    assert (record.enabled, record.facts, record.keep.days, record.telemetry is not None) == expected


def test_without_an_own_file_nothing_is_said_about_recording(tmp_path: Path) -> None:
    assert own_record_settings(tmp_path, None, tmp_path / "state") is None
