"""One session of an agent, watched from its start to its end."""

import contextlib
import os
from collections.abc import Mapping
from typing import IO

import msgspec
from msgspec.structs import replace

from ralph.core.ended import Cost
from ralph.core.ending import Ending, Exit
from ralph.core.limits import reset_at
from ralph.core.prices import priced
from ralph.engine.kit import Kit
from ralph.engine.watch import Watch
from ralph.ports.agent import Agent, Brief
from ralph.ports.executor import Command
from ralph.ports.store import Claim


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """How a session ended, and what its process left."""

    ending: Ending
    exit: Exit


def hold(
    kit: Kit, agent: Agent, brief: Brief, claim: Claim, *, name: str, variables: Mapping[str, str]
) -> Heard:
    """Run it in its checkout, its log beside its stream and its brief; `name` is for its folder."""
    base = brief.path.removesuffix(".prompt.md")
    launch, home = agent.command(brief), agent.traits.home
    timeouts = kit.settings.timeouts
    if not agent.traits.prints_while_working:
        timeouts = replace(timeouts, idle_s=0.0)
    with _stream(f"{base}.jsonl") as stream:
        watch = Watch(kit, agent, claim, stream)
        lead = kit.homes.open(agent.traits.name, home, name) if home is not None else {}
        try:
            exit_ = kit.executor.run(
                Command(
                    argv=launch.argv,
                    cwd=brief.checkout,
                    env={**kit.env, **launch.env, **lead, **variables},
                    stdin=launch.stdin,
                ),
                log=f"{base}.log",
                timeouts=timeouts,
                listener=watch,
                line_limit=agent.traits.line_limit,
            )
        finally:
            kit.homes.shut()
    return Heard(ending=_ending(kit, agent, brief, watch, exit_), exit=exit_)


def _ending(kit: Kit, agent: Agent, brief: Brief, watch: Watch, exit_: Exit) -> Ending:
    now = kit.clock.now()
    ending = agent.ending(watch.digest, replace(exit_, ended_at=now))
    if ending.cost is Cost.WAIT:
        until = reset_at(ending.resets_at, now, kit.settings.limit_wait_s)
        ending = replace(ending, resets_at=until)
    return priced(ending, kit.settings.prices, brief.terms.model)


def _stream(path: str) -> contextlib.AbstractContextManager[IO[bytes] | None]:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Unbuffered: screens follow it, and on a full disk a buffer would fail when it is closed.
        return open(path, "wb", buffering=0)
    except OSError:
        return contextlib.nullcontext()
