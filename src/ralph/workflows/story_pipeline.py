"""The files and prompts of a story pipeline, and how far `ralph go` has come with it."""

import os
from collections.abc import Mapping
from shlex import quote
from typing import Final

import msgspec

from ralph.core.errors import Missing, UsageError
from ralph.core.policy.decision import Phase
from ralph.documents import guardrails, log_files
from ralph.documents.prd import Prd, read_prd
from ralph.documents.story_prompts import fill_template, template, template_path
from ralph.documents.text_encoding import decode_text
from ralph.ports.project_files import ProjectFiles
from ralph.store.store import Store

PRD = ".agents/tasks/prd.md"
PLAN = ".ralph/IMPLEMENTATION_PLAN.md"


class StoryPipeline(msgspec.Struct, frozen=True, kw_only=True):
    """A PRD and the files that belong to it. Paths are relative to the project's root."""

    root: str
    prd: str = PRD
    feature: str = "prd"
    """Each PRD is a feature of its own."""
    plan: str = PLAN
    progress: str = log_files.PROGRESS_LOG
    guardrails: str = guardrails.PATH
    errors: str = log_files.ERRORS_LOG
    activity: str = log_files.ACTIVITY_LOG
    agents: str = "AGENTS.md"
    no_commit: bool = False
    gates: tuple[str, ...] = ()
    templates: dict[str, str] = {}
    """The paths of templates that `config.sh` names."""

    def command(self, name: str) -> str:
        """The command line of `go` or of a step of `story`."""
        flag = "--out" if name == "write" else "--prd"
        request = ' "…"' if name == "write" else ""
        other = "" if self.feature == "prd" else f" {flag} {quote(self.prd)}"
        words = "go --plan stories" if name == "go" else f"story {name}"
        return f"ralph {words}{request}{other}"

    @property
    def report(self) -> str:
        name = "validation" if self.feature == "prd" else f"validation-{self.feature}"
        return f".ralph/{name}.md"

    @property
    def tracked(self) -> tuple[str, ...]:
        return (self.prd, self.plan, self.progress, self.guardrails, self.report)

    def variables(self) -> dict[str, str]:
        return {
            "PRD_PATH": self.prd,
            "PLAN_PATH": self.plan,
            "AGENTS_PATH": self.agents,
            "PROGRESS_PATH": self.progress,
            "REPO_ROOT": self.root,
            "GUARDRAILS_PATH": self.guardrails,
            "ERRORS_LOG_PATH": self.errors,
            "ACTIVITY_LOG_PATH": self.activity,
            "NO_COMMIT": "true" if self.no_commit else "false",
            "QUALITY_GATES": "\n".join(f"- {gate}" for gate in self.gates),
        }

    def prompt(self, project_files: ProjectFiles, name: str, values: Mapping[str, str]) -> str:
        """A prompt, from the user's own template or from Ralph's."""
        path = self.templates.get(name) or template_path(name)
        own = project_files.read(path)
        if own.trouble:
            raise Missing(own.trouble, hint="fix it, or remove it")
        if own.text is None and name in self.templates:
            raise Missing(f"there is no template {path}", hint="config.sh says that it is there")
        if own.text is None:
            path, text = f"the template {name}", template(name)
        else:
            text = own.text
        return fill_template(text, {**self.variables(), **values}, path)


def pipeline_of(
    root: str,
    variables: Mapping[str, str],
    *,
    prd: str | None = None,
    no_commit: bool = False,
    gates: tuple[str, ...] = (),
) -> StoryPipeline:
    def path_of(name: str, default: str) -> str:
        return path_in_project(root, variables.get(f"{name}_PATH") or default)

    usual, plan = path_of("PRD", PRD), path_of("PLAN", PLAN)
    chosen = path_in_project(root, prd) if prd else usual
    feature = "prd" if chosen == usual else _feature(chosen)
    if chosen != usual:
        # Its stories may have the same ids as those of the usual PRD.
        stem, suffix = os.path.splitext(plan)
        own = f"{stem}-{feature}{suffix}"
        if os.path.exists(os.path.join(root, own)) or not os.path.exists(os.path.join(root, plan)):
            plan = own
    return StoryPipeline(
        root=root,
        prd=chosen,
        feature=feature,
        plan=plan,
        progress=path_of("PROGRESS", log_files.PROGRESS_LOG),
        guardrails=path_of("GUARDRAILS", guardrails.PATH),
        errors=path_of("ERRORS_LOG", log_files.ERRORS_LOG),
        activity=path_of("ACTIVITY_LOG", log_files.ACTIVITY_LOG),
        agents=variables.get("AGENTS_PATH") or "AGENTS.md",
        no_commit=no_commit,
        gates=gates,
        templates={
            name: path_in_project(root, path)
            for name in ("plan", "build")
            if (path := variables.get(f"PROMPT_{name.upper()}"))
        },
    )


