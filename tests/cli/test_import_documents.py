"""Bringing in what others have written down: PRDs, plans, issues."""

import json
import os
from pathlib import Path

import pytest

from ralph.adapters.project_files.folder import FolderFiles
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.prd_document import PrdDocument
from tests.cli.conftest import Cli, assert_one_line

PRD = "### [x] US-001: One\n- [x] a\n\n### [ ] US-002: Two\nDepends on: US-001\n"
ISSUES = [
    {"number": 1, "title": "Crash", "body": "Blocked by #2", "state": "OPEN"},
    {"number": 2, "title": "Leak", "body": "", "state": "OPEN"},
]


def titles(ralph: Cli) -> dict[str, str]:
    return {task["title"]: task["status"] for task in ralph.json("task", "list", "--all")}


def test_a_prd_is_brought_in_once(ralph: Cli, tmp_path: Path) -> None:
    path = tmp_path / "stories.md"
    path.write_text(PRD)
    assert ralph("task", "import", str(path)).out == "added 2\n"
    assert ralph("task", "import", str(path)).out == "added 0, skipped 2\n"
    path.write_text(PRD + "### [ ] US-003: Three\n")
    assert ralph("task", "import", str(path)).out == "added 1, skipped 2\n"
    assert titles(ralph) == {"One": "done", "Two": "pending", "Three": "pending"}
    (two,) = [one for one in ralph.json("task", "list", "--all") if one["title"] == "Two"]
    assert len(two["blockers"]) == 1


def test_a_prd_comes_on_standard_input(ralph: Cli) -> None:
    assert ralph("task", "import", "-", stdin=PRD.encode()).out == "added 2\n"
    assert titles(ralph) == {"One": "done", "Two": "pending"}


def test_a_preview_adds_nothing(ralph: Cli, tmp_path: Path) -> None:
    path = tmp_path / "prd.json"
    path.write_text(json.dumps({"userStories": [{"id": "US-001", "title": "One"}]}))
    out = ralph("task", "import", str(path), "--dry-run").out
    assert out.splitlines() == ["pending     US-001       One", "would add 1"]
    assert titles(ralph) == {}


def test_issues_come_on_standard_input(ralph: Cli) -> None:
    text = json.dumps(ISSUES).encode()
    assert ralph("task", "import", "-", stdin=text).out == "added 2\n"
    assert ralph("task", "import", "-", stdin=text).out == "added 0, skipped 2\n"
    crash = ralph.json("task", "show", "GH-1")
    assert crash["title"] == "Crash"
    assert len(crash["blockers"]) == 1


def test_or_from_gh_itself(ralph: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / "gh"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(ISSUES)}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    assert ralph("task", "import", "--github").out == "added 2\n"
    program.write_text("#!/bin/sh\necho 'not logged in' >&2\nexit 4\n")
    assert_one_line(ralph("task", "import", "--github", code=69), hint=True)


def test_without_gh_it_says_what_to_do(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert_one_line(ralph("task", "import", "--github", code=69), hint=True)


def test_a_gh_that_a_session_may_have_written_is_not_run(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = ralph.path / "node_modules" / ".bin" / "gh"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ntouch '{ralph.path}/caught'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.defpath}")
    assert_one_line(ralph("task", "import", "--github", code=69), hint=True)
    assert not (ralph.path / "caught").exists()


def test_what_to_bring_in_has_to_be_said_once(ralph: Cli) -> None:
    assert_one_line(ralph("task", "import", code=64), hint=True)
    said = ralph("task", "import", "--github", "-", code=64)
    assert_one_line(said, hint=True)
    assert "either a file or --github" in said.err


def test_a_broken_prd_names_its_line(ralph: Cli, tmp_path: Path) -> None:
    path = tmp_path / "stories.md"
    path.write_text(PRD + PRD)
    answer = ralph("task", "import", str(path), code=65)
    assert_one_line(answer, hint=True)
    assert "line 6" in answer.err
    assert titles(ralph) == {}


def test_a_folder_of_code_tasks_is_brought_in_once(ralph: Cli, tmp_path: Path) -> None:
    folder = tmp_path / ".ralph" / "specs" / "shop" / "implementation" / "step01"
    folder.mkdir(parents=True)
    one, two = (folder / f"task-0{n}-x.code-task.md" for n in (1, 2))
    one.write_text("---\nStatus: COMPLETED\n---\n# Task: One\n")
    two.write_text("# Task: Two\nBlocked-By: task-01\n")
    shop = folder.parent.parent
    assert "would add 2" in ralph("task", "import", str(shop), "--dry-run").out
    assert ralph("task", "import", str(shop)).out == "added 2\n"
    assert ralph("task", "import", str(shop / "implementation")).out == "added 0, skipped 2\n"
    assert titles(ralph) == {"One": "done", "Two": "pending"}
    assert len(ralph.json("task", "show", "step01-task-02")["blockers"]) == 1
    assert [feature["name"] for feature in ralph.json("feature", "list")] == ["shop"]


def test_code_tasks_that_cannot_be_built_are_refused_in_one_line(
    ralph: Cli, tmp_path: Path
) -> None:
    (tmp_path / "goal").mkdir()
    assert_one_line(ralph("task", "import", str(tmp_path / "goal"), code=66))
    (tmp_path / "goal" / "a.code-task.md").write_text("Blocked-By: b")
    assert_one_line(ralph("task", "import", str(tmp_path / "goal"), code=65))


def test_what_a_person_ticks_after_an_import_counts(ralph: Cli) -> None:
    path = Path(ralph.path) / ".agents/tasks/prd.md"
    path.parent.mkdir(parents=True)
    path.write_text(PRD)
    ralph("task", "import", str(path))
    path.write_text(PRD.replace("[x]", "[ ]").replace("[ ] US-002", "[x] US-002"))
    with ralph.store() as store:
        stories = PrdDocument(
            DocumentTasks(store, store.features.add("prd"), ".agents/tasks/prd.md", 1),
            FolderFiles(str(ralph.path)),
        )
        assert len(stories.sync()) == 2
    assert titles(ralph) == {"One": "pending", "Two": "done"}
