"""Every case file of the repository, through the runner that users have."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.testing import load_cases, run_case

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.rglob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(CASES)) for path in FILES])
def test_case(path: Path) -> None:
    failed = [str(result) for case in load_cases(path) if not (result := run_case(case)).ok]
    if failed:
        pytest.fail("\n\n".join(failed), pytrace=False)
