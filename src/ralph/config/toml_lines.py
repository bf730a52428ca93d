"""On which line of a TOML file each key stands, which the parser of the library does not tell.

The text has passed that parser, so it is known to be TOML: nothing here checks it again.
"""

Path = tuple[str, ...]


def line_numbers(text: str) -> dict[Path, int]:
    """The line of every table and key, by its path; of the first one where there are several."""
    found: dict[Path, int] = {}
    table: Path = ()
    at, line, counted = 0, 1, 0
    while at < len(text):
        character = text[at]
        if character in " \t\r\n":
            at += 1
            continue
        line, counted = line + text.count("\n", counted, at), at
        if character == "#":
            at = _end_of_line(text, at)
        elif character == "[":
            table, at = _path(text, at + (2 if text.startswith("[[", at) else 1))
            found.setdefault(table, line)
            at = _end_of_line(text, at)
        else:
            path, at = _path(text, at)
            for length in range(1, len(path) + 1):
                found.setdefault(table + path[:length], line)
            at = _end_of_value(text, at + 1)
    return found


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _path(text: str, at: int) -> tuple[Path, int]:
    """The parts of a dotted key, and where its `=` or `]` stands."""
    parts: list[str] = []
    bare = ""
    while at < len(text) and text[at] not in "=]\n":
        if text[at] in "\"'":
            end = _end_of_string(text, at)
            bare += text[at + 1 : end - 1]
            at = end
            continue
        if text[at] == ".":
            parts.append(bare)
            bare = ""
        elif text[at] not in " \t":
            bare += text[at]
        at += 1
    return (*parts, bare), at


def _end_of_string(text: str, at: int) -> int:
    """Behind the quotes that close the string which opens here."""
    quote = text[at]
    closing = quote * 3 if text.startswith(quote * 3, at) else quote
    at += len(closing)
    while at < len(text) and not text.startswith(closing, at):
        at += 2 if text[at] == "\\" and quote == '"' else 1
    at += len(closing)
    # `""""quoted""""`: up to two quotes may stand before the three that close.
    while len(closing) == 3 and text.startswith(quote, at):
        at += 1
    return at


def _end_of_value(text: str, at: int) -> int:
    """The end of the line on which the value ends."""
    depth = 0
    while at < len(text):
        character = text[at]
        if character in "\"'":
            at = _end_of_string(text, at)
            continue
        if character == "#":
            at = _end_of_line(text, at)
            continue
        if character == "\n" and depth == 0:
            break
        depth += (character in "[{") - (character in "]}")
        at += 1
    return at
