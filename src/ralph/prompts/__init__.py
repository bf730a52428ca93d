"""The texts that sessions get, and documents that Ralph begins: one Markdown file each."""

from functools import cache
from pkgutil import get_data


@cache
def prompt(name: str) -> str:
    """The text of a file in this folder. `{name}` stands for what the caller fills in."""
    text = get_data(__name__, f"{name}.md")
    assert text is not None
    return text.decode()
