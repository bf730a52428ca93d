"""Runs one session of an agent and watches it from its start to its end."""

import contextlib
import os
from collections.abc import Mapping
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from ralph.core.agent_events import AgentEvent, Text, Thinking, UnknownLine
from ralph.core.cost import BudgetLevel, with_cost
from ralph.core.errors import Unavailable
from ralph.core.process_exit import ProcessExit
from ralph.core.run import usage_limit_retry_time
from ralph.core.safe_text import one_line
from ralph.core.session_ending import Consequence, EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.core.settings import BudgetSection
from ralph.core.times import format_duration
from ralph.engine.agent_selection import is_billed
from ralph.engine.control import tick
from ralph.engine.handoff import HandoffTrigger
from ralph.engine.run_context import RunContext
from ralph.files import create_regular
from ralph.ports.agent import Agent, Brief
from ralph.ports.executor import Command, Timeouts
from ralph.store.claims import Claim

SIGNALLED: Final = frozenset({-1, -2, -9, -15, 129, 130, 137, 143})
"""Exit codes of what a person's signal ends, directly or in a shell."""
USAGE_LIMIT_WAIT_S: Final = 300.0
"""How long to wait for a usage limit that does not say when it ends."""


def with_stop(exit_: ProcessExit, signal: str | None) -> ProcessExit:
    """A service manager may have sent its signal to Ralph and to the session at once."""
    if signal and exit_.stop is None and exit_.code in SIGNALLED:
        return replace(exit_, stop=EndingKind.INTERRUPTED)
    return exit_


def with_reset_time(ending: SessionEnding, now: float, wait_s: float) -> SessionEnding:
    """A usage limit that does not say when it ends is waited for `wait_s` seconds."""
    if ending.consequence is not Consequence.WAIT:
        return ending
    return replace(ending, resets_at=usage_limit_retry_time(ending.resets_at, now, wait_s))


def with_new_login(ending: SessionEnding, *, is_new: bool) -> SessionEnding:
    """A login that another session has refreshed meanwhile: the next session gets the new one."""
    if ending.ended is not EndingKind.AUTH_EXPIRED or not is_new:
        return ending
    why = f"the login was renewed meanwhile: {ending.detail}"
    return replace(ending, ended=EndingKind.OVERLOADED, detail=why)


def with_estimate(
    ending: SessionEnding, exit_: ProcessExit, guess_usd: float | None
) -> SessionEnding:
    """A session that Ralph stopped could not report its cost, which is not nothing."""
    if ending.cost_usd is not None or exit_.stop is None:
        return ending
    return replace(ending, cost_usd=guess_usd or None, estimated=bool(guess_usd))


def with_run_budget(ending: SessionEnding, spent: str) -> SessionEnding:
    """A session that reached the limit that the run had left is not at fault."""
    if ending.ended is not EndingKind.BUDGET_LIMIT or not spent:
        return ending
    return replace(ending, ended=EndingKind.INTERRUPTED, detail=spent)


DETAIL_CHARS: Final = 300
"""Of what an agent says about its end: screens then have room for the remedy that follows."""


def with_remedy(ending: SessionEnding, timeouts: Timeouts, budget: BudgetSection) -> SessionEnding:
    """Where a limit of Ralph's ended the session, name the setting that raises it."""
    said = ending.detail
    match ending.ended:
        case EndingKind.TIMED_OUT:
            took = format_duration(timeouts.hard_s)
            said = f"out of time after {took}; raise [timeouts] session, or make the task smaller"
        case EndingKind.IDLE:
            said = f"no output for {format_duration(timeouts.idle_s)}; raise [timeouts] idle"
        case EndingKind.BUDGET_LIMIT:
            tokens = f", or {budget.session_tokens:,} tokens" * bool(budget.session_tokens)
            what = f"the budget of a session is used up (${budget.session_usd:g}{tokens})"
            keys = "[budget] session_usd" + " or session_tokens" * bool(tokens)
            said = f"{what}; raise {keys}, or make the task smaller"
        case EndingKind.TURN_LIMIT:
            said = f"{said or 'too many turns'}; raise [agent] max_turns"
        case EndingKind.PROMPT_TOO_LONG:
            said = f"{said or 'the prompt is too long'}; lower [context] brief_tokens"
        case _:
            return ending
    return replace(ending, detail=said)


