"""Programs that delete without being named for it."""

from __future__ import annotations

import pytest

from hookline.shell.deletions import deletion_command


@pytest.mark.parametrize(
    ("line", "deleted"),
    [
        ("rsync -a --delete empty/ src/", "src/"),
        ("rsync -a --del -e ssh empty/ src", "src"),
        ("rsync -a --delete-after --exclude x a/ b/", "b/"),
        ("rsync -a --remove-source-files src/ x/", "src/"),
        ("rsync -a --delete host:/empty/ src/", "src/"),
        ("rsync -a --delete src/ host:/x/", ""),
        ("rsync -an --delete a/ b/", ""),
        ("rsync -a --dry-run --delete a/ b/", ""),
        ("rsync -a a/ b/", ""),
        ("tar --remove-files -cf x.tar src", "src"),
        ("tar czf x.tgz src tests --remove-files", "src tests"),
        ("tar czf x.tgz src", ""),
        ("zip -rm x.zip src", "src"),
        ("zip --move -r x.zip src", "src"),
        ("zip -r x.zip src", ""),
        ("7z a -sdel x.7z src", "src"),
        ("7z a x.7z src", ""),
    ],
)
def test_what_a_command_deletes(line: str, deleted: str) -> None:
    words = line.split()
    assert deletion_command(words[0], words) == (("rm", "-r", *deleted.split()) if deleted else ())
