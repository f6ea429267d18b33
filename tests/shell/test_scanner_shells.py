"""Shell text with placeholders, given to real shells: each value arrives as it was, and nothing that it says is run."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.hooks.event import Event
from hookline.hooks.templates import parse_shell_template

pytestmark = pytest.mark.slow


SHELLS = [path for path in map(shutil.which, ("bash", "dash", "sh")) if path]

# Each prints what it was given, with the text in the second column around it.
CONTEXTS = [
    ("printf %s {{v}}", "{}"),
    ("printf '%s' pre{{v}}post", "pre{}post"),
    ("printf %s --file={{v}}", "--file={}"),
    ("printf %s {{v}}{{v}}", "{0}{0}"),
    ("printf %s '{{v}}'", "{}"),
    ("printf %s 'a {{v}} b'", "a {} b"),
    ("printf %s 'a${{v}}'", "a${}"),
    ('printf %s "{{v}}"', "{}"),
    ('printf %s "a {{v}} b"', "a {} b"),
    ('printf %s "it\'s {{v}}\\" \\\\ \\$x"', "it's {}\" \\ $x"),
    ('N=7; printf %s "$N{{v}}${N}"', "7{}7"),
    ('N=7; printf %s $N{{v}}"$(printf 8)"', "7{}8"),
    ("printf %s '~'{{v}}*{{v}}", "~{0}*{0}"),
    ("printf %s '\\{{v}}'", "\\{}"),
    ('printf %s "\\\\{{v}}\\${{v}}"', "\\{0}${0}"),
    ('f() { printf %s "$1"; }; f {{v}}', "{}"),
    ("case {{v}} in {{v}}) printf %s {{v}};; esac", "{}"),
    ("case {{v}} in '{{v}}') printf %s {{v}};; esac", "{}"),
    ("printf %s \"$(case x in (x) printf '%sX' {{v}};; esac)\"", "{}X"),
    ('printf %s {{v}}${NONE:-"$(printf x)"}', "{}x"),
    ("cat <<END >/dev/null\n$HOME ${HOME} it's\nEND\nprintf %s {{v}}", "{}"),
    ("printf '' {a,b}; printf %s {{v}}", "{}"),
    ("printf %s {{{v}}}", "{{{}}}"),
    ("printf %s {a{{v}}}", "{{a{}}}"),
    ("printf %s \"$(printf '%sX' {{v}})\"", "{}X"),
    ('printf %s "$(printf \'%sX\' "{{v}}")"', "{}X"),
    ("printf %s \"$(printf '%sX' 'q {{v}}')\"", "q {}X"),
    ('printf %s "a $(printf \'%s\' "$(printf \'%sX\' "b {{v}}")") c"', "a b {}X c"),
    ("X=$(printf '%sX' {{v}}); printf %s \"$X\"", "{}X"),
    ("X=`printf '%sX' {{v}}`; printf %s \"$X\"", "{}X"),
    ("X=`printf '%sX' '{{v}}'`; printf %s \"$X\"", "{}X"),
    ('X=`printf \'%sX\' "a {{v}}"`; printf %s "$X"', "a {}X"),
    ('X=`printf \'%sX\' $(printf a)"{{v}}"`; printf %s "$X"', "a{}X"),
    ('X=`printf \'%sX\' "$(printf \'%sY\' "{{v}}")"`; printf %s "$X"', "{}YX"),
    ("printf %s \"`printf '%sX' {{v}}`\"", "{}X"),
    ("printf %s \"`printf '%sX' '{{v}}'`\"", "{}X"),
    ('printf %s "$(printf %s "`printf \'%sX\' {{v}}`")"', "{}X"),
    ('X={{v}}; printf %s "$X"', "{}"),
    ('X="a {{v}}"; printf %s "$X"', "a {}"),
    ("X={{v}} sh -c 'printf %s \"$X\"'", "{}"),
    ("env X={{v}} sh -c 'printf %s \"$X\"'", "{}"),
    ("export X={{v}}; sh -c 'printf %s \"$X\"'", "{}"),
    ("sh -c 'printf %s \"$1\"' _ {{v}}", "{}"),
    ('sh -ec \'printf %s "$1"\' _ "{{v}}"', "{}"),
    ("timeout 5 sh -c 'printf %s \"$1\"' _ {{v}}", "{}"),
    ("(printf %s {{v}})", "{}"),
    ("{ printf %s {{v}}; }", "{}"),
    ("if true; then printf %s {{v}}; fi", "{}"),
    ("! printf %s {{v}} || true", "{}"),
    ('for X in {{v}}; do printf %s "$X"; done', "{}"),
    ("case {{v}} in *) printf %s {{v}};; esac", "{}"),
    ("case x in (y|z) ;; x) printf '%s' \"{{v}}\" ;; esac", "{}"),
    ("[ {{v}} = {{v}} ] && printf %s {{v}}", "{}"),
    ("test ! -z x{{v}} && printf %s {{v}}", "{}"),
    ("true # comment's \"end\n printf %s {{v}}", "{}"),
    ("printf %s \\\n  {{v}}", "{}"),
    ("printf %s {{v}} > out; cat out", "{}"),
    ("printf x > ./f; printf %s {{v}} 2>/dev/null | cat", "{}"),
    ("cat <<'END' >/dev/null\n$(touch canary) '\nEND\nprintf %s {{v}}", "{}"),
    ("printf %s {{v}} && true &&\n true", "{}"),
]

RUNS = ["$(touch canary)", "`touch canary`", ";touch canary;", "\ntouch canary\n", "|touch canary", "&& touch canary &"]
ESCAPES = ["", "'", '"', "\\", "\\'", "'\"'", "$'", "\\\\", "`", "$(", "${x:-", "))", "')", '")', "''", "\\`", "\\$"]
HOSTILE = [
    *(before + run + after for before in ESCAPES for run in RUNS for after in (before, "")),
    *(
        "it's",
        "'",
        "''",
        '"',
        "\\",
        "\\\\",
        "$HOME",
        "${HOME}",
        "*",
        "~",
        "!!",
        "{a,b}",
        "#",
        "-n",
        "--",
        "a\nb",
        "\n",
        "\t x ",
    ),
    *(
        "ünïcødé ☃ 🦊",
        "a[$(touch canary)]",
        "%s%n",
        "x=1",
        "\x01\x7f",
        "\r\n",
        "<(touch canary)",
        "$'\\x41'",
        "EOF",
        "{{v}}",
    ),
]


def resolve(name: str) -> Any:
    return (lambda event: event.facts[name]) if name in ("v", "w", "input.command") else None


def rendered(text: str, value: str) -> str:
    return parse_shell_template(text, resolve).render(Event("e", {"v": value}))


def printed(shell: str, folder: Path, commands: list[str]) -> list[bytes]:
    """What each command printed, all run by one shell."""
    script = folder / "script"
    script.write_bytes("".join(f"{command}\nprintf '\\0'\n" for command in commands).encode())
    done = subprocess.run([shell, str(script)], cwd=folder, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.stderr == b""
    assert sorted(path.name for path in folder.iterdir() if path.name not in ("script", "out", "f")) == []
    return done.stdout.split(b"\0")[:-1]


QUICK = [pair for pair in CONTEXTS if "sh -" not in pair[0] and "cat" not in pair[0]]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("text", "around"), CONTEXTS)
def test_hostile_values_arrive_as_they_are(shell: str, text: str, around: str, tmp_path: Path) -> None:
    values = HOSTILE if (text, around) in QUICK else HOSTILE[::9]
    got = printed(shell, tmp_path, [rendered(text, value) for value in values])
    assert got == [around.format(value).encode() for value in values]


ALPHABET = st.sampled_from([*"'\"\\$`\n!*~{}()[];&|<># =-aé☃", "$(", "'\\''", "touch canary"])


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.lists(ALPHABET, max_size=12).map("".join), min_size=8, max_size=8))
def test_any_value_arrives_as_it_is(shell: str, tmp_path: Path, values: list[str]) -> None:
    pairs = [(text, around, value) for text, around in QUICK for value in values]
    got = printed(shell, tmp_path, [rendered(text, value) for text, _, value in pairs])
    assert got == [around.format(value).encode() for _, around, value in pairs]


@pytest.mark.parametrize("shell", SHELLS)
def test_nul_is_removed_and_a_lone_surrogate_does_not_raise(shell: str, tmp_path: Path) -> None:
    assert printed(shell, tmp_path, [rendered("printf %s {{v}}", "a\0b\ud800c")]) == [b"ab?c"]


def test_an_absent_value_is_an_empty_word() -> None:
    assert parse_shell_template("x {{v}} y", resolve).render(Event("e", {"v": None})) == "x '' y"


@pytest.mark.timing
def test_reading_a_long_text_takes_time_in_proportion() -> None:
    begun = time.monotonic()
    assert len(parse_shell_template('echo "{{v}}" # c\n' * 20_000, resolve).names) == 20_000
    assert time.monotonic() - begun < 15


def test_text_without_placeholders_is_never_refused() -> None:
    text = 'eval "$(cat <<EOF\n\'\nEOF\n)" $((1+2)) `'
    assert parse_shell_template(text, resolve).render(Event("e", {})) == text
