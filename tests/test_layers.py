"""Which module may import which."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import hookline

ROOT = Path(hookline.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

CORE = {"formatting", "shell", "hooks", "config", "patterns"}
BELOW_HOSTS = CORE | {
    "engine",
    "dialects",
    "runners",
    "project",
    "extensions",
    "register",
    "standard_agents",
    "record",
    "prove",
}
ANYWHERE = {
    "errors",
    "extras",
    "lazy_dataclasses",
    "lazy_imports",
}  # importable everywhere; they import only each other
MAY_IMPORT: dict[str, set[str]] = {
    **{name: set() for name in sorted(ANYWHERE)},
    "formatting": set(),
    "shell": set(),
    "hooks": {"formatting", "shell"},
    "config": {"formatting"},
    "patterns": {"shell"},
    "runners": {"formatting", "hooks"},
    "engine": {"hooks", "patterns"},
    "extensions": {"hooks"},  # conditions and actions of third parties, and of Python definitions
    "register": {"extensions", "hooks"},
    "standard_agents": {"hooks"},
    "dialects": CORE | {"extensions", "standard_agents"},
    "project": CORE | {"dialects", "engine", "runners"},
    "record": CORE | {"engine", "project", "dialects"},
    "prove": CORE | {"engine", "dialects"},
    "hosts": BELOW_HOSTS,
    "frameworks": BELOW_HOSTS | {"hosts"},
    "runtime": BELOW_HOSTS | {"hosts"},
    "hub": BELOW_HOSTS | {"hosts", "runtime"},
    "testing": BELOW_HOSTS | {"hosts", "runtime"},
    "demo": BELOW_HOSTS | {"hosts", "runtime", "hub", "testing"},
    "pytest_plugin": BELOW_HOSTS | {"hosts", "runtime", "testing"},
}
ALL = {"cli", "__main__"}  # may import everything
DIALECTS = {
    "native", "flo", "standard_agents", "microai", "ai_agents", "digitorn", "claude_code", "hook_interchange",
}  # fmt: skip


def module_of(file: Path) -> tuple[str, ...]:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@cache
def imports_of(file: Path) -> tuple[tuple[int, str], ...]:
    """Line and module of every import, also inside functions."""
    return tuple(_find_imports(file))


def _find_imports(file: Path) -> Iterator[tuple[int, str]]:
    package = ["hookline", *file.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            yield node.lineno, module
            yield from (
                (node.lineno, f"{module}.{alias.name}") for alias in node.names if _is_module(module, alias.name)
            )


def _is_module(package: str, name: str) -> bool:
    steps = package.split(".")[1:]
    return package.split(".")[0] == "hookline" and (
        (ROOT.joinpath(*steps, name)).is_dir() or ROOT.joinpath(*steps, f"{name}.py").is_file()
    )


def ours(file: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    for line, name in imports_of(file):
        if name.split(".")[0] == "hookline" and len(name.split(".")) > 1:
            yield line, tuple(name.split(".")[1:])


def where(file: Path, line: int) -> str:
    return f"{file.relative_to(ROOT)}:{line}"


def test_every_package_is_a_layer() -> None:
    layers = {module_of(file)[0] for file in FILES if module_of(file)}
    assert layers <= MAY_IMPORT.keys() | ALL


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_those_below_it(layer: str) -> None:
    allowed = MAY_IMPORT[layer] | ANYWHERE | {layer}
    found = [
        f"{where(file, line)} imports {'.'.join(module)}"
        for file in FILES
        if module_of(file)[:1] == (layer,)
        for line, module in ours(file)
        if module[0] not in allowed
    ]
    assert found == []


def test_the_table_of_layers_has_no_cycle() -> None:
    def reaches(layer: str, seen: tuple[str, ...]) -> bool:
        return layer in seen or any(reaches(below, (*seen, layer)) for below in MAY_IMPORT[layer])

    assert not any(reaches(layer, ()) for layer in MAY_IMPORT)


def package_imports() -> dict[str, dict[str, str]]:
    """For each package and sub-package, the others that its modules import, lazily or for types only too, and where."""
    modules = {module_of(file): file for file in FILES}
    packages = {module for module, file in modules.items() if file.name == "__init__.py"}
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for module, file in modules.items():
        package = module if module in packages else module[:-1]
        for line, target in ours(file):
            while target not in modules:
                target = target[:-1]
            other = target if target in packages else target[:-1]
            if package and other and other != package:
                found[".".join(package)].setdefault(".".join(other), where(file, line))
    return found


def test_packages_and_their_subpackages_have_no_import_cycle() -> None:
    imports = package_imports()

    def reachable(package: str) -> set[str]:
        seen: set[str] = set()
        queue = [package]
        while queue:
            for other in imports.get(queue.pop(), {}):
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        return seen

    reached = {package: reachable(package) for package in imports}
    cycles = [
        f"{where_imported}: {package} imports {other}, which leads back to {package}"
        for package, others in imports.items()
        for other, where_imported in others.items()
        if package in reached.get(other, ())
    ]
    assert cycles == []


def test_check_can_be_run_without_an_engine() -> None:
    """Warnings about hooks need the hooks and their conditions only."""
    refused = {"engine", "hosts", "runners", "runtime", "cli"}
    files = [ROOT / "project" / f"{name}.py" for name in ("lint", "condition_lint", "program_lint")]
    assert [where(file, line) for file in files for line, module in ours(file) if module[0] in refused] == []


def test_production_code_does_not_import_the_test_tools() -> None:
    users = {("testing",), ("demo",), ("pytest_plugin",)}
    readers_of_cases = {("cli", "test"), ("cli", "prove")}
    found = [
        where(file, line)
        for file in FILES
        if module_of(file)[:1] not in users and module_of(file) not in readers_of_cases
        for line, module in ours(file)
        if module[0] == "testing"
    ]
    assert found == []


def test_only_the_command_line_imports_the_command_line() -> None:
    found = [
        where(file, line)
        for file in FILES
        if module_of(file)[0:1] not in (("cli",), ("__main__",))
        for line, module in ours(file)
        if module[0] == "cli"
    ]
    assert found == []


def test_a_dialect_never_imports_another() -> None:
    """The table knows all of them; what several share is next to them."""
    found = []
    for file in FILES:
        module = module_of(file)
        if module[:1] != ("dialects",) or module == ("dialects", "dialect"):
            continue
        for line, name in ours(file):
            own = name[1:2] == module[1:2]
            if name[0] == "dialects" and name[1:2] and name[1] in DIALECTS and not own:
                found.append(f"{where(file, line)} imports {'.'.join(name)}")
    assert found == []


@pytest.mark.parametrize("layer", ["hooks", *sorted(ANYWHERE)])
def test_what_a_hook_is_needs_the_standard_library_only(layer: str) -> None:
    found = [
        f"{where(file, line)} imports {name}"
        for file in FILES
        if module_of(file)[:1] == (layer,)
        for line, name in imports_of(file)
        if name.split(".")[0] not in sys.stdlib_module_names | {"hookline", "__future__"}
    ]
    assert found == []


def _loaded_by(code: str) -> set[str]:
    script = (
        f"import sys, json; before = set(sys.modules); {code}; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout))


def test_importing_hookline_loads_only_the_standard_library() -> None:
    loaded = {name.split(".")[0] for name in _loaded_by("import hookline")}
    assert loaded <= sys.stdlib_module_names | {"hookline"}


def test_what_a_hook_is_can_be_imported_without_an_engine() -> None:
    loaded = _loaded_by("import hookline.hooks.hook, hookline.hooks.actions.chain")
    assert not {
        name
        for name in loaded
        if name.startswith("hookline.") and name.split(".")[1] not in ANYWHERE | {"hooks", "shell", "formatting"}
    }
