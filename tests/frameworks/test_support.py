"""What the adapters declare."""

from __future__ import annotations

import tomllib

import pytest

from docs_framework_tables import all_support
from docs_pages import DOCS, ROOT
from hookline.frameworks.support import ANSWERS, FrameworkSupport
from hookline.hooks.events import EVENTS

DECLARED = [pytest.param(each, id=each.name) for each in all_support()]


@pytest.mark.parametrize("support", DECLARED)
def test_events_and_answers_exist(support: FrameworkSupport) -> None:
    assert set(support.events) <= set(EVENTS)
    assert set(support.answers) <= set(ANSWERS)
    assert {"tool.before", "tool.after", "session.start", "session.end"} <= set(support.events)


@pytest.mark.parametrize("support", DECLARED)
def test_every_framework_has_an_extra_a_lock_and_an_example(support: FrameworkSupport) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert extras[support.extra][0].startswith(support.package)
    lock = (ROOT / "tests_frameworks" / f"{support.name}.lock").read_text("utf-8")
    assert f"\n{support.package}=={support.version.split(',')[0]} " in f"\n{lock}"
    page = (DOCS / "frameworks" / "README.md").read_text("utf-8")
    assert f"```python framework={support.name}\n" in page
    assert f"\n## {support.title}\n" in page
