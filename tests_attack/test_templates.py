"""Shell text with placeholders, given to real shells: a value is a literal in the template's own syntax tree.

Templates are generated from a shell grammar, with placeholders at random places and hostile values in them. What each
rendering prints is compared with what its template says, and a value that runs leaves a file behind.
"""

import multiprocessing
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from attempts import Attempt

from hookline.errors import BadTemplate
from hookline.hooks.event import Event
from hookline.hooks.templates import parse_shell_template

SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "mksh", "yash")
ALWAYS = ("bash", "sh")
HAS_BRACKETS = frozenset(("bash", "zsh", "ksh", "mksh"))
HAS_BRACES = HAS_BRACKETS
HAS_ARRAYS = frozenset(("bash", "zsh", "ksh"))
HAS_SUBSTITUTED_FILES = frozenset(("bash", "zsh", "ksh"))
WEIGHTS = {"bash": 4, "sh": 2}  # the others have 1
RENDERINGS, RANDOM_RENDERINGS = 10_500, 1_500  # of all installed shells together

CANARY = "canary"
RUNS = (f"$(touch {CANARY})", f"`touch {CANARY}`", f";touch {CANARY};", f"\ntouch {CANARY}\n", f"|touch {CANARY}")
ESCAPES = ("", "'", '"', "\\", "\\'", "'\"'", "$'", "\\\\", "`", "$(", "${x:-", "))", "')", '")', "''", "\\`", '\\"')
PLAIN = (
    "", "it's", "'", "''", '"', "\\", "\\\\", "$HOME", "${HOME}", "*", "?", "[a-z]", "~", "~root", "!!", "!echo", "{a,b}",
    "{1..3}", '"{a,b}"', "'{a,b}'", "}", "#", " # x", "-n", "--", "-e", "a\nb", "\n", "\n\n", "\t x ", " ", "ünïcødé ☃ 🦊",
    f"a[$(touch {CANARY})]", "%s%n", "x=1", "=ls", "\x01\x7f", "\r\n", f"<(touch {CANARY})", "$'\\x41'", "EOF", "\nEOF\n",
    "{{v}}", "]]", " ]] ", "esac", ";;", "fi", "done", "if", "case x in", "2", "&1", "a\\", "a\\\n", "\x1b[0m", "\u2028",
    "\x80\x9f", "é'é", "!(a)", "@(a|b)", "a|b", "a&b", ")", "(", "((", "))", "0x1", "a:~:b", "\\n\\t\\0",
)  # fmt: skip
ALPHABET = (*"'\"\\$`\n!*~{}()[];&|<># =-,.:%?aé☃\t\r", "$(", "'\\''", f"$(touch {CANARY})", "\\`", '\\"', "]]", "\0")


Values = dict[str, str]
Word = tuple[str, Callable[[Values], str]]  # its text, and what the shell makes of it
Command = tuple[str, Callable[[Values], list[str]]]  # its text, and the texts that it prints, each ended by NUL


