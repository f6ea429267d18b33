"""The commands of a shell text, and the quotes around its placeholders."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.errors import BadTemplate
from hookline.shell.quoting import Backticks, QuoteContext, QuoteStyle, quote_value
from hookline.shell.scanner import ScanResult, scan


def scanned(text: str) -> ScanResult:
    return scan(text, {match.start(): match.end() for match in re.finditer(r"\{\{v\}\}", text)})


@pytest.mark.parametrize(
    ("text", "style", "backticks"),
    [
        ("echo {{v}}", QuoteStyle.NOTHING, Backticks.NONE),
        ("echo '{{v}}'", QuoteStyle.SINGLE, Backticks.NONE),
        ('echo "a {{v}}"', QuoteStyle.DOUBLE, Backticks.NONE),
        ('echo "$(echo {{v}})"', QuoteStyle.NOTHING, Backticks.NONE),
        ("echo `echo '{{v}}'`", QuoteStyle.SINGLE, Backticks.PLAIN),
        ('echo "`echo {{v}}`"', QuoteStyle.NOTHING, Backticks.IN_DOUBLE_QUOTES),
        ('echo "$(echo `echo {{v}}`)"', QuoteStyle.NOTHING, Backticks.PLAIN),
        ("[[ a == '{{v}}' ]]", QuoteStyle.SINGLE, Backticks.NONE),
        ('diff <(echo "{{v}}") x', QuoteStyle.DOUBLE, Backticks.NONE),
    ],
)
def test_the_quotes_around_a_placeholder_are_found(text: str, style: QuoteStyle, backticks: Backticks) -> None:
    assert scanned(text).quotes == {text.index("{{v}}"): QuoteContext(style, backticks)}


@pytest.mark.parametrize(
    ("style", "backticks", "quoted"),
    [
        (QuoteStyle.NOTHING, Backticks.NONE, "'it'\\''s \"$x'"),
        (QuoteStyle.SINGLE, Backticks.NONE, "it'\\''s \"$x"),
        (QuoteStyle.DOUBLE, Backticks.NONE, "\"'it'\\''s \"$x'\""),
        (QuoteStyle.NOTHING, Backticks.PLAIN, "'it'\\\\''s \"\\$x'"),
        (QuoteStyle.NOTHING, Backticks.IN_DOUBLE_QUOTES, "'it'\\\\''s \\\"\\$x'"),
    ],
)
def test_a_value_is_written_for_the_quotes_around_it(style: QuoteStyle, backticks: Backticks, quoted: str) -> None:
    assert quote_value("it's \"$x", QuoteContext(style, backticks)) == quoted


def test_a_value_loses_what_no_argument_can_contain() -> None:
    assert quote_value("a\0b\ud800", QuoteContext(QuoteStyle.NOTHING)) == "'ab?'"


def test_each_command_has_its_words_without_redirections() -> None:
    commands = scanned("X=1 ls -l 'a b' > out 2>&1; if true; then (cat {{v}} | wc); fi").commands
    assert [[word.text for word in command.words] for command in commands if command.words] == [
        ["X=1", "ls", "-l", "a b"],
        ["true"],
        ["cat", ""],
        ["wc"],
    ]


def test_a_word_knows_what_is_fixed() -> None:
    ((_, word, quoted),) = (command.words for command in scanned("echo pre$A\"$(echo {{v}})\" 'x'").commands[-1:])
    assert (word.lead, word.static, word.has_placeholder) == ("pre", False, True)
    assert (quoted.text, quoted.static, quoted.quoted) == ("x", True, True)


ACCEPTED = [
    "echo '[AUDIT] Agent running bash: {{v}}' >> /var/log/audit.log",
    "cd {{v}} && git add -A && git commit -m 'auto-save after {{v}}' 2>/dev/null || true",
    "if [[ -f list && {{v}} == *.env ]]; then echo {{v}}; fi",
    "[[ {{v}} =~ ^a(b|c)+$ ]] && echo no",
    "[[ x == {{v}} || ( {{v}} < b ) ]]",
    "mkdir -p {a,b}; echo {{v}}",
    "cp -- {{v}} {{v}}.bak",
    'echo ${HOME} ${X:-none} ${#X} ${X%.*} ${X:-"a b"} $((1 + (2 * 3))) {{v}}',
    "for ((i = 0; i < 3; i++)); do echo $i {{v}}; done",
    "diff <(sort {{v}}) <(sort b) > >(tee out)",
    "files=({{v}} 'b c'); echo \"${files[@]}\"",
    "declare -A m=([k]={{v}})",
    'check() { test -f "$1"; }; check {{v}}',
    'function check { test -f "$1"; }; check {{v}}',
    "case {{v}} in *.env|{{v}}) exit 1;; *) ;; esac",
    'while read -r line; do echo "$line"; done < {{v}}',
    "time -p [[ {{v}} == x ]]",
    "set -euo pipefail; echo {{v}}",
    'echo "cost: \\${{v}}"',
    # what a program does with its argument is its author's affair
    "eval {{v}}",
    "{{v}} --version",
    "bash -c 'echo {{v}}'",
    "f={{v}}; [ -f $f ]",
    "echo {{v}} | xargs sh -c",
    "perl -pe 's/a/b/' {{v}}",
    "PATH={{v}} ls",
    "ssh host {{v}}",
    "find {{v}} -exec cat {} +",
    "printf -v x {{v}}",
    "echo {{v}} >&2 2>&1 &> {{v}}",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_placeholder_that_is_a_literal_is_accepted(text: str) -> None:
    assert len(scanned(text).quotes) == text.count("{{v}}")


REFUSED = [
    *("cat <<EOF\n{{v}}\nEOF", "cat <<'EOF'\n{{v}}\nEOF", "cat <<-EOF\n\t{{v}}\n\tEOF", "cat <<EOF {{v}}\nx\nEOF"),
    *("cat <<EOF\n$(echo a)\nEOF\necho {{v}}", "cat <<EOF\necho {{v}}", "echo $(cat <<EOF\nx\nEOF\n) {{v}}"),
    *("cat <\\\n<EOF\n{{v}}\nEOF", "cat <<{{v}}\nx\n{{v}}"),
    *("echo a # {{v}}", "# {{v}}", "echo $(echo a # ' \n) {{v}}"),
    *("echo $'{{v}}'", 'echo $"{{v}}"', "echo $'it\\'s' {{v}}"),
    *("echo $(({{v}}))", "echo $(( 1 + {{v}} ))", "(({{v}}))", "echo $[{{v}}]", "echo $[1] {{v}}"),
    *("for ((i = {{v}}; i < 1; i++)); do :; done", "[[ {{v}} -eq 1 ]]", "[[ 1 -lt {{v}} ]]", "[[ -v {{v}} ]]", "[[ -t {{v}} ]]"),
    *("! [[ {{v}} -eq 1 ]]", "time [[ {{v}} -eq 1 ]]", "time -p [[ {{v}} -eq 1 ]]", "coproc [[ {{v}} -eq 1 ]]"),
    *("if true; then [[ {{v}} -eq 1 ]]; fi", "f() [[ {{v}} -eq 1 ]]", "nocorrect [[ {{v}} -eq 1 ]]"),
    *("a[{{v}}]=1", "a['{{v}}']=1", 'a["x{{v}}"]=1', "declare a[{{v}}]=1", "a=([{{v}}]=1)", "a=(`echo {{v}}`)", "a=(\"$(echo `echo {{v}}`)\")", "echo $a[{{v}}]", 'echo "$a[{{v}}]"'),
    *("echo ${x:-{{v}}}", 'echo "${x:-{{v}}}"', "echo ${{v}}", 'echo "${{v}}"', "echo ${x:-$(echo {{v}})}", "echo ${a[{{v}}]}"),
    *("echo ${ echo {{v}}; }", "echo ${|echo {{v}}; }", 'echo "${x:-"a"}" {{v}}'),
    *("echo \\{{v}}", 'echo "\\{{v}}"', "echo $\\\n{{v}}", "echo {{v}} \\", "echo ~{{v}}"),
    *("echo '{{v}}", 'echo "{{v}}', "echo `echo {{v}}", "echo $(echo {{v}}", "(echo {{v}}", "echo {{v}})", "[[ {{v}} == a"),
    *("case x in a) echo {{v}};;", "[[ x ; echo {{v}}", "a=({{v}}"),
    *("echo `echo \\`echo {{v}}\\``", "echo `echo \\\\ {{v}}`", 'echo "`echo "{{v}}"`"', "echo \"`echo '\"' {{v}}`\""),
    *("echo $(case x in x) echo {{v}};; esac)", "[[ a # {{v}}\n ]]"),
    *("echo !({{v}})", "echo @(a|{{v}})", "echo {a,{{v}}}", "sh {-c,{{v}}}", "{bash,-c}{{v}}"),
    *("for {{v}} in a; do :; done", "select {{v}} in a; do :; done", "function {{v}} { :; }", "{{v}}() { :; }"),
    *("echo x >& {{v}}", "echo x >&{{v}}", "echo x 1>&'a{{v}}'", 'exec >&"{{v}}.log"', "echo x >&\\\n{{v}}"),
    *("alias e=\"echo '\"\ne {{v}}", "builtin alias e=x; echo {{v}}"),
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_placeholder_that_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(BadTemplate) as refused:
        scanned(text)
    assert refused.value.what
    assert refused.value.hint
    assert 0 <= refused.value.position <= len(text)


@pytest.mark.parametrize(
    ("shell", "text"), [("zsh", "[[ a =~ {{v}} ]]"), ("ksh", "[[ a =~ {{v}} ]]"), ("zsh", "echo ={{v}}")]
)
def test_some_shells_expand_a_quoted_literal(shell: str, text: str) -> None:
    places = {match.start(): match.end() for match in re.finditer(r"\{\{v\}\}", text)}
    assert scan(text, places, "bash").quotes
    with pytest.raises(BadTemplate):
        scan(text, places, shell)


@given(
    st.lists(
        st.sampled_from(["{{v}}", *"'\"\\$`\n(){}[]<>;&|# =ax-", "<<", "case ", " in ", "esac", "$(", "EOF", "[["])
    ).map("".join)
)
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(BadTemplate):
        assert len(scanned(text).quotes) == text.count("{{v}}")


@pytest.mark.parametrize(
    "text",
    ["$(" * 5000 + "{{v}}", "(" * 5000 + "{{v}}", '"$(' * 999 + "{{v}}", "case x in " * 999 + "{{v}}", "${x:-" * 999],
)
def test_deep_nesting_is_refused_not_a_crash(text: str) -> None:
    with pytest.raises(BadTemplate):
        scanned(text)
