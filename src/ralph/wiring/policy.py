"""The policy of a project, and the ground on which it holds."""

import os

from ralph.core.policy.decision import Ground, Phase, Policy, policy_of
from ralph.core.policy.leash import Leash
from ralph.core.policy.tools import Toolbox
from ralph.wiring.agents import make_agent
from ralph.wiring.project import Project


def project_policy(project: Project, *, strict: bool = False) -> Policy:
    """What the project's settings come to."""
    config = project.loaded.config
    return policy_of(
        git=config.policy.git,
        commits=config.git.commit,
        packaging=config.policy.packaging,
        strict=strict or config.policy.strict,
        has_uv_lock=os.path.exists(os.path.join(project.root, "uv.lock")),
        doors=config.sandbox.allow,
    )


def policy_ground(project: Project, cwd: str) -> Ground:
    """The checkout around the project, as commands in `cwd` see it."""
    home = os.path.expanduser("~")
    return Ground(checkout=_checkout(project.root), cwd=cwd, home=os.path.normpath(home))


def leash_here(project: Project, phase: str, agent: str | None, cwd: str) -> Leash:
    """For a session that no loop has started."""
    toolbox = make_agent(project, agent).traits.tools if agent is not None else Toolbox()
    return Leash(
        policy=project_policy(project),
        ground=policy_ground(project, cwd),
        toolbox=toolbox,
        phase=Phase(phase),
    )


def _checkout(root: str) -> str:
    """The folder that git looks after, or the project's own."""
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return root
        folder = above
    return folder
