"""Which agent does the next session: the first one whose allowance lasts."""

from collections.abc import Sequence

from ralph.core.ended import Ended
from ralph.core.events import AgentChosen
from ralph.core.role import Role
from ralph.engine.kit import Kit
from ralph.ports.agent import Agent, Traits
from ralph.ports.history import Session


def first_free(kit: Kit, agents: Sequence[Agent]) -> tuple[Agent | None, float]:
    """The first of them that is not out of quota; else None and the moment when one comes back."""
    resets = []
    for agent in agents:
        until = kit.store.limited_until(agent.traits.name)
        if until is None:
            return agent, 0.0
        resets.append(until)
    return None, min(resets)


def choose(kit: Kit) -> float | None:
    """Let the first agent that is not out of quota do the next session. None of them: return the
    moment when the first one comes back."""
    agent, until = first_free(kit, kit.agents)
    if agent is None:
        return until
    if agent is not kit.agent:
        is_first = agent is kit.agents[0]
        why = "its allowance is back" if is_first else f"{kit.agents[0].traits.name} is out"
        kit.agent = agent
        kit.record(
            AgentChosen(
                run_id=kit.settings.run_id,
                agent=agent.traits.name,
                reason=why,
                account=kit.account(agent).name,
            )
        )
    return None


def checkers(kit: Kit, role: Role, session: Session) -> Sequence[Agent]:
    """Who may check a session: whoever is set for that. Of those who only step in none checks its
    own work. Nobody: the agents that do the work."""
    chosen = kit.reviewers if role is Role.REVIEW else kit.verifiers
    return (*chosen[:1], *(one for one in chosen[1:] if one.traits.name != session.agent))


def checker(kit: Kit, role: Role, session: Session) -> Agent:
    """Who checks it now. Without one that is set for it the agent at work does."""
    who = checkers(kit, role, session)
    if not who:
        return kit.agent
    return first_free(kit, who)[0] or who[0]


def leave_out(kit: Kit, agent: Agent, ended: Ended, detail: str) -> bool:
    """Do without an agent that was to step in and cannot work: the first one comes back after its
    reset, and a night is not lost because of the other."""
    others = (*kit.agents[1:], *kit.verifiers[1:], *kit.reviewers[1:])
    if not any(one is agent for one in others):
        return False
    kit.agents = _without(kit.agents, agent)
    kit.verifiers = _without(kit.verifiers, agent)
    kit.reviewers = _without(kit.reviewers, agent)
    told = "; ".join(filter(None, (detail, remedy(ended, agent.traits))))
    kit.warn(f"{agent.traits.name} is left out of this run: {told}")
    return True


def _without(agents: Sequence[Agent], agent: Agent) -> Sequence[Agent]:
    return [*agents[:1], *(one for one in agents[1:] if one is not agent)]


def remedy(ended: Ended, traits: Traits) -> str:
    """What a person can do about an agent that cannot work."""
    match ended:
        case Ended.AUTH_EXPIRED:
            return traits.login_hint
        case Ended.BILLING:
            return f"see to the bill of {traits.name}'s account, or use another account"
        case Ended.CANNOT_RUN_AS_ROOT:
            return "run Ralph as another user"
        case _:
            return traits.install_hint
