"""What every workspace promises."""

import pytest

from ralph.core.snapshot import CheckoutChanges, Snapshot
from ralph.ports.workspace import Workspace
from tests.contracts.likely_secrets_contract import NO_PATHS, LikelySecretsContract
from tests.git_user import PROJECT, GitUser


class WorkspaceContract(LikelySecretsContract):
    """Subclass it and give a fixture `workspace` that holds `PROJECT`."""

    # -- snapshots

    def test_a_clean_checkout_is_its_head_and_nothing_else(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        head = hands.git("rev-parse", "HEAD").strip()
        branch = hands.git("symbolic-ref", "--short", "HEAD").strip()
        assert workspace.snapshot() == Snapshot(head=head, branch=branch)

    def test_looking_changes_nothing(self, workspace: Workspace, hands: GitUser) -> None:
        hands.write("README.md", "staged")
        hands.git("add", "README.md")
        hands.write("README.md", "changed again")
        hands.write("new", "new")
        before = hands.state()
        workspace.snapshot()
        assert hands.state() == before

    def test_it_names_what_differs_from_head(self, workspace: Workspace, hands: GitUser) -> None:
        hands.write("src/app.py", "other")
        hands.write("new", "new")
        hands.write("noise.log", "ignored")
        hands.remove("README.md")
        assert workspace.snapshot().dirty == ("README.md", "new", "src/app.py")

    def test_the_same_files_give_the_same_snapshot(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        clean = workspace.snapshot()
        hands.write("new", "new")
        dirty = workspace.snapshot()
        assert workspace.snapshot() == dirty
        assert not dirty.same_as(clean)
        hands.remove("new")
        assert workspace.snapshot() == clean

    def test_what_is_staged_and_taken_back_on_disk_leaves_the_files_the_same(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        clean = workspace.snapshot()
        hands.write("README.md", "staged")
        hands.git("add", "README.md")
        hands.write("README.md", PROJECT["README.md"])
        now = workspace.snapshot()
        assert now.same_as(clean)
        assert now.dirty == ("README.md",)

    # -- changes

    def test_nothing_happened(self, workspace: Workspace) -> None:
        before = workspace.snapshot()
        assert workspace.changes(before, workspace.snapshot()) == CheckoutChanges()

    def test_changes_name_commits_files_and_what_is_left(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        before = workspace.snapshot()
        hands.write("one", "1")
        first = hands.commit()
        hands.write("two", "2")
        second = hands.commit()
        hands.write("two", "not committed")
        hands.write("three", "3")
        assert workspace.changes(before, workspace.snapshot()) == CheckoutChanges(
            commits=(first, second), files=("one", "three", "two")
        )

    def test_a_rename_is_two_changed_paths(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.git("mv", "src/old name.py", "src/new name.py")
        changes = workspace.changes(before, workspace.snapshot())
        assert changes.files == ("src/new name.py", "src/old name.py")

    def test_modes_and_links_are_changes(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.write("src/app.py", PROJECT["src/app.py"], executable=True)
        hands.link("README.md", "src/app.py")
        changes = workspace.changes(before, workspace.snapshot())
        assert changes.files == ("README.md", "src/app.py")

    def test_what_a_person_had_changed_before_is_no_change(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("README.md", "a person's")
        before = workspace.snapshot()
        hands.write("src/app.py", "the session's")
        changes = workspace.changes(before, workspace.snapshot())
        assert changes.files == ("src/app.py",)

    # -- what others do under unfinished work

    def test_others_changes_are_carried_over_and_the_sessions_are_not(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("README.md", "a person's")
        base = workspace.snapshot()
        hands.write("src/app.py", "the session's")
        hands.write("new", "the session's")
        since = workspace.snapshot()
        hands.write("notes", "a person's")
        hands.remove("src/old name.py")
        moved = workspace.rebase_base(base, since, workspace.snapshot())
        assert moved.dirty == ("README.md", "notes", "src/old name.py")
        hands.remove("new")
        hands.write("src/app.py", PROJECT["src/app.py"])
        assert workspace.snapshot() == moved

    def test_when_nobody_did_anything_the_base_stays(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        base = workspace.snapshot()
        hands.write("new", "the session's")
        since = workspace.snapshot()
        assert workspace.rebase_base(base, since, workspace.snapshot()) == base

    def test_going_back_to_a_carried_base_takes_out_only_the_session(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        base = workspace.snapshot()
        hands.write("src/app.py", "committed by the session")
        hands.commit()
        hands.write("new", "staged by the session")
        hands.git("add", "new")
        since = workspace.snapshot()
        hands.write("notes", "staged by a person")
        hands.git("add", "notes")
        moved = workspace.rebase_base(base, since, workspace.snapshot())
        workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        workspace.restore(moved)
        assert workspace.snapshot() == moved
        assert (moved.head, moved.dirty) == (base.head, ("notes",))
        assert hands.git("status", "--porcelain").splitlines() == ["A  notes"]
        held = {path: content for path, (_, content) in hands.files().items()}
        assert held == {**PROJECT, "notes": b"staged by a person"}

    def test_a_persons_commit_after_a_session_was_not_there_before_its_end(
        self, workspace: Workspace, hands: GitUser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        base = workspace.snapshot()
        hands.write("new", "new")
        hands.commit("by the session")
        after = workspace.snapshot()
        monkeypatch.delenv("GIT_REFLOG_ACTION")
        hands.commit("by a person")
        assert workspace.with_user_commits(base, after) == base

    def test_a_persons_commit_on_top_stays_and_what_it_stands_on(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("README.md", "a person's, not committed")
        base = workspace.snapshot()
        hands.write("src/app.py", "committed by the session")
        hands.git("commit", "-q", "-m", "by the session", "src/app.py")
        hands.write("src/app.py", "left by the session")
        hands.write("new", "left by the session")
        since = workspace.snapshot()
        hands.write("fix", "a person's")
        hands.git("add", "fix")
        hands.git("commit", "-q", "-m", "by a person", "fix")
        now = workspace.snapshot()
        moved = workspace.rebase_base(base, since, now)
        assert (moved.head, moved.dirty) == (now.head, ("README.md",))
        workspace.restore(moved)
        files = {"README.md": b"a person's, not committed", "fix": b"a person's"}
        app = {"src/app.py": b"committed by the session"}
        held = {path: content for path, (_, content) in hands.files().items()}
        assert held == {**PROJECT, **files, **app}

    def test_a_person_who_took_the_sessions_work_back_has_taken_it_back(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        base = workspace.snapshot()
        hands.write("src/app.py", "committed by the session")
        hands.commit()
        hands.write("src/app.py", "left by the session")
        since = workspace.snapshot()
        hands.git("checkout", "-q", "--", "src/app.py")
        assert workspace.rebase_base(base, since, workspace.snapshot()) == base

    def test_what_others_only_staged_is_still_the_sessions(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        base = workspace.snapshot()
        hands.write("new", "the session's")
        since = workspace.snapshot()
        hands.git("add", "new")
        assert workspace.rebase_base(base, since, workspace.snapshot()) == base

    def test_a_file_of_theirs_where_the_session_had_a_folder_is_theirs(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        base = workspace.snapshot()
        hands.write("thing/part", "the session's")
        since = workspace.snapshot()
        hands.write("thing", "a person's")
        moved = workspace.rebase_base(base, since, workspace.snapshot())
        assert moved == workspace.snapshot()

    # -- commits

    def test_what_the_session_left_is_committed(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.write("new", "new")
        hands.write("src/app.py", "other")
        hands.remove("README.md")
        done = workspace.commit(before, workspace.snapshot(), "Do it\n\nBecause: x\n", NO_PATHS)
        assert done.files == ("README.md", "new", "src/app.py")
        assert done.leftovers == ()
        after = workspace.snapshot()
        assert (after.head, after.branch, after.dirty) == (done.commit, before.branch, ())
        assert workspace.changes(before, after).commits == (done.commit,)
        assert hands.git("log", "-1", "--format=%B").strip() == "Do it\n\nBecause: x"

    def test_doing_it_twice_commits_once(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.write("new", "new")
        after = workspace.snapshot()
        assert workspace.commit(before, after, "Once", NO_PATHS).commit
        assert workspace.commit(before, after, "Once", NO_PATHS).commit is None

    def test_nothing_to_commit_is_no_commit(self, workspace: Workspace) -> None:
        before = workspace.snapshot()
        assert workspace.commit(before, workspace.snapshot(), "Nothing", NO_PATHS).commit is None

    def test_what_came_after_the_judged_state_stays_out(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        before = workspace.snapshot()
        hands.write("src/app.py", "judged")
        judged = workspace.snapshot()
        hands.write("src/app.py", "changed by a gate")
        hands.write("coverage.xml", "left by a gate")
        assert workspace.commit(before, judged, "Work", NO_PATHS).files == ("src/app.py",)
        assert hands.git("show", "HEAD:src/app.py") == "judged"
        assert hands.files()["src/app.py"] == ("file", b"changed by a gate")
        assert workspace.snapshot().dirty == ("coverage.xml", "src/app.py")

    def test_what_the_session_committed_is_not_committed_again(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        before = workspace.snapshot()
        hands.write("one", "1")
        hands.commit()
        hands.write("two", "2")
        assert workspace.commit(before, workspace.snapshot(), "Rest", NO_PATHS).files == ("two",)

    def test_paths_to_keep_stay_out(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.write(".env", "SECRET=1")
        hands.write("new", "new")
        done = workspace.commit(before, workspace.snapshot(), "Work", frozenset({".env"}))
        assert (done.files, done.leftovers) == (("new",), ())
        assert workspace.snapshot().dirty == (".env",)

    def test_a_persons_changes_are_not_committed(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("README.md", "a person's")
        hands.write("src/app.py", "a person's, too")
        before = workspace.snapshot()
        hands.write("src/app.py", "both")
        hands.write("new", "the session's")
        done = workspace.commit(before, workspace.snapshot(), "Work", NO_PATHS)
        assert (done.files, done.leftovers) == (("new",), ("src/app.py",))
        assert workspace.snapshot().dirty == ("README.md", "src/app.py")

    def test_own_documents_join_the_commit_as_they_are_now(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("prd.md", "a person's")
        hands.write("README.md", "a person's, too")
        before = workspace.snapshot()
        hands.write("new", "the session's")
        hands.write("prd.md", "the session's")
        judged = workspace.snapshot()
        hands.write("prd.md", "ticked")
        own = frozenset({"prd.md", "not-there.md"})
        done = workspace.commit(before, judged, "Work", frozenset({"prd.md", "README.md"}), own)
        assert sorted(done.files) == ["new", "prd.md"]
        assert done.leftovers == ()
        assert hands.git("show", "HEAD:prd.md") == "ticked"
        assert workspace.snapshot().dirty == ("README.md",)
        assert workspace.commit(before, judged, "Work", NO_PATHS, own).commit is None

    def test_own_documents_alone_are_a_commit(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.write("new", "the session's")
        hands.commit()
        judged = workspace.snapshot()
        hands.write("prd.md", "ticked")
        hands.write("report.xml", "of a gate")
        done = workspace.commit(before, judged, "Tick", NO_PATHS, frozenset({"prd.md"}))
        assert done.files == ("prd.md",)
        assert workspace.snapshot().dirty == ("report.xml",)

    def test_what_a_person_has_staged_stays_staged(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("README.md", "staged")
        hands.git("add", "README.md")
        hands.write("README.md", "and changed again")
        staged = hands.git("diff", "--cached")
        before = workspace.snapshot()
        hands.write("new", "the session's")
        hands.git("add", "new")
        assert workspace.commit(before, workspace.snapshot(), "Work", NO_PATHS).files == ("new",)
        assert hands.git("diff", "--cached") == staged
        assert hands.files()["README.md"] == ("file", b"and changed again")

    # -- saving

    def test_saving_changes_nothing_else(self, workspace: Workspace, hands: GitUser) -> None:
        hands.write("README.md", "staged")
        hands.git("add", "README.md")
        hands.write("new", "new")
        before = hands.state()
        workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        assert hands.state() == before

    def test_what_was_saved_is_every_file_and_the_sessions_commits(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("one", "1")
        commit = hands.commit()
        hands.write("two", "2")
        saved = workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        assert hands.git("rev-parse", "refs/ralph/t-abc123/1").strip() == saved
        assert hands.git("rev-parse", f"{saved}^").strip() == commit
        assert hands.git("show", f"{saved}:two") == "2"

    def test_saving_twice_under_one_name_loses_nothing(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("new", "1")
        first = workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        assert workspace.save("refs/ralph/t-abc123/1", "Kept aside\n") == first
        hands.write("new", "2")
        second = workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        assert first in hands.git("rev-list", second).split()

    # -- restoring

    def test_every_byte_comes_back(self, workspace: Workspace, hands: GitUser) -> None:
        hands.write("README.md", "a person's")
        hands.write("notes", b"untracked\r\n\x00\xff")
        hands.write("src/app.py", "staged")
        hands.git("add", "src/app.py")
        hands.write("src/app.py", "changed again")
        to, before = workspace.snapshot(), hands.state()
        hands.write("README.md", "spoiled")
        hands.remove("notes")
        hands.write("src/app.py", "spoiled")
        hands.git("add", "-A")
        workspace.restore(to)
        assert hands.state() == before
        assert workspace.snapshot() == to

    def test_what_was_created_since_goes_and_what_is_ignored_stays(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        to = workspace.snapshot()
        hands.write("deep/er/new", "new")
        hands.write("noise.log", "ignored")
        workspace.restore(to)
        assert not (hands.top / "deep").exists()
        assert (hands.top / "noise.log").read_bytes() == b"ignored"

    def test_commits_are_taken_back_and_stay_saved(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        to = workspace.snapshot()
        hands.write("new", "new")
        commit = hands.commit()
        workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        workspace.restore(to)
        assert workspace.snapshot() == to
        assert commit in hands.git("rev-list", "refs/ralph/t-abc123/1").split()
        names = hands.git("for-each-ref", "--format=%(refname)", "refs/ralph").split()
        assert names == ["refs/ralph/t-abc123/1"]

    def test_coming_back_from_another_branch_keeps_that_branch(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        to = workspace.snapshot()
        hands.git("switch", "-q", "-c", "elsewhere")
        hands.write("new", "new")
        commit = hands.commit()
        workspace.restore(to)
        assert workspace.snapshot() == to
        assert hands.git("rev-parse", "elsewhere").strip() == commit

    def test_restoring_twice_is_restoring_once(self, workspace: Workspace, hands: GitUser) -> None:
        hands.write("notes", "a person's")
        to, before = workspace.snapshot(), hands.state()
        hands.write("new", "new")
        workspace.restore(to)
        workspace.restore(to)
        assert hands.state() == before

    def test_what_was_saved_can_be_brought_back(self, workspace: Workspace, hands: GitUser) -> None:
        to = workspace.snapshot()
        hands.write("new", "new")
        later, before = workspace.snapshot(), hands.state()
        workspace.save("refs/ralph/t-abc123/1", "Kept aside\n")
        workspace.restore(to)
        workspace.restore(later)
        assert hands.state() == before

    @pytest.mark.parametrize(
        "name", ["with space", 'quo"te', "new\nline", "tab\t", "grüße", "not-utf8-\udcff", "*?[x"]
    )
    def test_names_may_be_odd(self, workspace: Workspace, hands: GitUser, name: str) -> None:
        hands.write(f"theirs {name}", "a person's")
        to, before = workspace.snapshot(), hands.state()
        hands.write(name, "1")
        hands.write(f"theirs {name}", "spoiled")
        now = workspace.snapshot()
        assert set(workspace.changes(to, now).files) == {name, f"theirs {name}"}
        workspace.restore(to)
        assert hands.state() == before
        hands.write(name, "2")
        done = workspace.commit(to, workspace.snapshot(), "Odd", NO_PATHS)
        assert done.files == (name,)
