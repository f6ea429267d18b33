"""A file that takes over the hooks of packs, chooses their options and changes single hooks."""

from __future__ import annotations

from textwrap import dedent

import pytest

from hookline import Event
from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text, salvage_text
from hookline.dialects.dialect import LoadResult, Pack
from hookline.dialects.native import DIALECT

TEAM = """
    options: {words: [alpha], limit: 3, loud: true}
    hooks:
      - {id: no-word, on: tool.before, when: {tool: bash, input: {command: "${words}"}}, then: {deny: no}}
      - {id: seldom, on: stop, max_fires: "${limit}", then: {tell: rest}}
"""


def document(text: str, file: str = "hookline.yaml"):
    found, problems = read_text(dedent(text), file)
    assert found is not None, problems
    return found


def load(text: str, **packs: str | Pack | Problem) -> LoadResult:
    read = {
        name: Pack(document(each, f"{name}.yaml"), {}) if isinstance(each, str) else each
        for name, each in packs.items()
    }
    return DIALECT.load_extended(document(text), read)


def places(loaded: LoadResult) -> list[tuple[str, str, int]]:
    return [(hook.id, hook.origin.file, hook.origin.line) for hook in loaded.hooks]


def said(loaded: LoadResult) -> list[str]:
    return [str(problem) for problem in loaded.problems]


def test_the_hooks_of_packs_come_before_its_own() -> None:
    loaded = load("{extends: [team], hooks: [{id: own, on: stop, then: {tell: hi}}]}", team=TEAM)
    assert places(loaded) == [("no-word", "team.yaml", 4), ("seldom", "team.yaml", 5), ("own", "hookline.yaml", 1)]
    assert said(loaded) == []
    assert loaded.is_readable


def test_one_pack_needs_no_list() -> None:
    assert [hook.id for hook in load("extends: team", team=TEAM).hooks] == ["no-word", "seldom"]


def test_an_override_replaces_keys_and_counts_as_written_where_it_is() -> None:
    text = """
        extends: [team]
        override:
          no-word: {enabled: false}
          seldom: {max_fires: null, then: {tell: more}}
    """
    loaded = load(text, team=TEAM)
    assert places(loaded) == [("no-word", "hookline.yaml", 4), ("seldom", "hookline.yaml", 5)]
    word, seldom = loaded.hooks
    assert not word.enabled
    assert seldom.limit.max_fires is None
    assert said(loaded) == []


def test_a_problem_in_an_override_names_its_line() -> None:
    text = """
        extends: [team]
        override:
          no-word:
            then: {denyy: no}
    """
    loaded = load(text, team=TEAM)
    assert [(problem.file, problem.line) for problem in loaded.problems] == [("hookline.yaml", 5)]
    (held,) = [hook for hook in loaded.hooks if hook.id == "no-word"]
    assert held.then.constant is None  # it cannot be read, so it stays and fails


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("{no-wrd: {enabled: false}}", "no-wrd is not a hook of a pack that this file extends. Did you mean no-word?"),
        ("{own: {enabled: false}}", "own is a hook of this file. Change it there."),
        ("{no-word: {id: other}}", "an override cannot change the id. Remove id."),
        ("{no-word: false}", "false is not a mapping."),
    ],
)
def test_an_override_that_changes_nothing_is_an_error(override: str, message: str) -> None:
    text = f"{{extends: [team], override: {override}, hooks: [{{id: own, on: stop, then: {{tell: hi}}}}]}}"
    loaded = load(text, team=TEAM)
    assert any(message in line for line in said(loaded)), said(loaded)
    assert any(problem.severity is Severity.ERROR for problem in loaded.problems)


def test_an_option_has_a_default_and_can_be_chosen() -> None:
    default, chosen = (load(text, team=TEAM).hooks[1] for text in ("extends: [team]", "extends: [{team: {limit: 9}}]"))
    assert (default.limit.max_fires, chosen.limit.max_fires) == (3, 9)
    words = load("extends: [{team: {words: [beta, gamma]}}]", team=TEAM).hooks[0]
    assert "beta" in str(words.when)
    assert "alpha" not in str(words.when)


