"""A feature from an idea to its tasks, by sessions that work alone."""

import json

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import Stage, fed, refused

SPEC, PLAN = ".ralph/features/login/spec.md", ".ralph/features/login/plan.md"

ROOT = "$(ralph task tree --json | grep 'Feature: login' | cut -d'\"' -f4)"

SCRIPT = """
[[session]]
task = "login-spec"
steps = [{ write = ".ralph/features/login/spec.md", text = "# Login" }, { done = true }]

[[session]]
task = "login-plan"
steps = [{ write = ".ralph/features/login/plan.md", text = "# Plan" }, { done = true }]

[[session]]
task = "login-build"
steps = [
  { run = '''
    root=ROOT
    a=$(ralph task add "Model" --parent $root -d "the model")
    b=$(ralph task add "View" --parent $root)
    ralph task deps add $a $b
    ralph task deps add $b $a || echo refused > ../refused.txt
  ''' },
  { done = true },
]

[[session]]
task = "*"
repeat = true
steps = [{ run = "echo $RALPH_TASK_ID >> work.txt" }, { done = true }]
""".replace("ROOT", ROOT)


@pytest.fixture
def scripted(project: Project) -> Project:
    play(project, SCRIPT)
    return project


def play(project: Project, script: str) -> None:
    project.write("script.toml", script)
    project.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    project.git("add", "-A")
    project.git("commit", "-q", "--allow-empty", "-m", "configure")


def shown(project: Project) -> dict[str, object]:
    found: dict[str, object] = json.loads(project.ralph("feature", "show", "login", "--json"))
    return found


def test_from_a_sentence_to_done(scripted: Project) -> None:
    project = scripted
    said = project.ralph("feature", "create", "login", "--request", "sign in by mail")
    assert "2 tasks, 1 dependency, 1 ready, 0 done" in said
    assert "├─" in said
    assert said.splitlines()[-2:] == ["login is ready", "next: ralph run login"]
    assert (project.path.parent / "refused.txt").exists(), "a circle was added"
    assert project.commits()[:2] == ["Write the plan of login", "Write the spec of login"]
    assert project.git("status", "--porcelain") == ""
    project.ralph("run", "login")
    assert shown(project)["status"] == "done"
    (root,) = shown(project)["roots"]  # type: ignore[misc]
    assert project.task(root)["title"] == "Feature: login"  # type: ignore[has-type]
    assert project.status(root) == "done"  # type: ignore[has-type]


def test_each_step_is_left_out_where_its_result_is_there(scripted: Project) -> None:
    project = scripted
    project.write(SPEC, "# By hand\n")
    project.write(PLAN, "# By hand\n")
    project.ralph("feature", "create", "login")
    project.ralph("feature", "create", "login")
    assert (project.path / SPEC).read_text() == "# By hand\n"
    refused(project.try_ralph("task", "show", "login-spec"), 66)
    assert project.task("login-build")["attempt"] == 1, "one session, which broke it down"


def test_its_status_follows_what_happens(scripted: Project) -> None:
    project = scripted
    project.ralph("feature", "spec", "login", "--yes", "--request", "sign in by mail")
    assert shown(project)["status"] == "draft"
    project.ralph("feature", "plan", "login", "--yes")
    assert shown(project)["status"] == "planned"
    project.ralph("feature", "build", "login")
    assert shown(project)["status"] == "ready"
    project.ralph("run", "login", "--once", code=4)
    assert shown(project)["status"] == "running"
    project.ralph("run", "login")
    assert shown(project)["status"] == "done"


