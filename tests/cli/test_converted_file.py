from __future__ import annotations

from pathlib import Path
from typing import Any

from hookline.dialects.conversion import LOST_GUESS
from hookline.project import load_file

APP = """\
# The app.
app: shop
runtime:
  turns: 3
  hooks:
    # Never a shell.
    - id: gate
      on: tool_start
      condition: {type: tool_name, match: Bash}
      action: {type: gate, reason: "no # comment"}
    - {id: p, on: tool_end, action: {type: pipe, to: a.b}}  # index it
"""
MICROAI = '{"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "exit 1"}]}}'
AI_AGENTS = '{"hooks": {"PreToolUse": [{"matcher": "A", "hooks": [{"type": "command", "command": "exit 2"}]}]}}'
NATIVE = """\
# Mine.
model: anthropic:x
mcp: {git: uvx mcp-server-git}
store: sqlite:sessions.db
agent: {name: me}  # who
standard_agents: agents
hooks:
  - {id: a, on: PreToolUse, then: deny}
"""


def _write(**files: str) -> None:
    for name, text in files.items():
        Path(name).write_text(text)


def test_a_file_of_the_same_dialect_stays_as_it_is(hookline: Any) -> None:
    Path("agents").mkdir()
    Path("hookline.yaml").write_text(NATIVE)
    assert hookline("convert", "hookline.yaml", "--to", "native").stdout == NATIVE
    hub = '// mine\n{"port": 1, "hooks": {}}\n'
    Path("hub.json").write_text(hub)
    assert hookline("convert", "hub.json", "--to", "flo").stdout == hub


def test_comments_stay_with_their_hooks(hookline: Any) -> None:
    Path("digitorn.yaml").write_text(APP)
    lines = hookline("convert", "digitorn.yaml", "--to", "native").stdout.splitlines()
    assert lines[0] == "# The app."
    assert lines[lines.index("  - id: gate") - 1] == "  # Never a shell."
    assert lines[lines.index("  - id: p") - 1] == "  # index it"
    assert sum(line.lstrip().startswith("#") for line in lines) == 3


def test_a_file_that_is_one_hook_has_no_other_keys(hookline: Any) -> None:
    folder = Path(".kiro/hooks")
    folder.mkdir(parents=True)
    then = '{"type": "askAgent", "prompt": "Be brief."}'
    (folder / "a.kiro.hook").write_text(f'{{"name": "a", "when": {{"type": "promptSubmit"}}, "then": {then}}}')
    result = hookline("convert", ".kiro/hooks/a.kiro.hook", "--to", "native")
    assert "tell: Be brief." in result.stdout
    assert "not about hooks" not in result.stderr


def test_other_keys_are_named(hookline: Any) -> None:
    Path("digitorn.yaml").write_text(APP)
    result = hookline("convert", "digitorn.yaml", "--to", "native")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "digitorn.yaml:2  app: this is not about hooks and stays in this file.",
        "digitorn.yaml:3  runtime: only its hooks are converted, the rest stays in this file.",
    ]


def test_converted_files_can_be_joined(hookline: Any) -> None:
    for folder, text in ((".microai", MICROAI), (".ai_agents", AI_AGENTS)):
        Path(folder).mkdir()
        Path(folder, "settings.json").write_text(text)
    files = (".microai/settings.json", ".ai_agents/settings.json")
    texts = [hookline("convert", file, "--to", "native").stdout for file in files]
    by_hand = texts[0] + texts[1].partition("hooks:\n")[2]
    together = hookline("convert", *files, "--to", "native").stdout
    for text in (by_hand, together):
        Path("hookline.yaml").write_text(text)
        book = load_file("hookline.yaml")
        assert not [problem for problem in book.problems if problem.code == "duplicate-id"]
        assert [hook.id for hook in book.hooks] == [
            ".microai/settings.json:PreToolUse[0]",
            ".ai_agents/settings.json:PreToolUse[0]",
        ]


def test_joined_files_keep_the_keys_of_native_files_and_get_distinct_ids(hookline: Any) -> None:
    Path("agents").mkdir()
    _write(**{"one.yaml": NATIVE, "hookline.yaml": "hooks:\n  - {id: a, on: [stop, tool.before], then: deny}\n"})
    Path("both.yaml").write_text(hookline("convert", "one.yaml", "hookline.yaml", "--to", "native").stdout)
    book = load_file("both.yaml", "native", importing=False)
    assert [(hook.id, hook.event) for hook in book.hooks] == [
        ("a", "tool.before"),
        ("a#2", "stop"),
        ("a#2", "tool.before"),
    ]
    text = Path("both.yaml").read_text()
    for line in ("model: anthropic:x", "store: sqlite:sessions.db", "standard_agents: agents", "# Mine.", "# who"):
        assert f"{line}\n" in text


