"""What the packs cost for a line of 100 KB: a condition that runs out of time stops whatever the line does."""

from __future__ import annotations

from time import process_time

import pytest

from packs.pack_trials import decide, load_pack

_SIZE = 100_000
_LIMIT = 0.15  # seconds; matching gets 0.1 and takes at most half of it on an idle machine
LINES = {
    "words": "echo " + "abc " * (_SIZE // 4),
    "chain": " && ".join(f"npm test {number}" for number in range(_SIZE // 18)),
    "variables": "; ".join(f"a{number}=$a{number - 1}x" for number in range(1, _SIZE // 12)),
    "substitutions": "echo " + "$(date) " * (_SIZE // 8),
    "pipes": "curl x" + " | sort" * (_SIZE // 7),
    "here-document": "cat > x.txt <<'EOF'\n" + "some text; with rails db and drop table\n" * (_SIZE // 40) + "EOF",
    "python": "python3 - <<'EOF'\n" + "x = open('a.txt').read() + 'b c'\n" * (_SIZE // 33) + "EOF",
    "python code": "python3 -c '" + "open(a, " * (_SIZE // 8) + "'",
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
