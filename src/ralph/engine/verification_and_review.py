"""Part of step 4: sessions verify the work or review the change, until one reaches a verdict."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from ralph.core.brief_sections import BriefSection
from ralph.core.policy.decision import Phase
from ralph.core.review_thread import ReviewThread, ReviewVerdict
from ralph.core.safe_text import one_line
from ralph.core.session_ending import Consequence, EndingKind, SessionEnding
from ralph.core.session_events import SessionRole
from ralph.core.settings import MemorySection
from ralph.core.times import to_iso
from ralph.core.transitions import Accepted, Blocked, Rejected
from ralph.core.verdict import Verdict
from ralph.core.verification_and_review import (
    NO_VERIFICATION,
    comments_section,
    on_check,
    read_answer,
    read_review,
    review_rules,
    review_sections,
    verification_rules,
    work_sections,
    write_check_brief,
)
from ralph.documents.story_prompts import fill_template, template_path
from ralph.engine.agent_selection import (
    account_of,
    choose_check_agent,
    is_billed,
    terms_of_agent,
    tool_permissions,
)
from ralph.engine.brief_inputs import gather_brief_inputs, write_brief_files
from ralph.engine.model_selection import agent_model_name
from ralph.engine.run_context import RunContext
from ralph.engine.run_settings import CheckSettings
from ralph.engine.run_state import EndedAttempt
from ralph.engine.session import run_session
from ralph.engine.state_files import review_file_path, write_review_file
from ralph.ports.agent import Agent, Brief
from ralph.ports.executor import Interrupted
from ralph.ports.workspace import Preview
from ralph.store.sessions import Checkpoint, Session, WorkCheck

TRIES: Final = 3
"""One who crashes so often cannot check anything."""


class CheckHalted(Exception):
    """The work cannot be checked now, through no fault of the task: there is no verdict yet."""

    def __init__(self, agent: Agent, ending: SessionEnding) -> None:
        super().__init__(ending.detail)
        self.agent = agent
        self.ending = ending


def verify(ctx: RunContext, attempt: EndedAttempt, coming: Preview, so_far: Verdict) -> Verdict:
    """What the gates let through still has to pass the second session."""
    done = Verifier(ctx, attempt, coming, ctx.settings.verification).until_verdict()
    refused = on_check(passed=bool(done.passed), reason=done.reason)
    if refused is not None:
        return refused
    message = f"{so_far.message}; verified"
    return replace(so_far, transition=Accepted(verified=True), message=message)


def review(ctx: RunContext, attempt: EndedAttempt, coming: Preview, so_far: Verdict) -> Verdict:
    """What all others let through still has to pass the reviewer."""
    task = attempt.task
    ctx.document.review_starts(task)
    done = Reviewer(ctx, attempt, coming, ctx.settings.review).until_verdict()
    write_review_file(ctx.store, ctx.project_files, task)
    said, path = done.review, review_file_path(ctx.store, task)
    if done.passed and isinstance(so_far.transition, Accepted):
        how, warnings = "reviewed", so_far.warnings
        if said is not None and said.closed:
            # What is accepted without the reviewer's consent is worth a word.
            how = f"reviewed ({said.closed})"
            does_not_agree = f"is accepted though its reviewer does not agree ({said.closed})"
            warnings += (f"{task.name} {does_not_agree}: {said.summary}; see {path}",)
        return replace(
            so_far,
            transition=replace(so_far.transition, reviewed=True),
            message=f"{so_far.message}; {how}",
            warnings=warnings,
        )
    if said is not None and said.word is ReviewVerdict.BLOCKED:
        message = f"the reviewer blocks it: {one_line(said.why or said.summary, 200)}"
        return Verdict(transition=Blocked(message), message=message)
    why = f"review failed: {said.summary if said is not None else done.reason}"
    reason = f"{why}\nThe whole review: {path}"
    return Verdict(transition=Rejected(reason, by_reviewer=True), message=why)


def pending_check(ctx: RunContext, session: Session) -> SessionRole | None:
    """Return which check of an ended session is still to come, if any."""
    s = ctx.settings
    if session.checkpoint not in (Checkpoint.ENDED, Checkpoint.GATED):
        return None
    passed = {
        one.role: one.passed
        for one in ctx.store.checks.of_session(session.id)
        if one.passed is not None
    }
    if not all(passed.values()):
        return None
    wanted = ((SessionRole.VERIFY, s.verification.is_on), (SessionRole.REVIEW, s.review.is_on))
    return next((role for role, is_on in wanted if is_on and role not in passed), None)


class Checker:
    """Runs sessions that check another session's work, until one reaches a verdict."""

    role: SessionRole
    who: str
    """What people call the one who looks."""
    heading: str
    """Of the task, in what it reads."""
    rules: Callable[[str], str]
    """How to look, and how to finish, from a person's own template."""

    def __init__(
        self, ctx: RunContext, attempt: EndedAttempt, coming: Preview, settings: CheckSettings
    ) -> None:
        self.ctx = ctx
        self.attempt = attempt
        self.coming = coming
        """What of the work will be committed."""
        self.settings = settings

    def more_sections(self) -> Iterable[BriefSection]:
        """What it reads beside the task and what was done for it."""
        return ()

    def with_answer(self, check: WorkCheck, message: str) -> WorkCheck:
        """With what its last message means."""
        raise NotImplementedError

    def until_verdict(self) -> WorkCheck:
        """Return a check with a verdict. A verdict from before a crash counts."""
        ctx, session = self.ctx, self.attempt.session
        known = ctx.store.checks.of_session(session.id)
        before = [self._record_lost(one) for one in known if one.role is self.role]
        for one in before:
            if one.passed is not None:
                return one
        crashes = [
            one for one in before if one.ending and one.ending.consequence is Consequence.STRIKE
        ]
        number = len(before)
        while len(crashes) < TRIES:
            number += 1
            agent = choose_check_agent(ctx, self.role, session)
            ctx.budget_tracker.refresh()
            if is_billed(ctx, agent) and ctx.budget_tracker.used_up():
                raise Interrupted  # the loop sees it, too, and pauses the run
            done = self._run(agent, number)
            ending = done.ending
            assert ending is not None
            match ending.consequence:
                case Consequence.JUDGE:
                    assert done.passed is not None
                    return done
                case Consequence.STRIKE:
                    crashes.append(done)
                case Consequence.NOTHING:
                    raise Interrupted
                case _:
                    raise CheckHalted(agent, ending)
        last = crashes[-1]
        assert last.ending is not None
        why = last.ending.detail or last.ending.ended.value
        said = f"the {self.who} failed {TRIES} times; the last time: {why}"
        return replace(last, passed=False, reason=said)

    def _run(self, agent: Agent, number: int) -> WorkCheck:
        """Run one session, and record its start and end."""
        ctx, role, claim = self.ctx, self.role.value, self.attempt.claim
        session, task = self.attempt.session, claim.task
        begun = WorkCheck(
            session_id=session.id,
            role=self.role,
            number=number,
            task_id=task.id,
            run_id=ctx.settings.run_id,
            agent=agent.traits.name,
            model=self._model(agent),
            log=f"{ctx.files}.{role}-{number}.log",
            started_at=to_iso(ctx.clock.now()),
        )
        place = ctx.checkouts.checkout_of(ctx.workspace, self.coming.at, f"{role}-{task.id}")
        with place as checkout:
            brief = self._brief(agent, begun, checkout)
            write_brief_files(brief)
            begun = replace(begun, given=brief.given)
            self._record(begun, account_of(ctx, agent).name)
            permissions = tool_permissions(ctx, agent, checkout)
            lead = ctx.control_socket.open_session(session, claim, permissions)
            try:
                name = f"{session.id}-{role}"
                result = run_session(ctx, agent, brief, claim, name=name, variables=lead)
            finally:
                ctx.control_socket.close_session()
        over = replace(
            begun,
            ended_at=to_iso(ctx.clock.now()),
            ending=result.ending,
            duration_s=result.exit.duration_s,
        )
        if result.ending.consequence is Consequence.JUDGE:
            over = self.with_answer(over, result.ending.message)
        return self._record(over)

    def _record(self, check: WorkCheck, account: str = "") -> WorkCheck:
        self.ctx.store.checks.save(check, self.attempt.claim, account)
        self.ctx.log.publish()
        return check

    def _record_lost(self, begun: WorkCheck) -> WorkCheck:
        """Ralph died while it ran: record that its cost is unknown."""
        if begun.ending is not None:
            return begun
        ending = SessionEnding(ended=EndingKind.LOST, detail="Ralph died while it ran")
        now = to_iso(self.ctx.clock.now())
        return self._record(replace(begun, ending=ending, ended_at=now))

    def _brief(self, agent: Agent, begun: WorkCheck, checkout: str) -> Brief:
        ctx, session, task = self.ctx, self.attempt.session, self.attempt.task
        base, after = self.attempt.base, self.attempt.after
        files = begun.log.removesuffix(".log")
        # What earlier sessions thought is no evidence.
        config = replace(ctx.settings.config, memory=MemorySection(enabled=False))
        known = gather_brief_inputs(
            ctx.store,
            ctx.checkout.reader,
            task,
            config=config,
            target=ctx.state.target,
            guidance=tuple(ctx.store.messages.peek_guidance(task.id)),
        )
        changed = () if base.same_as(after) else ctx.workspace.changes(base, after).files
        changed = tuple(path for path in changed if path not in self.coming.missing)
        rules = self.rules(self._user_template(files))
        sections = (*work_sections(changed, session.gates), *self.more_sections())
        written = write_check_brief(self.heading, known, sections, config, rules)
        return Brief(
            role=self.role,
            task_id=task.id,
            title=task.title,
            alias=task.alias,
            attempt=session.attempt,
            run_id=begun.run_id,
            text=written.text,
            path=f"{files}.prompt.md",
            checkout=checkout,
            rules=rules,
            rules_path=f"{files}.rules.md",
            terms=replace(
                terms_of_agent(ctx, agent),
                model=begun.model,
                read_only=True,
                checks=True,
                tools=(),
                phase=Phase.VALIDATION,
            ),
            given=written.given,
        )

    def _user_template(self, files: str) -> str:
        """By a person's own template, if there is one. As it was when the run began: what is in the
        checkout may be the work of the session that is checked."""
        ctx, s, task = self.ctx, self.ctx.settings, self.attempt.task
        values = {
            **s.session.variables,
            "STORY_ID": task.name,
            "STORY_TITLE": task.title,
            "STORY_BLOCK": task.description,
            "RUN_ID": str(s.run_id),
            "ITERATION": str(ctx.state.iteration),
            "RUN_LOG_PATH": f"{files}.log",
            "RUN_META_PATH": f"{ctx.files}.md",
            "RETRY_ATTEMPT": str(task.retry_count),
            "RETRY_MAX": str(task.max_retries),
            "QUALITY_GATES": "\n".join(f"- {gate.command}" for gate in s.gates.commands),
        }
        return fill_template(self.settings.prompt, values, template_path(self.role.value))

    def _model(self, agent: Agent) -> str:
        """The one that is set, otherwise that of the session, where this agent knows it."""
        wanted, name, session = self.settings.model, agent.traits.name, self.attempt.session
        if not wanted:
            return session.model if session.agent == name else ""
        found = agent_model_name(wanted, agent.traits, self.ctx.settings.config.models)
        if not found:
            self.ctx.log.warn_once(
                f"{name} has no {wanted}: it checks with a model of its own choice"
            )
        return found


