"""What mypy says to those who define hooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent


@pytest.mark.slow
def test_mypy_knows_each_of_the_twelve_signatures() -> None:
    files = [HERE / "typed_hooks_valid.py", HERE / "typed_hooks_invalid.py"]
    output, trouble, _ = api.run(["--strict", "--no-error-summary", *map(str, files)])
    assert trouble == ""
    found = {(Path(name).name, int(line)) for name, line in re.findall(r"^(.+?):(\d+): error:", output, re.MULTILINE)}
    lines = files[1].read_text().splitlines()
    wanted = {("typed_hooks_invalid.py", number) for number, line in enumerate(lines, 1) if line.endswith("# error")}
    assert found == wanted, output
