"""Every key is found on its line, whatever stands around it."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ralph.config.toml_file import line_numbers


def test_keys_tables_and_dotted_keys() -> None:
    text = (
        "# [not] = a table\n"
        "\n"
        'top = "a # b"\n'
        "[one]  # why\n"
        "  a = 1\n"
        "\tb.c = 2\n"
        "[ two . 'th.ree' ]\r\n"
        '"x = y" = [ # not the end\n'
        "  '[no]', \"]\",\n"
        "]\n"
        "d = { e = 1, f = '}' }\n"
        "[[many]]\n"
        "g = 1\n"
        "[[many]]\n"
        "g = 2"
    )
    tomllib.loads(text)
    assert line_numbers(text) == {
        ("top",): 3,
        ("one",): 4,
        ("one", "a"): 5,
        ("one", "b"): 6,
        ("one", "b", "c"): 6,
        ("two",): 7,
        ("two", "th.ree"): 7,
        ("two", "th.ree", "x = y"): 8,
        ("two", "th.ree", "d"): 11,
        ("two", "th.ree", "d", "e"): 11,
        ("two", "th.ree", "d", "f"): 11,
        ("many",): 12,
        ("many", "g"): 13,
    }


def test_texts_of_several_lines_hide_what_looks_like_a_key() -> None:
    text = 'a = """\n[x]\nb = 1 \\""" ""\n"""\nc = \'\'\'\n#\'\'\'\'\'\nd = """"q""""\ne = 1\n'
    assert list(tomllib.loads(text)) == ["a", "c", "d", "e"]
    assert line_numbers(text) == {("a",): 1, ("c",): 5, ("d",): 7, ("e",): 8}


KEYS = st.sampled_from(["a", "b-c", '"d e"', "'f.g'", '"#"', '"="', '"[h]"', "i_1"])
VALUES = st.sampled_from(
    ["1", "'x'", '"a # b = c"', '"""\n[no]\nx = 1\n"""', "'''\n\\'''", "[\n 1, # ]\n 2\n]"]
) | st.sampled_from(["{ k = '}' }", '"\\""', "'\\'", "[[], ['[']]", '"\\\\"', "1979-05-27"])
GAPS = st.sampled_from(["\n", "\n\n", " # x = 1\n", "\r\n", "\n# [c]\n\t"])


@given(
    st.lists(
        st.tuples(st.lists(st.tuples(KEYS, VALUES, GAPS), max_size=4, unique_by=lambda it: it[0])),
        max_size=4,
    )
)
def test_every_key_is_found_where_it_was_written(
    tables: list[tuple[list[tuple[str, str, str]]]],
) -> None:
    text = ""
    expected: dict[tuple[str, ...], int] = {}
    for number, (members,) in enumerate(tables):
        expected[(f"t{number}",)] = 1 + text.count("\n")
        text += f"[t{number}]\n"
        for key, value, gap in members:
            expected[(f"t{number}", next(iter(tomllib.loads(f"{key} = 1"))))] = 1 + text.count("\n")
            text += f"{key} = {value}{gap}"
        text += "\n"
    assert {path: line for path, line in line_numbers(text).items() if len(path) < 3} == expected
    assert {path for path in expected if len(path) == 2} == _paths(tomllib.loads(text))


def _paths(tables: dict[str, Any]) -> set[tuple[str, str]]:
    return {(table, key) for table, members in tables.items() for key in members}
