"""Find the plans that are written and wait for a person's approval."""

from collections.abc import Iterator
from shlex import quote

from ralph.core.policy.decision import Phase
from ralph.documents.feature_files import SPECS, GoalFiles
from ralph.ports.project_files import ProjectFiles
from ralph.store.store import Store
from ralph.ui.needs import WaitingPlan


def waiting_plans(store: Store, project_files: ProjectFiles) -> list[WaitingPlan]:
    """Plans of goals and of stories."""
    return [*_goals(project_files), *_stories(store)]


def _goals(project_files: ProjectFiles) -> Iterator[WaitingPlan]:
    for name in project_files.folders(SPECS):
        # `status` asks, mostly without any goal: it starts in a third less time without these.
        from ralph.workflows.goal import Goal, GoalStep

        goal = Goal(project_files=project_files, files=GoalFiles(name=name))
        if goal.step() is GoalStep.REVIEW:
            approve = f"ralph team plan {name} --yes"
            yield WaitingPlan(name=name, path=goal.files.plan, approve=approve)


def _stories(store: Store) -> Iterator[WaitingPlan]:
    for feature in store.features.all():
        from ralph.workflows.story_pipeline import PLAN, AutoProgress, storage_key

        progress = store.documents.value(storage_key(feature.name), AutoProgress)
        if progress is not None and progress.phase is Phase.BUILDING and not progress.approved:
            other = f" --prd {quote(feature.spec_path)}" if feature.spec_path else ""
            approve = f"ralph go --plan stories{other} --from build --yes"
            yield WaitingPlan(name=feature.name, path=feature.plan_path or PLAN, approve=approve)