@dataclass
class Grammar:
    """Writes a template and, beside it, what the shell has to print: a function of the placeholders' values."""

    chance: random.Random
    shell: str
    budget: int = 12
    wrote_document: bool = False
    names: list[str] = field(default_factory=list)

    def value(self) -> Word:
        name = f"v{self.chance.randrange(3)}"
        return self.chance.choice((f"{{{{{name}}}}}", f"{{{{ {name} }}}}")), lambda values: values[name]

    def words(self, least: int, most: int) -> list[Word]:
        return [self.word() for _ in range(self.chance.randint(least, most))]

    def word(self, depth: int = 0) -> Word:
        """One word that expands to exactly one field."""
        pieces = [self.piece(depth) for _ in range(self.chance.choice((1, 1, 1, 2, 2, 3)))]
        text = "".join(piece[0] for piece in pieces)
        if text.startswith("#"):
            text, pieces = "x" + text, [("x", lambda _: "x"), *pieces]
        return text, lambda values: "".join(piece[1](values) for piece in pieces)

    def piece(self, depth: int) -> Word:
        self.budget -= 1
        choices: list[Callable[[int], Word]] = [
            self.bare_value, self.bare_value, self.single, self.single, self.double, self.double, self.plain,
        ]  # fmt: skip
        if depth < 3 and self.budget > 0:
            choices += [
                self.quoted_substitution,
                self.quoted_substitution,
                self.quoted_backticks,
                self.nested_backticks,
            ]
        return self.chance.choice(choices)(depth)

    def bare_value(self, depth: int) -> Word:
        return self.value()

    def plain(self, depth: int) -> Word:
        text, means = self.chance.choice(
            (
                ("abc", "abc"), ("a=b", "a=b"), ("--x=", "--x="), ("\\'", "'"), ('\\"', '"'), ("\\\\", "\\"), ("\\$x", "$x"),
                ("x#y", "x#y"), ("a\\\nb", "ab"), ("a.b", "a.b"), ("é", "é"), ("%", "%"), ("\"$E\"", ""),
                ("{x}", "{x}"), (",", ","), ("${N}", "n"), ("${N%x}", "n"), ("]", "]"),
            )
        )  # fmt: skip
        return text, lambda _: means

    def single(self, depth: int) -> Word:
        before = self.chance.choice(("", "a b", '"', "$(x) ", "\\", "`", "$", "#", "{a,b}", "\n", "~", "[["))
        after = self.chance.choice(("", " b", '"', "$", "\\", "\\\\", ")", "`", "\n", "}", "{c,d}"))
        text, means = self.value()
        return f"'{before}{text}{after}'", lambda values: before + means(values) + after

    def double(self, depth: int) -> Word:
        fixed = (
            ("", ""), ("a b", "a b"), ("'", "'"), ("\\\\", "\\"), ('\\"', '"'), ("\\$", "$"), ("\\`", "`"), ("$N", "n"),
            ("${N}", "n"), ("it's ", "it's "), ("{a,b}", "{a,b}"), ("#", "#"), ("\n", "\n"), ("~/", "~/"), ("\\\n", ""),
            ("${E:-x}", "x"), (")", ")"), ("\\z", "\\z"), ("*", "*"), ("$((1 + 1))", "2"), ("(", "("),
        )  # fmt: skip
        before, after = self.chance.choice(fixed), self.chance.choice(fixed)
        text, means = self.value()
        return f'"{before[0]}{text}{after[0]}"', lambda values: before[1] + means(values) + after[1]

    def inner(self, depth: int) -> Word:
        """Commands inside a substitution. The X keeps its last line breaks."""
        text, means = self.word(depth + 1)
        form = self.chance.choice(
            (
                "printf '%sX' {}", "printf '%sX' {}", "{{ printf '%sX' {}; }}", "(printf '%sX' {})", "true && printf '%sX' {}",
                "if true; then printf '%sX' {}; fi", "printf '%sX' {} | cat", "case x in (x) printf '%sX' {};; esac",
                "\n printf '%sX' {}\n", "printf '%sX' {} # fine\n",
            )
        )  # fmt: skip
        return form.format(text), lambda values: means(values) + "X"

    def quoted_substitution(self, depth: int) -> Word:
        text, means = self.inner(depth)
        around = self.chance.choice(("", "a ", "'", "{"))
        return f'"{around}$({text})"', lambda values: around + means(values)

    def quoted_backticks(self, depth: int) -> Word:
        text, means = self.inner_of_backticks()
        return f'"`{text}`"', means

    def nested_backticks(self, depth: int) -> Word:
        text, means = self.inner_of_backticks()
        return f'"$(printf %s "`{text}`")"', means

    def inner_of_backticks(self) -> Word:
        """Backslashes and backticks mean something else in there, and double quotes are refused."""
        text, means = self.inner(3)
        return (text, means) if not set(text) & set('\\`"') else ("printf '%sX' x", lambda _: "xX")

    def command(self, depth: int = 0) -> Command:
        """One command, and the texts that it prints, each ended by NUL."""
        choices: list[Callable[[int], Command]] = [
            self.show, self.show, self.assign, self.assign_and_run, self.loop, self.case, self.test, self.function,
            self.redirect, self.set_arguments,
        ]  # fmt: skip
        if depth < 2:
            choices += [self.sequence, self.subshell, self.branch, self.comment, self.pipe, self.while_loop]
        if depth == 0:
            choices += [self.here_document]
        if self.shell in HAS_BRACKETS:
            choices += [self.brackets, self.brackets, self.here_string]
        if self.shell in HAS_BRACES:
            choices += [self.braces]
        if self.shell in HAS_ARRAYS:
            choices += [self.array, self.arithmetic]
        if self.shell in HAS_SUBSTITUTED_FILES:
            choices += [self.process_substitution]
        return self.chance.choice(choices)(depth)

    def show(self, depth: int) -> Command:
        words = self.words(1, 3)
        program = self.chance.choice(("printf", "printf", "command printf", "N=n printf", "'printf'"))
        return f"{program} '%s\\0' " + " ".join(word[0] for word in words), lambda values: [w[1](values) for w in words]

    def assign(self, depth: int) -> Command:
        text, means = self.word()
        return f"X={text}; printf '%s\\0' \"$X\"", lambda values: [means(values)]

    def assign_and_run(self, depth: int) -> Command:
        text, means = self.word()
        form = self.chance.choice(("X={} {}", "env X={} {}", "export X={}; {}"))
        if self.shell not in ("bash", "zsh"):  # elsewhere `export X=…` is a plain argument, split like any other
            form = form.replace("export X={}", "X={}; export X")
        return form.format(text, 'awk \'BEGIN {printf "%s%c", ENVIRON["X"], 0}\''), lambda values: [means(values)]

    def loop(self, depth: int) -> Command:
        words = self.words(1, 3)
        text = f"for X in {' '.join(word[0] for word in words)}; do printf '%s\\0' \"$X\"; done"
        return text, lambda values: [word[1](values) for word in words]

    def while_loop(self, depth: int) -> Command:
        text, means = self.command(depth + 1)
        return f"while true; do {text}\nbreak; done", means

    def case(self, depth: int) -> Command:
        """A pattern from a placeholder matches exactly its own text."""
        subject, means = self.word()
        shown, shown_means = self.word()
        pattern, pattern_means = self.value()
        pattern = self.chance.choice((pattern, f'"{pattern}"', f"'{pattern}'"))
        opening = self.chance.choice(("", "("))

        def expected(values: Values) -> list[str]:
            return [shown_means(values)] if clean(pattern_means(values)) == clean(means(values)) else ["other"]

        text = f"case {subject} in {opening}{pattern}) printf '%s\\0' {shown} ;; (*) printf 'other\\0';; esac"
        return text, expected

    def test(self, depth: int) -> Command:
        left, left_means = self.word()
        right, right_means = self.word()

        def expected(values: Values) -> list[str]:
            return ["same" if clean(left_means(values)) == clean(right_means(values)) else "other"]

        return f"if [ {left} = {right} ]; then printf 'same\\0'; else printf 'other\\0'; fi", expected

    def brackets(self, depth: int) -> Command:
        left, left_means = self.word()
        right, right_means = self.word()
        operator = self.chance.choice(("==", "==", "=", "!=", "=~" if self.shell == "bash" else "=="))
        if operator == "=~":  # bare text would be a regular expression
            right, right_means = self.chance.choice((self.bare_value, self.single, self.double))(0)

        def expected(values: Values) -> list[str]:
            one, two = clean(left_means(values)), clean(right_means(values))
            holds = two in one if operator == "=~" else (one == two) is (operator != "!=")
            return ["yes" if holds else "no"]

        form = self.chance.choice(("{}", "{}", "-n x && {}", "! -z x && ( {} )"))
        test = form.format(f"{left} {operator} {right}")
        return f"if [[ {test} ]]; then printf 'yes\\0'; else printf 'no\\0'; fi", expected

    def function(self, depth: int) -> Command:
        words = self.words(1, 2)
        inside, inside_means = self.word()
        head = self.chance.choice(("f()", "f ()"))
        text = f"{head} {{ printf '%s\\0' {inside} \"$@\"; }}; f " + " ".join(word[0] for word in words)
        return text, lambda values: [inside_means(values), *(word[1](values) for word in words)]

    def set_arguments(self, depth: int) -> Command:
        words = self.words(1, 2)
        text = f"set -- {' '.join(word[0] for word in words)}; printf '%s\\0' \"$@\""
        return text, lambda values: [word[1](values) for word in words]

    def redirect(self, depth: int) -> Command:
        text, means = self.word()
        form = self.chance.choice(
            (">out printf '%s\\0' {}", "printf '%s\\0' {} > ./out", "printf '%s\\0' >out {} 2>/dev/null")
        )
        return form.format(text) + "; cat < out", lambda values: [means(values)]

    def sequence(self, depth: int) -> Command:
        first, first_means = self.command(depth + 1)
        second, second_means = self.command(depth + 1)
        glue = self.chance.choice((";", "\n", " && ", "; ! false || false; ", ";\\\n ", "\n\n"))
        return f"{first}{glue}{second}", lambda values: first_means(values) + second_means(values)

    def subshell(self, depth: int) -> Command:
        text, means = self.command(depth + 1)
        return self.chance.choice(("( {} )", "{{ {}\n}}", "(\n{}\n) 2>/dev/null")).format(text), means

    def branch(self, depth: int) -> Command:
        text, means = self.command(depth + 1)
        form = "if true; then {}\nelse :; fi", "if false; then :; elif true; then {}\nfi", "until {}\ndo break; done"
        return self.chance.choice(form[:2]).format(text), means

    def comment(self, depth: int) -> Command:
        text, means = self.command(depth + 1)
        return f"# it's \"a comment\" `x $(\n{text} # another '\n:", means

    def pipe(self, depth: int) -> Command:
        text, means = self.command(depth + 1)
        return f"{{ {text}\n}} | cat", means

    def here_document(self, depth: int) -> Command:
        text, means = self.command(1)
        delimiter = self.chance.choice(("'END'", "END", '"END"', "\\END"))
        document = 'it\'s "$N" a line\n' if delimiter == "END" else "it's `a $( \\ line\n"
        return f"cat <<{delimiter} >/dev/null\n{document}END\n{text}", means

    def here_string(self, depth: int) -> Command:
        text, means = self.word()
        return f"cat <<< {text}; printf '\\0'", lambda values: [means(values) + "\n"]

    def braces(self, depth: int) -> Command:
        text, means = self.word()
        return f"printf '%s\\0' {{a,b}} {text} x{{1,2}}", lambda values: ["a", "b", means(values), "x1", "x2"]

    def array(self, depth: int) -> Command:
        words = self.words(1, 3)
        text = f"a=({' '.join(word[0] for word in words)}); printf '%s\\0' \"${{a[@]}}\""
        return text, lambda values: [word[1](values) for word in words]

    def arithmetic(self, depth: int) -> Command:
        text, means = self.word()
        return f"for ((i = 0; i < 2; i++)); do ((i > 0)) && printf '%s\\0' {text}; done", lambda values: [means(values)]

    def process_substitution(self, depth: int) -> Command:
        text, means = self.word()
        return f"cat <(printf '%s\\0' {text})", lambda values: [means(values)]