def path_in_project(root: str, path: str) -> str:
    """A path relative to the project's root. UsageError if it leads out of it."""
    full = os.path.normpath(os.path.join(root, path))
    inside = os.path.relpath(full, root)
    if inside == os.pardir or inside.startswith(os.pardir + os.sep):
        raise UsageError(f"{path} is outside of the project", hint=f"the project is {root}")
    return inside


def _feature(path: str) -> str:
    """A feature's name for a PRD, which can name a folder."""
    stem = os.path.splitext(path)[0]
    words = "".join(char if char.isalnum() or char in "-_." else "-" for char in stem)
    name = words.strip("-.") or "stories"
    return f"{name}-file" if name == "prd" else name


def load_prd(project_files: ProjectFiles, pipeline: StoryPipeline) -> Prd:
    """The PRD as it is now. Without a file it has no stories."""
    return read_prd(decode_text(project_files.read_bytes(pipeline.prd) or b"").text)


def require_prd(project_files: ProjectFiles, pipeline: StoryPipeline) -> None:
    _require(project_files, pipeline, "PRD", pipeline.prd, "write")


def require_plan(project_files: ProjectFiles, pipeline: StoryPipeline) -> None:
    _require(project_files, pipeline, "plan", pipeline.plan, "plan")


def _require(
    project_files: ProjectFiles, pipeline: StoryPipeline, name: str, path: str, step: str
) -> None:
    if not project_files.read_bytes(path):
        raise Missing(f"there is no {name} ({path})", hint=pipeline.command(step))


NEXT: Final[Mapping[Phase, Phase | None]] = {
    Phase.DISCOVERY: Phase.PLANNING,
    Phase.PLANNING: Phase.BUILDING,
    Phase.BUILDING: Phase.VALIDATION,
    Phase.VALIDATION: None,
}

COMMANDS = {
    "prd": Phase.DISCOVERY,
    "plan": Phase.PLANNING,
    "build": Phase.BUILDING,
    "validate": Phase.VALIDATION,
}


class AutoProgress(msgspec.Struct, frozen=True, kw_only=True):
    idea: str = ""
    phase: Phase | None = Phase.DISCOVERY
    """The next phase; None at the end."""
    approved: bool = False


def storage_key(feature: str) -> str:
    return f"journey:{feature}"


def auto_progress_of(store: Store, pipeline: StoryPipeline) -> AutoProgress | None:
    return store.documents.value(storage_key(pipeline.feature), AutoProgress)


def save_auto_progress(store: Store, pipeline: StoryPipeline, progress: AutoProgress) -> None:
    """Store the progress, so that the next `ralph go` goes on from there."""
    store.documents.save_value(storage_key(pipeline.feature), progress)


def start_auto(
    before: AutoProgress | None, idea: str, start: Phase | None, *, has_open: bool = False
) -> AutoProgress:
    """Begin at the phase that is given, where the same idea stopped, or at the first phase. After
    the last phase there may be open stories that the user has written since."""
    known = before or AutoProgress()
    if start is not None:
        # A user who names the phase has seen the plan.
        seen = start in (Phase.BUILDING, Phase.VALIDATION)
        return AutoProgress(idea=idea or known.idea, phase=start, approved=seen)
    if before is not None and idea in ("", before.idea):
        is_longer = before.phase is None and has_open
        return AutoProgress(idea=before.idea, phase=Phase.PLANNING) if is_longer else before
    return AutoProgress(idea=idea)
