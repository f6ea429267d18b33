"""The picture is current, and every name of the code in these pages exists."""

from __future__ import annotations

import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

from docs_pages import DOCS, prose

PAGES = [DOCS / "architecture.md", DOCS / "glossary.md", DOCS / "api.md", *sorted((DOCS / "decisions").glob("*.md"))]
_CODE_NAME = re.compile(r"`(hookline(?:\.\w+)+)`")
_ENTRY_POINT_GROUPS = {"hookline.conditions", "hookline.actions"}


def test_the_picture_is_current() -> None:
    script = runpy.run_path(str(DOCS / "draw_architecture.py"))
    drawn = script["draw"](script["SOURCE"].read_text(encoding="utf-8"))
    assert script["PICTURE"].read_text(encoding="utf-8") == drawn, "run `python docs/draw_architecture.py`"


def _resolve(name: str) -> object:
    """The module, class, function or method of this dotted name; raises if there is none."""
    first, *rest = name.split(".")
    found: object = import_module(first)
    path = first
    for part in rest:
        path = f"{path}.{part}"
        if not hasattr(found, part):
            import_module(path)
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_of_the_code_exist(page: Path) -> None:
    names = set(_CODE_NAME.findall(prose(page))) - _ENTRY_POINT_GROUPS
    for name in sorted(names):
        if not name.endswith((".yaml", ".md")):
            _resolve(name)
