"""What every workspace promises about files that look like secrets."""

import pytest

from ralph.ports.workspace import Workspace
from tests.git_user import GitUser

NO_PATHS = frozenset[str]()


class LikelySecretsContract:
    """A part of the contract of workspaces."""

    @pytest.fixture
    def workspace(self) -> Workspace:
        """The workspace under test."""
        raise NotImplementedError

    @pytest.fixture
    def hands(self, workspace: Workspace, as_a_session: None) -> GitUser:
        """A session's hands in its checkout: what a person commits on top would stay."""
        return GitUser(workspace.path)

    def test_likely_secrets_are_withheld_and_named(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        before = workspace.snapshot()
        key = "ghp_" + "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2i"
        hands.write(".env", "TOKEN=1")
        hands.write("src/app.py", f"login('{key}')\n")
        hands.write(".gitattributes", "*.py -diff\n")
        hands.write("new", "new")
        done = workspace.commit(before, workspace.snapshot(), "Work", NO_PATHS)
        assert [one.path for one in done.likely_secrets] == [".env", "src/app.py"]
        assert done.files == (".gitattributes", "new")
        assert workspace.snapshot().dirty == (".env", "src/app.py")

    def test_secrets_in_own_documents_are_withheld_as_well(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("progress.md", "# Progress\n")
        hands.commit()
        before = workspace.snapshot()
        hands.write("new", "the session's")
        judged = workspace.snapshot()
        key = "ghp_" + "k3Jd82HsPq7LmNc5VbXz9TgYw4RfEa6UoQ2i"
        hands.write("progress.md", f"# Progress\nthe key is {key}\n")
        hands.write("prd.md", "ticked")
        own = frozenset({"prd.md", "progress.md"})
        done = workspace.commit(before, judged, "Work", NO_PATHS, own)
        assert [one.path for one in done.likely_secrets] == ["progress.md"]
        assert sorted(done.files) == ["new", "prd.md"]
        assert workspace.snapshot().dirty == ("progress.md",)
        hands.write("progress.md", "# Progress\nthe key is gone\n")
        assert workspace.commit(before, judged, "Work", NO_PATHS, own).files == ("progress.md",)

    def test_nothing_but_a_secret_is_no_commit(self, workspace: Workspace, hands: GitUser) -> None:
        before = workspace.snapshot()
        hands.write("id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\n")
        done = workspace.commit(before, workspace.snapshot(), "Work", NO_PATHS)
        assert (done.commit, [one.path for one in done.likely_secrets]) == (None, ["id_ed25519"])

    def test_a_secret_that_is_taken_away_is_none(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write("id_rsa", "-----BEGIN RSA PRIVATE KEY-----\n")
        hands.commit()
        before = workspace.snapshot()
        hands.remove("id_rsa")
        done = workspace.commit(before, workspace.snapshot(), "Remove the key", NO_PATHS)
        assert (done.files, done.likely_secrets) == (("id_rsa",), ())

    def test_secrets_that_were_committed_by_others_are_seen(
        self, workspace: Workspace, hands: GitUser
    ) -> None:
        hands.write(".env.local", "OLD=1")
        hands.commit()
        before = workspace.snapshot()
        assert workspace.committed_secrets(before, before) == ()
        hands.write(".env", "TOKEN=1")
        hands.write(".env.local", "OLD=2")
        hands.commit()
        hands.write("id_rsa", "not committed")
        seen = workspace.committed_secrets(before, workspace.snapshot())
        assert [one.path for one in seen] == [".env"]
