"""Case files as pytest tests, by one import."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from hookline.errors import ConfigError, HooklineError
from hookline.testing.case import Case, load_cases
from hookline.testing.run import run_case


def hook_cases(*paths: str | Path) -> Callable[..., None]:
    """A test function with one parameter for each case below these paths: `test_hooks = hook_cases("tests/hooks")`.

    A path is looked for from the current directory, then from the file that calls this. Files that cannot be read
    are tests that fail with what is wrong with them.
    """
    import pytest

    caller = inspect.stack()[1].filename
    found = [each for path in paths for each in _cases(_existing(Path(path), Path(caller).parent))]
    if not found:
        raise HooklineError(f"there are no cases in {', '.join(map(str, paths))}")

    @pytest.mark.parametrize("case", [case for _, case in found], ids=[name for name, _ in found])
    def test(case: Case | ConfigError) -> None:
        if isinstance(case, ConfigError):
            pytest.fail(str(case), pytrace=False)
        result = run_case(case)
        if not result.ok:
            pytest.fail(str(result), pytrace=False)

    return test


def _existing(path: Path, beside: Path) -> Path:
    for each in (path, beside / path):
        if each.exists():
            return each
    raise HooklineError(f"there is no {path}, neither here nor beside the test file")


def _cases(path: Path) -> list[tuple[str, Case | ConfigError]]:
    files = sorted((*path.rglob("*.yaml"), *path.rglob("*.yml"))) if path.is_dir() else [path]
    root = path if path.is_dir() else path.parent
    return [entry for file in files for entry in _of_file(file, str(file.relative_to(root)))]


def _of_file(file: Path, name: str) -> list[tuple[str, Case | ConfigError]]:
    try:
        cases = load_cases(file)
    except ConfigError as error:
        return [(name, error)]
    return [(name if len(cases) == 1 else f"{name}:{case.line}", case) for case in cases]
