"""Turn the configuration into the settings of a run."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from secrets import token_hex
from time import localtime, strftime

from ralph import MODULE
from ralph.adapters.executor.own_process import this_process
from ralph.core.errors import BadConfig
from ralph.core.gates import Gate
from ralph.core.graph import Schedule
from ralph.core.ids import RunId, worker_id
from ralph.core.message_tags import contains_answer
from ralph.core.run import AllTasks, OneFeature, RunLimits, Subtree, Target
from ralph.core.times import parse_duration
from ralph.documents.gate_commands import cannot_fail
from ralph.documents.story_prompts import fill_template, template_path
from ralph.engine.run_settings import CheckSettings, GateSettings, RunSettings, SessionSettings
from ralph.engine.run_state import AgentPool
from ralph.ports.agent import Agent
from ralph.ports.clock import Clock
from ralph.ports.executor import Timeouts
from ralph.store.store import Store
from ralph.wiring.project import Project, guardrails_of, open_project_files
from ralph.wiring.project_policy import project_policy
from ralph.wiring.project_sandbox import agents_programs, session_environment
from ralph.workflows.story_pipeline import pipeline_of


def find_target(store: Store, name: str | None) -> Target:
    """A feature's name, a task's id or alias, or nothing for everything."""
    if name is None:
        return AllTasks()
    feature = store.features.get(name)
    if feature is not None:
        return OneFeature(feature.id, feature.name)
    return Subtree(store.tasks.find(name).id)


def new_run(store: Store, clock: Clock) -> RunId:
    """`YYYYmmdd-HHMMSS-<pid>`; one process may start several in a second."""
    now = clock.now()
    while True:
        made = RunId(f"{strftime('%Y%m%d-%H%M%S', localtime(now))}-{os.getpid()}")
        if store.runs.get(made) is None:
            return made
        now += 1.0


def run_settings_of(
    project: Project, run_id: RunId, target: Target, agents: AgentPool, absent: tuple[str, ...]
) -> RunSettings:
    config = project.config
    session, warnings = _session_settings(project, agents.all_agents)
    first, limit = outer_iteration_count(project, os.environ)
    is_own_number = project.source("execution.max_retries").kind == "flag"
    return RunSettings(
        config=config,
        run_id=run_id,
        worker=worker_id(token_hex(4)),
        owner=this_process(),
        runs_dir=project.runs_dir,
        session=session,
        gates=GateSettings(
            commands=usable_gates(project), timeout_s=parse_duration(config.timeouts.gate)
        ),
        verification=CheckSettings(
            is_on=config.execution.verify,
            model=config.verify.model,
            prompt=own_prompt(project, "verify"),
        ),
        review=CheckSettings(
            is_on=config.review.enabled,
            model=config.review.model,
            prompt=own_prompt(project, "review"),
        ),
        target=target,
        schedule=schedule_of(project, Schedule.PRIORITY),
        limits=RunLimits(iterations=limit, run_s=parse_duration(config.timeouts.run)),
        first_iteration=first,
        max_retries=config.execution.max_retries if is_own_number else None,
        guardrails=guardrails_of(project),
        warnings=(*absent, *warnings),
    )


def schedule_of(project: Project, auto: Schedule) -> Schedule:
    """As a person says; `auto` where that is left to Ralph."""
    said = project.config.execution.schedule
    return auto if said == "auto" else Schedule(said)


def _session_settings(
    project: Project, agents: tuple[Agent, ...]
) -> tuple[SessionSettings, tuple[str, ...]]:
    """What a session needs, and warnings: about programs in its reach, and dropped variables."""
    config = project.config
    keys = [key for agent in agents for key in agent.traits.keys]
    env, dropped = session_environment(project, keys)
    programs, within_reach = agents_programs(project, agents)
    made = SessionSettings(
        env=env,
        programs=programs,
        timeouts=Timeouts(
            hard_s=parse_duration(config.timeouts.session),
            idle_s=parse_duration(config.timeouts.idle),
            after_result_s=parse_duration(config.timeouts.after_result),
        ),
        as_root=os.geteuid() == 0,
        policy=project_policy(project),
        hooks=hook_command(),
        # What serves them may not be installed.
        tools=(*_ralph(), "mcp") if config.agent.mcp and find_spec("mcp") else (),
        variables=pipeline_of(project.root, project.variables).variables(),
    )
    if not dropped:
        return made, within_reach
    line = f"sessions do not get {', '.join(dropped)}; [agent] pass_env would pass them on"
    return made, (*within_reach, line)


def outer_iteration_count(project: Project, environ: Mapping[str, str]) -> tuple[int, int]:
    """The number of the first iteration, and how many there may be: a script that calls Ralph again
    and again counts in RALPH_ITERATION and RALPH_TOTAL. In a session they are that session's."""
    limit = project.config.execution.limit
    if "RALPH_TASK_ID" in environ:
        return 1, limit
    first, total = (_number(environ.get(f"RALPH_{name}", "")) for name in ("ITERATION", "TOTAL"))
    first = max(first, 1)
    if total and project.source("execution.limit").kind == "default":
        limit = max(total - first + 1, 1)
    return first, limit


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def log_paths(project: Project) -> tuple[str, ...]:
    """Where logs are that Ralph writes, and the locks of all it writes, from the project's root:
    `config.sh` may have put them anywhere."""
    paths = pipeline_of(project.root, project.variables)
    logs = (paths.activity, paths.errors)
    return (*logs, *(f"{path}.lock" for path in (*logs, paths.progress, paths.guardrails)))


def own_prompt(project: Project, name: str) -> str:
    """A person's own template of how work is verified or reviewed. It is read now, before any
    session; in a sandbox none of them can write it."""
    path = template_path(name)
    page = open_project_files(project).read(path)
    if page.trouble:
        raise BadConfig(page.trouble, hint="fix it, or remove it")
    text = page.text or ""
    fill_template(text, {}, path)
    if contains_answer(text):
        raise BadConfig(
            f"{path} holds an answer, which a session could echo",
            hint="leave out how to finish: Ralph says that itself",
        )
    return text


def usable_gates(project: Project) -> tuple[Gate, ...]:
    """The gates in order; one that cannot fail proves nothing and is refused."""
    gates = []
    minimum = project.config.gates.min_coverage
    for name, command in project.config.gates.commands.items():
        if not command.strip():
            continue
        if why := cannot_fail(command):
            raise BadConfig(
                f"{project.source(f'gates.{name}')}: gate {name} {why}",
                hint="let its exit code say whether the work is good",
            )
        least = minimum if name == "coverage" else 0.0
        gates.append(Gate(name=name, command=command, minimum=least))
    return tuple(gates)


def hook_command() -> tuple[str, ...]:
    """The command that an agent's program asks about its tools; the hook's name follows."""
    return (*_ralph(), "hook")


def _ralph() -> tuple[str, ...]:
    """Ralph itself, as sessions start it."""
    beside = os.path.join(os.path.dirname(sys.executable), "ralph")
    return (beside,) if os.access(beside, os.X_OK) else (*MODULE, "ralph")