class Verifier(Checker):
    role = SessionRole.VERIFY
    who = "verifier"
    heading = "The task that is said to be done"
    rules = staticmethod(verification_rules)

    def more_sections(self) -> Iterable[BriefSection]:
        """What people wrote about lines of the work."""
        section = comments_section(self.ctx.store.reviews.thread(self.attempt.task.id))
        return () if section is None else (section,)

    def with_answer(self, check: WorkCheck, message: str) -> WorkCheck:
        """Passed, or why not."""
        passed, reason = read_answer(message)
        if reason == NO_VERIFICATION:
            self.ctx.log.warn_once(
                f"{check.agent} came to no verdict about the work; if it cannot verify, let another"
                " agent do it ([verify] agent) or none ([execution] verify = false, --no-verify)"
            )
        return replace(check, passed=passed, reason=reason)


class Reviewer(Checker):
    role = SessionRole.REVIEW
    who = "reviewer"
    heading = "The task whose work you review"
    rules = staticmethod(review_rules)

    def more_sections(self) -> Iterable[BriefSection]:
        """The change, and what was said in earlier rounds."""
        return review_sections(self.attempt.base.head, self._before())

    def with_answer(self, check: WorkCheck, message: str) -> WorkCheck:
        """The round, measured against those before it."""
        said = read_review(message, self._before())
        if said.word is None:
            self.ctx.log.warn_once(
                f"{check.agent} came to no verdict about the change; if it cannot review, let"
                " another agent do it ([review] agent) or none (--no-review)"
            )
        return replace(check, passed=said.passes, reason=said.summary, review=said)

    def _before(self) -> ReviewThread:
        return self.ctx.store.reviews.thread(self.attempt.task.id)
