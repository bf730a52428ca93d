"""PRDs of every kind, as people and agents write them."""

from hypothesis import strategies as st

DECOYS = (
    "```\n### [ ] US-900: code\n- [ ] code\n```",
    "~~~md\n### [x] US-901: code\n~~~",
    "    ### [ ] US-902: indented code",
    "<!--\n### [ ] US-903: comment\n- [ ] comment\n-->",
    "> ### [ ] US-904: quoted\n>\n> - [ ] quoted",
    "Some words about ### [ ] US-905: nothing.",
    "- an item without a box\n- [a link](http://example.org)",
    "#### [ ] Notes\n\nwords",
    "| a | b |\n| - | - |\n| [ ] | [x] |",
    "- [x](http://example.org) a link that looks like a box",
    "Line one\nLine two with trailing spaces   ",
    "`### [ ] US-906: in a code span`",
    "- ### [ ] US-907: a heading in a list",
)
WORDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs"), exclude_characters="\\`<#[]"),
    min_size=1,
    max_size=12,
)
BULLETS = st.sampled_from(["- ", "* ", "+ ", "1. ", "2) ", "-   ", "-\t"])
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
BOXES = st.sampled_from(["[ ]", "[x]", "[X]"])


@st.composite
def criteria(draw: st.DrawFn) -> tuple[str, list[bool]]:
    """A list with boxes, perhaps with another in it."""
    bullet, box, inner = draw(BULLETS), draw(BOXES), draw(BOXES)
    words = draw(WORDS)
    lines = [f"{bullet}{box} met: {words}"]
    ticked = [box != "[ ]"]
    if draw(st.booleans()):
        lines.append(f"{' ' * 4}- {inner} and below it {words}")
        ticked.append(inner != "[ ]")
    return "\n".join(lines), ticked


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[tuple[str, bool, list[bool]]]]:
    """The text of a PRD, and of each story its id, its box and those of its criteria."""
    end = draw(LINE_ENDS)
    blocks = ["# A product", *draw(st.lists(st.sampled_from(DECOYS), max_size=2))]
    outputs = []
    for number in range(1, draw(st.integers(1, 5))):
        box, indent = draw(BOXES), draw(st.sampled_from(["", " ", "   "]))
        closing = draw(st.sampled_from(["", " ###", "  "]))
        title = "Do: " + draw(WORDS)
        # After a list a heading with spaces before it belongs to the list.
        blocks += ["Next:"] * bool(indent)
        blocks.append(f"{indent}### {box} US-{number:03}: {title}{closing}")
        boxes: list[bool] = []
        for _ in range(draw(st.integers(0, 3))):
            if draw(st.booleans()):
                blocks.append(draw(st.sampled_from(DECOYS)))
            else:
                # Two lists in a row would be one, and one item's text the other's.
                text, ticked = draw(criteria())
                blocks += ["Then:", text]
                boxes += ticked
        outputs.append((f"US-{number:03}", box != "[ ]", boxes))
    if draw(st.booleans()):
        blocks += ["## Not to do", "- [ ] this is nobody's"]
    text = f"{end}{end}".join(block.replace("\n", end) for block in blocks)
    return text + draw(st.sampled_from(["", end, end * 3])), outputs


SCRAPS = st.lists(
    st.sampled_from(
        [
            *("### ", "## ", "#", "[ ]", "[x]", "[X]", "[]", "[\t]", " ", "\t", "    ", "\n", "\r"),
            *("\r\n", "\n\n", "US-001", "US-002", "US-1", ": ", ":", "Title", "- ", "* ", "1. "),
            *("> ", "```", "~~~", "<!--", "-->", "---", "===", "\\", "`", "Depends on: ", "none"),
            *("\0", "\x0b", "\x0c", "\u2028", "\x85", "\u00a0", "é", "日本", "\ud800", "\ufeff"),
            *("[a]: /b", "<details>", "</details>", "| a |", "**", "_", "&nbsp;", "é" * 3),
        ]
    ),
    max_size=40,
).map("".join)
"""Anything that could confuse a reader of Markdown."""