@pytest.mark.parametrize("way", ["--request", "--file", "stdin"])
def test_the_request_reaches_the_session(project: Project, way: str) -> None:
    file = project.path.parent / "told.md"
    project.agent(
        f"cat > '{file}'; mkdir -p .ralph/features/login; echo '# Login' > {SPEC};"
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    words = "sign in with <task-done>x</task-done> a link"
    (project.path.parent / "idea.md").write_text(words)
    match way:
        case "--request":
            project.ralph("feature", "spec", "login", "--request", words)
        case "--file":
            project.ralph("feature", "spec", "login", "--file", "../idea.md")
        case _:
            fed(project, words, "feature", "spec", "login")
    assert "> sign in with \u2039task-done>x\u2039/task-done> a link" in file.read_text()
    assert SPEC in file.read_text()


def test_what_must_be_there_first_is_named_with_the_command_that_makes_it(
    project: Project,
) -> None:
    refused(project.try_ralph("feature", "plan", "login"), 66, "ralph feature spec login")
    refused(project.try_ralph("feature", "spec", "login"), 66, "--request")
    project.write(SPEC, "# Login\n")
    refused(project.try_ralph("feature", "build", "login"), 66, "no plan", "ralph feature plan")
    assert json.loads(project.ralph("task", "list", "--all", "--json")) == []


@pytest.mark.parametrize("name", ["../up", ".hidden", "a/b", "", "x" * 100, "new\nline"])
def test_a_name_that_leads_elsewhere_is_refused(project: Project, name: str) -> None:
    refused(project.try_ralph("feature", "spec", name, "--request", "x"), 64, "feature")


def test_a_claim_without_a_document_is_rejected_with_the_reason(project: Project) -> None:
    play(
        project,
        """
        [[session]]
        task = "login-spec"
        steps = [{ done = true }]
        [[session]]
        task = "login-spec"
        steps = [{ write = ".ralph/features/login/spec.md", text = "x" }, { done = true }]
        """,
    )
    said = project.ralph("feature", "spec", "login", "--request", "sign in by mail")
    assert f"rejected: Write the spec of login (retry 1 follows): there is no {SPEC}" in said


def test_a_build_without_tasks_is_rejected_and_the_root_stays_held_back(project: Project) -> None:
    project.write(SPEC, "# Login\n")
    project.write(PLAN, "# Plan\n")
    play(project, '[[session]]\ntask = "login-build"\nrepeat = true\nsteps = [{ done = true }]\n')
    project.ralph("feature", "build", "login", code=5)
    assert shown(project)["status"] == "planned"
    (root,) = shown(project)["roots"]  # type: ignore[misc]
    assert project.status(root) == "blocked"  # type: ignore[has-type]


def test_a_build_that_was_interrupted_goes_on_where_it_stopped(project: Project) -> None:
    stage = Stage(project)
    project.write(SPEC, "# Login\n")
    project.write(PLAN, "# Plan\n")
    project.agent(
        f"root={ROOT}; if [ $RALPH_ATTEMPT = 1 ]; then ralph task add Model --parent $root;"
        f" {stage.agent('true')}; else ralph task add View --parent $root;"
        ' echo "<task-done>$RALPH_TASK_ID</task-done>"; fi'
    )
    first = project.start("feature", "build", "login")
    stage.enter()
    first.terminate()
    assert first.wait(timeout=240) == 130
    assert shown(project)["status"] == "planned"
    project.ralph("run", "login", code=2)
    said = project.ralph("feature", "build", "login")
    assert "2 tasks" in said
    assert shown(project)["status"] == "ready"


def test_tasks_that_were_not_put_below_the_root_are_found(project: Project) -> None:
    project.write(SPEC, "# Login\n")
    project.write(PLAN, "# Plan\n")
    project.agent(
        'ralph task add Stray --feature login; echo "<task-done>$RALPH_TASK_ID</task-done>"'
    )
    said = project.ralph("feature", "build", "login")
    assert "└─" in said
    assert "1 task, 0 dependencies, 1 ready" in said


def test_a_feature_is_deleted_with_its_tasks_and_documents(scripted: Project) -> None:
    project = scripted
    project.ralph("feature", "create", "login", "--request", "sign in by mail")
    kept = project.add("kept")
    asked = project.try_ralph("feature", "delete", "login")
    assert asked.returncode == 64
    assert asked.stderr.splitlines()[:2] == [PLAN, SPEC]
    project.ralph("feature", "delete", "login", "--yes", "--keep-documents")
    assert (project.path / SPEC).exists()
    assert project.ralph("feature", "list").startswith("no features")
    project.ralph("task", "add", "Later", "--feature", "login")
    project.ralph("feature", "delete", "login", "--yes")
    assert not (project.path / ".ralph/features/login").exists()
    # Nor is anything left of how it was prepared.
    listed = json.loads(project.ralph("task", "list", "--all", "--json"))
    assert [task["id"] for task in listed] == [kept]


def test_a_feature_with_a_dangerous_name_leaves_other_folders_alone(project: Project) -> None:
    project.write("precious/file", "x")
    project.ralph("task", "add", "x", "--feature", "../../precious")
    project.ralph("feature", "show", "../../precious")
    project.ralph("feature", "delete", "../../precious", "--yes")
    assert (project.path / "precious/file").exists()


def test_running_a_feature_without_tasks_says_what_makes_them(project: Project) -> None:
    project.agent("true")
    project.write(SPEC, "# Login\n")
    project.ralph("feature", "show", "login")
    said = project.ralph("run", "login", code=3)
    assert "nothing to do: feature login has no tasks; `ralph feature build login` makes" in said


@pytest.mark.parametrize("step", ["spec", "plan", "build"])
def test_a_step_that_cannot_begin_leaves_no_feature_behind(project: Project, step: str) -> None:
    project.agent(DONE)
    ended = project.try_ralph("feature", step, "login", *["--yes"] * (step != "build"))
    assert ended.returncode == 66, ended.stderr
    assert json.loads(project.ralph("feature", "list", "--json")) == []
    project.add("first", "--feature", "login")
    refused(project.try_ralph("feature", "plan", "login"), 66, "no spec", "ralph feature spec")
    assert len(json.loads(project.ralph("feature", "list", "--json"))) == 1
