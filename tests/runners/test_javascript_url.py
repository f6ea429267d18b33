"""URL and URLSearchParams in scripts. The expected values are those of Node 20."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.host import NullHost, ScriptCall
from hookline.hooks.outcome import ActionError
from hookline.runners import javascript

SOURCE = Path(javascript.__file__).with_name("javascript_url.js")
PARTS = ("href", "origin", "username", "hostname", "port", "pathname", "search", "hash")


def ran(source: str, **variables: Any) -> Any:
    return asyncio.run(javascript.run_script(ScriptCall(source, variables), NullHost()))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.COM:443/x", "example.com"),
        ("http://good.com@evil.com/", "evil.com"),
        ("http://evil.com\\@good.com/", "evil.com"),
        ("http:\\\\evil.com\\good.com", "evil.com"),
        ("http:evil.com", "evil.com"),
        ("ht\ntp://ev\til.com/", "evil.com"),
        ("http://%65vil.com", "evil.com"),
        ("http://ｅｖｉｌ。com", "evil.com"),
        ("http://0x7f.1", "127.0.0.1"),
        ("http://2130706433", "127.0.0.1"),
        ("http://[0:0:0:0:0:0:0:1]/", "[::1]"),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"),
        ("http://bücher.de", "xn--bcher-kva.de"),
        ("file:///etc/passwd", ""),
        ("javascript:alert(1)", ""),
    ],
)
def test_a_host_is_the_one_that_would_be_contacted(url: str, host: str) -> None:
    assert ran("return new URL(url).hostname", url=url) == host


def test_the_parts_of_a_url() -> None:
    source = f"const u = new URL(url); return {json.dumps(PARTS)}.map(part => u[part])"
    assert ran(source, url="https://me:pw@a.com:8443/x/../y z?q=1&r=a+b#f") == [
        "https://me:pw@a.com:8443/y%20z?q=1&r=a+b#f", "https://a.com:8443", "me", "a.com", "8443", "/y%20z", "?q=1&r=a+b", "#f"
    ]  # fmt: skip
    assert ran("return String(new URL('../b?c', 'http://a.com/x/y/z'))") == "http://a.com/x/b?c"


@pytest.mark.parametrize("url", ["", "x", "http://", "http://a b", "http://a:99999", "http://256.256.256.256", "//x"])
def test_what_is_no_url_throws(url: str) -> None:
    with pytest.raises(ActionError, match="Invalid URL"):
        ran("new URL(url)", url=url)
    assert ran("return [URL.canParse(url), URL.parse(url)]", url=url) == [False, None]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("return new URL('http://a?x=1&y=%20&x=2').searchParams.getAll('x')", ["1", "2"]),
        ("const u = new URL('http://a/?x=1'); u.searchParams.set('x', 'ä b'); return u.href", "http://a/?x=%C3%A4+b"),
        ("const u = new URL('http://a/?x=1'); u.searchParams.delete('x'); return u.href", "http://a/"),
        ("const u = new URL('http://a/'); u.hostname = 'b.com'; u.port = '8080'; u.hash = 'h'; return u.href", "http://b.com:8080/#h"),
        ("const u = new URL('http://a/'); u.hostname = 'b c'; u.port = 'x'; return u.href", "http://a/"),
        ("const u = new URL('http://a/x'); u.search = '?n=1'; u.pathname = 'p q'; u.protocol = 'https'; return u.href", "https://a/p%20q?n=1"),
        ("return String(new URLSearchParams({a: 1, b: 'c d'}))", "a=1&b=c+d"),
        ("return [...new URLSearchParams('?b=2&a=1&a=%zz')]", [["b", "2"], ["a", "1"], ["a", "%zz"]]),
        ("const p = new URLSearchParams([['b', '2'], ['a', '1']]); p.sort(); p.append('c', 3); return [p.size, `${p}`, p.has('a', '2')]", [3, "a=1&b=2&c=3", False]),
        ("return JSON.stringify({u: new URL('http://a')})", '{"u":"http://a/"}'),
        ("URL = 5; return URL", 5),
        ("return typeof URLSearchParams + typeof URL", "functionfunction"),
    ],
)  # fmt: skip
def test_parts_can_be_read_and_changed(source: str, value: Any) -> None:
    assert ran(source) == value


WORDS = [
    "http", ":", "/", "//", "\\", "@", "a", "b.c", "..", "%2e", "%41", "?", "#", "[", "]", "::1", "1", "0x1", "é", "ß", "。",
    " ", "\t", "|", "C:", "file", "foo", "&", "=", "+", "%", "^", "-", "\"", "<", "127.0.0.1", "256",
]  # fmt: skip
COMPARE = r"""
const ours = eval(require("fs").readFileSync(process.argv[1], "utf8"))().names, words = JSON.parse(process.argv[2]);
const parts = ["href", "origin", "username", "password", "host", "port", "pathname", "search", "hash"];
const read = (Class, ...given) => { try { const u = new Class(...given); return parts.map(part => u[part]).join(" ") } catch { return "invalid" } };
let seed = 1;
const random = most => { seed = (seed * 48271) % 2147483647; return seed % most };
const bases = [[], ["http://base.com/d/e?f"], ["file:///C:/b"], ["foo://h/p/q?r"]];
for (let i = 0; i < 50000; i++) {
  let url = ["", "http://", "https://", "file:", "foo:"][random(5)];
  for (let n = random(7); n >= 0; n--) url += words[random(words.length)];
  const base = bases[random(4)];
  if (/^(foo|C):.*(\.|%2e)$/i.test(url)) continue;  // Node 20 forgets the slash of foo:/..
  if (read(URL, url, ...base) !== read(ours.URL, url, ...base)) console.log(JSON.stringify([url, ...base]));
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="compares with Node")
def test_it_reads_what_node_reads() -> None:
    command = ["node", "-e", COMPARE, str(SOURCE), json.dumps(WORDS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.splitlines() == []
