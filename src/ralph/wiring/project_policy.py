"""The policy of a project, and the context in which it applies."""

import os

from ralph.config.project import Project
from ralph.core.policy.decision import Phase, Policy, PolicyContext, policy_of
from ralph.core.policy.tools import AgentTools, ToolPermissions
from ralph.git_layout import top_of


def project_policy(project: Project, *, strict: bool = False) -> Policy:
    """What the project's settings come to."""
    has_uv_lock = os.path.exists(os.path.join(project.root, "uv.lock"))
    return policy_of(project.config, has_uv_lock=has_uv_lock, strict=strict)


def permissions_here(
    project: Project, phase: str, tools: AgentTools, *, strict: bool = False
) -> ToolPermissions:
    """For commands in the current directory that no loop has started."""
    return ToolPermissions(
        policy=project_policy(project, strict=strict),
        context=PolicyContext(
            checkout=top_of(project.root) or project.root,
            cwd=os.getcwd(),
            home=os.path.normpath(os.path.expanduser("~")),
        ),
        tools=tools,
        phase=Phase(phase),
    )
