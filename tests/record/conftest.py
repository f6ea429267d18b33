from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory, record_directory


@pytest.fixture
def directory(tmp_path: Path) -> RecordDirectory:
    return record_directory(tmp_path / "hookline")


@pytest.fixture
def recorder(directory: RecordDirectory) -> Iterator[Recorder]:
    recorder = Recorder(directory)
    yield recorder
    recorder.close()
