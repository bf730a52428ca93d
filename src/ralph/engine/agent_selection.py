"""Choose the agent of the next session and its terms: who pays, and what it may do."""

from collections.abc import Sequence

from ralph.core.events import AgentChosen
from ralph.core.policy.decision import Phase, PolicyContext
from ralph.core.policy.tools import ToolPermissions
from ralph.core.session_ending import EndingKind
from ralph.core.session_events import SessionRole
from ralph.engine.run_context import RunContext
from ralph.ports.agent import Agent, AgentTraits, BillingAccount, SessionTerms
from ralph.store.sessions import Session


def account_of(ctx: RunContext, agent: Agent) -> BillingAccount:
    home = agent.traits.home
    return agent.account(ctx.env, ctx.homes.login_files(home) if home is not None else {})


def is_billed(ctx: RunContext, agent: Agent) -> bool:
    """Does a spent budget stop the work of this agent?"""
    return ctx.budget_tracker.is_hard(billed=account_of(ctx, agent).billed)


def terms_of_agent(ctx: RunContext, agent: Agent) -> SessionTerms:
    s = ctx.settings
    left = ctx.budget_tracker.left_usd() if is_billed(ctx, agent) else None
    return SessionTerms(
        sandboxed=ctx.checkout_sandbox.is_active,
        as_root=s.session.as_root,
        budget_usd=left or 0.0,
        max_turns=s.config.agent.max_turns,
        tools=s.session.tools,
        hooks=s.session.hooks,
        phase=s.phase,
    )


def tool_permissions(ctx: RunContext, agent: Agent, checkout: str = "") -> ToolPermissions:
    """What a session of an agent may do; in a checkout of its own it checks the work of others."""
    return ToolPermissions(
        policy=ctx.settings.session.policy,
        context=PolicyContext(checkout=checkout or ctx.top, home=ctx.env.get("HOME", "/")),
        tools=agent.traits.tools,
        phase=Phase.VALIDATION if checkout else ctx.settings.phase,
        speaks=not checkout,
    )


def first_available_agent(ctx: RunContext, agents: Sequence[Agent]) -> tuple[Agent | None, float]:
    """Return the first agent below its usage limit; or None, and when the first limit resets."""
    resets = []
    for agent in agents:
        until = ctx.store.sessions.usage_limit_until(agent.traits.name)
        if until is None:
            return agent, 0.0
        resets.append(until)
    return None, min(resets)


def choose_agent(ctx: RunContext) -> float | None:
    """Use the first agent below its usage limit; without one, return when the first resets."""
    agent, until = first_available_agent(ctx, ctx.agents.builders)
    if agent is None:
        return until
    if agent is not ctx.agents.current:
        is_first = agent is ctx.agents.builders[0]
        why = (
            "its allowance is back" if is_first else f"{ctx.agents.builders[0].traits.name} is out"
        )
        ctx.agents.switch_to(agent)
        ctx.log.record(
            AgentChosen(
                run_id=ctx.settings.run_id,
                agent=agent.traits.name,
                reason=why,
                account=account_of(ctx, agent).name,
            )
        )
    return None


def check_agents(ctx: RunContext, role: SessionRole, session: Session) -> Sequence[Agent]:
    """Return the agents that may check a session. Fallback agents never check their own work.
    Empty: the working agents check."""
    chosen = ctx.agents.reviewers if role is SessionRole.REVIEW else ctx.agents.verifiers
    return (*chosen[:1], *(one for one in chosen[1:] if one.traits.name != session.agent))


def choose_check_agent(ctx: RunContext, role: SessionRole, session: Session) -> Agent:
    who = check_agents(ctx, role, session)
    if not who:
        return ctx.agents.current
    return first_available_agent(ctx, who)[0] or who[0]


def drop_fallback_agent(ctx: RunContext, agent: Agent, ended: EndingKind, detail: str) -> bool:
    """Drop a fallback agent that cannot work, so that the run waits for the first agent instead."""
    if not ctx.agents.drop(agent):
        return False
    why = "; ".join(filter(None, (detail, agent_remedy(ctx, ended, agent.traits))))
    ctx.log.warn(f"{agent.traits.name} is left out of this run: {why}")
    return True


def agent_remedy(ctx: RunContext, ended: EndingKind, traits: AgentTraits) -> str:
    """Return what the user can do about an agent that cannot work."""
    match ended:
        case EndingKind.UNKNOWN_MODEL:
            own = ctx.settings.config.models.tiers.get(traits.name, {})
            known = ", ".join(dict.fromkeys((*traits.models.values(), *own.values())))
            choice = f"another one with --model or in [models.{traits.name}]"
            return f"known models: {known}; {choice}" if known else choice
        case EndingKind.AUTH_EXPIRED:
            return traits.login_hint
        case EndingKind.BILLING:
            return f"see to the bill of {traits.name}'s account, or use another account"
        case EndingKind.CANNOT_RUN_AS_ROOT:
            return "run Ralph as another user"
        case _:
            return traits.install_hint
