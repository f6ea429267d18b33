"""Shell text with placeholders, given to real shells: each value arrives as it was, and nothing that it says is run."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.errors import BadTemplate
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
    ("printf %s ~{{v}}*{{v}}", "~{0}*{0}"),
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


@pytest.mark.parametrize(
    "text",
    [
        "echo '[AUDIT] Agent running bash: {{v}}' >> /var/log/audit.log",
        "cd {{v}} && git add -A && git commit -m 'auto-save after {{v}}' 2>/dev/null || true",
        "python -m py_compile {{v}}",
        "ruff check {{v}}",
        "npx prettier --write {{v}}",
        "npm run lint -- {{v}}",
        "uv run ruff format {{v}}",
        "uv run python tools/check.py {{v}}",
        "source .venv/bin/activate && pytest {{v}} -q",
        '"$PROJECT_DIR"/hooks/check.sh --command {{v}}',
        'python3 "$PROJECT_DIR"/hooks/check.py {{v}}',
        "bash scripts/check.sh -c {{v}}",
        "bash -n -- {{v}}",
        "node --check -- {{v}}",
        "sed -n 1,5p -- {{v}}",
        "awk -v name={{v}} '{print name}' file",
        "grep -q {{v}} list.txt",
        "jq --arg c {{v}} '.x = $c' state.json",
        "curl -s -d {{v}} https://example.com/hook",
        "echo {{v}} | python3 hook.py",
        "echo {{v}} | python3 -c 'import sys; print(sys.stdin.read())'",
        "printf '%s\\n' {{v}} | tee -a log | wc -l",
        "set -euo pipefail; echo {{v}}",
        "if [[ -f list && $HOME == /root ]]; then echo {{v}}; fi",
        "echo ${HOME} ${X:-none} ${#X} $((1 + 2)) {{v}}",
        "find . -name {{v}} -exec grep -l x {} \\;",
        "sudo -u bob ls {{v}}",
        'printf "got {{v}}\\n"',
        'while read -r line; do echo "$line"; done < {{v}}',
        "cat {{v}} | xargs -n 1 echo",
        "git diff -- {{v}}",
        "command -v {{v}}",
        "nohup ./notify {{v}} > /dev/null 2>&1 &",
    ],
)
def test_what_hooks_are_usually_made_of_is_accepted(text: str) -> None:
    parse_shell_template(text, resolve)


REFUSED = [
    # where quoting cannot be told
    "cat <<EOF\n{{v}}\nEOF",
    "cat <<'EOF'\n{{v}}\nEOF",
    "cat <<-EOF\n\t{{v}}\n\tEOF",
    "cat <<EOF {{v}}\nx\nEOF",
    "cat <<EOF\n$(echo a)\nEOF\necho {{v}}",
    "cat <<EOF\necho {{v}}",
    "echo $(cat <<EOF\nx\nEOF\n) {{v}}",
    "echo a # {{v}}",
    "# {{v}}",
    "echo $'{{v}}'",
    'echo $"{{v}}"',
    "echo $'it\\'s' {{v}}",
    "echo $(({{v}}))",
    "echo $(( 1 + {{v}} ))",
    "(({{v}}))",
    "echo $[{{v}}]",
    "echo $[1] {{v}}",
    "echo ${x:-{{v}}}",
    'echo "${x:-{{v}}}"',
    "echo ${{v}}",
    'echo "${{v}}"',
    "echo \\{{v}}",
    'echo "\\{{v}}"',
    "echo '\\{{v}}'",
    "echo \\\\{{v}}",
    "echo $\\\n{{v}}",
    "echo '{{v}}",
    'echo "{{v}}',
    "echo `echo {{v}}",
    "echo $(echo {{v}}",
    "(echo {{v}}",
    "echo {{v}})",
    "echo {{v}} \\",
    "echo `echo \\`echo {{v}}\\``",
    "echo `echo \\\\ {{v}}`",
    "echo $(case x in x) echo {{v}};; esac)",
    "echo $(echo a # ' \n) {{v}}",
    "case x in {{v}}) echo;; esac",
    "case x in a) echo {{v}};;",
    "f() { echo \"$1\"; }; f {{v}}",
    "function f { echo; }; f {{v}}",
    "a=({{v}})",
    "a[{{v}}]=1",
    "diff <(echo {{v}}) x",
    "[[ {{v}} -eq 1 ]]",
    "[[ x == {{v}} ]]",
    "[[ x ; echo {{v}}",
    "cat <\\\n<EOF\n{{v}}\nEOF",
    "echo x >& {{v}}",
    # as the command
    "{{v}} foo",
    "'{{v}}'",
    "FOO=1 {{v}}",
    "if {{v}}; then :; fi",
    "$(echo {{v}}) foo",
    "`echo {{v}}`",
    "pre{{v}}",
    "! {{v}}",
    "true && {{v}}",
    "true | {{v}}",
    "sudo {{v}}",
    "env X=1 {{v}}",
    "timeout {{v}} ls",
    "timeout 5 {{v}}",
    "nice -n 5 {{v}}",
    "sudo -u bob {{v}}",
    "sudo --weird bob ls {{v}}",
    "env -S {{v}}",
    "xargs {{v}}",
    "exec {{v}}",
    "command {{v}}",
    "time {{v}}",
    "find . -exec {{v}} \\;",
    "X={{v}}; $X foo",
    'X={{v}}; Y="$X"; "$Y"',
    "for X in {{v}}; do $X; done",
    "$PREFIX {{v}}",
    "$(true) $X {{v}}",
    "nice $LEVEL {{v}}",
    "timeout $TIME ls {{v}}",
    "git $OPTION {{v}}",
    "find . -exec $X {{v}} \\;",
    "find . -exec env {{v}} \\;",
    "{bash,-c} {{v}}",
    "sh {-c,{{v}}}",
    # in code
    "sh -c $CODE {{v}}",
    "awk -- $CODE {{v}}",
    "bash -o $X -c {{v}}",
    "eval {{v}}",
    "eval \"echo {{v}}\"",
    "X={{v}}; eval \"$X\"",
    "bash -c \"echo {{v}}\"",
    "bash -c 'echo {{v}}'",
    "bash -c {{v}}",
    "bash -lc 'echo {{v}}'",
    "bash -c -e 'echo {{v}}'",
    "bash -c -o pipefail 'echo {{v}}'",
    "bash -o pipefail -c 'echo {{v}}'",
    "bash --rcfile f -c 'echo {{v}}'",
    "bash -c \"$(echo {{v}})\"",
    "X={{v}}; bash -c \"$X\"",
    "X={{v}} bash -c \"echo $X\"; X={{v}}",
    "/bin/sh -ec 'echo {{v}}'",
    "env bash -c 'echo {{v}}'",
    "sudo -E bash -c 'echo {{v}}'",
    "timeout -k 1 5 bash -c 'echo {{v}}'",
    "xargs -n 1 sh -c 'echo {{v}}'",
    "echo {{v}} | xargs -I{} sh -c 'echo {}'",
    "echo {{v}} | xargs bash",
    "echo {{v}} | xargs sh -c",
    "find . -exec sh -c 'echo {{v}}' \\;",
    "docker run x bash -c 'echo {{v}}'",
    "docker run x awk '{{v}}'",
    "weird wrapper bash -c 'echo {{v}}'",
    "\"$SHELL\" -c 'echo {{v}}'",
    '"$SHELL" {{v}}',
    'weird "$SHELL" -c {{v}}',
    "$PYTHON3 {{v}}",
    '"$VENV"/bin/python {{v}}',
    "echo {{v}} | bash",
    "echo {{v}} | sudo sh -",
    "echo {{v}} | sh -s",
    "echo {{v}} | sh /dev/stdin",
    "(echo {{v}}) 2>/dev/null | bash 2>/dev/null",
    "{ echo {{v}}; } | python3",
    "bash <<< {{v}}",
    "python3 - <<< {{v}}",
    ". /dev/stdin <<< {{v}}",
    "source {{v}}",
    ". {{v}}",
    "bash {{v}}",
    "bash {{v}} {{v}}",
    "bash 2>/dev/null {{v}} {{v}}",
    "bash $OPTIONS {{v}} {{v}}",
    "ssh host 'echo {{v}}'",
    "ssh host echo {{v}}",
    "su -c 'echo {{v}}'",
    "trap 'echo {{v}}' EXIT",
    "python -c 'print(\"{{v}}\")'",
    "python3.12 -uc '{{v}}'",
    "python3 '-c{{v}}'",
    "python3 {{v}}",
    "python -m {{v}}",
    "perl -e '{{v}}'",
    "perl -ne 'print' {{v}}",
    "perl -e 1 -e {{v}}",
    "ruby -e '{{v}}'",
    "node -e '{{v}}'",
    "node --eval={{v}}",
    "php -r '{{v}}'",
    "deno eval '{{v}}'",
    "awk '/{{v}}/' file",
    "awk -v {{v}} '{print}'",
    "sed 's/a/{{v}}/' file",
    "sed -n '1p' {{v}}",
    "sed -i -e 's/a/{{v}}/' file",
    "watch 'echo {{v}}'",
    "parallel echo {{v}}",
    "make X={{v}}",
    "flock l -c 'echo {{v}}'",
    "git -c alias.x={{v}} x",
    "git config alias.x {{v}}",
    "git {{v}}",
    "tar cf a --to-command={{v}} b",
    "tar cf a --checkpoint-action=exec={{v}} b",
    # where bash evaluates a value
    "let {{v}}",
    "let x={{v}}",
    "test -v {{v}}",
    "[ {{v}} {{v}} ]",
    "[ a = b -o {{v}} ]",
    "printf {{v}}",
    "printf {{v}} {{v}}",
    "printf -v x {{v}}",
    "printf \"{{v}} %s\" {{v}}",
    "unset {{v}}",
    "read {{v}}",
    "declare -i x={{v}}",
    "declare -i x; x={{v}}",
    "export {{v}}",
    "alias a={{v}}",
    "set {{v}}",
    "mapfile -C {{v}}",
    "X={{v}}; echo $((X + 1))",
    "X={{v}}; [[ $X -eq 1 ]]",
    "X={{v}}; [[ X -eq 1 ]]",
    "X={{v}}; echo ${!X}",
    "X={{v}}; echo ${X@P}",
    "X={{v}}; echo ${Y:X}",
    "X={{v}}; echo ${Y[X]}",
    "read X; echo $((X)) {{v}}",
    "RANDOM={{v}}",
    "PATH={{v}} ls",
    "BASH_ENV={{v}} ls",
    "export PS4={{v}}",
    "env LD_PRELOAD={{v}} ls",
    # unknown names
    "echo {{nobody}}",
    "echo {{}}",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_value_that_could_be_run_is_refused(text: str) -> None:
    with pytest.raises(BadTemplate) as caught:
        parse_shell_template(text, resolve)
    assert caught.value.what
    assert 0 <= caught.value.position <= len(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["{{v}}", *"'\"\\$`\n(){}[]<>;&|# =ax-", "<<", "case ", " in ", "esac", "$(", "EOF"])).map(
        "".join
    )
)
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(BadTemplate):
        parse_shell_template(text, resolve)


@pytest.mark.parametrize(
    "text", ["$(" * 5000 + "{{v}}", "(" * 5000 + "{{v}}", '"$(' * 999 + "{{v}}", "case x in " * 999 + "{{v}}"]
)
def test_deep_nesting_is_refused_not_a_crash(text: str) -> None:
    with pytest.raises(BadTemplate):
        parse_shell_template(text, resolve)
