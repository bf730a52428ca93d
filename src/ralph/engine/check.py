"""One session that checks another one's work: what it is told, and what is kept of it."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from ralph.core.brief import Material, Telling, Written
from ralph.core.check_events import CheckEnded, CheckStarted
from ralph.core.ended import Cost
from ralph.core.ending import Ending
from ralph.core.moment import iso
from ralph.core.policy.decision import Phase
from ralph.core.role import Role
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.documents.templates import fill, template_path
from ralph.engine.brief_files import write_files
from ralph.engine.choosing import called
from ralph.engine.kit import Kit
from ralph.engine.material import gather
from ralph.engine.session import hold
from ralph.ports.agent import Agent, Brief
from ralph.ports.claims import Claim
from ralph.ports.history import Check, Session


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be looked at."""

    claim: Claim
    session: Session
    base: Snapshot
    """What the task began with."""
    after: Snapshot
    """What was claimed."""


class Look(Protocol):
    """A kind of check: a verification, or a review."""

    role: Role
    who: str
    """What people call the one who looks."""
    model: str
    """The one that is set for it."""
    prompt: str
    """A person's own template of the rules."""

    def rules(self, own: str) -> str:
        """How to look, and how to finish."""
        ...

    def write(
        self, known: Material, changed: Sequence[str], telling: Telling, told: str
    ) -> Written:
        """What its session is told beside the rules."""
        ...

    def heard(self, check: Check, message: str) -> Check:
        """With what its last message means."""
        ...

    def started(self, check: Check, account: str) -> CheckStarted: ...
    def ended(self, check: Check, ending: Ending) -> CheckEnded: ...


def check(kit: Kit, look: Look, agent: Agent, case: Case, number: int) -> Check:
    """One try, recorded when it begins and when it is over."""
    session, task, role = case.session, case.claim.task, look.role.value
    begun = Check(
        session_id=session.id,
        role=look.role,
        number=number,
        task_id=task.id,
        run_id=kit.settings.run_id,
        agent=agent.traits.name,
        model=_model(kit, look, agent, session),
        log=f"{kit.files}.{role}-{number}.log",
        started_at=iso(kit.clock.now()),
    )
    with kit.checkouts.of(kit.workspace, case.after, f"{role}-{task.id}") as checkout:
        brief = replace(_brief(kit, look, agent, case, begun), checkout=checkout)
        write_files(brief)
        begun = replace(begun, given=brief.given)
        kit.store.save_check(begun, look.started(begun, kit.account(agent).name))
        kit.publish()
        leash = kit.checking_leash(agent, checkout)
        lead = kit.door.open_for(session, case.claim, leash)
        try:
            name = f"{session.id}-{role}"
            heard = hold(kit, agent, brief, case.claim, name=name, variables=lead)
        finally:
            kit.door.shut()
    ending = heard.ending
    over = replace(
        begun,
        ended_at=iso(kit.clock.now()),
        ending=ending,
        duration_s=heard.exit.duration_s,
    )
    if ending.cost is Cost.JUDGE:
        over = look.heard(over, ending.message)
    return record(kit, look, over)


def record(kit: Kit, look: Look, ended: Check) -> Check:
    """Keep a check that is over."""
    assert ended.ending is not None
    kit.store.save_check(ended, look.ended(ended, ended.ending))
    kit.publish()
    return ended


def as_begun(check: Check, account: str) -> dict[str, Any]:
    """What the journal says of every check that begins."""
    return {
        "session_id": check.session_id,
        "task_id": check.task_id,
        "number": check.number,
        "agent": check.agent,
        "account": account,
        "model": check.model,
        "log": check.log,
    }


def as_ended(check: Check, ending: Ending) -> dict[str, Any]:
    """And of every one that is over."""
    return {
        "session_id": check.session_id,
        "task_id": check.task_id,
        "number": check.number,
        "passed": check.passed,
        "reason": one_line(check.reason or ending.detail, 300),
        "ended": ending.ended,
        "duration_s": round(check.duration_s, 3),
        "cost_usd": ending.cost_usd,
        "estimated": ending.estimated,
    }


def _brief(kit: Kit, look: Look, agent: Agent, case: Case, begun: Check) -> Brief:
    s, task, base, after = kit.settings, case.claim.task, case.base, case.after
    files = begun.log.removesuffix(".log")
    # What earlier sessions thought is no evidence.
    telling = replace(s.telling, memory=False)
    guidance = tuple(kit.store.guidance_for(task.id))
    known = gather(kit.store, kit.reader, task, telling=telling, target=s.target, guidance=guidance)
    changed = () if base.same_as(after) else kit.workspace.changes(base, after).files
    told = look.rules(_own_rules(kit, look, task, files))
    written = look.write(known, changed, telling, told)
    return Brief(
        role=look.role,
        task_id=task.id,
        title=task.title,
        alias=task.alias,
        attempt=case.session.attempt,
        run_id=begun.run_id,
        text=written.text,
        path=f"{files}.prompt.md",
        checkout="",
        rules=told,
        rules_path=f"{files}.rules.md",
        terms=replace(
            kit.terms(agent),
            model=begun.model,
            read_only=True,
            checks=True,
            tools=(),
            phase=Phase.VALIDATION,
        ),
        given=written.given,
    )


def _own_rules(kit: Kit, look: Look, task: Task, files: str) -> str:
    """By a person's own template, if there is one. As it was when the run began: what is in the
    checkout may be the work of the session that is checked."""
    s = kit.settings
    values = {
        **s.variables,
        "STORY_ID": task.name,
        "STORY_TITLE": task.title,
        "STORY_BLOCK": task.description,
        "RUN_ID": str(s.run_id),
        "ITERATION": str(kit.iteration),
        "RUN_LOG_PATH": f"{files}.log",
        "RUN_META_PATH": f"{kit.files}.md",
        "RETRY_ATTEMPT": str(task.retry_count),
        "RETRY_MAX": str(task.max_retries),
        "QUALITY_GATES": "\n".join(f"- {gate.command}" for gate in s.gates),
    }
    return fill(look.prompt, values, template_path(look.role.value))


def _model(kit: Kit, look: Look, agent: Agent, session: Session) -> str:
    """The one that is set, else that of the session, if it is one that this agent knows."""
    name = agent.traits.name
    if look.model:
        found = called(look.model, agent.traits, kit.settings.models)
        if not found:
            kit.warn_once(f"{name} has no {look.model}: it checks with a model of its own choice")
        return found
    return session.model if session.agent == name else ""
