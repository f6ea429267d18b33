"""Finds the line of the key or value that a problem of a hook is about.

A loaded hook knows only the line where it begins: thousands of hooks with the line of each key would take twice the memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from hookline.config.document import Document, KeyPath
from hookline.config.problem import Problem
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import replace


def place_problems(problems: Iterable[Problem], document: Document, hooks: Iterable[Hook]) -> list[Problem]:
    """Those of the document's hooks move to the line of what they are about, if it stands in the hook or its group."""
    found = list(problems)
    if not any(each.about and each.file == document.file for each in found):
        return found
    begins = sorted({hook.origin.line for hook in hooks if hook.origin.file == document.file})
    texts = sorted(_texts(document, document.value, ()))
    return [_place(each, texts, begins) if each.about and each.file == document.file else each for each in found]


def add_linted(
    problems: Iterable[Problem], linted: Iterable[Problem], document: Document | None = None, hooks: Iterable[Hook] = ()
) -> tuple[Problem, ...]:
    """Both. What was already found while the hooks were loaded has its line from there."""
    found = tuple(problems)
    known = {(each.code, each.file, each.what) for each in found}
    placed = linted if document is None else place_problems(linted, document, hooks)
    return (*found, *(each for each in placed if (each.code, each.file, each.what) not in known))


def _place(problem: Problem, texts: Sequence[tuple[int, str]], begins: Sequence[int]) -> Problem:
    following = bisect_right(begins, problem.line)
    end = begins[following] if following < len(begins) else float("inf")
    own = [(line, text) for line, text in texts if problem.line <= line < end]
    whole = (line for line, text in own if text == problem.about)
    part = (line for line, text in own if problem.about in text)
    above = (line for line, text in reversed(texts) if line < problem.line and text == problem.about)
    line = next(whole, next(part, next(above, problem.line)))
    return problem if line == problem.line else replace(problem, line=line)


def _texts(document: Document, value: object, path: KeyPath) -> Iterator[tuple[int, str]]:
    """Every key and plain value, each with its line."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield document.key_line((*path, key)), key
            yield from _texts(document, inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(document, inner, (*path, number))
    elif value is not None:
        yield document.line(path), str(value)
