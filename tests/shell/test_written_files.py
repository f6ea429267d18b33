"""Files that a line writes and then runs are read as a pipe would be, besides what else is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.shell.command_query import CommandQuery
from hookline.shell.run_commands import parse_text, read_commands
from hookline.shell.run_text import UNREADABLE
from hookline.shell.written_files import WrittenFiles

_PUSH = CommandQuery(("git",), ("push",))
_WRITES = (
    "echo 'git xush' | tr x p > {}",
    "echo 'git xush' | tr x p >> {}",
    "echo 'git xush' | sed s/x/p/ | cat > {}",
    "{{ echo ls; echo 'git push'; }} > {}",
    "(echo 'git push') > {}",
    "for x in push; do echo git $x; done > {}",
    "if true; then printf 'git %s' push; fi > {}",
    "echo 'git push' | sudo tee {}",
    "echo 'git push' | command tee -a {}",
    "sponge {} <<< 'git push'",
    "dd of={} <<< 'git push'",
    "cp /dev/stdin {} <<< 'git push'",
    "echo 'git push' | install /dev/stdin {}",
    "echo 'git push' > first; mv first {}",
    "echo 'git xush' | tr x p > first; cp first {}",
    "{{ echo 'git push'; }} > first; cat first > {}",
    "echo Z2l0IHB1c2g= | base64 -d > {}",
    "cat <<< 'git xush' | tr x p > {}",
    "python3 -c \"open('{}', 'w').write('git push')\"",
    "python3 - <<'E'\nfrom pathlib import Path\nPath('{}').write_text('ls\\ngit push')\nE\n",
    "f() {{ echo 'git push'; }}; f > {}",
    "exec > {}; echo 'git push'",
)
_RUNS = ("sh {}", "bash -e {} x", ". ./{}", "chmod +x {0} && ./{0}", "sh < {}", "cat {} | sh", "sudo sh {}", "env ./{}")


@pytest.mark.parametrize("write", _WRITES)
@pytest.mark.parametrize("run", _RUNS)
def test_what_a_written_file_runs_is_found(write: str, run: str) -> None:
    text = f"{write.format('x')}; {run.format('x')}"
    commands = read_commands(text).commands
    assert any(_PUSH.answer(each) or (_PUSH.answer(each) is None and _PUSH.is_likely(each)) for each in commands)


@pytest.mark.parametrize(
    "text",
    [
        "echo \"import os; os.system('git push')\" | tee x.py; python x.py",
        "{ echo 'import os'; echo 'os.system(\"git push\")'; } > x.py; python3 x.py",
        "{ echo 'all:'; printf '\\tgit push\\n'; } > Makefile; make",
        "echo \"require('child_process').execSync('git xush')\" | sed s/xush/push/ > x.js; node x.js",
        "f() { sh x; }; echo 'git xush' | tr x p > x; f",
    ],
)
def test_so_is_code_of_other_languages(text: str) -> None:
    assert any(_PUSH.answer(each) for each in read_commands(text).commands)


_UNKNOWN_CONTENTS = (
    "make script > x; sh x",
    "sed s/a/b/ y > x; sh x",
    "git show HEAD~1:x > x; ./x",
    "{ python gen.py; } > x; . ./x",
    "python gen.py > x.py; python x.py",
    "cat a b > x; sh x",
    "echo $CODE > x; sh x",
    "python -c \"open('x', 'w').write(make())\"; sh x",
    "gen | tee x; sh x",
)


@pytest.mark.parametrize("text", _UNKNOWN_CONTENTS)
def test_unknown_contents_may_be_any_command(text: str) -> None:
    answers = [_PUSH.answer(each) for each in read_commands(text).commands]
    assert None in answers
    assert True not in answers
    assert not any(_PUSH.is_likely(each) for each in read_commands(text).commands)


@pytest.mark.parametrize(
    "text",
    [
        "echo 'print(1)' > t.py && python t.py",
        "cat > test.sh <<'EOF'\nnpm test\nEOF\nbash test.sh",
        "sed -i s/a/b/ script.sh && ./script.sh",
        "python gen.py > data.json && python load.py",
        "jq .a x.json > config.json && node app.js",
        "{ echo a; echo b; } > list.txt; sh run.sh list.txt",
        "npm run build 2>&1 | tee build.log; ./app",
        "{ echo ls; echo pwd; } > x; sh x",
    ],
)
def test_everything_else_is_known(text: str) -> None:
    assert all(_PUSH.answer(each) is False for each in read_commands(text).commands)


def test_a_file_that_runs_itself_is_read_once() -> None:
    found = read_commands("{ echo 'sh x'; echo 'git push'; } > x; sh x")
    assert found is not UNREADABLE
    assert any(_PUSH.answer(each) for each in found.commands)


def test_groups_that_feed_groups_are_read_in_time() -> None:
    """Each command's input is found once, not once for every way from the first command to it."""
    found = parse_text("echo 'git push' | " + "{ cat; cat; } | " * 40 + "sh")
    assert any(_PUSH.answer(each) for each in found.commands)


