from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from hookline.record.hash_chain import FIRST, BrokenChain, ChainEntry, ChainsFile, Head, WriterChain

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


def is_a(writer: str, chain: WriterChain) -> bool:
    return writer == "a"


def test_lines_of_writers_that_are_gone_are_left_out(chains: ChainsFile) -> None:
    chains.add([A, B, A_ARCHIVED])
    before, known = chains.head(), chains.read()
    chains.compact(is_a, least=1)
    assert len(chains.path.read_text().splitlines()) == 1
    assert chains.read() == {"b": known["b"]}
    assert (chains.head(), chains.left_out, chains.hash_at(3), chains.hash_at(2)) == (before, 3, before.hash, "")
    chains.add([ChainEntry("c", "opened", Head(), 4.0)])
    assert set(chains.read()) == {"b", "c"}
    assert chains.head() == Head(4, chains.hash_at(4))
    chains.compact(lambda writer, chain: True, least=1)
    assert (chains.read(), chains.left_out) == ({}, 4)


def test_a_compacted_file_that_was_changed_is_found(chains: ChainsFile) -> None:
    chains.add([A, B, A_ARCHIVED])
    chains.compact(is_a, least=1)
    chains.add([A])
    chains.path.write_text(chains.path.read_text().replace('"number":3', '"number":2'))
    with pytest.raises(BrokenChain):
        chains.read()


@pytest.mark.parametrize("least", [4, 1])
def test_a_short_file_or_one_with_little_to_leave_out_stays(chains: ChainsFile, least: int) -> None:
    chains.add([A, B] if least == 1 else [A, B, A_ARCHIVED])
    before = chains.path.read_bytes()
    chains.compact((lambda writer, chain: False) if least == 1 else is_a, least=least)
    assert chains.path.read_bytes() == before


def test_a_long_line_is_followed_by_others(chains: ChainsFile) -> None:
    """What is known of many writers is one line, longer than what is read at first to find the last line."""
    chains.add([ChainEntry(f"{n:016x}", event, Head(), 0.0) for n in range(500) for event in ("opened", "archived")])
    chains.compact(lambda writer, chain: False, least=1)
    assert len(chains.path.read_bytes().splitlines()) == 1
    chains.add([A])
    chains.add([B])
    assert len(chains.read()) == 502


def _compact(path: Path) -> None:
    for _ in range(100):
        ChainsFile(path).compact(lambda writer, chain: writer == "gone", least=1)


def test_nothing_that_is_added_meanwhile_is_lost(chains: ChainsFile) -> None:
    chains.add([ChainEntry("gone", "opened", Head(), 0.0)] * 3)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add, args=(chains.path, f"w{n}")) for n in range(3)]
    processes.append(context.Process(target=_compact, args=(chains.path,)))
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert set(chains.read()) - {"gone"} == {"w0", "w1", "w2"}
    assert chains.head().number == 153
