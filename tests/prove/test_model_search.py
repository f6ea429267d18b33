from __future__ import annotations

import pytest

z3 = pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.prove.event_space import EventSpace, Search  # noqa: E402
from hookline.prove.formula import negate  # noqa: E402
from hookline.prove.model_search import ModelSearch  # noqa: E402
from hookline.prove.properties import parse_property  # noqa: E402


def check(solver):
    return solver.model() if solver.check() == z3.sat else None


def search(wanted: str, *excluded: str, how: Search = Search.ANY) -> tuple[ModelSearch, EventSpace]:
    space = EventSpace(None)
    searching = ModelSearch(space, how, check, lambda: None)
    searching.require(space.condition(parse_property(wanted).condition, is_property=True))
    for text in excluded:
        searching.require(negate(space.condition(parse_property(text).condition, is_property=False)))
    return searching, space


def found_text(*conditions: str) -> str | None:
    searching, space = search(*conditions)
    found = searching.find()
    return None if found is None else found.texts[space.texts[("prompt",)]][0]


def test_a_text_meets_all_conditions():
    assert found_text("prompt: ^a") == "a"
    assert found_text("prompt: ^a", "prompt: ^a$") == "aa"
    assert found_text("prompt: ^a", "prompt: a") is None
    assert found_text("prompt: ab", "prompt: ^a", "prompt: b$") is not None


def test_a_choice_without_a_text_is_not_made_again():
    assert found_text("any: [{prompt: '^(?!a)a'}, {prompt: ^b}]", "prompt: ^b$") == "ba"


def test_a_reading_with_several_texts_may_need_several():
    searching, _ = search("all: [{fact: {tool.input.path: ^/}}, {input: {path: '^[^/]'}}]")
    assert searching.find() is not None


def test_skipped_texts_are_not_found_again():
    searching, space = search("prompt: '^[ab]$'")
    texts = set()
    while (found := searching.find()) is not None:
        texts.update(found.texts[space.texts[("prompt",)]])
        searching.skip(found)
    assert texts == {"a", "b"}
