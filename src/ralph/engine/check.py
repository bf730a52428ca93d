"""One session that checks another one's work: what it is told, and what is kept of it."""

import msgspec
from msgspec.structs import replace

from ralph.core.ended import Cost
from ralph.core.events import VerificationEnded, VerificationStarted
from ralph.core.moment import iso
from ralph.core.policy.decision import Phase
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.verification import NO_VERDICT, answer, rules, write_check
from ralph.documents.templates import fill, template_path
from ralph.engine.brief_files import write_files
from ralph.engine.choosing import called
from ralph.engine.kit import Kit
from ralph.engine.material import gather
from ralph.engine.session import hold
from ralph.ports.agent import Agent, Brief, Role
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


def check(kit: Kit, agent: Agent, case: Case, number: int) -> Check:
    """One try, recorded when it begins and when it is over."""
    session, task = case.session, case.claim.task
    name = agent.traits.name
    begun = Check(
        session_id=session.id,
        number=number,
        task_id=task.id,
        run_id=kit.settings.run_id,
        agent=name,
        model=_model(kit, agent, session),
        log=f"{kit.files}.verify-{number}.log",
        started_at=iso(kit.clock.now()),
    )
    with kit.checkouts.of(kit.workspace, case.after, f"verify-{task.id}") as checkout:
        brief = _brief(kit, agent, case, begun, checkout)
        begun = replace(begun, given=brief.given)
        kit.store.save_check(begun, _started(kit, agent, begun))
        kit.publish()
        leash = kit.checking_leash(agent, checkout)
        lead = kit.door.open_for(session, case.claim, leash)
        try:
            name_ = f"{session.id}-verify"
            heard = hold(kit, agent, brief, case.claim, name=name_, variables=lead)
        finally:
            kit.door.shut()
    ending = heard.ending
    passed, reason = answer(ending.message) if ending.cost is Cost.JUDGE else (None, "")
    if reason == NO_VERDICT:
        kit.warn_once(
            f"{name} came to no verdict about the work; if it cannot verify, let another agent do"
            " it ([verify] agent) or nobody ([execution] verify = false, --no-verify)"
        )
    return record(
        kit,
        replace(
            begun,
            ended_at=iso(kit.clock.now()),
            ending=ending,
            passed=passed,
            reason=reason,
            duration_s=heard.exit.duration_s,
        ),
    )


def record(kit: Kit, ended: Check) -> Check:
    """Keep a check that is over."""
    ending = ended.ending
    assert ending is not None
    event = VerificationEnded(
        session_id=ended.session_id,
        task_id=ended.task_id,
        number=ended.number,
        passed=ended.passed,
        reason=one_line(ended.reason or ending.detail, 300),
        ended=ending.ended,
        duration_s=round(ended.duration_s, 3),
        cost_usd=ending.cost_usd,
        estimated=ending.estimated,
    )
    kit.store.save_check(ended, event)
    kit.publish()
    return ended


def _brief(kit: Kit, agent: Agent, case: Case, begun: Check, checkout: str) -> Brief:
    s, task, base, after = kit.settings, case.claim.task, case.base, case.after
    files = begun.log.removesuffix(".log")
    # What earlier sessions thought is no evidence.
    telling = replace(s.telling, memory=False)
    guidance = tuple(kit.store.guidance_for(task.id))
    known = gather(kit.store, kit.reader, task, telling=telling, target=s.target, guidance=guidance)
    changed = () if base.same_as(after) else kit.workspace.changes(base, after).files
    told = rules(_own_rules(kit, task, files))
    written = write_check(known, changed, case.session.gates, telling, told)
    brief = Brief(
        role=Role.VERIFY,
        task_id=task.id,
        title=task.title,
        alias=task.alias,
        attempt=case.session.attempt,
        run_id=begun.run_id,
        text=written.text,
        path=f"{files}.prompt.md",
        checkout=checkout,
        rules=told,
        rules_path=f"{files}.rules.md",
        terms=replace(
            kit.terms(agent),
            model=begun.model,
            read_only=True,
            tools=(),
            phase=Phase.VALIDATION,
        ),
        given=written.given,
    )
    write_files(brief)
    return brief


def _own_rules(kit: Kit, task: Task, files: str) -> str:
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
    return fill(s.verify_prompt, values, template_path("verify"))


def _model(kit: Kit, agent: Agent, session: Session) -> str:
    """The one that is set, else that of the session, if it is one that this agent knows."""
    s, name = kit.settings, agent.traits.name
    if s.verify_model:
        found = called(s.verify_model, agent.traits, s.models)
        if not found:
            kit.warn_once(
                f"{name} has no {s.verify_model}: it checks with a model of its own choice"
            )
        return found
    return session.model if session.agent == name else ""


def _started(kit: Kit, agent: Agent, begun: Check) -> VerificationStarted:
    return VerificationStarted(
        session_id=begun.session_id,
        task_id=begun.task_id,
        number=begun.number,
        agent=begun.agent,
        account=kit.account(agent).name,
        model=begun.model,
        log=begun.log,
    )
