"""One step of a feature: with the person at the terminal, or by a session alone."""

import sys
from argparse import Namespace
from collections.abc import Callable
from shlex import quote

from ralph.cli.feature.options import is_alone
from ralph.cli.opening import the_store
from ralph.cli.with_a_person import hold
from ralph.core.errors import RalphError
from ralph.core.feature_texts import Subject, Talk, talk_about_plan, talk_about_spec
from ralph.core.safe_text import one_line
from ralph.core.task import Feature, FeatureStatus
from ralph.ports.store import Store
from ralph.wiring.project import Project, open_library
from ralph.wiring.run import assemble
from ralph.workflows.context import context_of
from ralph.workflows.errand import Errand, as_task, send
from ralph.workflows.feature import Features
from ralph.workflows.minding import mind

MakeErrand = Callable[[Features, Feature], Errand]
MakeTalk = Callable[[Subject, str], Talk]


def write_spec(project: Project, args: Namespace, request: str) -> int:
    """Find out what is wanted."""
    if is_alone(args):
        return _send(project, args, lambda them, feature: them.spec_errand(feature, request))
    return _talk(project, args.name, request, talk_about_spec, "spec")


def write_plan(project: Project, args: Namespace, request: str) -> int:
    """Decide how it is to be built."""
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        features.require_spec(features.find(args.name))
    if is_alone(args):
        return _send(project, args, lambda them, feature: them.plan_errand(feature, request))
    return _talk(project, args.name, request, talk_about_plan, "plan")


def build(project: Project, args: Namespace) -> int:
    """Break it down into tasks, and show them."""
    from ralph.cli.feature.summary import show_tasks

    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        feature = features.find(args.name)
        root = features.divided(feature)
        if root is not None:
            print(f"{one_line(feature.name)} is broken down into tasks already")
            show_tasks(args, project, store, root)
            return 0
        features.require_plan(feature)
    code = _send(project, args, lambda them, feature: them.build_errand(feature))
    if code != 0:
        return code
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        root = features.release(features.find(args.name))
        show_tasks(args, project, store, root)
    return 0


def tell_next(project: Project, name: str) -> None:
    """Where a feature stands, and what follows."""
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        feature = features.find(name)
        print(f"{one_line(feature.name)} is {feature.status.value}")
        print(f"next: {next_step(feature)}")


def next_step(feature: Feature) -> str:
    """The command that takes a feature further."""
    name = quote(feature.name)
    has_tasks = feature.status not in (FeatureStatus.DRAFT, FeatureStatus.PLANNED)
    if feature.spec_path is None and not has_tasks:
        return f"ralph feature spec {name}"
    if feature.plan_path is None and not has_tasks:
        return f"ralph feature plan {name}"
    match feature.status:
        case FeatureStatus.DONE:
            return "nothing, all of its tasks are done"
        case FeatureStatus.FAILED:
            return f"ralph task list --feature {name} --status failed"
        case FeatureStatus.DRAFT | FeatureStatus.PLANNED:
            return f"ralph feature build {name}"
        case FeatureStatus.READY | FeatureStatus.RUNNING:
            return f"ralph run {name}"


def _send(project: Project, args: Namespace, make: MakeErrand) -> int:
    """Let a session do it alone."""
    retries = project.loaded.config.execution.max_retries
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        with features.opened(args.name) as feature:
            errand = make(features, feature)

    def prepare(store: Store) -> str:
        return as_task(store, errand, retries).id

    color = args.color or project.loaded.config.ui.color
    again = errand.command
    with assemble(project, prepare, sys.stdout, json=False, color=color, again=again) as kit:
        features = Features(store=kit.store, root=project.root)
        mind(kit, retries)
        ended = send(kit, make(features, features.open(args.name)))
        features.open(args.name)
    return ended.exit_code


def _talk(project: Project, name: str, request: str, make: MakeTalk, document: str) -> int:
    """Let the person and an agent do it together."""
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        subject = features.subject(features.open(name), request)
        talk = make(subject, context_of(project.loaded, store, open_library(project)))
    hold(project, talk)
    with the_store(project) as store:
        features = Features(store=store, root=project.root)
        feature = features.open(name)
        path = feature.spec_path if document == "spec" else feature.plan_path
    if path is None:
        wanted = subject.spec if document == "spec" else subject.plan
        raise RalphError(
            f"no {document} was written: there is no {wanted}",
            hint=f"ralph feature {document} {quote(name)} goes on",
        )
    print(f"{document}: {one_line(path)}")
    return 0
