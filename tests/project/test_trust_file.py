from pathlib import Path

import pytest

from hookline.project.sources import SourceLayer
from hookline.project.trust_file import AcceptedVersion, TrustFile, content_digest


def _version(path: Path, text: bytes) -> AcceptedVersion:
    return AcceptedVersion(path, path.parent, "native", SourceLayer.PROJECT, True, content_digest(text), {})


@pytest.fixture
def file(tmp_path: Path) -> TrustFile:
    return TrustFile(tmp_path / "state" / "trust.json")


def test_what_was_added_is_read_back(file: TrustFile, tmp_path: Path) -> None:
    version = _version(tmp_path / "hookline.yaml", b"a")
    file.add([version], [b"a"])
    assert file.get(version.path) == TrustFile(file.path).get(version.path) == version
    assert file.read_copy(version.text) == b"a"
    assert file.get(tmp_path / "other") is None


def test_a_copy_that_was_changed_does_not_count(file: TrustFile, tmp_path: Path) -> None:
    file.add([_version(tmp_path / "hookline.yaml", b"a")], [b"a"])
    (file.path.parent / "accepted" / content_digest(b"a")).write_bytes(b"b")
    assert file.read_copy(content_digest(b"a")) is None
    file.add([_version(tmp_path / "hookline.yaml", b"a")], [b"a"])
    assert file.read_copy(content_digest(b"a")) == b"a"


def test_copies_that_nothing_needs_are_removed(file: TrustFile, tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    file.add([_version(path, b"a")], [b"a"])
    file.add([_version(path, b"b")], [b"b"])
    assert [copy.name for copy in (file.path.parent / "accepted").iterdir()] == [content_digest(b"b")]
    file.remove([path])
    assert list((file.path.parent / "accepted").iterdir()) == []
    assert file.versions() == {}


@pytest.mark.parametrize("entry", ["null", "{}", '{"text": 1}', '{"runs": [], "layer": "x"}'])
def test_an_entry_that_cannot_be_read_is_not_trusted(file: TrustFile, tmp_path: Path, entry: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(f'{{"version": 2, "files": {{"/a": {entry}}}}}')
    assert file.versions() == {}
    file.add([_version(tmp_path / "hookline.yaml", b"a")], [b"a"])
    assert len(file.versions()) == 1
