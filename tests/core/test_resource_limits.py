"""Sizes as people write them, and limits in words."""

import re

import pytest

from ralph.core.resource_limits import SIZE, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512 MB", 512 << 20),
        ("8GB", 8 << 30),
        ("1.5 GiB", 3 << 29),
        ("2T", 2 << 40),
        ("off", 0),
        ("auto", 0),
        ("0", 0),
    ],
)
def test_a_size_is_read_as_it_is_written(text: str, expected: int) -> None:
    assert re.match(SIZE, text)
    assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "8", "plenty", "8 XB", "-1 GB", "8 GB of memory", "1e9 K"])
def test_other_words_are_no_size(text: str) -> None:
    assert not re.match(SIZE, text)


def test_a_size_is_told_in_words() -> None:
    assert [format_size(n) for n in (5, 20 << 20, 3 << 29)] == ["5 bytes", "20 MB", "1.5 GB"]
