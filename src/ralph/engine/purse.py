"""The purse of a run: what may still be spent, looked at between sessions and while one works."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from ralph.core.agent_events import Usage
from ralph.core.budget import (
    Bill,
    Budget,
    Level,
    by_tokens,
    is_about_tokens,
    left_usd,
    near,
    reached,
    told,
)
from ralph.core.ending import Digest
from ralph.core.ids import RunId
from ralph.core.moment import iso
from ralph.core.prices import Price, worth
from ralph.ports.clock import Clock
from ralph.ports.ledger import Asked
from ralph.ports.store import Store


class Purse:
    """What this run and its project have spent, and how far that is from their limits."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        run: RunId,
        *,
        budget: Budget,
        hard: str,
        prices: Mapping[str, Price],
    ) -> None:
        self.store = store
        self.run = run
        self.budget = budget
        self.hard = hard
        """When a limit stops the work rather than warns: billed, always or never."""
        self.prices = prices
        self.warned: set[tuple[Level, bool]] = set()
        """What was said already, and whether it was that all is spent."""
        self.began = iso(clock.now())
        self.before: float | None = None
        """What the project had spent by then."""
        self.bill = Bill()

    def is_hard(self, *, billed: bool | None) -> bool:
        """Does a limit stop the work? On a subscription a cost is only notional."""
        return self.hard == "always" or (self.hard == "billed" and billed is True)

    def count(self) -> None:
        """See what the sessions that have ended have cost."""
        budget = self.budget
        if not (budget.run_usd or budget.project_usd):
            return
        run_usd = self.store.spent(Asked(run=self.run)).known_usd
        # Of the project by all runs, not by this one alone: others may be at work elsewhere.
        since = self.store.spent(Asked(since=self.began)).known_usd
        if self.before is None:
            self.before = self.store.spent(Asked()).known_usd - since
        self.bill = Bill(run_usd=run_usd, project_usd=self.before + since)

    def left_usd(self) -> float | None:
        """What the next session may spend; None: as much as it likes."""
        return left_usd(self.budget, self.bill)

    def used_up(self) -> str | None:
        """Why no session may start, by what is billed."""
        level = reached(self.budget, self.bill)
        return told(self.budget, self.bill, level) if level else None

    def beyond(self, cost_usd: float | None) -> str:
        """Why none may start after one that has just cost this much; empty: another one may."""
        bill = replace(self.bill, session_usd=cost_usd or 0.0)
        level = reached(self.budget, bill)
        if level not in (Level.RUN, Level.PROJECT):
            return ""
        return told(self.budget, bill, level)

    def so_far(self, digest: Digest, asked: str) -> Bill:
        """With a session that is at work; its cost is known where its model has a price."""
        price = self.prices.get(digest.model) or self.prices.get(asked)
        is_told = digest.used != Usage()
        used = digest.used if is_told else Usage(input_tokens=digest.tokens)
        return Bill(
            session_usd=worth(used, price) if price else None,
            is_guess=not is_told,
            session_tokens=digest.tokens,
            run_usd=self.bill.run_usd,
            project_usd=self.bill.project_usd,
        )

    def reached(self, bill: Bill, *, is_hard: bool) -> Level | None:
        """The limit at which a session at work must end. Tokens were asked to be counted."""
        level = reached(self.budget, bill)
        if level is not None and is_hard:
            return level
        return Level.SESSION if by_tokens(self.budget, bill) >= 1 else None

    def warnings(self, bill: Bill, *, is_hard: bool) -> Iterator[str]:
        """What a person should know by now; said once."""
        spent = reached(self.budget, bill)
        for level in near(self.budget, bill):
            word = (level, level is spent)
            if word not in self.warned:
                self.warned.add(word)
                line = told(self.budget, bill, level)
                stops = is_hard or is_about_tokens(self.budget, bill, level)
                yield line if stops else f"{line}; it is not billed, so nothing stops"

    def next_session(self) -> None:
        """Another one begins: see what is left for it, and warn of it anew."""
        self.count()
        self.warned = {word for word in self.warned if word[0] is not Level.SESSION}
