import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.matchers import literal, path_glob, tool_glob
from hookline.patterns.pattern import BadPattern


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("bash", ["bash"], ["Bash", "bash2", "xbash", "bash\n", ""]),
        ("write_*", ["write_", "write_file"], ["awrite_file", "Write_x"]),
        ("b?sh", ["bash", "b sh", "b😀sh"], ["bsh", "baash"]),
        ("[bc]ash", ["bash", "cash"], ["dash"]),
        ("[!b]ash", ["cash"], ["bash", "ash"]),
        ("[a-c]x", ["bx"], ["dx", "-x"]),
        ("[]x]y", ["]y", "xy"], ["zy"]),
        ("[z-a]x", [], ["zx", "ax"]),
        ("[ab", ["[ab"], ["a"]),
        ("[!]", ["[!]"], ["!", "a"]),
        ("[!]a]", ["b"], ["]", "a"]),
        ("a|b*", ["a", "bcd"], ["a|b", "ab"]),
        ("a | b", ["a", "b"], ["a "]),
        ("*", ["", "anything\nat all"], []),
        (r"a\*", ["a\\x"], ["a*"]),
        ("mcp__*__(x)", ["mcp__s__(x)"], ["mcp__s__x"]),
    ],
)
def test_tool_globs(glob, yes, no):
    assert [text for text in yes if not tool_glob(glob).search(text)] == []
    assert [text for text in no if tool_glob(glob).search(text)] == []


@given(glob=st.text("ab*?[]!-^.\\", max_size=8), name=st.text("ab-!]^[\\", max_size=5))
def test_one_tool_glob_is_fnmatch(glob, name):
    assert tool_glob(glob).search(name) == fnmatch.fnmatchcase(name, glob)


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.py", ["a.py", ".py", "./a.py"], ["src/a.py", "a.pyc", "a.py\n"]),
        ("src/*.py", ["src/a.py", "./src/a.py"], ["src/x/a.py", "xsrc/a.py", "src/a.py/b"]),
        ("./src/*", ["src/a", "./src/a"], ["src/a/b"]),
        ("**/*.py", ["a.py", "x/a.py", "/x/y/a.py", "x/.hidden/a.py"], ["a.pyc"]),
        ("src/**", ["src/a", "src/a/b", "src/.env"], ["src", "srcs/a", "x/src/a"]),
        ("/etc/**", ["/etc/passwd", "/etc/a/b"], ["etc/passwd", "/etcx/a", "./etc/a"]),
        ("src/**/test.py", ["src/test.py", "src/a/b/test.py"], ["src/xtest.py", "srctest.py"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("**", ["", "a", "/a/b"], []),
        ("?.txt", ["a.txt"], ["/.txt", ".txt", "ab.txt"]),
        ("a[!b]c", ["axc"], ["abc", "a/c"]),
        ("a[+-9]c", ["a0c", "a-c"], ["a/c"]),
        ("*.{js,ts}", ["a.js", "a.ts"], ["a.jsx", "a.{js,ts}"]),
        ("{a,b/{c,d}}/x", ["a/x", "b/c/x", "b/d/x"], ["c/x", "b/x"]),
        ("{a}", ["{a}"], ["a"]),
        ("{a,b", ["{a,b"], ["a"]),
        ("a.b+c", ["a.b+c"], ["axb+c", "a.bbc"]),
        (".env", [".env", "./.env"], ["xenv", "a/.env", ".env.local"]),
    ],
)
def test_path_globs(glob, yes, no):
    assert [text for text in yes if not path_glob(glob).search(text)] == []
    assert [text for text in no if path_glob(glob).search(text)] == []


@pytest.mark.parametrize("glob", ["{" * 5000, "[" * 5000, "{a,b}" * 5000, "*" * 70_000, "{" * 30 + "a,b" + "}" * 30])
def test_a_monstrous_glob_is_refused_or_read(glob):
    for read in (tool_glob, path_glob):
        try:
            assert read(glob).search("no such thing") in (True, False)
        except BadPattern:
            assert len(glob) > 60


def test_a_long_list_of_tools_is_one_pattern():
    names = [f"server_{number}_*" for number in range(500)]
    assert tool_glob("|".join(names)).search("server_499_write")
    assert not tool_glob("|".join(names)).search("server_500_write")


def test_braces_that_are_nested_too_deeply_are_refused():
    with pytest.raises(BadPattern, match="too deeply"):
        path_glob("{x," * 30 + "a" + "}" * 30)


@given(text=st.text(max_size=12), other=st.text(max_size=12))
def test_a_literal_is_found_as_it_is(text, other):
    assert literal(text).search(text)
    assert literal(text).search(other) == (text == other)
    assert literal(text, whole=False).search(other + text + other)
