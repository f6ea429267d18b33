from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.encoding import encode_utf8, encode_utf16_units

ANY_TEXT = st.text(
    st.characters(exclude_categories=[]) | st.sampled_from("\ud800\udfff\ud83d\ude00😀a\U0001d8ff"), max_size=20
)


def moved_surrogate(code: int) -> int:
    return code + 0x100000 if 0xD800 <= code <= 0xDFFF else code


@given(text=ANY_TEXT)
def test_surrogates_move_and_nothing_else(text):
    assert encode_utf8(text).decode() == "".join(chr(moved_surrogate(ord(character))) for character in text)


@given(text=ANY_TEXT)
def test_units_are_utf16s(text):
    data = text.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
    assert encode_utf16_units(text).decode() == "".join(chr(moved_surrogate(unit)) for unit in units)
