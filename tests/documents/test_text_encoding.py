"""Files in every encoding, read and written back."""

import pytest

from ralph.documents.text_encoding import decode_text, readable


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_text_is_read_whatever_it_is_encoded_in(codec: str) -> None:
    data = "### [ ] US-001: Café\r\n".encode(codec)
    found = decode_text(data)
    assert found.text == "### [ ] US-001: Café\r\n"
    assert found.bytes_of(found.text) == data


def test_a_broken_letter_among_good_ones_spoils_only_itself() -> None:
    found = decode_text("Café ".encode() + b"\xff!")
    assert readable(found.text) == "Café \ufffd!"
    assert found.bytes_of(found.text) == "Café ".encode() + b"\xff!"


def test_half_of_a_letter_after_a_byte_order_mark_is_kept() -> None:
    data = b"\xff\xfea\x00b"
    assert decode_text(data).bytes_of(decode_text(data).text) == data
