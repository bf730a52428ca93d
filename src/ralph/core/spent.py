"""What sessions have cost, summed up honestly: reported, estimated, and unknown."""

import msgspec


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """A sum over sessions that have ended. Cost that nobody knows is not in it, but counted."""

    sessions: int = 0
    reported: int = 0
    """Sessions whose agent said what it cost."""
    estimated: int = 0
    """Sessions whose cost is worked out from `[prices]`."""
    unknown: int = 0
    """Sessions whose cost nobody knows."""
    reported_usd: float = 0.0
    estimated_usd: float = 0.0
    counted: int = 0
    """Sessions whose tokens are known."""
    input_tokens: int = 0
    """All that was read, from a cache or not."""
    cached_tokens: int = 0
    output_tokens: int = 0

    @property
    def known_usd(self) -> float:
        """What is known of it: never more than was spent."""
        return self.reported_usd + self.estimated_usd

    @property
    def total_usd(self) -> float | None:
        """None when any of it is unknown."""
        return self.known_usd if self.reported + self.estimated == self.sessions > 0 else None

    def __add__(self, other: "Spent") -> "Spent":
        names = self.__struct_fields__
        return Spent(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def __str__(self) -> str:
        """`$1.20`, `~$1.20`, `unknown`, `$1.20 and 2 sessions of unknown cost`."""
        if not self.sessions:
            return "nothing"
        known = dollars(self.known_usd, estimated=self.estimated > 0)
        if not self.unknown:
            return known
        if self.unknown == self.sessions:
            return "unknown"
        sessions = "session" if self.unknown == 1 else "sessions"
        return f"{known} and {self.unknown} {sessions} of unknown cost"


def one_session(
    cost_usd: float | None,
    *,
    estimated: bool = False,
    input_tokens: int | None = None,
    cached_tokens: int | None = None,
    output_tokens: int | None = None,
) -> Spent:
    """What a single session has cost."""
    is_known = cost_usd is not None
    is_counted = input_tokens is not None or output_tokens is not None
    return Spent(
        sessions=1,
        reported=int(is_known and not estimated),
        estimated=int(is_known and estimated),
        unknown=int(not is_known),
        reported_usd=0.0 if estimated else cost_usd or 0.0,
        estimated_usd=cost_usd or 0.0 if estimated else 0.0,
        counted=int(is_counted),
        input_tokens=input_tokens or 0,
        cached_tokens=cached_tokens or 0,
        output_tokens=output_tokens or 0,
    )


def dollars(cost_usd: float | None, *, estimated: bool = False) -> str:
    """`$1.20`, `~$1.20` for an estimate. Cost that nobody reported is unknown, never $0."""
    if cost_usd is None:
        return "unknown"
    about = "~" if estimated else ""
    return f"under {about}$0.01" if 0 < cost_usd < 0.01 else f"{about}${cost_usd:.2f}"
