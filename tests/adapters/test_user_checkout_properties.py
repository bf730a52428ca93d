"""Whatever a person has lying about and whatever a session does, the person's work survives."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.snapshot import Snapshot
from tests.git_user import PROJECT, GitUser, a_project

# Few names that get in each other's way: files where others need directories, and back.
PATHS = st.sampled_from(
    [*PROJECT, "new", "src", "src/app.py/under", "deep", "deep/er", "é\n \udcff", "x.log"]
)
CONTENTS = st.sampled_from([b"", b"one\n", b"two\n", b"two\r\n", b"\x00\xff", PROJECT["README.md"]])

WRITE = st.tuples(st.just("write"), PATHS, CONTENTS)
EXECUTABLE = st.tuples(st.just("executable"), PATHS, CONTENTS)
LINK = st.tuples(st.just("link"), PATHS, st.sampled_from(["README.md", "src", "/nowhere"]))
REMOVE = st.tuples(st.just("remove"), PATHS)
STAGE = st.tuples(st.just("stage"), PATHS)
UNSTAGE = st.tuples(st.just("unstage"), PATHS)
IGNORE = st.tuples(st.just("ignore"), PATHS)
COMMIT = st.tuples(st.just("commit"))
COMMIT_STAGED = st.tuples(st.just("commit staged"))
BRANCH = st.tuples(st.just("branch"), st.sampled_from(["one", "two"]))
DETACH = st.tuples(st.just("detach"))
BACK = st.tuples(st.just("back"))

FILES = st.one_of(WRITE, EXECUTABLE, LINK, REMOVE)
PERSON = st.lists(st.one_of(FILES, FILES, STAGE, STAGE, UNSTAGE), max_size=6)
SESSION = st.lists(
    st.one_of(FILES, FILES, STAGE, UNSTAGE, IGNORE, COMMIT, COMMIT_STAGED, BRANCH, DETACH, BACK),
    max_size=7,
)

pytestmark = pytest.mark.usefixtures("as_a_session")
TIDY_SESSION = st.lists(st.one_of(FILES, FILES, FILES, STAGE, COMMIT_STAGED), max_size=7)


Steps = list[tuple[str | bytes, ...]]

GIT = {
    "stage": ("--literal-pathspecs", "add", "-A", "--"),
    "unstage": ("--literal-pathspecs", "rm", "-q", "-r", "--cached", "--"),
    "commit staged": ("commit", "-q", "-m", "by hand"),
    "branch": ("switch", "-q", "-c"),
    "detach": ("switch", "-q", "--detach"),
    "back": ("reset", "-q", "--soft", "HEAD~1"),
}


def do(hands: GitUser, step: tuple[str | bytes, ...]) -> None:
    """Do one thing, where git lets us."""
    match step:
        case "write" | "executable" as how, str(path), bytes(content):
            hands.write(path, content, executable=how == "executable")
        case "link", str(path), str(target):
            hands.link(path, target)
        case "remove", str(path):
            hands.remove(path)
        case "ignore", str(path):
            hands.write(".gitignore", b"*.log\n/" + path.encode("utf-8", "replace") + b"\n")
        case ("commit",):
            hands.commit()
        case str(name), *rest:
            hands.git(*GIT[name], *map(str, rest), check=False)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_NAME", "A Person")
            patch.setenv(f"GIT_{who}_EMAIL", "person@example.com")
        project = a_project(tmp_path_factory.mktemp("template") / "project")
    project.git("config", "user.name", "A Person")
    project.git("config", "user.email", "person@example.com")
    return project.top


@contextmanager
def a_copy(template: Path) -> Iterator[tuple[GitUser, UserCheckout]]:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "project"
        shutil.copytree(template, top, symlinks=True)
        yield GitUser(str(top)), UserCheckout(ProcessExecutor(SystemClock()), str(top))


@settings(max_examples=40, deadline=None)
@given(person=PERSON, session=SESSION)
def test_saving_and_restoring_gives_everything_back(
    template: Path, person: Steps, session: Steps
) -> None:
    with a_copy(template) as (hands, workspace):
        for step in person:
            do(hands, step)
        before, to = hands.state(), workspace.snapshot()
        assert hands.state() == before
        for step in session:
            do(hands, step)
        after = hands.state()
        saved = workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        assert hands.state() == after
        workspace.restore(to)
        assert hands.state() == before
        assert workspace.snapshot() == to
        # And nothing that the session committed is lost.
        if after["head"]:
            assert str(after["head"]).strip() in hands.git("rev-list", saved).split()


@settings(max_examples=40, deadline=None)
@given(person=PERSON, session=TIDY_SESSION)
@example(person=[("unstage", ".gitignore")], session=[("commit staged",)])
def test_committing_leaves_a_persons_state_alone(
    template: Path, person: Steps, session: Steps
) -> None:
    with a_copy(template) as (hands, workspace):
        for step in person:
            do(hands, step)
        since = workspace.snapshot()
        for step in session:
            do(hands, step)
        upto, files = workspace.snapshot(), hands.files()
        theirs = set(since.dirty)
        # A file that was committed and then restored is as it was before, yet its commit is not.
        heads = (str(since.head), str(upto.head))
        committed = hands.git("diff", "--name-only", "--no-renames", "-z", *heads).split("\0")
        changed = {*workspace.changes(since, upto).files, *committed}
        left = changed.intersection(workspace.changes(Snapshot(head=upto.head), upto).files)
        staged = {path: hands.git("ls-files", "-s", "--", path) for path in theirs}

        done = workspace.commit(since, upto, "Work\n", frozenset())

        assert hands.files() == files
        assert {path: hands.git("ls-files", "-s", "--", path) for path in theirs} == staged
        assert theirs.isdisjoint(done.files)
        assert set(done.files) | set(done.leftovers) == left
        now = workspace.snapshot()
        # What a session staged and then put a file or directory in the place of is forgotten.
        assert set(now.dirty) <= set(upto.dirty) - set(done.files)
        assert set(now.dirty) >= theirs & set(upto.dirty)
        assert set(now.dirty) >= set(done.leftovers)
        again = workspace.commit(since, upto, "Work\n", frozenset())
        assert (again.commit, again.leftovers) == (None, done.leftovers)
        if done.commit:
            in_commit = hands.git("show", "--format=", "--name-only", "--no-renames", "-z", "HEAD")
            assert sorted(filter(None, in_commit.split("\0"))) == sorted(done.files)
