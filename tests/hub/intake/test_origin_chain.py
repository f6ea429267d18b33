from __future__ import annotations

import itertools

import pytest

from hookline.hub.intake.origin_chain import OriginChain
from hookline.hub.store.origin_table import OriginRow
from hookline.hub.store.record_line import RecordLine, parse_line
from hub.hub_sandbox import Writer


def lines(count: int) -> list[RecordLine]:
    writer = Writer()
    found = [parse_line(writer.call(str(number))) for number in range(count)]
    return [line for line in found if line is not None]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_a_chain_is_whole_in_whatever_order_its_records_come(order: tuple[int, ...]) -> None:
    chain, given = OriginChain(OriginRow("a" * 16)), lines(4)
    assert [chain.take(given[at], 1.0) for at in order] == [True] * 4
    assert (chain.row.begin, chain.row.newest, chain.row.broken) == (1, 4, None)
    assert not any(chain.take(line, 1.0) for line in given)
    if order[0] == 0:
        assert (chain.row.number, chain.row.hash, chain.row.missing) == (4, given[3].hash, 0)


def test_a_gap_is_missing_until_it_is_filled() -> None:
    chain, given = OriginChain(OriginRow("a" * 16)), lines(4)
    for at in (0, 3):
        chain.take(given[at], 1.0)
    assert (chain.row.number, chain.row.missing) == (1, 3)
    for at in (2, 1):
        chain.take(given[at], 1.0)
    assert (chain.row.number, chain.row.missing) == (4, 0)


def test_a_changed_record_breaks_the_chain_at_the_next_one() -> None:
    chain, given = OriginChain(OriginRow("a" * 16)), lines(3)
    changed = parse_line(given[1].text.replace('"1"', '"9"').encode())
    assert changed is not None
    for line in (given[0], changed, given[2]):
        chain.take(line, 1.0)
    assert chain.row.broken == 3


def test_a_chain_may_begin_late_because_older_records_are_not_kept() -> None:
    chain, given = OriginChain(OriginRow("a" * 16)), lines(4)
    chain.take(given[2], 1.0)
    chain.take(given[3], 1.0)
    assert (chain.row.begin, chain.row.number, chain.row.missing, chain.row.broken) == (3, 4, 0, None)


def test_what_a_process_tells_about_itself() -> None:
    writer, chain = Writer(), OriginChain(OriginRow("a" * 16))
    for raw in (writer.start("box"), writer.call("ls", user="ann"), writer.line(kind="gap", lost=3)):
        line = parse_line(raw)
        assert line is not None
        chain.take(line, 5.0)
    row = chain.row
    assert (row.machine, row.pid, row.host, row.user, row.workspace, row.lost, row.last) == (
        *("box", 7, "claude-code", "ann", "/work", 3),
        5.0,
    )
