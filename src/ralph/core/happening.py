"""What every event is."""

import msgspec


class Happening(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="event",
    tag=lambda name: "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_"),
):
    """One line of what happened; its name is in the field `event`."""
