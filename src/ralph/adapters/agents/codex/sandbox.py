"""Codex's own sandbox: off behind Ralph's wall, else open just enough for a session's work.

It keeps commands from writing outside of the checkout. It is no wall against ill will: who can
commit can also write hooks.
"""

import json
import os
from collections.abc import Mapping
from typing import Final

from ralph.adapters.agents.codex.git_folders import git_folders
from ralph.ports.agent import Brief

NETWORK: Final = "sandbox_workspace_write.network_access=true"
"""For packages, and for `ralph` itself: its socket counts as network."""

TEMPORARY: Final = ("/var/tmp", "/tmp")


def flags(brief: Brief, *, ask: bool) -> tuple[str, ...]:
    """What may be done without asking. `ask`: there is somebody who can be asked for more."""
    if brief.terms.fenced:
        return ("--dangerously-bypass-approvals-and-sandbox",)
    roots = json.dumps((*git_folders(brief.checkout), *_documents(brief.checkout)))
    return (
        *("--sandbox", "workspace-write"),
        *settings(
            f'approval_policy="{"on-request" if ask else "never"}"',
            f"sandbox_workspace_write.writable_roots={roots}",
            NETWORK,
        ),
    )


def _documents(checkout: str) -> tuple[str, ...]:
    """Where stories are. Codex keeps all of `.agents` read-only, since its own settings may be
    there; a session ticks boxes."""
    folder = os.path.join(os.path.realpath(checkout), ".agents", "tasks")
    return (folder,) if os.path.isdir(folder) else ()


def variables(brief: Brief) -> Mapping[str, str]:
    """A folder for temporary files that is not around the checkout.

    Codex puts a part of its sandbox into its configuration folder, but not if that is among
    temporary files; then every command fails. The folder is in the project.
    """
    if brief.terms.fenced or not _is_in(os.environ.get("TMPDIR") or "/tmp", brief.checkout):
        return {}
    others = (folder for folder in TEMPORARY if not _is_in(folder, brief.checkout))
    return {"TMPDIR": next(others)}


def settings(*values: str) -> tuple[str, ...]:
    """As words of a command line."""
    return tuple(word for value in values for word in ("-c", value))


def _is_in(folder: str, path: str) -> bool:
    folder = os.path.realpath(folder)
    return os.path.commonpath((folder, os.path.realpath(path))) == folder
