"""docs/environment.md names the environment variables that the code reads, and no others."""

from __future__ import annotations

import ast
import re
from functools import cache

from docs_pages import DOCS, ROOT, prose

SOURCE = ROOT / "src/hookline"
# What agents and dialects define themselves is on their own pages.
_OURS = re.compile(r"HOOKLINE_[A-Z_]+|XDG_[A-Z_]+|OTEL_[A-Z_]+|OLLAMA_[A-Z_]+|NO_COLOR|FORCE_COLOR")
_PROVIDERS = re.compile(r"[A-Z]+_(API_KEY|BASE_URL|GEMINI_BASE_URL)")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+_?|HOME|PATH|TERM")


@cache
def texts() -> dict[str, set[str]]:
    """Each text in the source that looks like the name of a variable, with its files."""
    found: dict[str, set[str]] = {}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.fullmatch(node.value):
                found.setdefault(node.value, set()).add(file.relative_to(SOURCE).as_posix())
    return found


def documented() -> set[str]:
    return {
        name.removesuffix("…")
        for code in re.findall(r"`([^`\n]+)`", prose(DOCS / "environment.md"))
        for name in code.split()
        if _VARIABLE.fullmatch(name.removesuffix("…"))
    }


def test_what_the_code_reads_is_documented() -> None:
    ours = {name for name in texts() if _OURS.fullmatch(name)}
    providers = {
        name for name, files in texts().items() if _PROVIDERS.fullmatch(name) and "runtime/models/providers.py" in files
    }
    prefixes = {name for name in ours if name.endswith("_") and name != "HOOKLINE_KEY_"}
    assert not sorted((ours | providers) - prefixes - documented())


def test_what_is_documented_is_in_the_code() -> None:
    example = {"HOOKLINE_KEY_LLM_EXAMPLE_ORG"}
    assert not sorted(documented() - set(texts()) - example)
