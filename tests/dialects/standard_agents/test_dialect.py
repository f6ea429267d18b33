"""Folders of Python files: how they are found, imported, trusted and forgotten."""

from __future__ import annotations

import asyncio
import gc
import marshal
import os
import py_compile
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import hookline
from hookline import Event
from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.dialects.standard_agents import DIALECT, hooks_of
from hookline.dialects.standard_agents.folder import MAX_FILES, list_files
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.project import BookWatcher, Source, Trust, find_sources, load, load_all, named_source, trust_file_path
from hookline.standard_agents import ThreadState, collecting, define_agent, define_hook
from hookline.testing import ScriptedHost

define: Any = define_hook
HEAD = "from hookline.standard_agents import define_agent, define_hook\n"
SHOUT = (
    HEAD
    + """
@define_hook(hook="after_system_message", id="shout")
async def shout(state, text):
    return text.upper()

define_agent(name="support", hooks=["shout"])
"""
)


def write_folder(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def decide_system(book: Book, text: str = "x") -> str:
    decision = asyncio.run(book.decide(Event("history.system", {"agent": {"name": "support"}, "system": text})))
    assert not decision.failures
    system: str = decision.event.facts["system"]
    return system


def error_codes(problems: tuple[Problem, ...]) -> list[str]:
    return [str(problem) for problem in problems if problem.severity is Severity.ERROR]


def compile_hook(kind: str, function: Callable[..., Any]) -> tuple[Hook, ...]:
    with collecting() as definitions:
        define(hook=kind, id="it", execute=function)
        define_agent(name="support", hooks=["it"])
    return hooks_of(definitions).hooks


def decide_hook(kind: str, function: Callable[..., Any], host: Any = hookline.NO_HOST, **facts: Any) -> Decision:
    hooks = compile_hook(kind, function)
    return asyncio.run(
        Book([Layer("x", hooks)]).decide(Event(hooks[0].event, {"agent": {"name": "support"}, **facts}), host)
    )


# what a folder holds


def test_files_are_found_in_order_without_what_is_hidden(tmp_path: Path) -> None:
    names = ["b.py", "a.py", "sub/c.py", ".hidden.py", ".git/x.py", "__pycache__/y.py", "node_modules/z.py", "a.txt"]
    for name in [*names, "t.ts", "t.d.ts", "sub/u.tsx"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.py")
    found = list_files(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found.python] == ["a.py", "b.py", "sub/c.py"]
    assert [path.name for path in found.typescript] == ["u.tsx", "t.ts"]


def test_a_folder_with_too_many_files_is_not_read(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"f{number}.py").touch()
    book = load(tmp_path, dialect="standard_agents")
    assert [problem.code for problem in book.problems] == ["too-large"]


@pytest.mark.parametrize(
    "text",
    [
        "x = (" * 5000,
        "(" * 50_000,
        "\0",
        "# coding: nonsense\n",
        "\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "=",
        "1" * 10_000,
    ],
)
def test_no_text_can_crash_the_reader(tmp_path: Path, text: str) -> None:
    write_folder(tmp_path, bad=text, good=SHOUT)
    assert len(error_codes(DIALECT.check(tmp_path, "agents"))) == 1
    book = load(tmp_path, dialect="standard_agents")
    assert len(error_codes(book.problems)) == 1
    assert decide_system(book) == "X"


def test_looking_imports_nothing(tmp_path: Path) -> None:
    write_folder(
        tmp_path, a=f"open({str(tmp_path / 'ran')!r}, 'w')\n{HEAD}define_hook(hook='nope', id='x', execute=print)\n"
    )
    found = DIALECT.check(tmp_path, "agents")
    assert [(problem.code, problem.file, problem.line) for problem in found] == [("bad-definition", "agents/a.py", 3)]
    assert not (tmp_path / "ran").exists()


def test_an_id_may_stand_twice_where_one_of_the_two_is_reached(tmp_path: Path) -> None:
    branch = "define_hook(hook='filter_messages', id='x', execute=print)\n"
    write_folder(tmp_path, a=f"{HEAD}if True:\n    {branch}else:\n    {branch}")
    assert not error_codes(DIALECT.check(tmp_path, "agents"))
    write_folder(tmp_path, b=f"{HEAD}{branch}", c=f"{HEAD}{branch}")
    assert [error for error in error_codes(DIALECT.check(tmp_path, "agents")) if "agents/c.py:2" in error]


# importing


def test_a_folder_is_loaded_by_its_name(tmp_path: Path) -> None:
    book = load(write_folder(tmp_path, hooks=SHOUT), dialect="standard_agents")
    assert decide_system(book) == "X"
    assert not book.problems


def test_a_folder_without_a_dialect_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(hookline.ConfigError, match="directory"):
        load(write_folder(tmp_path, hooks=SHOUT))


def test_one_file_is_loaded_by_its_name_with_what_it_imports(tmp_path: Path) -> None:
    hooks = SHOUT.replace("text.upper()", "text + words.WORD") + "import words\n"
    write_folder(tmp_path, hooks=hooks, words="WORD = '1'", other="raise ValueError('not asked for')")
    book = load(tmp_path / "hooks.py", dialect="standard_agents")
    assert decide_system(book) == "x1"
    assert not book.problems
    assert book.hooks[0].origin.file == str(tmp_path / "hooks.py")


def test_two_folders_may_have_files_of_one_name(tmp_path: Path) -> None:
    hooks = SHOUT.replace("text.upper()", "text + words.WORD") + "import words\n"
    one = load(write_folder(tmp_path / "one", hooks=hooks, words="WORD = '1'"), dialect="standard_agents")
    two = load(write_folder(tmp_path / "two", hooks=hooks, words="WORD = '2'"), dialect="standard_agents")
    assert (decide_system(one), decide_system(two)) == ("x1", "x2")
    assert "words" not in sys.modules
    assert str(tmp_path / "one") not in sys.path


def test_files_import_each_other_in_every_way(tmp_path: Path) -> None:
    ways = """
import deep.inside
import deep.inside as alias
from deep import inside
from deep.inside import WORD
from . import deep as relative
from .deep.inside import WORD as again
import json
assert alias is inside is deep.inside is relative.inside
assert json.dumps([WORD, again]) == '["!", "!"]'
"""
    shout = (
        SHOUT.replace("text.upper()", "late(text)")
        + "\ndef late(text):\n    import deep.inside as it\n    return text + it.WORD\n"
    )
    book = load(write_folder(tmp_path, hooks=shout + ways, deep__inside="WORD = '!'"), dialect="standard_agents")
    assert not error_codes(book.problems)
    assert decide_system(book) == "x!"


def test_a_file_cannot_stand_in_for_the_standard_library(tmp_path: Path) -> None:
    book = load(
        write_folder(
            tmp_path, hooks=SHOUT + "import json\nassert json.dumps(1) == '1'\n", json="raise ValueError('mine')"
        ),
        dialect="standard_agents",
    )
    assert decide_system(book) == "X"
    assert ["agents/json.py" in str(problem) or "json.py" in str(problem) for problem in book.problems] == [True]


def test_only_source_is_run(tmp_path: Path) -> None:
    """A compiled file that claims to need no check would be run by a plain import."""
    write_folder(
        tmp_path, hooks=SHOUT.replace("text.upper()", "words.WORD") + "import words\n", words="WORD = 'source'"
    )
    place = Path(py_compile.compile(str(tmp_path / "words.py"), doraise=True))
    other = marshal.dumps(compile("WORD = 'compiled'", "words.py", "exec"))
    place.write_bytes(place.read_bytes()[:4] + (1).to_bytes(4, "little") + bytes(8) + other)
    assert decide_system(load(tmp_path, dialect="standard_agents")) == "source"


def test_only_what_trust_covers_can_be_imported(tmp_path: Path) -> None:
    write_folder(tmp_path / "outside", evil="raise SystemExit('it ran')")
    agents = write_folder(tmp_path / "agents", hooks=SHOUT)
    for place in ("node_modules", "__pycache__"):
        write_folder(agents / place, evil="raise SystemExit('it ran')")
    (agents / "linked").symlink_to(tmp_path / "outside")
    for name in ("node_modules", "__pycache__", "linked"):
        write_folder(agents, **{f"from_{name.strip('_')}": f"import {name}.evil\n"})
    problems = error_codes(load(agents, dialect="standard_agents").problems)
    assert len(problems) == 3
    assert all("ModuleNotFoundError" in problem for problem in problems)


def test_a_file_that_fails_is_run_once_and_told_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    bad = f"open({str(count)!r}, 'a').write('x')\n{HEAD}define_hook(hook='filter_messages', id='x', execute=print)\n1 / 0\n"
    book = load(
        write_folder(tmp_path, a="import bad\n", b="from bad import y\n", bad=bad, hooks=SHOUT),
        dialect="standard_agents",
    )
    assert len(error_codes(book.problems)) == 1
    assert "bad.py:4" in error_codes(book.problems)[0]
    assert count.read_text() == "x"
    assert decide_system(book) == "X"


def test_a_secret_in_an_import_error_is_hidden(tmp_path: Path) -> None:
    book = load(write_folder(tmp_path, a="raise ValueError('password=hunter2')"), dialect="standard_agents")
    assert "hunter2" not in str(book.problems)


def test_a_file_that_exits_ends_nothing(tmp_path: Path) -> None:
    book = load(write_folder(tmp_path, a="raise SystemExit(3)", hooks=SHOUT), dialect="standard_agents")
    assert "SystemExit" in error_codes(book.problems)[0]
    assert decide_system(book) == "X"


def test_odd_names_of_files_are_imported(tmp_path: Path) -> None:
    (tmp_path / "my-hook.v2.py").write_text(SHOUT)
    assert decide_system(load(tmp_path, dialect="standard_agents")) == "X"


def test_every_file_of_a_folder_counts(tmp_path: Path) -> None:
    names = ["a", "a/b", "a/c/d", "a/c/e", "f/__init__", "f", "g/__init__", "g/h", "__init__", "x.y", "x/y", "1-z"]
    defined = HEAD + "define_hook(hook='filter_messages', id='{}', execute=print)\n"
    for number, name in enumerate(names):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(defined.format(f"h{number}"))
    problems = load(tmp_path, dialect="standard_agents").problems
    assert {problem.code for problem in problems} == {"never-listed"}
    assert len(problems) == len(names)


def test_what_files_print_stays_off_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = load(
        write_folder(tmp_path, hooks=SHOUT.replace("return", "print('run'); return") + "print('import')\n"),
        "standard_agents",
    )
    decide_system(book)
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "import\nrun\n")


def test_modules_are_forgotten_with_their_hooks(tmp_path: Path) -> None:
    def folder_modules() -> set[str]:
        gc.collect()
        return {name for name in sys.modules if name.startswith("_hookline_folder_")}

    before = folder_modules()
    book = load(write_folder(tmp_path, hooks=SHOUT), dialect="standard_agents")
    assert len(folder_modules() - before) == 2
    del book
    assert folder_modules() == before


def test_dataclasses_with_late_annotations_work(tmp_path: Path) -> None:
    late = "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
    late += "@dataclass\nclass A:\n    b: ClassVar[int] = 1\n    c: str = ''\n"
    assert not error_codes(load(write_folder(tmp_path, a=late, hooks=SHOUT), dialect="standard_agents").problems)


# trust and watching


def write_project(tmp_path: Path, text: str = SHOUT) -> tuple[tuple[Source, ...], Trust]:
    (tmp_path / "home").mkdir(exist_ok=True)
    here = tmp_path / "project"
    write_folder(here / "agents", hooks=text)
    (here / "hookline.yaml").write_text("standard_agents: agents\n")
    return find_sources(here, tmp_path / "home"), Trust(trust_file_path(tmp_path / "home"))


def test_code_is_imported_once_it_is_trusted_and_not_after_it_changed(tmp_path: Path) -> None:
    sources, trust = write_project(tmp_path)
    assert decide_system(load_all(sources, trust)) == "x"
    assert trust.untrusted_sources(sources) == sources
    review = trust.review(sources[0])
    assert [effect.what for hook in review.hook_effects for effect in hook.effects] == ["import"]
    assert review.names == ("agents/hooks.py",)
    trust.accept(sources)
    assert trust.trusts(sources[0])
    assert decide_system(load_all(sources, trust)) == "X"
    write_folder(tmp_path / "project" / "agents", sub__more="x = 1\n")
    assert decide_system(load_all(sources, trust)) == "x"
    (tmp_path / "project" / "agents" / "sub" / "more.py").unlink()
    assert decide_system(load_all(sources, trust)) == "X"
    write_folder(tmp_path / "project" / "agents", hooks=SHOUT.replace("upper", "title"))
    assert not trust.trusts(sources[0])


def test_looking_at_a_trusted_project_says_what_was_not_imported(tmp_path: Path) -> None:
    sources, trust = write_project(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\n{SHOUT}")
    trust.accept(sources)
    book = load_all(sources, trust, importing=False)
    assert [(problem.code, problem.line) for problem in book.problems] == [("not-imported", 1)]
    assert not book.hooks
    assert not load(tmp_path / "project" / "agents", "standard_agents", importing=False).hooks
    assert not (tmp_path / "ran").exists()


def test_a_changed_file_is_seen_and_a_broken_one_leaves_the_last_good(tmp_path: Path) -> None:
    agents = write_folder(tmp_path / "agents", hooks=SHOUT)
    (tmp_path / "hookline.yaml").write_text("standard_agents: agents\n")
    sources = (named_source(tmp_path / "hookline.yaml", "native"),)
    watched = BookWatcher(lambda: sources, Trust(tmp_path / "trust.json"))
    assert decide_system(watched.book) == "X"
    write_folder(agents, hooks=SHOUT.replace("text.upper()", "text * 2"))
    assert watched.refresh()
    assert decide_system(watched.book) == "xx"
    for broken in ("def :", "1 / 0"):
        write_folder(agents, hooks=broken)
        assert watched.refresh()
        assert decide_system(watched.book) == "xx"
        assert len(error_codes(watched.book.problems)) == 1
    assert not watched.refresh()
    write_folder(agents, hooks=SHOUT.replace("text.upper()", "text * 3"))
    watched.refresh()
    assert decide_system(watched.book) == "xxx"
    assert not error_codes(watched.book.problems)


# what hooks are handed and give back


def test_nobody_holds_a_part_of_the_event() -> None:
    kept: list[Any] = []

    async def keep(state: ThreadState, message: dict[str, Any]) -> dict[str, Any]:
        answer = {**message, "list": [1]}
        kept.extend([message, answer])
        return answer

    given = {"parts": {"a": 1}}
    decision = decide_hook("before_create_message", keep, message=given)
    kept[0]["parts"]["a"] = 2
    kept[1]["list"].append(2)
    assert given == {"parts": {"a": 1}}
    assert decision.event.facts["message"] == {"parts": {"a": 1}, "list": [1]}


@pytest.mark.parametrize("kind", ["before_create_message", "before_update_message"])
def test_a_write_that_takes_too_long_to_judge_is_prevented(kind: str) -> None:
    async def forever(*_: Any) -> None:
        await asyncio.Event().wait()

    (hook,) = compile_hook(kind, forever)
    assert hook.timeout == timedelta(seconds=30)
    book = Book([Layer("x", [replace(hook, timeout=timedelta(milliseconds=30))])])
    decision = asyncio.run(book.decide(Event(hook.event, {"agent": {"name": "support"}, "message": {}})))
    assert decision.verdict is Verdict.DENY
    assert decision.failures[0].kind is FailureKind.TIMEOUT


def test_a_transform_that_takes_too_long_leaves_the_last_good_value() -> None:
    async def forever(state: ThreadState, messages: list[Any]) -> None:
        messages.clear()
        await asyncio.Event().wait()

    (hook,) = compile_hook("filter_messages", forever)
    book = Book([Layer("x", [replace(hook, timeout=timedelta(milliseconds=30))])])
    decision = asyncio.run(book.decide(Event(hook.event, {"agent": {"name": "support"}, "messages": [1]})))
    assert decision.verdict is Verdict.SILENT
    assert decision.event.facts["messages"] == [1]


def _loop() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"], value["b"] = value, value
    return value


@pytest.mark.parametrize("odd", [object(), {1: 2}, float("nan"), b"bytes", {"s": {1}}, _loop(), [[[object]]]])
def test_only_plain_data_becomes_a_fact(odd: Any) -> None:
    async def smuggle(state: ThreadState, message: dict[str, Any]) -> dict[str, Any]:
        return {"odd": odd}

    decision = decide_hook("before_create_message", smuggle, message={"role": "user"})
    assert decision.failures[0].kind is FailureKind.UNREADABLE_ANSWER
    assert decision.event.facts["message"] == {"role": "user"}


@pytest.mark.parametrize(
    "kind", ["filter_messages", "after_tool_call_success", "before_create_message", "after_update_message"]
)
@pytest.mark.parametrize("fact", [None, 3, "text", [], {}, [None], {"messages": 1}])
def test_odd_facts_are_no_traceback(kind: str, fact: Any) -> None:
    async def same(state: ThreadState, *given: Any) -> None:
        assert state.execution.current_side == "a"

    facts = {"messages": fact, "tool": fact, "message": fact, "thread": fact, "execution": fact, "user": fact}
    assert not decide_hook(kind, same, **facts).failures


def test_text_of_a_kind_is_text() -> None:
    from enum import IntEnum, StrEnum

    class Word(StrEnum):
        USER = "user"

    class Number(IntEnum):
        ONE = 1

    async def enums(state: ThreadState, message: dict[str, Any]) -> dict[str, Any]:
        return {"role": Word.USER, "n": Number.ONE}

    message = decide_hook("before_create_message", enums, message={}).event.facts["message"]
    assert message == {"role": "user", "n": 1}
    assert [type(value) for value in message.values()] == [str, int]


def test_a_host_says_that_it_is_over() -> None:
    host = ScriptedHost()
    host.thread("t1").abort.abort("the user left")

    async def wait(state: ThreadState, text: str) -> str:
        signal = state.execution.abort_signal
        await asyncio.wait_for(signal.wait(), 10)
        return f"{signal.aborted} {signal.reason}"

    decision = decide_hook("after_system_message", wait, host, thread={"id": "t1"}, system="x")
    assert decision.event.facts["system"] == "True the user left"


def test_without_threads_nothing_is_ever_aborted() -> None:
    async def look(state: ThreadState, text: str) -> str:
        signal = state.execution.abort_signal
        return f"{signal.aborted} {signal.reason}"

    assert decide_hook("after_system_message", look, system="x").event.facts["system"] == "False None"


def test_a_host_without_threads_is_unavailable() -> None:
    async def inject(state: ThreadState, message: dict[str, Any]) -> None:
        await state.inject_message({"content": "x"})

    assert decide_hook("after_create_message", inject, message={}).failures[0].kind is FailureKind.UNAVAILABLE


def test_a_hook_that_stores_messages_is_not_asked_about_its_own() -> None:
    stored: list[str] = []

    async def twice(state: ThreadState, message: dict[str, Any]) -> None:
        stored.append(message["content"])
        await state.inject_message({"content": message["content"] + "!"})

    hooks = compile_hook("after_create_message", twice)
    book = Book([Layer("x", hooks)])
    host = ScriptedHost(book=book)
    host.facts = {"agent": {"name": "support"}}
    asyncio.run(host.thread("t1").inject_message({"content": "a"}))
    assert stored == ["a"]
    assert [message["content"] for message in host.thread("t1").messages] == ["a", "a!"]


# the dialect


def test_the_document_is_the_folders_path() -> None:
    schema = get_dialect("standard_agents").schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for text, good in (("agents", True), ('""', False), ("{a: 1}", False), ("3", False), ("[a]", False)):
        document, _ = read_text(text, "x.yaml")
        assert document is not None
        assert (not DIALECT.load(document).problems) is good
        assert jsonschema.Draft202012Validator(schema).is_valid(document.value) is good


def test_the_native_files_key_is_as_its_schema_says() -> None:
    validator = jsonschema.Draft202012Validator(get_dialect("native").schema())
    for value in ("agents", ["a", "b"], "", 3, {"a": 1}, [1], None):
        document, _ = read_text(f"standard_agents: {value!r}".replace("None", "null"), "hookline.yaml")
        assert document is not None
        assert (not get_dialect("native").load(document).problems) is validator.is_valid(document.value), value


def test_a_function_has_no_words_in_any_format() -> None:
    def function(state: Any, text: str) -> None: ...

    hooks = compile_hook("after_system_message", function)
    for name in ("native", "standard_agents"):
        lines = get_dialect(name).write(hooks).not_expressible
        assert len(lines) == 1
        assert f"{__file__}:test_a_function_has_no_words_in_any_format.<locals>.function" in lines[0]


def test_each_of_the_twelve_has_its_event_and_its_answer_to_a_failure() -> None:
    from hookline.hooks.events import events_by_name
    from hookline.standard_agents import HOOK_NAMES

    assert set(events_by_name("standard_agents")) == set(HOOK_NAMES)
    denying = {name for name in HOOK_NAMES if compile_hook(name, print)[0].on_error.verdict is Verdict.DENY}
    assert denying == {"before_create_message", "before_update_message"}
