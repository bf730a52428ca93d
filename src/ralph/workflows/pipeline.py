"""Where the files of a story pipeline are, and what its prompts are made of."""

import os
from collections.abc import Mapping
from shlex import quote

import msgspec

from ralph.core.errors import Missing, UsageError
from ralph.documents import activity_log, errors_log, guardrails, progress_log
from ralph.documents.encoded import decode
from ralph.documents.prompts import TEMPLATES
from ralph.documents.stories.prd import Prd
from ralph.documents.stories.reading import read_prd
from ralph.documents.templates import fill, template_path
from ralph.ports.library import Library

PRD = ".agents/tasks/prd.md"
PLAN = ".ralph/IMPLEMENTATION_PLAN.md"


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """One PRD and what belongs to it. Paths are from the project's root."""

    root: str
    prd: str = PRD
    feature: str = "prd"
    """A document is a feature: another PRD is another one."""
    plan: str = PLAN
    progress: str = progress_log.PATH
    guardrails: str = guardrails.PATH
    errors: str = errors_log.PATH
    activity: str = activity_log.PATH
    agents: str = "AGENTS.md"
    no_commit: bool = False
    gates: tuple[str, ...] = ()
    templates: dict[str, str] = {}
    """Where the templates are that `config.sh` puts elsewhere."""

    def command(self, name: str) -> str:
        """What a person types to have this document's turn."""
        flag = "--out" if name == "prd" else "--prd"
        request = ' "…"' if name == "prd" else ""
        other = "" if self.feature == "prd" else f" {flag} {quote(self.prd)}"
        return f"ralph {name}{request}{other}"

    @property
    def report(self) -> str:
        """What validation found."""
        name = "validation" if self.feature == "prd" else f"validation-{self.feature}"
        return f".ralph/{name}.md"

    @property
    def tracked(self) -> tuple[str, ...]:
        """What Ralph writes and commits along with the work."""
        return (self.prd, self.plan, self.progress, self.guardrails, self.report)

    def variables(self) -> dict[str, str]:
        """What every prompt may speak of."""
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

    def prompt(self, library: Library, name: str, values: Mapping[str, str]) -> str:
        """A prompt: by the person's own template, or the one that Ralph brings."""
        path = self.templates.get(name) or template_path(name)
        own = library.read(path)
        if own.trouble:
            raise Missing(own.trouble, hint="mend it, or remove it")
        if own.text is None and name in self.templates:
            raise Missing(f"there is no template {path}", hint="config.sh says that it is there")
        if own.text is None:
            path, text = f"the template {name}", TEMPLATES[name]
        else:
            text = own.text
        return fill(text, {**self.variables(), **values}, path)


def pipeline_of(
    root: str,
    variables: Mapping[str, str],
    *,
    prd: str | None = None,
    no_commit: bool = False,
    gates: tuple[str, ...] = (),
) -> Pipeline:
    """From what `config.sh` says, and the PRD that was asked for."""
    usual = inside(root, variables.get("PRD_PATH") or PRD)
    chosen = inside(root, prd) if prd else usual
    plan = inside(root, variables.get("PLAN_PATH") or PLAN)
    feature = "prd" if chosen == usual else _feature(chosen)
    if chosen != usual:
        # Its stories have the same ids as those of another document.
        stem, suffix = os.path.splitext(plan)
        own = f"{stem}-{feature}{suffix}"
        if os.path.exists(os.path.join(root, own)) or not os.path.exists(os.path.join(root, plan)):
            plan = own
    return Pipeline(
        root=root,
        prd=chosen,
        feature=feature,
        plan=plan,
        progress=inside(root, variables.get("PROGRESS_PATH") or progress_log.PATH),
        guardrails=inside(root, variables.get("GUARDRAILS_PATH") or guardrails.PATH),
        errors=inside(root, variables.get("ERRORS_LOG_PATH") or errors_log.PATH),
        activity=inside(root, variables.get("ACTIVITY_LOG_PATH") or activity_log.PATH),
        agents=variables.get("AGENTS_PATH") or "AGENTS.md",
        no_commit=no_commit,
        gates=gates,
        templates={
            name: inside(root, path)
            for name in ("plan", "build")
            if (path := variables.get(f"PROMPT_{name.upper()}"))
        },
    )


def inside(root: str, path: str) -> str:
    """As seen from the project's root; UsageError where it leads out of it."""
    full = os.path.normpath(os.path.join(root, path))
    inside = os.path.relpath(full, root)
    if inside == os.pardir or inside.startswith(os.pardir + os.sep):
        raise UsageError(f"{path} is outside of the project", hint=f"the project is {root}")
    return inside


def _feature(path: str) -> str:
    """A name that a folder could have."""
    stem = os.path.splitext(path)[0]
    words = "".join(char if char.isalnum() or char in "-_." else "-" for char in stem)
    name = words.strip("-.") or "stories"
    return f"{name}-file" if name == "prd" else name


def prd_of(library: Library, pipeline: Pipeline) -> Prd:
    """The PRD as it is now, however it is encoded; without a file, one without stories."""
    return read_prd(decode(library.content(pipeline.prd) or b"").text)


def require_prd(library: Library, pipeline: Pipeline) -> None:
    """Everything else starts from it."""
    if not library.content(pipeline.prd):
        raise Missing(f"there is no PRD ({pipeline.prd})", hint=pipeline.command("prd"))


def require_plan(library: Library, pipeline: Pipeline) -> None:
    """Stories are built by a plan."""
    if not library.content(pipeline.plan):
        raise Missing(f"there is no plan ({pipeline.plan})", hint=pipeline.command("plan"))