def clean(value: str) -> str:
    return value.replace("\0", "")


def random_value(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.4:
        before = chance.choice(ESCAPES)
        return before + chance.choice(RUNS) + chance.choice((before, "", chance.choice(ESCAPES)))
    if kind < 0.7:
        return chance.choice(PLAIN)
    return "".join(chance.choice(ALPHABET) for _ in range(chance.randrange(1, 12)))


@dataclass
class Rendering:
    template: str
    values: Values
    command: str
    expected: bytes


def resolve(name: str) -> Callable[[Event], str] | None:
    return (lambda event: event.facts[name]) if name in ("v0", "v1", "v2") else None


def renderings(shell: str, count: int, seed: int) -> Iterator[Rendering]:
    """Templates that are accepted, with their values. The grammar may only write what the scanner can read."""
    chance = random.Random(seed)
    made = refused = 0
    while made < count:
        template, means = Grammar(chance, shell).command()
        if "{{" not in template:
            continue
        values = {f"v{number}": random_value(chance) for number in range(3)}
        try:
            parsed = parse_shell_template(template, resolve, "bash" if shell == "sh" else shell)  # type: ignore[arg-type]
        except BadTemplate:
            refused += 1
            assert refused < 200 + made, f"most templates are refused, the last one is {template!r}"
            continue
        made += 1
        expected = "".join(clean(text) + "\0" for text in means(values)).encode("utf-8", "replace")
        yield Rendering(template, values, parsed.render(Event("e", values)), expected)


ENVIRONMENT = {"PATH": os.environ["PATH"], "N": "n", "LANG": "C.UTF-8"}
WORKERS = 4


def run_in_shell(path: str, command: str) -> bytes:
    """What the shell prints in the current directory."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "../output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    os.waitpid(os.posix_spawn(path, [path, "-c", command], ENVIRONMENT, file_actions=actions), 0)
    return Path("../output").read_bytes()


def run_all(path: str, commands: list[str]) -> list[tuple[bytes, list[str]]]:
    """What each command prints, and the files that it leaves behind. Runs in a process of its own."""
    results = []
    with tempfile.TemporaryDirectory() as place:
        directory = os.path.join(place, "d")
        os.mkdir(directory)
        os.chdir(directory)
        for command in commands:
            printed = run_in_shell(path, command)
            files = os.listdir(".")
            for name in files:
                os.unlink(name)
            results.append((printed, sorted(set(files) - {"out"})))
        os.chdir("/")
    return results


def run_in_workers(path: str, commands: list[str]) -> list[tuple[bytes, list[str]]]:
    size = -(-len(commands) // WORKERS)
    batches = [commands[at : at + size] for at in range(0, len(commands), size)]
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("forkserver")) as pool:
        return [result for batch in pool.map(run_all, [path] * len(batches), batches) for result in batch]


def installed(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        assert shell not in ALWAYS
        pytest.skip(f"{shell} is not installed")
    return path


def share_of(shell: str, total: int) -> int:
    weights = {each: WEIGHTS.get(each, 1) for each in SHELLS if shutil.which(each)}
    return -(-total * weights[shell] // sum(weights.values()))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_value_is_a_literal_in_the_templates_own_syntax_tree(shell: str, attempt: Attempt) -> None:
    path = installed(shell)
    made = list(renderings(shell, share_of(shell, RENDERINGS), seed=7))
    results = run_in_workers(path, [rendering.command for rendering in made])
    for rendering, (printed, files) in zip(made, results, strict=True):
        succeeded = printed != rendering.expected or bool(files)
        what = f"{shell}: {rendering.template!r} with {rendering.values} ran {rendering.command!r}"
        what += f"\n    printed {printed!r}\n    not     {rendering.expected!r} {files or ''}"
        attempt(f"template value in {shell}", succeeded, what if succeeded else "")


PIECES = (
    "{{v0}}", "{{v0}}", "{{v0}}", "printf '%s\\0' ", "printf '%s\\0' {{v0}} ", "printf '%s\\0' x", " ", " ", "\n",
    ";", "'", "'", "\"", "\"", "`", "$(", ")", "(", "{ ", "; }", "\\", "\\\n", "$", "#", "~", "=", "!", "&&", "||",
    "|", "-", "[[ ", " ]]", " == ", " =~ ", " -eq ", "[", "]", "<<E", "<<'E'", "<<-E", "\nE\n", "<<<", "case x in ",
    " esac", "x)", "(x)", ";;", ";&", "${N", "${N:-", "}", "$((", "))", "((", "f()", "f() {", "<", ">out", "<(",
    "$'", "$\"", "a=(", "a[", "]=", "X=", "$N", "$X", "$N[", "{a,b}", "{", ",", "time ", "! ", "if ", "then ", "fi",
    "for X in ", "do ", "done", "function ", "select ", "eval_", "\r", "\t", "\x01", "é", "*", "?", "@(", "$@", "\\'",
    "\\\"", "\\`", ">&", ">&", ">& ", "2>&1", "&>out", "<&", "|&", ">|out",
)  # fmt: skip
MARK = "MARKMARK"
BREAKING_OUT = (
    f"$(>{CANARY})", f"`>{CANARY}`", f"'$(>{CANARY})", f'"$(>{CANARY})', f"\\$(>{CANARY})", f";>{CANARY};", f"';>{CANARY};'",
    f'";>{CANARY};"', f"\\';>{CANARY};", f")>{CANARY};(", f"|>{CANARY}", f"a[$(>{CANARY})]", f"`;>{CANARY};`", f"}}>{CANARY}",
)  # fmt: skip


def soup(shell: str, count: int, seed: int) -> Iterator[tuple[str, str, str, str]]:
    """Random pieces of shell text that the scanner accepts: the template, a value, and what runs with a mark and with it."""
    chance = random.Random(seed)
    while count:
        template = "".join(chance.choice(PIECES) for _ in range(chance.randint(2, 14)))
        if "{{v0}}" not in template or "$$" in template:  # $$ differs from run to run
            continue
        try:
            parsed = parse_shell_template(template, resolve, "bash" if shell == "sh" else shell)  # type: ignore[arg-type]
        except BadTemplate:
            continue
        count -= 1
        value = chance.choice(BREAKING_OUT)
        yield template, value, *(parsed.render(Event("e", {"v0": text})) for text in (MARK, value))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hostile_value_changes_no_more_than_a_plain_one(shell: str, attempt: Attempt) -> None:
    """What a command prints with a hostile value is what it prints with a plain word, with the value in its place."""
    path = installed(shell)
    made = list(soup(shell, share_of(shell, RANDOM_RENDERINGS), seed=8))
    results = run_in_workers(path, [command for _, _, *commands in made for command in commands])
    for index, (template, value, _, command) in enumerate(made):
        (plain, _), (hostile, files) = results[2 * index : 2 * index + 2]
        succeeded = CANARY in files or hostile != plain.replace(MARK.encode(), value.encode())
        what = f"{shell}: {template!r} ran {command!r}\n    printed {hostile!r}\n    not     {plain!r} {files or ''}"
        attempt(f"random template in {shell}", succeeded, what if succeeded else "")
