"""Lines made to be slow: the time to read one grows with its length, not with its square."""

from __future__ import annotations

from time import process_time

import pytest

from hookline.shell.run_commands import parse_text

_SIZE = 30_000
_LIMIT = 1.0  # seconds of processor time; each takes a tenth of it or less, and minutes if time grows with the square
_LINES = (
    "{}",
    'a="{}"',
    "echo '{}' | sh",
    "python3 -c '{}'",
    "python3 -c 'exec {}'",
    "perl -e 'open(\"{}'",
    "awk '{}' x",
    "sed '{}' x",
    "vim -c '{}'",
    "psql -c '{}'",
    "make -f - <<'E'\n{}\nE",
    "gdb -ex '{}'",
    "git -c '{}' push",
)
_PIECES = (
    *("\n", "\n ", " ", ";", "; ", ":+", "|", "| ", "/", "1,", "a=", "a:", "{", "[", "[a", "(", "$(", "${", "`", "!"),
    *('"', '" ', "\\", "\\'", "e ", "%x(", "eval(", "open(a, ", "a.", "../", "* * * * * ", "é", "$'", "<<a\n"),
)


@pytest.mark.timing
@pytest.mark.parametrize("line", _LINES)
def test_the_time_grows_with_the_length(line: str) -> None:
    for piece in _PIECES:
        text = line.replace("{}", piece * (_SIZE // len(piece)))
        started = process_time()
        parse_text(text)
        assert process_time() - started < _LIMIT, piece
