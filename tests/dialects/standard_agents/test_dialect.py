"""Folders of Python files: how they are found, imported, trusted and forgotten."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

import hookline
from dialects.standard_agents.agent_folder import (
    HEAD,
    SHOUT,
    decide_system,
    error_codes,
    write_folder,
)
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.dialects.standard_agents import DIALECT
from hookline.project import (
    BookWatcher,
    Source,
    Trust,
    find_sources,
    load_all,
    load_file,
    named_source,
    trust_file_path,
)

# importing


def test_a_folder_is_loaded_by_its_name(tmp_path: Path) -> None:
    book = load_file(write_folder(tmp_path, hooks=SHOUT), dialect="standard_agents")
    assert decide_system(book) == "X"
    assert not book.problems


@pytest.mark.parametrize("name", ["", "hooks.py"])
def test_code_is_not_run_without_its_dialect(tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path, hooks="raise ValueError('run')")
    with pytest.raises(hookline.ConfigError, match="Add --dialect standard_agents"):
        load_file(folder / name)


def test_a_folder_without_code_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(hookline.ConfigError, match="directory"):
        load_file(tmp_path)


def test_one_file_is_loaded_by_its_name_with_what_it_imports(tmp_path: Path) -> None:
    hooks = SHOUT.replace("text.upper()", "text + words.WORD") + "import words\n"
    write_folder(tmp_path, hooks=hooks, words="WORD = '1'", other="raise ValueError('not asked for')")
    book = load_file(tmp_path / "hooks.py", dialect="standard_agents")
    assert decide_system(book) == "x1"
    assert not book.problems
    assert book.hooks[0].origin.file == str(tmp_path / "hooks.py")


def test_every_file_of_a_folder_counts(tmp_path: Path) -> None:
    names = ["a", "a/b", "a/c/d", "a/c/e", "f/__init__", "f", "g/__init__", "g/h", "__init__", "x.y", "x/y", "1-z"]
    defined = HEAD + "define_hook(hook='after_system_message', id='{}', execute=print)\n"
    for number, name in enumerate(names):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(defined.format(f"h{number}"))
    problems = load_file(tmp_path, dialect="standard_agents").problems
    assert {problem.code for problem in problems} == {"never-listed"}
    assert len(problems) == len(names)


# trust and watching


def write_project(tmp_path: Path, text: str = SHOUT) -> tuple[tuple[Source, ...], Trust]:
    (tmp_path / "home").mkdir(exist_ok=True)
    here = tmp_path / "project"
    write_folder(here / "agents", hooks=text)
    (here / "hookline.yaml").write_text("standard_agents: agents\n")
    return find_sources(here, tmp_path / "home"), Trust(trust_file_path(tmp_path / "home"))


def test_code_is_imported_once_it_is_trusted_and_as_it_was_after_a_change(tmp_path: Path) -> None:
    sources, trust = write_project(tmp_path)
    assert decide_system(load_all(sources, trust)) == "x"
    assert trust.untrusted_sources(sources) == sources
    review = trust.review(sources[0])
    assert [effect.what for hook in review.hook_effects for effect in hook.effects] == ["import"]
    assert review.names == ("agents/hooks.py",)
    trust.accept(sources)
    assert trust.trusts(sources[0])
    assert decide_system(load_all(sources, trust)) == "X"
    write_folder(tmp_path / "project" / "agents", sub__more="1 / 0\n")
    assert not trust.trusts(sources[0])
    assert decide_system(load_all(sources, trust)) == "X"
    (tmp_path / "project" / "agents" / "sub" / "more.py").unlink()
    assert trust.trusts(sources[0])
    write_folder(tmp_path / "project" / "agents", hooks=SHOUT.replace("upper", "lower"))
    assert not trust.trusts(sources[0])
    assert decide_system(load_all(sources, trust)) == "X"


def test_looking_at_a_trusted_project_says_what_was_not_imported(tmp_path: Path) -> None:
    sources, trust = write_project(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\n{SHOUT}")
    trust.accept(sources)
    book = load_all(sources, trust, importing=False)
    assert [(problem.code, problem.line) for problem in book.problems] == [("not-imported", 1)]
    assert [hook.id for hook in book.hooks] == ["shout"]
    read = load_file(tmp_path / "project" / "agents", "standard_agents", importing=False)
    assert [hook.id for hook in read.hooks] == ["shout"]
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
