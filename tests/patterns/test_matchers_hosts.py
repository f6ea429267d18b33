import contextlib
import time

import pytest

from hookline.patterns.matchers import url_host
from hookline.patterns.pattern import BadPattern, UndecidedError

GOES_TO_EXAMPLE = [
    *("https://\u00adexample.com/", "\u200bexample.com", "https://u@\u2060example.com", "http://\texample.com"),
    *[
        "https://example.com",
        "http://example.com/",
        "https://example.com/x?y#z",
        "HTTPS://EXAMPLE.com",
        "https://example.com:8443/x",
        "https://example.com:",
    ],
    *[
        "https://example.com./x",
        "https://user:pass@example.com/",
        "https://a@b@example.com",
        "https://evil.com@example.com/",
        "//example.com/x",
    ],
    *[
        "example.com",
        "example.com/x",
        "example.com:80",
        "https:example.com",
        "https:/example.com",
        "https:\\\\example.com\\x",
        "https:////example.com",
    ],
    *[
        "https://example.com\\@evil.com/",
        "https://example.com?x",
        "https://example.com#@evil.com",
        "wss://example.com",
        "ftp://example.com",
        "foo://example.com/",
    ],
    *[
        "  https://example.com  ",
        "\nhttps://example.com",
        "https://exa\tmple.com",
        "ht\ntps://example.com",
        "https://ex%61mple.com",
        "https://EX%41MPLE%2ecom",
    ],
    *[
        "https://ｅxample.com",
        "https://example。com",
        "https://ⓔxample.com",
        "https://𝐞xample.com",
        "https://exam\u00adple.com",
        "https://example.com%2E",
    ],
]
GOES_ELSEWHERE = [
    *[
        "https://evil.com/?q=example.com",
        "https://evil.com/example.com",
        "https://example.com.evil.com",
        "https://notexample.com",
        "https://example.comx",
    ],
    *[
        "https://example.com@evil.com",
        "https://example.com:x@evil.com/",
        "https://evil.com#example.com",
        "https://evil.com?@example.com",
        "https://evil.com/@example.com",
    ],
    *[
        "https://evil.com\\@example.com",
        "https://evil.com\\example.com",
        "https://example.org",
        "https://examplexcom",
        "https://example",
        "https://example..com",
    ],
    *[
        "file:///example.com/x",
        "foo:/example.com",
        "https://evil.com:80/example.com",
        "text about example.com",
        "see https://example.com",
        "",
        "https://",
    ],
    *[
        "https://example.com..evil.com",
        "https://example.com:80.evil.com",
        "javascript:alert(1)//example.com",
        "https://[::1]/example.com",
    ],
]
SUBDOMAINS = [
    "https://a.example.com",
    "https://a.b.example.com:1/x",
    "https://u@a.example.com",
    "https://A.EXAMPLE.COM.",
    "https://a%2eexample.com",
    "a.example.com",
]
NO_SUBDOMAINS = [
    "https://evil.com/.example.com",
    "https://aexample.com",
    "https://a.example.com.evil.com",
    "https://evil.com#.example.com",
    "https://evil.com\\.example.com",
]


@pytest.mark.parametrize("url", GOES_TO_EXAMPLE)
def test_a_url_of_the_host(url):
    assert url_host("example.com").search(url)
    assert url_host("Example.COM.").search(url)
    assert url_host("*.example.com").search(url)


@pytest.mark.parametrize("url", GOES_ELSEWHERE)
def test_a_url_that_only_looks_like_it(url):
    assert not url_host("example.com").search(url)
    assert not url_host("*.example.com").search(url)


@pytest.mark.parametrize("url", SUBDOMAINS)
def test_subdomains_are_heard_where_asked(url):
    assert url_host("*.example.com").search(url)
    assert not url_host("example.com").search(url)


@pytest.mark.parametrize("url", NO_SUBDOMAINS)
def test_what_only_ends_like_the_host_is_not_below_it(url):
    assert not url_host("*.example.com").search(url)


def test_names_beyond_ascii():
    assert url_host("bücher.de").search("https://xn--bcher-kva.de/")
    assert url_host("bücher.de").search("https://BÜCHER.de/")
    assert not url_host("bücher.de").search("https://bucher.de/")


def test_addresses_and_any_host():
    assert url_host("127.0.0.1").search("http://127.0.0.1:8000/")
    assert not url_host("127.0.0.1").search("http://127x0.0.1/")
    assert url_host("[::1]").search("http://[::1]:80/")
    assert url_host("localhost").search("http://localhost:3000")
    assert url_host("*").search("anything")


@pytest.mark.parametrize(
    "domain",
    [
        "",
        ".",
        "*.",
        "https://example.com",
        "example.com/x",
        "example.com:80",
        "a b",
        "a*.com",
        "*.*.com",
        "user@example.com",
        "ex%61mple.com",
    ],
)
def test_what_is_not_a_host_is_refused(domain):
    with pytest.raises(BadPattern):
        url_host(domain)


@pytest.mark.parametrize(
    "text", ["https://" + "a." * 400_000, "\t" * 800_000, "https://" + "@" * 800_000, "https://" + "\u00ad" * 400_000]
)
@pytest.mark.timing
def test_a_hostile_text_is_answered_in_time(text):
    started = time.perf_counter()
    with contextlib.suppress(UndecidedError):
        assert not url_host("*.example.com").search(text)
    assert time.perf_counter() - started < 1
