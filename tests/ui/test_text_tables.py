from ralph.ui.formatting import TreeRow, fit, table, text_width, tree

ROWS = [
    ("t-4f2a01", "done", "Read the index"),
    ("t-9b1c22", "failed", "Rank\nthe \x1b[31mresults"),
    ("t-77aa10", "in_progress", "検索"),
]


def test_columns_are_aligned_and_safe() -> None:
    assert table(ROWS, ("ID", "STATUS", "TITLE")) == [
        "ID        STATUS       TITLE",
        "t-4f2a01  done         Read the index",
        "t-9b1c22  failed       Rank the ␛[31mresults",
        "t-77aa10  in_progress  検索",
    ]


def test_wide_characters_fill_two_columns_and_combining_ones_none() -> None:
    assert text_width("検索") == 4
    assert text_width("e\u0301") == 1
    rows = [("検索", "a"), ("abcd", "b")]
    assert table(rows, ()) == ["検索  a", "abcd  b"]


def test_the_widest_column_gives_way_when_the_window_is_narrow() -> None:
    lines = table([("t-4f2a01", "word " * 200_000, "done")], ("ID", "TITLE", "STATUS"), width=40)

    assert lines[1] == "t-4f2a01  word word word word w…  done"
    assert max(map(text_width, lines)) <= 40


def test_a_window_too_narrow_for_any_table_still_gets_one() -> None:
    lines = table(ROWS, ("ID", "STATUS", "TITLE"), width=5)

    assert lines[1] == "t-4f2a01  done      Read th…"


def test_text_is_cut_at_whole_characters() -> None:
    assert fit("検索検索", 6) == "検索… "
    assert fit("検索検索", 6, pad=False) == "検索…"
    assert fit("short", 8) == "short   "


def test_colours_only_when_asked() -> None:
    assert "\x1b" not in "".join(table(ROWS, ("ID", "STATUS", "TITLE")))
    lines = table(ROWS, ("ID", "STATUS", "TITLE"), color=True)
    assert lines[0] == "\x1b[1mID        STATUS       TITLE\x1b[0m"
    assert lines[1] == "t-4f2a01  \x1b[32mdone       \x1b[0m  Read the index"


def test_no_rows_are_only_headers() -> None:
    assert table([], ("ID", "TITLE")) == ["ID  TITLE"]
    assert table([], ()) == []


def test_a_tree_has_guides() -> None:
    branches = [
        TreeRow("a", None, "search"),
        TreeRow("b", "a", "read"),
        TreeRow("d", "b", "parse"),
        TreeRow("c", "a", "rank\x07"),
        TreeRow("e", "c", "sort", "done"),
        TreeRow("f", "gone", "lost"),
    ]
    assert tree(branches) == [
        "search",
        "├─ read",
        "│  └─ parse",
        "└─ rank␇",
        "   └─ sort",
        "lost",
    ]
    assert tree(branches, color=True)[4] == "   └─ \x1b[32msort\x1b[0m"
    assert tree(branches, width=12)[2] == "│  └─ parse"
    assert tree([TreeRow("a", None, "a long label")], width=8) == ["a long …"]


def test_a_chain_deeper_than_pythons_stack_is_shown() -> None:
    chain = [TreeRow(str(n), str(n - 1) if n else None, f"task {n}") for n in range(20_000)]
    lines = tree(chain)

    assert len(lines) == 20_000
    assert max(map(len, lines)) < 200
