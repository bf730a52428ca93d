"""What the loop needs to know of the configuration, as its own values."""

import os
import sys
from typing import TYPE_CHECKING

from ralph.ports.store import Store
from ralph.wiring.project import Project, guardrails_of, open_library

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ralph.core.breaker import Tolerance
    from ralph.core.brief import Telling
    from ralph.core.context import Room
    from ralph.core.gates import Gate
    from ralph.core.ids import RunId
    from ralph.core.models import Preferences
    from ralph.core.prices import Price
    from ralph.core.target import Target
    from ralph.engine.kit import Settings
    from ralph.ports.agent import Agent
    from ralph.ports.clock import Clock


def find_target(store: Store, name: str | None) -> "Target":
    """A feature's name, a task's id or alias, or nothing for everything."""
    from ralph.core.target import Everything, OneFeature, Subtree

    if name is None:
        return Everything()
    feature = store.feature(name)
    if feature is not None:
        return OneFeature(feature.id, feature.name)
    return Subtree(store.find(name).id)


def new_run(store: Store, clock: "Clock") -> "RunId":
    """`YYYYmmdd-HHMMSS-<pid>`; one process may start several in a second."""
    from time import localtime, strftime

    from ralph.core.ids import RunId

    now = clock.now()
    while True:
        made = RunId(f"{strftime('%Y%m%d-%H%M%S', localtime(now))}-{os.getpid()}")
        if store.run(made) is None:
            return made
        now += 1.0


def settings_of(
    project: Project,
    run_id: "RunId",
    target: "Target",
    agents: "tuple[Agent, ...]",
    absent: tuple[str, ...],
) -> "Settings":
    """For one run."""
    from secrets import token_hex

    from ralph.adapters.executor.identity import this_process
    from ralph.core.budget import Budget
    from ralph.core.duration import seconds
    from ralph.core.ids import worker_id
    from ralph.core.limits import Limits
    from ralph.core.order import Schedule
    from ralph.engine.kit import Settings
    from ralph.ports.executor import Timeouts
    from ralph.wiring.policy import project_policy
    from ralph.wiring.programs import agents_programs
    from ralph.wiring.walls import ground_of, session_environment
    from ralph.workflows.pipeline import pipeline_of

    config = project.loaded.config
    keys = [key for agent in agents for key in agent.traits.keys]
    env, dropped = session_environment(project.loaded, os.environ, keys)
    programs, within_reach = agents_programs(ground_of(project), agents)
    first, limit = counted_before(project, os.environ)
    by_path = config.execution.schedule == "critical-path"
    return Settings(
        run_id=run_id,
        worker=worker_id(token_hex(4)),
        owner=this_process(),
        runs_dir=project.runs_dir,
        env=env,
        dropped=dropped,
        absent=(*absent, *within_reach),
        programs=programs,
        target=target,
        schedule=Schedule.CRITICAL_PATH if by_path else Schedule.PRIORITY,
        gates=honest_gates(project),
        gate_timeout_s=seconds(config.timeouts.gate),
        timeouts=Timeouts(
            hard_s=seconds(config.timeouts.session),
            idle_s=seconds(config.timeouts.idle),
            after_result_s=seconds(config.timeouts.after_result),
        ),
        limits=Limits(
            iterations=limit,
            run_s=seconds(config.timeouts.run),
        ),
        first_iteration=first,
        breaker=breaker_tolerance(project),
        commit=config.git.commit,
        keep_steps=config.merge.keep_steps,
        fail_fast=config.execution.fail_fast,
        verify=config.execution.verify,
        verify_model=config.verify.model,
        verify_prompt=own_prompt(project, "verify"),
        review=config.review.enabled,
        review_model=config.review.model,
        review_prompt=own_prompt(project, "review"),
        variables=pipeline_of(project.root, project.loaded.variables).variables(),
        as_root=os.geteuid() == 0,
        room=room_of(project),
        budget_hard=config.budget.hard,
        budget=Budget(
            session_usd=config.budget.session_usd,
            run_usd=config.budget.run_usd,
            project_usd=config.budget.project_usd,
            session_tokens=config.budget.session_tokens,
            warn_at=config.budget.warn_at,
        ),
        max_turns=config.agent.max_turns,
        tools=_tools() if config.agent.mcp else (),
        hooks=hook_command(),
        policy=project_policy(project),
        max_retries=_flag(project, "execution.max_retries", config.execution.max_retries),
        models=preferences(project),
        prices=_prices(project),
        telling=telling(project),
        guardrails=guardrails_of(project),
    )