STREAM_BYTES = 8 * 1024 * 1024
"""The normalised stream is for screens; the raw log has everything."""
_ENCODE = msgspec.json.Encoder().encode


class SessionWatcher:
    """The output listener of one session."""

    def __init__(
        self,
        ctx: RunContext,
        agent: Agent,
        claim: Claim,
        stream: IO[bytes] | None,
        *,
        asked: str,
        handoff: HandoffTrigger | None = None,
    ) -> None:
        self.ctx = ctx
        self.agent = agent
        self.claim = claim
        self.asked = asked
        """The model that was asked for."""
        self.stream = stream
        self.handoff = handoff
        """None: a session of this kind does not hand over."""
        self.written = 0
        self.digest = StreamSummary()
        self.next_look = ctx.clock.monotonic() + 0.5
        self.is_billed = is_billed(ctx, agent)
        ctx.budget_tracker.next_session()

    def output(self, block: bytes) -> None:
        """Understand it, remember what matters, show it."""
        for event in self.agent.read(block):
            self.digest.add(event)
            self._keep(event)
            self.ctx.log.sink.agent_event(self.claim.task.id, event)

    def _keep(self, event: AgentEvent) -> None:
        if self.stream is None or self.written > STREAM_BYTES:
            return
        if isinstance(event, Text | Thinking) and event.partial:
            # The whole message follows; its pieces would fill the file before the end.
            return
        line = _ENCODE(event) + b"\n"
        self.written += len(line)
        if self.written > STREAM_BYTES:
            line = _ENCODE(UnknownLine(line="the stream is cut here; the raw log goes on")) + b"\n"
        try:
            self.stream.write(line)
        except OSError:
            # A full disk must not cost the session; the stream is only for screens.
            self.stream = None

    @property
    def has_result(self) -> bool:
        return self.digest.result is not None

    @property
    def is_busy(self) -> bool:
        return bool(self.digest.open_calls)

    def tick(self) -> EndingKind | None:
        """Signals, the lease, the claim, the controls, the budget, the context."""
        ctx, now = self.ctx, self.ctx.clock.monotonic()
        if now < self.next_look and not ctx.interrupted():
            # Output may make ticks much more frequent; twice a second is prompt enough.
            ctx.log.sink.tick()
            return None
        self.next_look = now + 0.5
        if stop := tick(ctx, self.claim.task.id):
            return stop
        if not ctx.store.claims.holds(self.claim):
            return EndingKind.INTERRUPTED
        stop = self._check_budget()
        if stop is None and self.handoff is not None:
            stop = self.handoff.check(self.digest)
        return stop

    def _check_budget(self) -> EndingKind | None:
        """Is there money left for it? A run that has none is not the task's fault."""
        ctx, budget_tracker = self.ctx, self.ctx.budget_tracker
        bill = budget_tracker.usage_with_session(self.digest, self.asked)
        for line in budget_tracker.warnings(bill, is_hard=self.is_billed):
            ctx.log.warn(line, self.claim.task.id)
        level = budget_tracker.reached(bill, is_hard=self.is_billed)
        if level is None or self.has_result:
            return None
        return EndingKind.BUDGET_LIMIT if level is BudgetLevel.SESSION else EndingKind.INTERRUPTED


class SessionResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a session ended, and what it printed."""

    ending: SessionEnding
    exit: ProcessExit
    digest: StreamSummary


def run_session(
    ctx: RunContext,
    agent: Agent,
    brief: Brief,
    claim: Claim,
    *,
    name: str,
    variables: Mapping[str, str],
    handoff: HandoffTrigger | None = None,
) -> SessionResult:
    """Run a session in the brief's checkout. `name` is for the folder of its login."""
    s, model = ctx.settings, brief.terms.model
    timeouts = s.session.timeouts
    if not agent.traits.prints_while_working:
        timeouts = replace(timeouts, idle_s=0.0)
    with _open_stream(brief) as stream:
        watch = SessionWatcher(ctx, agent, claim, stream, asked=model, handoff=handoff)
        login = _login_files(ctx, agent)
        exit_ = _run(ctx, brief, watch, timeouts=timeouts, name=name, variables=variables)
        exit_ = with_stop(exit_, ctx.interrupted())
    digest, now = watch.digest, ctx.clock.now()
    ending = agent.ending(digest, replace(exit_, ended_at=now))
    ending = replace(ending, detail=one_line(ending.detail, DETAIL_CHARS))
    ending = with_reset_time(ending, now, USAGE_LIMIT_WAIT_S)
    ending = with_new_login(ending, is_new=_login_files(ctx, agent) != login)
    ending = with_cost(ending, s.config.prices, model)
    ending = with_estimate(
        ending, exit_, ctx.budget_tracker.usage_with_session(digest, model).session_usd
    )
    ending = with_run_budget(ending, ctx.budget_tracker.reached_after(ending.cost_usd))
    ending = with_remedy(ending, timeouts, s.config.budget)
    if handoff is not None:
        ending = handoff.with_context_usage(ending, digest)
    return SessionResult(ending=ending, exit=exit_, digest=digest)


def _run(
    ctx: RunContext,
    brief: Brief,
    watch: SessionWatcher,
    *,
    timeouts: Timeouts,
    name: str,
    variables: Mapping[str, str],
) -> ProcessExit:
    """Run the agent's program, with its log beside its brief."""
    agent = watch.agent
    launch, home = agent.command(brief), agent.traits.home
    program, *words = launch.argv
    login = (
        ctx.homes.create(agent.traits.name, home, name, launch.config) if home is not None else {}
    )
    own = _environment(ctx, agent, watch.claim, brief)
    try:
        exit_ = ctx.processes.run(
            Command(
                argv=(ctx.settings.session.programs.get(program, program), *words),
                cwd=brief.checkout,
                env={**ctx.env, **launch.env, **own, **login, **variables},
                stdin=launch.stdin,
            ),
            log=_path(brief, ".log"),
            timeouts=timeouts,
            listener=watch,
            line_limit=agent.traits.line_limit,
            home=ctx.homes.folder,
            task=watch.claim.task.id,
        )
        if lines := ctx.homes.usage_lines():
            watch.output(lines)
    except Unavailable as error:
        # Like an agent that cannot be started: this session is over, and so is the run.
        return ProcessExit(error=str(error))
    finally:
        ctx.homes.remove()
    return exit_


def _login_files(ctx: RunContext, agent: Agent) -> Mapping[str, bytes]:
    home = agent.traits.home
    return ctx.homes.login_files(home) if home is not None else {}


def _environment(ctx: RunContext, agent: Agent, claim: Claim, brief: Brief) -> dict[str, str]:
    """The variables by which a session knows its task."""
    task, planned = claim.task, ctx.settings.limits.iterations
    found = {
        "RALPH_TASK_ID": task.id,
        "RALPH_RUN_ID": ctx.settings.run_id,
        "RALPH_ATTEMPT": str(claim.attempt),
        "RALPH_ROLE": brief.role.value,
        "RALPH_ITERATION": str(ctx.state.iteration),
        # Zero: without limit, as in the settings.
        "RALPH_TOTAL": str(ctx.settings.first_iteration - 1 + planned if planned else 0),
    }
    if agent.traits.package:
        program = agent.traits.program
        found["RALPH_AGENT_PROGRAM"] = ctx.settings.session.programs.get(program, program)
    if task.alias:
        found["RALPH_STORY_ID"] = task.alias
    return found


def _path(brief: Brief, suffix: str) -> str:
    return brief.path.removesuffix(".prompt.md") + suffix


def _open_stream(brief: Brief) -> contextlib.AbstractContextManager[IO[bytes] | None]:
    path = _path(brief, ".jsonl")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Unbuffered: screens follow it, and on a full disk a buffer would fail when it is closed.
        return create_regular(path)
    except OSError:
        return contextlib.nullcontext()
