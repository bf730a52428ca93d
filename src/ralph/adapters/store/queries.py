"""The SQL, by name: `queries("claims").claim_next` is the statement of that name in
`sql/claims.sql`.

A file is read when its first statement is asked for: most commands need two or three of them.
"""

import os


class Queries:
    """The statements of one file. `{name}` in a statement stands for another one, or for a
    fragment in `sql/shared.sql`."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._raw: dict[str, str] | None = None

    def __getattr__(self, name: str) -> str:
        # Only asked for once per name: what is found is kept as a plain attribute.
        if self._raw is None:
            self._raw = read(self._file)
        if name in self._raw:
            text = self._raw[name].format_map(self) if "{" in self._raw[name] else self._raw[name]
        elif self is not SHARED and not name.startswith("__"):
            text = getattr(SHARED, name)
        else:
            raise AttributeError(f"no query {name} in {self._file}.sql")
        self.__dict__[name] = text
        return text

    def __getitem__(self, name: str) -> str:
        return str(getattr(self, name))


def read(file: str) -> dict[str, str]:
    """Statements by name, their comments left out."""
    with open(os.path.join(FOLDER, f"{file}.sql"), encoding="utf-8") as handle:
        blocks = handle.read().split("-- name: ")[1:]
    found = {}
    for block in blocks:
        name, _, body = block.partition("\n")
        lines = (line for line in body.splitlines() if not line.startswith("--"))
        found[name.strip()] = "\n".join(lines).strip().removesuffix(";")
    return found


FOLDER = os.path.join(os.path.dirname(__file__), "sql")
SHARED = Queries("shared")