def test_a_pack_passes_its_options_on() -> None:
    base = Pack(document(TEAM, "base.yaml"), {})
    text = "{options: {often: 5}, extends: [{base: {limit: '${often}'}}]}"
    one = Pack(document(text, "one.yaml"), {"base": base})
    assert load("extends: [{one: {often: 7}}]", one=one).hooks[1].limit.max_fires == 7
    assert load("extends: [one]", one=one).hooks[1].limit.max_fires == 5


def test_add_keeps_the_default_of_a_list() -> None:
    for text in ("extends: [{team: {words: {add: [beta]}}}]", "extends: [{team: {words: {add: beta}}}]"):
        loaded = load(text, team=TEAM)
        assert said(loaded) == []
        assert stopped(loaded, "alpha", "beta", "gamma") == ["alpha", "beta"]


def test_a_pack_that_passes_an_option_on_adds_to_its_own_default() -> None:
    base = Pack(document(TEAM, "base.yaml"), {})
    text = "{options: {more: [beta]}, extends: [{base: {words: {add: '${more}'}}}]}"
    one = Pack(document(text, "one.yaml"), {"base": base})
    loaded = load("extends: [{one: {more: {add: [gamma]}}}]", one=one)
    assert said(loaded) == []
    assert stopped(loaded, "alpha", "beta", "gamma", "delta") == ["alpha", "beta", "gamma"]


def test_after_a_wrong_addition_the_default_counts() -> None:
    loaded = load("extends: [{team: {words: {add: 4}}}]", team=TEAM)
    assert stopped(loaded, "alpha", "beta") == ["alpha"]


def stopped(loaded: LoadResult, *commands: str) -> list[str]:
    """Those for which the condition of the first hook holds."""
    calls = {each: Event("tool.before", {"tool": {"name": "bash", "input": {"command": each}}}) for each in commands}
    return [each for each, call in calls.items() if loaded.hooks[0].when.holds(call)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{limits: 3}", '"limits" is not a key of the options of team.yaml. Did you mean limit?'),
        ("{limit: many}", "this must be a number. In team.yaml it is 3."),
        ("{loud: 1}", "this must be true or false."),
        ("{words: 4}", "this must be text or a list of texts."),
        ("[limit]", "is not a mapping"),
        ("{limit: {add: 2}}", "only a list can be added to. In team.yaml it is 3. Write the whole value."),
        ("{words: {add: 4}}", "add must be text or a list of texts."),
        ("{words: {}}", "add must be text or a list of texts."),
        ("{words: {added: [beta]}}", '"added" is not a key of an option.'),
    ],
)
def test_a_wrong_option_is_an_error(options: str, message: str) -> None:
    assert any(message in line for line in said(load(f"extends: [{{team: {options}}}]", team=TEAM)))


def test_a_wrong_option_is_reported_once_and_its_default_counts() -> None:
    loaded = load("extends: [{team: {words: 5, limit: many}}]", team=TEAM)
    assert [problem.line for problem in loaded.problems] == [1, 1]
    assert stopped(loaded, "alpha") == ["alpha"]


def test_a_long_default_is_shortened_in_a_message() -> None:
    pack = TEAM.replace("[alpha]", str([f"word{number}" for number in range(100)]))
    (problem,) = said(load("extends: [{team: {words: 5}}]", team=pack))
    assert len(problem) < 300


def test_options_have_their_defaults_in_the_file_itself() -> None:
    loaded = DIALECT.load(document(TEAM, "team.yaml"))
    assert loaded.hooks[1].limit.max_fires == 3
    assert said(loaded) == []