def counted_before(project: Project, environ: "Mapping[str, str]") -> tuple[int, int]:
    """The number of the first iteration, and how many there may be: whoever calls Ralph again and
    again counts in RALPH_ITERATION and RALPH_TOTAL. Inside of a session they are that session's."""
    limit = project.loaded.config.execution.limit
    if "RALPH_TASK_ID" in environ:
        return 1, limit
    first, total = (_number(environ.get(f"RALPH_{name}", "")) for name in ("ITERATION", "TOTAL"))
    first = max(first, 1)
    if total and project.loaded.source("execution.limit").kind == "default":
        limit = max(total - first + 1, 1)
    return first, limit


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def log_paths(project: Project) -> tuple[str, ...]:
    """Where logs are that Ralph writes, and the locks of all it writes, from the project's root:
    `config.sh` may have put them anywhere."""
    from ralph.workflows.pipeline import pipeline_of

    paths = pipeline_of(project.root, project.loaded.variables)
    logs = (paths.activity, paths.errors)
    return (*logs, *(f"{path}.lock" for path in (*logs, paths.progress, paths.guardrails)))


def breaker_tolerance(project: Project) -> "Tolerance":
    """When a worker's breaker opens."""
    from ralph.core.breaker import Tolerance
    from ralph.core.duration import seconds

    breaker = project.loaded.config.breaker
    return Tolerance(
        failures=breaker.failures,
        stagnation=breaker.stagnation,
        cooldown_s=seconds(breaker.cooldown),
        max_age_s=seconds(breaker.max_age),
    )


def own_prompt(project: Project, name: str) -> str:
    """A person's own template of how work is verified or reviewed. It is read now, before any
    session; behind a wall none of them can write it."""
    from ralph.core.errors import BadConfig
    from ralph.core.sigils import holds_an_answer
    from ralph.documents.templates import fill, template_path

    path = template_path(name)
    page = open_library(project).read(path)
    if page.trouble:
        raise BadConfig(page.trouble, hint="mend it, or remove it")
    text = page.text or ""
    fill(text, {}, path)
    if holds_an_answer(text):
        raise BadConfig(
            f"{path} holds an answer, which a session could echo",
            hint="leave out how to finish: Ralph says that itself",
        )
    return text


def room_of(project: Project) -> "Room":
    """What a context holds."""
    from ralph.core.context import Room
    from ralph.core.duration import seconds

    context = project.loaded.config.context
    return Room(
        capacity=context.capacity_tokens,
        windows=context.windows,
        handoff_at=context.handoff_at,
        wrap_up_s=seconds(context.wrap_up),
    )


def telling(project: Project) -> "Telling":
    """How much sessions are told."""
    from ralph.core.brief import Telling

    config = project.loaded.config
    return Telling(
        room=config.context.brief_tokens,
        memory=config.memory.enabled,
        memory_room=config.memory.budget_tokens,
        learn=config.execution.learn,
        specs=config.specs.dirs,
    )


def preferences(project: Project) -> "Preferences":
    """What is said about models."""
    from ralph.core.models import Preferences, Strategy

    models = project.loaded.config.models
    return Preferences(strategy=Strategy(models.strategy), model=models.model, tiers=models.tiers)


def _prices(project: Project) -> "dict[str, Price]":
    from ralph.core.prices import Price

    prices = project.loaded.config.prices
    return {
        model: Price(input=price.input, cached=price.cached, output=price.output)
        for model, price in prices.items()
    }


def _flag(project: Project, key: str, value: int) -> int | None:
    """The value if it was given on the command line; else each task has its own."""
    return value if project.loaded.source(key).kind == "flag" else None


def honest_gates(project: Project) -> "tuple[Gate, ...]":
    """The gates in order; one that cannot fail proves nothing and is refused."""
    from ralph.core.errors import BadConfig
    from ralph.core.gates import Gate
    from ralph.documents.gate_commands import cannot_fail

    gates = []
    minimum = project.loaded.config.gates.min_coverage
    for name, command in project.loaded.config.gates.commands.items():
        if not command.strip():
            continue
        if why := cannot_fail(command):
            raise BadConfig(
                f"{project.loaded.source(f'gates.{name}')}: gate {name} {why}",
                hint="let its exit code say whether the work is good",
            )
        least = minimum if name == "coverage" else 0.0
        gates.append(Gate(name=name, command=command, minimum=least))
    return tuple(gates)


def hook_command() -> tuple[str, ...]:
    """The command that an agent's program asks about its tools; the hook's name follows."""
    return (*_ralph(), "hook")


def _tools() -> tuple[str, ...]:
    """The command that serves Ralph's own tools, if what it needs is installed."""
    from importlib.util import find_spec

    return (*_ralph(), "mcp") if find_spec("mcp") else ()


def _ralph() -> tuple[str, ...]:
    """Ralph itself, as sessions start it."""
    beside = os.path.join(os.path.dirname(sys.executable), "ralph")
    return (beside,) if os.access(beside, os.X_OK) else (sys.executable, "-P", "-m", "ralph")
