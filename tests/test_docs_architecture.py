"""The diagrams are current, and every name of the code in these pages exists."""

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


DIAGRAMS = sorted(DOCS.rglob("*.txt"))


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda diagram: diagram.stem)
def test_a_diagram_is_current(diagram: Path) -> None:
    draw = runpy.run_path(str(DOCS / "draw_diagrams.py"))["draw"]
    drawn = draw(diagram.read_text(encoding="utf-8"))
    assert diagram.with_suffix(".svg").read_text(encoding="utf-8") == drawn, "run `python docs/draw_diagrams.py`"


def test_the_picture_of_the_architecture_has_every_package() -> None:
    """The picture of the architecture does not forget a package that the table below it has."""
    picture = (DOCS / "architecture.txt").read_text(encoding="utf-8")
    packages = re.findall(r"^\| `(\w+)` \|", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.M)
    parts = {name for name in packages if (DOCS.parent / "src/hookline" / name).is_dir()}
    assert parts
    assert {name for name in parts if f"{name}/" not in picture} == set()


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
