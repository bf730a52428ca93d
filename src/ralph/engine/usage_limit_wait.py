"""Waits while all agents that could work are at their usage limit, until the first one resets."""

from collections.abc import Callable

from ralph.engine.agent_selection import check_agents, choose_agent, first_available_agent
from ralph.engine.crash_recovery import session_pending_verdict
from ralph.engine.run_context import RunContext
from ralph.engine.verification_and_review import pending_check

Wait = Callable[[float, str, Callable[[], bool]], None]
"""Waits some seconds for a reason, or until a condition holds."""


def wait_for_usage_limit(ctx: RunContext, wait: Wait) -> bool:
    """Can an agent work now? If none can, wait until the first usage limit resets."""
    unfinished = ctx.checkout.unfinished
    left = session_pending_verdict(ctx, unfinished.task) if unfinished is not None else None
    role = pending_check(ctx, left) if left is not None else None
    if left is not None and role is None:
        return True  # only to be judged: no session is needed
    wanted = check_agents(ctx, role, left) if left is not None and role is not None else ()
    until = first_available_agent(ctx, wanted)[1] if wanted else choose_agent(ctx)
    if not until or not _is_wanted(ctx):
        return True

    def is_over() -> bool:
        # By the time of day: a machine that sleeps does not count the seconds.
        return ctx.clock.now() >= until or not _is_wanted(ctx)

    names = " and ".join(agent.traits.name for agent in wanted or ctx.agents.builders)
    wait(until - ctx.clock.now(), f"{names}: out of quota", is_over)
    return False


def _is_wanted(ctx: RunContext) -> bool:
    """Is there a task that an agent could do? A person may skip or settle all that is left."""
    return ctx.store.claims.has_ready(ctx.state.target)
