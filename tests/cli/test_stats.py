from __future__ import annotations

import json
from pathlib import Path

from cli.recorded_events import HOOKS, record, record_a_few, tool_event, write_hooks
from hookline.project import load


def test_counts_for_each_hook(hookline, recorder):
    record_a_few(recorder)
    record(recorder, write_hooks(), tool_event("rm y"))
    rows = {row["hook"]: row for row in map(json.loads, hookline("stats", "--json").stdout.splitlines())}
    assert (rows["no-rm"]["ran"], rows["no-rm"]["spoke"], rows["no-rm"]["denied"]) == (2, 2, 2)
    assert (rows["ask-push"]["asked"], rows["hint"]["spoke"], rows["hint"]["denied"]) == (1, 1, 0)
    assert rows["no-rm"]["line"] == 2
    assert [rows[hook]["events"] for hook in ("no-rm", "ask-push", "hint")] == [5, 5, 1]


def test_the_table_fits_80_columns_and_leaves_out_zeros(hookline, recorder):
    record_a_few(recorder)
    lines = hookline("stats").stdout.splitlines()
    assert lines[0].split()[:6] == ["hook", "where", "ran", "of", "spoke", "denied"]
    assert "failed" not in lines[0]
    assert any(line.split()[:4] == ["no-rm", "hookline.yaml:2", "1", "4"] for line in lines)
    assert max(map(len, lines)) <= 80


def test_where_no_table_fits_nothing_is_left_out(hookline, recorder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    record_a_few(recorder)
    lines = hookline("stats").stdout.splitlines()
    assert lines[lines.index("no-rm") :][:4] == ["no-rm", "  where: hookline.yaml:2", "  ran: 1", "  of: 4"]


def test_the_number_of_events_is_the_first_to_go_where_the_table_does_not_fit(hookline, recorder):
    text = HOOKS.replace("no-rm", "no-removal-of-anything-by-anybody")
    Path("hookline.yaml").write_text(text)
    record(recorder, load("hookline.yaml", "native"), tool_event("rm x"), tool_event("git push"))
    lines = hookline("stats").stdout.splitlines()
    assert lines[0].split() == ["hook", "where", "ran", "spoke", "denied", "asked"]
    assert max(map(len, lines)) <= 80


def test_a_long_path_loses_its_beginning(hookline, recorder, project):

    path = Path(*["a-directory-with-a-long-name"] * 4, "hooks.yaml")
    path.parent.mkdir(parents=True)
    path.write_text(HOOKS)
    record(recorder, load(str(path), "native"), tool_event("rm x"))
    lines = hookline("stats").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "hooks.yaml:2" in lines[1]
    assert "…" in lines[1]


def test_a_path_is_whole_where_the_table_does_not_fit(hookline, recorder):
    path = Path("hooks-of-the-whole-team.yaml")
    path.write_text(HOOKS.replace("no-rm", "no-removal-of-anything-by-anybody-in-any-directory-whatever-it-is-called"))
    record(recorder, load(str(path), "native"), tool_event("rm x"))
    assert "  where: hooks-of-the-whole-team.yaml:2\n" in hookline("stats").stdout


def test_hooks_that_never_fired_in_the_window(hookline, recorder, project):
    Path("hookline.yaml").write_text(HOOKS)

    record(recorder, load(str(project / "hookline.yaml"), "native"), tool_event("rm x"))
    lines = hookline("stats").stdout.splitlines()
    title = next(line for line in lines if line.startswith("Never fired since "))
    assert lines[lines.index(title) + 1 :] == ["  ask-push  hookline.yaml:3", "  hint  hookline.yaml:4"]
    rows = [json.loads(line) for line in hookline("stats", "--json").stdout.splitlines()]
    assert [(row["hook"], row["events"], row["ran"]) for row in rows] == [
        ("no-rm", 1, 1),
        ("ask-push", 1, 0),
        ("hint", 0, 0),
    ]
    shown = hookline("stats", "--since", "2099-01-01").stdout
    assert "Never fired since 2099-01-01 00:00:\n  no-rm  hookline.yaml:2\n" in shown


def test_hooks_that_are_always_overridden(hookline, recorder):
    text = (
        HOOKS
        + "  - {id: ask-rm, order: -1, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {ask: Sure?}}\n"
    )
    record(recorder, write_hooks(text), tool_event("rm x"))
    assert "ask-rm (hookline.yaml:5) was always overridden by another hook" in hookline("stats").stdout


def test_nothing_in_the_window(hookline, recorder):
    record_a_few(recorder)
    assert "No hook has acted since" in hookline("stats", "--since", "2999-01-01").stdout


def test_hooks_that_nobody_wrote_are_not_counted(hookline, recorder):
    """Those that observe calls for `after`."""
    record_a_few(recorder)
    when = "{after: {kind: write}, not: {after: {runs: pytest, ok: true, since: write}}}"
    Path("hookline.yaml").write_text(f"hooks: [{{id: tested, on: stop, when: {when}, then: {{deny: Run pytest.}}}}]\n")
    rows = [json.loads(line)["hook"] for line in hookline("stats", "--json").stdout.splitlines()]
    assert [name for name in rows if name.startswith("tested")] == ["tested"]
