"""Names in the source tree are unique and say what they are; tests mirror the source."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hookline

ROOT = Path(hookline.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

PARALLEL = re.compile(r"dialects/\w+/|frameworks/|runtime/apps/|demo/project/")
"""Folders with one file per dialect or framework: these share their names on purpose."""

IRREGULAR_PARTICIPLES = frozenset(
    [
        "begun",
        "bound",
        "broken",
        "brought",
        "built",
        "caught",
        "chosen",
        "done",
        "drawn",
        "driven",
        "forgotten",
        "found",
        "frozen",
        "given",
        "gone",
        "heard",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "left",
        "lent",
        "lost",
        "made",
        "meant",
        "met",
        "paid",
        "said",
        "seen",
        "sent",
        "shown",
        "sold",
        "sought",
        "spent",
        "spoken",
        "stood",
        "taken",
        "taught",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "won",
        "worn",
        "wound",
        "written",
    ]
)
NOT_PARTICIPLES = frozenset(("embed", "exceed", "feed", "need", "proceed", "seed", "speed"))

NOT_MIRRORED: dict[str, tuple[str, ...]] = {
    "run by Alembic, which tests/runtime/storage/test_store_migrations.py starts": (
        "runtime/storage/migrations/env.py",
        "runtime/storage/migrations/versions/v0001_initial.py",
        "runtime/storage/migrations/versions/v0002_hub.py",
        "runtime/storage/migrations/versions/v0003_running_hosts.py",
    ),
    "types and tables without logic; tested where they are used": (
        "runtime/storage/hub_tables.py",
        "runtime/storage/tables.py",
        "standard_agents/messages.py",
    ),
    "the values of one agent's hook files; tests/cases/<agent> and tests/dialects/agent_files test them": (
        *(
            f"dialects/agent_files/{name}.py"
            for name in (
                "claude_shape",
                "cline",
                "codex",
                "copilot_cli",
                "cursor",
                "droid",
                "gemini_cli",
                "kimi_code",
                "kiro",
                "qwen_code",
                "windsurf",
            )
        ),
    ),
    "two lines; tests/cli/test_main.py starts it": ("__main__.py",),
    "played by tests/demo": ("demo/project/agents/keys.py",),
    "a part of one mechanism, tested through its entry point": (
        "runners/warm/warm_fork.py",
        "runners/warm/warm_server.py",
    ),
}
"""Modules without a test file of their own, by the reason. Add a test file rather than a line."""


def _is_tested_with_its_framework(path: str) -> bool:
    """`make test-frameworks` runs the adapters, each beside its framework."""
    name = path.removeprefix("frameworks/").removesuffix(".py")
    return path.startswith("frameworks/") and (ROOT.parents[1] / f"tests_frameworks/driver_{name}.py").is_file()


def _path(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _is_participle(name: str) -> bool:
    return name in IRREGULAR_PARTICIPLES or bool(re.fullmatch("[a-z]+ed", name) and name not in NOT_PARTICIPLES)


def _definitions(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Classes and functions of the module, and methods; functions inside functions are not public."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def test_module_names_are_unique() -> None:
    names = Counter(file.stem for file in FILES if file.name != "__init__.py" and not PARALLEL.match(_path(file)))
    assert [name for name, count in names.items() if count > 1] == []


def test_public_classes_have_unique_names() -> None:
    names = Counter(
        node.name
        for file in FILES
        if not _is_tested_with_its_framework(_path(file))  # adapters name the same things alike
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_public_function_is_named_by_a_participle() -> None:
    """`parse_rule` says what it does, `parsed` does not. A boolean property may be a participle: `decision.denied`."""
    found = [
        f"{_path(file)}:{node.lineno} {node.name}"
        for file in FILES
        for node in _definitions(ast.parse(file.read_text()))
        if not isinstance(node, ast.ClassDef) and _is_participle(node.name)
        if not any("property" in ast.unparse(each) for each in node.decorator_list)
    ]
    assert found == []


def test_every_module_has_a_test_file_of_its_own() -> None:
    """tests/<package>/test_<module>[_<topic>].py, or an explanation in NOT_MIRRORED."""
    explained = {path for paths in NOT_MIRRORED.values() for path in paths}
    missing = [
        _path(file)
        for file in FILES
        if file.name != "__init__.py" and _path(file) not in explained
        if not _is_tested_with_its_framework(_path(file))
        if not any((TESTS / _path(file)).parent.glob(f"test_{file.stem}*.py"))
    ]
    assert missing == []


def test_every_explained_module_exists() -> None:
    paths = [path for paths in NOT_MIRRORED.values() for path in paths]
    assert [path for path in paths if not (ROOT / path).is_file()] == []