@contextmanager
def _without_written_files() -> Iterator[None]:
    with (
        patch.object(WrittenFiles, "note_writer", lambda *_, **__: None),
        patch.object(WrittenFiles, "note_code", lambda *_: None),
        patch.object(WrittenFiles, "computed_texts", lambda *_: []),
    ):
        yield


_FILES = st.sampled_from(("a", "./b", "c.sh", "x.py", "$f", "/tmp/a"))
_TEXTS = st.sampled_from(
    ("'git push'", "ls", '"$x"', "'echo \"'", '"rm -r \'"', "'sh a'", "'cat b | sh'", "'import os'")
)
_PRINTS = st.one_of(
    _TEXTS.map("echo {}".format),
    _TEXTS.map("printf %s {}".format),
    _TEXTS.map("cat <<< {}".format),
    _TEXTS.map("echo {} | tr x p".format),
    _FILES.map("cat {}".format),
    st.just("make"),
    st.just("f"),
)
_PARTS = st.one_of(
    st.builds("{} > {}".format, _PRINTS, _FILES),
    st.builds("{} >> {}".format, _PRINTS, _FILES),
    st.builds("{{ {}; {}; }} > {}".format, _PRINTS, _PRINTS, _FILES),
    st.builds("{} | tee {}".format, _PRINTS, _FILES),
    st.builds("dd of={} <<< {}".format, _FILES, _TEXTS),
    st.builds("mv {} {}".format, _FILES, _FILES),
    st.builds("python -c \"open('{}', 'w').write({})\"".format, _FILES, st.just("'git push'")),
    st.builds("sh {}".format, _FILES),
    st.builds("{} x".format, _FILES),
    st.builds(". {}".format, _FILES),
    st.builds("python {}".format, _FILES),
    st.builds("sh < {}".format, _FILES),
    st.builds("cat {} | sh".format, _FILES),
    st.builds("xargs -a {} rm".format, _FILES),
    st.builds("xargs rm -r < {}".format, _FILES),
    st.builds("exec 3< {}; sh <&3".format, _FILES),
    st.builds("f() {{ {}; }}".format, _PRINTS),
    st.builds("f={}".format, _FILES),
    st.builds('eval "$(cat {})"'.format, _FILES),
)


@given(st.lists(_PARTS, min_size=2, max_size=7).map("; ".join))
@settings(max_examples=400, deadline=None)
def test_nothing_that_was_found_is_lost(text: str) -> None:
    found = parse_text(text)
    if found is UNREADABLE:  # any command is likely
        return
    with _without_written_files():
        before = parse_text(text)
    assert {each.words for each in before.commands} <= {each.words for each in found.commands}
    assert set(before.files) <= set(found.files)
    assert set(before.targets) <= set(found.targets)
    assert set(before.settings) <= set(found.settings)


@pytest.mark.parametrize(
    ("files", "run", "is_found"),
    [
        ("x.sh", "sh x*.sh", True),
        ("x.sh", "sh ./?.sh", True),
        ("x.sh", "for f in *.sh; do sh $f; done", True),
        ("x.sh", "sh y*.sh", False),
        ("x.sh", "sh x.s", False),
        ("xx", "sh x*x*x", False),
    ],
)
def test_a_pattern_names_the_files_that_it_matches(files: str, run: str, is_found: bool) -> None:
    commands = read_commands(f"echo 'git push' > {files}; {run}").commands
    assert any(_PUSH.answer(each) for each in commands) is is_found


@pytest.mark.parametrize("text", ["python -c \"print('git push')\" | sh", "awk 'BEGIN {print \"git push\"}' > x; sh x"])
def test_code_may_print_its_texts(text: str) -> None:
    assert any(_PUSH.answer(each) for each in read_commands(text).commands)
