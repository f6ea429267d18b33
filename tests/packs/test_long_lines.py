"""Long lines: what the packs cost for 100 KB, and that they stop no script for its length alone."""

from __future__ import annotations

from time import process_time

import pytest

from hookline.hooks.outcome import Verdict
from packs.pack_trials import decide, load_pack

_SIZE = 100_000
_LIMIT = 0.5  # seconds of processor time; most take a tenth of it on an idle machine
LINES = {
    "words": "echo " + "abc " * (_SIZE // 4),
    "chain": " && ".join(f"npm test {number}" for number in range(_SIZE // 18)),
    "variables": "; ".join(f"a{number}=$a{number - 1}x" for number in range(1, _SIZE // 12)),
    "substitutions": "echo " + "$(date) " * (_SIZE // 8),
    "pipes": "curl x" + " | sort" * (_SIZE // 7),
    "here-document": "cat > x.txt <<'EOF'\n" + "some text; with rails db and drop table\n" * (_SIZE // 40) + "EOF",
    "python": "python3 - <<'EOF'\n" + "x = open('a.txt').read() + 'b c'\n" * (_SIZE // 33) + "EOF",
    "python code": "python3 -c '" + "open(a, " * (_SIZE // 8) + "'",
    "python texts": "python3 -c '" + 'open(a, "b", ' * (_SIZE // 13) + "'",
    "escaped quotes": 'python3 -c "' + "\\'" * (_SIZE // 2) + '"',
    "white space": "python3 -c 'exec " + "\n" * _SIZE + "'",
    "white space in texts": "python3 -c 'open(\"" + " " * _SIZE + "'",
    "decoders": "python3 -c '" + "exec bytes.fromhexa " * (_SIZE // 20) + "'",
    "node": "node -e '" + 'const a = f("x", 1); ' * (_SIZE // 22) + "'",
    "awk": "awk '" + '{print "a" > "b"} ' * (_SIZE // 18) + "' x",
    "sed": "sed '" + "s/a/b/;" * (_SIZE // 7) + "' x",
    "addresses": "sed '" + "/a/" * (_SIZE // 3) + "' x",
    "vim": "vim -c '" + "| " * (_SIZE // 2) + "'",
    "make": "make -f - <<'E'\n" + "a: b; x\n" * (_SIZE // 8) + "E",
    "sql": 'psql -c "' + "update x " * (_SIZE // 9) + '"',
    "json": "curl -d '" + '{"a": "b c", "d": [1,2,3]}, ' * (_SIZE // 28) + "' http://x",
    "migrations": "rails " + "db:migrate:status " * (_SIZE // 18),
    "scripts": "; ".join(f"echo ls {number} > x.sh; sh x.sh" for number in range(_SIZE // 30)),
    "files": "; ".join(f"echo ls {number} > {number}.sh" for number in range(_SIZE // 24)),
    "deletes in code": "python3 -c '" + 'shutil.rmtree("dist"); ' * (_SIZE // 23) + "'",
    "powershell": "pwsh -c '" + "Remove-Item -Recurse dist; " * (_SIZE // 27) + "'",
    "branches": "git checkout main " + "git switch -x " * (_SIZE // 14),
    "environment": "RAILS_ENV=test " + "A=b " * (_SIZE // 4) + "rails db:migrate;",
    "downloads": "curl " + "-o $f " * (_SIZE // 6) + "; sh $g",
}


@pytest.mark.timing
@pytest.mark.parametrize("pack", ["recommended", "secrets", "production", "workspace"])
@pytest.mark.parametrize("name", LINES)
def test_a_long_line_is_decided_in_time(pack: str, name: str) -> None:
    book = load_pack(pack)
    decide(book, LINES[name])  # compiles the patterns
    assert min(_seconds(pack, name) for _ in range(3)) < _LIMIT


def _seconds(pack: str, name: str) -> float:
    started = process_time()
    decide(load_pack(pack), LINES[name])
    return process_time() - started


_SCRIPT = """
def parse_row(row: dict[str, str]) -> tuple[str, float]:
    name, amount = row["name"].strip(), row["amount"]
    if not amount:
        raise ValueError(f"no amount for {name!r} in line {row['line']}")
    return name, round(float(amount.replace(",", ".")), 2)


totals: dict[str, float] = {}
with open("data/rows.csv") as file:
    for row in csv.DictReader(file):
        name, amount = parse_row(row)
        totals[name] = totals.get(name, 0.0) + amount
print("\\n".join(f"{name:20} {amount:>10.2f}" for name, amount in sorted(totals.items())))
"""


@pytest.mark.parametrize("size", [2_000, 10_000, 50_000])
@pytest.mark.parametrize("start", ["python3 - <<'EOF'\n", "cat > totals.py <<'EOF'\n"])
@pytest.mark.parametrize("pack", ["recommended", "secrets", "production", "workspace"])
@pytest.mark.timing
def test_a_long_script_is_not_stopped_for_its_length(pack: str, start: str, size: int) -> None:
    line = start + "import csv\n" + _SCRIPT * (size // len(_SCRIPT)) + "EOF\n"
    assert decide(load_pack(pack), line).verdict is Verdict.SILENT