def test_a_folder_of_python_definitions_becomes_its_line(hookline: Any) -> None:
    Path("agents").mkdir()
    hook = "from hookline.standard_agents import define_hook\n\n\nasync def run(state, message):\n    return None\n\n\n"
    Path("agents/hooks.py").write_text(f'{hook}define_hook(hook="after_create_message", id="seen", execute=run)\n')
    result = hookline("convert", "agents", "--dialect", "standard_agents", "--to", "native")
    assert result.exit_code == 0
    assert "standard_agents: agents\n" in result.stdout


def test_what_is_left_out_is_named_in_the_words_of_its_file(hookline: Any) -> None:
    Path("digitorn.yaml").write_text(
        """\
runtime:
  hooks:
    - {id: a, on: tool_end, action: {type: pipe, to: a.b}}
    - {id: b, on: tool_start, action: {type: transform_params, transformation: {set: {x: 1}}}}
    - {id: c, on: tool_end, action: {type: lsp_diagnose}}
    - {id: d, on: tool_start, action: {type: gate}, cooldown: 5}
    - {id: e, on: turn_end, action: {type: gate}}
    - {id: f, on: tool_start, action: {type: gate}, condition: {type: context_pressure}}
    - {id: g, on: tool_start, action: {type: gate}, condition: {type: tool_name, match: Bash}}
"""
    )
    result = hookline("convert", "digitorn.yaml", "--to", "flo")
    assert result.stderr.splitlines() == [
        "not expressible in flo: a (digitorn.yaml:3): the action pipe",
        "not expressible in flo: b (digitorn.yaml:4): the action transform_params",
        "not expressible in flo: c (digitorn.yaml:5): the action lsp_diagnose",
        "not expressible in flo: d (digitorn.yaml:6): cooldown",
        "not expressible in flo: e (digitorn.yaml:7): the event turn_end",
        "not expressible in flo: f (digitorn.yaml:8): the condition context_pressure",
        f"not expressible in flo: g (digitorn.yaml:9): {LOST_GUESS}",
    ]
    assert '"id": "g"' in result.stdout


def test_comments_go_into_json_where_the_format_has_them(hookline: Any) -> None:
    Path("digitorn.yaml").write_text(APP.replace("Bash", "'*'"))
    result = hookline("convert", "digitorn.yaml", "--to", "flo")
    lines = result.stdout.splitlines()
    rule = next(number for number, line in enumerate(lines) if '"id": "gate"' in line)
    assert lines[0] == "// The app."
    assert lines[rule - 2 : rule] == ["      // Never a shell.", "      {"]
    Path("hub.json").write_text(result.stdout)
    (hook,) = load_file("hub.json", "flo").hooks
    assert hook.id == "gate"


def test_comments_of_hooks_without_ids_go_to_the_top(hookline: Any) -> None:
    text = '// team\n{"hooks": {"PreToolUse": [\n  // no shell\n  {"matcher": "Bash", "command": "exit 1"}\n]}}'
    _write(**{"a.json": text, "b.json": MICROAI})
    result = hookline("convert", "a.json", "b.json", "--to", "microai", "--dialect", "microai")
    assert result.stdout.splitlines()[:3] == ["// team", "// no shell", "{"]


def test_comments_that_have_no_place_are_named_once(hookline: Any) -> None:
    Path("guards.yaml").write_text("# mine\nhooks:\n  # this\n  - {id: a, on: PreToolUse, then: {run: exit 2}}\n")
    result = hookline("convert", "guards.yaml", "--to", "claude_code")
    assert result.stderr.count("comments") == 1
    assert "guards.yaml  comments are left out: claude_code files have none." in result.stderr
    assert "mine" not in result.stdout


def test_kimi_code_gets_the_toml_that_it_reads(hookline: Any) -> None:
    tables = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "echo \\"é 😀\\" >&2; exit 2"\ntimeout = 5\n'
    _write(**{"config.toml": f'# by hand\n{tables}[[hooks]]\nevent = "Stop"\ncommand = "true"\n'})
    native = hookline("convert", "config.toml", "--to", "native", "--dialect", "kimi_code")
    assert native.exit_code == 0
    _write(**{"hookline.yaml": native.stdout})
    written = hookline("convert", "hookline.yaml", "--to", "kimi_code")
    assert (written.exit_code, written.stderr) == (0, "")
    assert written.stdout == f'# by hand\n{tables}[[hooks]]\nevent = "Stop"\ncommand = "true"\n'
    _write(**{"hookline.yaml": "hooks: []\n"})
    assert hookline("convert", "hookline.yaml", "--to", "kimi_code").stdout == "hooks = []\n"
