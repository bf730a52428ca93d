"""Text from anywhere, made safe to show on one line of a terminal."""


def one_line(text: str, width: int = 0) -> str:
    """Control characters become visible, newlines become spaces; cut to `width` when given."""
    shown = _all_visible(" ".join(text[:2000].split()))
    if width and len(shown) > width:
        return shown[: width - 1] + "…"
    return shown


def block(text: str) -> str:
    """Like `one_line`, but line breaks and tabs stay."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char in "\n\t" else _visible(char) for char in text)


def _all_visible(text: str) -> str:
    # Nearly all text is harmless, and there is a lot of it.
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
