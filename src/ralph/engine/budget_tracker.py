"""Track what a run may still spend, between sessions and during one."""

from collections.abc import Iterator

from msgspec.structs import replace

from ralph.core.agent_events import TokenUsage
from ralph.core.cost import (
    BudgetLevel,
    BudgetUsage,
    describe_limit,
    is_about_tokens,
    left_usd,
    limits_nearly_reached,
    reached_limit,
    token_cost_usd,
    token_share,
)
from ralph.core.session_output import StreamSummary
from ralph.core.times import to_iso
from ralph.engine.run_settings import RunSettings
from ralph.ports.clock import Clock
from ralph.store.costs import CostFilter
from ralph.store.store import Store


class BudgetTracker:
    """What the run and the project have spent, compared with their limits."""

    def __init__(self, store: Store, clock: Clock, settings: RunSettings) -> None:
        self.store = store
        self.run = settings.run_id
        self.budget = settings.config.budget
        """When a limit stops the work rather than warns: billed, always or never."""
        self.prices = settings.config.prices
        self.warned: set[tuple[BudgetLevel, bool]] = set()
        """What was said already, and whether it was that all is spent."""
        self.began = to_iso(clock.now())
        self.before: float | None = None
        """What the project had spent by then."""
        self.usage = BudgetUsage()

    def is_hard(self, *, billed: bool | None) -> bool:
        """Return whether a limit stops the work. With a subscription a cost is only notional."""
        return self.budget.hard == "always" or (self.budget.hard == "billed" and billed is True)

    def refresh(self) -> None:
        """Read what finished sessions have cost."""
        budget = self.budget
        if not (budget.run_usd or budget.project_usd):
            return
        run_usd = self.store.costs.total(CostFilter(run=self.run)).known_usd
        # Of the project by all runs, not by this one alone: others may be at work elsewhere.
        since = self.store.costs.total(CostFilter(since=self.began)).known_usd
        if self.before is None:
            self.before = self.store.costs.total(CostFilter()).known_usd - since
        self.usage = BudgetUsage(run_usd=run_usd, project_usd=self.before + since)

    def left_usd(self) -> float | None:
        """What the next session may spend; None: as much as it likes."""
        return left_usd(self.budget, self.usage)

    def used_up(self) -> str | None:
        """Return why no session may start."""
        level = reached_limit(self.budget, self.usage)
        return describe_limit(self.budget, self.usage, level) if level else None

    def reached_after(self, cost_usd: float | None) -> str:
        """Return why no session may start after one of this cost; empty if one may."""
        bill = replace(self.usage, session_usd=cost_usd or 0.0)
        level = reached_limit(self.budget, bill)
        if level not in (BudgetLevel.RUN, BudgetLevel.PROJECT):
            return ""
        return describe_limit(self.budget, bill, level)

    def usage_with_session(self, digest: StreamSummary, asked: str) -> BudgetUsage:
        """The usage with a running session; its cost is known where its model has a price."""
        price = self.prices.get(digest.model) or self.prices.get(asked)
        is_reported = digest.used != TokenUsage()
        used = digest.used if is_reported else TokenUsage(input_tokens=digest.tokens)
        guess_usd = token_cost_usd(used, price) if price else None
        return BudgetUsage(
            session_usd=guess_usd if digest.cost_usd is None else digest.cost_usd,
            is_guess=not is_reported,
            session_tokens=digest.tokens,
            run_usd=self.usage.run_usd,
            project_usd=self.usage.project_usd,
        )

    def reached(self, bill: BudgetUsage, *, is_hard: bool) -> BudgetLevel | None:
        """The limit at which a session at work must end. Tokens were asked to be counted."""
        level = reached_limit(self.budget, bill)
        if level is not None and is_hard:
            return level
        return BudgetLevel.SESSION if token_share(self.budget, bill) >= 1 else None

    def warnings(self, bill: BudgetUsage, *, is_hard: bool) -> Iterator[str]:
        """Yield warnings about limits that are nearly used up, once each."""
        spent = reached_limit(self.budget, bill)
        for level in limits_nearly_reached(self.budget, bill):
            word = (level, level is spent)
            if word not in self.warned:
                self.warned.add(word)
                line = describe_limit(self.budget, bill, level)
                stops = is_hard or is_about_tokens(self.budget, bill, level)
                yield line if stops else f"{line}; it is not billed, so nothing stops"

    def next_session(self) -> None:
        """Another session begins: refresh the usage and allow its warnings again."""
        self.refresh()
        self.warned = {word for word in self.warned if word[0] is not BudgetLevel.SESSION}
