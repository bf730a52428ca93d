"""One session of an agent, watched from its start to its end."""

import contextlib
import os
from collections.abc import Mapping
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from ralph.core.duration import spoken
from ralph.core.ended import Cost, Ended
from ralph.core.ending import Ending, Exit, Stop
from ralph.core.errors import Unavailable
from ralph.core.limits import reset_at
from ralph.core.prices import priced
from ralph.engine.enclosed import run_enclosed
from ralph.engine.handover import Handover
from ralph.engine.kit import Kit
from ralph.engine.watch import Watch
from ralph.files import create_regular
from ralph.ports.agent import Agent, Brief
from ralph.ports.claims import Claim
from ralph.ports.executor import Command, Timeouts

SIGNALLED: Final = frozenset({-1, -2, -9, -15, 129, 130, 137, 143})
"""Exit codes of what a person's signal ends, directly or in a shell."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """How a session ended, and what its process left."""

    ending: Ending
    exit: Exit
    tool_uses: int = 0
    tool_errors: int = 0
    tool_error: str = ""
    """Of the last tool that it used, if that failed."""


def hold(
    kit: Kit,
    agent: Agent,
    brief: Brief,
    claim: Claim,
    *,
    name: str,
    variables: Mapping[str, str],
    handover: Handover | None = None,
) -> Heard:
    """Run it in its checkout, its log beside its stream and its brief; `name` is for its folder."""
    base = brief.path.removesuffix(".prompt.md")
    launch, home = agent.command(brief), agent.traits.home
    timeouts = kit.settings.timeouts
    if not agent.traits.prints_while_working:
        timeouts = replace(timeouts, idle_s=0.0)
    program, *words = launch.argv
    with _stream(f"{base}.jsonl") as stream:
        watch = Watch(kit, agent, claim, stream, asked=brief.terms.model, handover=handover)
        login = _login(kit, agent)
        lead = (
            kit.homes.open(agent.traits.name, home, name, launch.config) if home is not None else {}
        )
        try:
            exit_ = run_enclosed(
                kit,
                Command(
                    argv=(kit.settings.programs.get(program, program), *words),
                    cwd=brief.checkout,
                    env={
                        **kit.env,
                        **launch.env,
                        **_names(kit, agent, claim, brief),
                        **lead,
                        **variables,
                    },
                    stdin=launch.stdin,
                ),
                log=f"{base}.log",
                timeouts=timeouts,
                listener=watch,
                line_limit=agent.traits.line_limit,
                home=kit.homes.folder,
                task=claim.task.id,
            )
        except Unavailable as error:
            # Like an agent that cannot be started: this session is over, and so is the run.
            exit_ = Exit(error=str(error))
        finally:
            kit.homes.shut()
    if exit_.stop is None and exit_.code in SIGNALLED and kit.interrupted():
        # Whoever stops Ralph may have stopped all of it at once, as a service manager does.
        exit_ = replace(exit_, stop=Stop.INTERRUPTED)
    ending = _ending(kit, agent, watch, exit_)
    if ending.ended is Ended.AUTH_EXPIRED and _login(kit, agent) != login:
        # Whoever refreshes a login makes the old one useless for all others. The next session gets
        # the new one, so nobody has to log in.
        why = f"the login was renewed meanwhile: {ending.detail}"
        ending = replace(ending, ended=Ended.OVERLOADED, detail=why)
    ending = priced(ending, kit.settings.prices, brief.terms.model)
    if ending.cost_usd is None and exit_.stop is not None:
        # It could not sum up any more. Whatever it was, it was not nothing.
        guess = kit.purse.so_far(watch.digest, brief.terms.model).session_usd
        ending = replace(ending, cost_usd=guess or None, estimated=bool(guess))
    if ending.ended is Ended.BUDGET_LIMIT and (why := kit.purse.beyond(ending.cost_usd)):
        # Its own switch was set to what the run had left: that is not the task's fault.
        ending = replace(ending, ended=Ended.INTERRUPTED, detail=why)
    ending = replace(ending, detail=_with_setting(kit, timeouts, ending))
    digest = watch.digest
    if handover is not None:
        ending = handover.counted(ending, digest)
    return Heard(
        ending=ending,
        exit=exit_,
        tool_uses=digest.tool_uses,
        tool_errors=digest.tool_errors,
        tool_error=digest.tool_error,
    )


def _with_setting(kit: Kit, timeouts: Timeouts, ending: Ending) -> str:
    """Why it ended; where a limit of Ralph's ended it, how to raise that."""
    budget, said = kit.settings.budget, ending.detail
    match ending.ended:
        case Ended.TIMED_OUT:
            took = spoken(timeouts.hard_s)
            return f"out of time after {took}; raise [timeouts] session, or make the task smaller"
        case Ended.IDLE:
            return f"no output for {spoken(timeouts.idle_s)}; raise [timeouts] idle"
        case Ended.BUDGET_LIMIT:
            tokens = f", or {budget.session_tokens:,} tokens" * bool(budget.session_tokens)
            what = f"the budget of a session is used up (${budget.session_usd:g}{tokens})"
            keys = "[budget] session_usd" + " or session_tokens" * bool(tokens)
            return f"{what}; raise {keys}, or make the task smaller"
        case Ended.TURN_LIMIT:
            return f"{said or 'too many turns'}; raise [agent] max_turns"
        case Ended.PROMPT_TOO_LONG:
            return f"{said or 'the prompt is too long'}; lower [context] brief_tokens"
        case _:
            return said


def _login(kit: Kit, agent: Agent) -> Mapping[str, bytes]:
    home = agent.traits.home
    return kit.homes.files(home) if home is not None else {}


def _ending(kit: Kit, agent: Agent, watch: Watch, exit_: Exit) -> Ending:
    now = kit.clock.now()
    ending = agent.ending(watch.digest, replace(exit_, ended_at=now))
    if ending.cost is not Cost.WAIT:
        return ending
    return replace(ending, resets_at=reset_at(ending.resets_at, now, kit.settings.limit_wait_s))


def _names(kit: Kit, agent: Agent, claim: Claim, brief: Brief) -> dict[str, str]:
    task = claim.task
    names = {
        "RALPH_TASK_ID": task.id,
        "RALPH_RUN_ID": kit.settings.run_id,
        "RALPH_ATTEMPT": str(claim.attempt),
        "RALPH_ROLE": brief.role.value,
        "RALPH_ITERATION": str(kit.iteration),
    }
    if planned := kit.settings.limits.iterations:
        names["RALPH_TOTAL"] = str(kit.settings.first_iteration - 1 + planned)
    if agent.traits.package:
        program = agent.traits.program
        names["RALPH_AGENT_PROGRAM"] = kit.settings.programs.get(program, program)
    if task.alias:
        names["RALPH_STORY_ID"] = task.alias
    return names


def _stream(path: str) -> contextlib.AbstractContextManager[IO[bytes] | None]:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Unbuffered: screens follow it, and on a full disk a buffer would fail when it is closed.
        return create_regular(path)
    except OSError:
        return contextlib.nullcontext()