def test_a_pack_that_cannot_be_read_leaves_open_what_is_guarded() -> None:
    missing = Problem("no-pack", "hookline.yaml", 1, "extends: there is no pack gone.")
    loaded = load("{extends: [gone], override: {x: {enabled: false}}}", gone=missing)
    assert loaded.problems == (missing,)
    assert not loaded.is_readable
    assert not DIALECT.load(document("extends: [team]")).is_readable


@pytest.mark.parametrize(
    "damaged", ["[1]", "words", "{version: 9, hooks: []}", "{hooks: {PreToolUse: []}}", "{hooks: no}", "{extends: 5}"]
)
def test_a_pack_whose_hooks_nobody_can_tell_counts_like_such_a_file(damaged: str) -> None:
    alone = DIALECT.load(document(damaged, "team.yaml"))
    assert not alone.is_readable
    loaded = load("{extends: [team], hooks: [{id: own, on: stop, then: {tell: hi}}]}", team=damaged)
    assert not loaded.is_readable
    assert set(alone.problems) <= set(loaded.problems)
    inner = Pack(document("extends: [team]", "outer.yaml"), {"team": Pack(document(damaged, "team.yaml"), {})})
    assert not load("extends: [outer]", outer=inner).is_readable


@pytest.mark.parametrize("extends", ["5", "[5]", "[{a: {}, b: {}}]", "[[team]]"])
def test_an_extends_that_names_no_pack_leaves_open_what_is_guarded(extends: str) -> None:
    loaded = load(f"{{extends: {extends}, hooks: []}}", team=TEAM)
    assert said(loaded)
    assert not loaded.is_readable


def test_an_option_counts_in_a_hook_with_a_key_twice() -> None:
    text = """
        options: {words: alpha}
        hooks:
          - id: no-word
            on: tool.before
            when: {tool: bash, input: {command: "${words}"}}
            then: {deny: once}
            then: {deny: twice}
    """
    found, _ = salvage_text(dedent(text), "hookline.yaml")
    assert found is not None
    [hook] = DIALECT.load(found).hooks
    assert hook.when.holds(Event("tool.before", {"tool": {"name": "bash", "input": {"command": "alpha"}}}))


def test_an_id_in_two_files_is_an_error() -> None:
    loaded = load("{extends: [team], hooks: [{id: no-word, on: stop, then: {tell: hi}}]}", team=TEAM)
    assert "id no-word is used twice; first in team.yaml:4." in said(loaded)[0]


def test_a_pack_that_two_others_extend_counts_once() -> None:
    base = Pack(document(TEAM, "base.yaml"), {})
    one, two = (Pack(document("extends: [base]", name), {"base": base}) for name in ("one.yaml", "two.yaml"))
    loaded = load("extends: [one, two]", one=one, two=two)
    assert [hook.id for hook in loaded.hooks] == ["no-word", "seldom"]
    assert said(loaded) == []


def test_a_pack_that_two_others_change_differently_is_an_error() -> None:
    base = Pack(document(TEAM, "base.yaml"), {})
    one = Pack(document("{extends: [base], override: {no-word: {enabled: false}}}", "one.yaml"), {"base": base})
    two = Pack(document("extends: [base]", "two.yaml"), {"base": base})
    loaded = load("extends: [one, two]", one=one, two=two)
    assert any(problem.code == "duplicate-id" for problem in loaded.problems)


def test_unknown_keys_of_a_pack_are_errors_and_keys_of_an_agent_have_no_effect() -> None:
    loaded = load("extends: [team]", team="{hook: [], model: scripted, hooks: []}")
    codes = {problem.code: problem.severity for problem in loaded.problems}
    assert codes == {"unknown-key": Severity.ERROR, "ignored": Severity.WARNING}


def test_a_file_that_only_extends_a_pack_is_recognised() -> None:
    assert DIALECT.recognises(document("extends: [hookline:recommended]", "guards.yaml"))
    assert DIALECT.recognises(document("extends: [{hookline:budget: {fetches: 5}}]", "guards.yaml"))
    assert not DIALECT.recognises(document("extends: ./base.yaml", "compose.yaml"))
