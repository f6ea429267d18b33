from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from hookline.record.hash_chain import FIRST, BrokenChain, ChainEntry, ChainsFile, Head

A = ChainEntry("a", "opened", Head(), 1.0)
B = ChainEntry("b", "opened", Head(), 2.0)
A_ARCHIVED = ChainEntry("a", "archived", Head(7, "f" * 64), 3.0)


@pytest.fixture
def chains(tmp_path: Path) -> ChainsFile:
    return ChainsFile(tmp_path / "chains.jsonl")


def test_what_is_known_of_each_writer(chains: ChainsFile) -> None:
    chains.add([A])
    chains.add([B, A_ARCHIVED])
    known = chains.read()
    assert known["a"].known == Head(7, "f" * 64)
    assert not known["a"].has_file
    assert known["b"].known == Head()
    assert known["b"].has_file


def test_no_file_is_an_empty_one(chains: ChainsFile) -> None:
    assert chains.read() == {}
    assert chains.head() == Head(0, FIRST)
    chains.add([])
    assert not chains.path.exists()


@pytest.mark.parametrize("change", ["removed", "changed", "inserted", "swapped", "garbage"])
def test_a_changed_line_is_found(chains: ChainsFile, change: str) -> None:
    chains.add([A, B, A_ARCHIVED])
    lines = chains.path.read_text().splitlines()
    if change == "removed":
        del lines[1]
    elif change == "changed":
        lines[0] = lines[0].replace("1.0", "1.5")
    elif change == "inserted":
        lines.insert(1, lines[0])
    elif change == "swapped":
        lines[0], lines[1] = lines[1], lines[0]
    else:
        lines[1] = "[]"
    chains.path.write_text("".join(line + "\n" for line in lines))
    with pytest.raises(BrokenChain):
        chains.read()


def test_an_unfinished_line_counts_as_not_written(chains: ChainsFile) -> None:
    chains.add([A])
    with chains.path.open("a") as file:
        file.write('{"writer": "b"')
    assert set(chains.read()) == {"a"}
    chains.add([B])
    assert set(chains.read()) == {"a", "b"}


def test_the_hash_of_a_line(chains: ChainsFile) -> None:
    chains.add([A, B])
    second = json.loads(chains.path.read_text().splitlines()[1])
    assert chains.hash_at(1) == second["previous"]
    assert chains.head() == Head(2, chains.hash_at(2))
    assert chains.hash_at(3) == ""


def _add(path: Path, writer: str) -> None:
    for _ in range(50):
        ChainsFile(path).add([ChainEntry(writer, "opened", Head(), 0.0)])


def test_several_processes_write_one_chain(chains: ChainsFile) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add, args=(chains.path, f"w{n}")) for n in range(4)]
    for process in writers:
        process.start()
    for process in writers:
        process.join()
    assert set(chains.read()) == {"w0", "w1", "w2", "w3"}
    assert chains.head().number == 200
