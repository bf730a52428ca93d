"""Tables of commands, and what is decided about each."""

import pytest

from ralph.core.policy.deciding import decide_command
from ralph.core.policy.decision import (
    Allow,
    Decision,
    Deny,
    Git,
    Ground,
    Packaging,
    Policy,
    Rewrite,
)
from tests.core.policy.everyday import EVERYDAY
from tests.core.policy.forbidden import FORBIDDEN
from tests.core.policy.rewritten import DENIED, REWRITTEN, UNTOUCHED
from tests.core.policy.undecided import UNDECIDED

GROUND = Ground(checkout="/w/proj", home="/home/me")
STRICT = Policy(strict=True)
UV = Policy(packaging=Packaging.UV)


def decided(text: str, policy: Policy = Policy()) -> Decision:  # noqa: B008 - a frozen value
    return decide_command(text, policy=policy, ground=GROUND)


@pytest.mark.parametrize("command", EVERYDAY)
def test_an_everyday_command_runs_even_where_the_policy_is_strict(command: str) -> None:
    assert decided(command, STRICT) == Allow()


@pytest.mark.parametrize("command", FORBIDDEN)
def test_a_forbidden_command_does_not_run(command: str) -> None:
    verdict = decided(command)
    assert isinstance(verdict, Deny)
    assert verdict.reason


@pytest.mark.parametrize("command", UNDECIDED)
def test_what_cannot_be_decided_is_noted_and_in_strict_mode_denied(command: str) -> None:
    verdict = decided(command)
    assert isinstance(verdict, Allow)
    assert verdict.doubts
    strict = decided(command, STRICT)
    assert isinstance(strict, Deny)
    assert verdict.doubts[0] in strict.reason


@pytest.mark.parametrize(("command", "meant"), REWRITTEN.items())
def test_a_python_tool_runs_under_uv(command: str, meant: str) -> None:
    assert decided(command, UV) == Rewrite(command=meant)
    assert decided(meant, UV) == Allow(), "once is enough"
    assert decided(command) == Allow(), "and only where uv is wanted"


@pytest.mark.parametrize("command", UNTOUCHED)
def test_what_is_no_python_tool_stays_as_it_is(command: str) -> None:
    verdict = decided(command, UV)
    assert isinstance(verdict, Allow)


@pytest.mark.parametrize(("command", "instead"), DENIED.items())
def test_packages_are_uvs_alone_where_a_project_wants_it_so(command: str, instead: str) -> None:
    verdict = decided(command, UV)
    assert isinstance(verdict, Deny)
    assert instead in verdict.suggestion
    assert isinstance(decided(command), Allow)


@pytest.mark.parametrize("command", [text for text in EVERYDAY if "git" in text])
def test_looking_is_allowed_where_git_is_read_only(command: str) -> None:
    verdict = decided(command, Policy(git=Git.READ_ONLY, strict=True))
    changes = "git add" in command or "git commit -" in command or " commit " in command
    mentions = command.startswith(("sed", "rg", "echo", "git help", "awk"))
    if changes and not mentions and "--help" not in command:
        assert isinstance(verdict, Deny)
        assert "Ralph commits" in verdict.suggestion
    else:
        assert verdict == Allow()


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m x",
        "git add -A",
        "git -C x commit",
        "bash -c 'git commit'",
        "xargs git commit",
        "env GIT_DIR=x git commit",
        "git frobnicate",
        "git add . && ls",
        "git config a.b c",
    ],
)
def test_git_that_is_read_only_changes_nothing(command: str) -> None:
    assert isinstance(decided(command, Policy(git=Git.READ_ONLY)), Deny)


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git pull --rebase",
        "git rebase main",
        "git checkout -b x",
        "git commit --amend",
        "git stash",
        "git tag v1",
        "git merge x",
        "git frobnicate",
        "git reset --hard",
        "git $x",
    ],
)
def test_where_git_is_free_it_may_do_what_can_be_undone(command: str) -> None:
    assert decided(command, Policy(git=Git.FREE, strict=True)) == Allow()


@pytest.mark.parametrize(
    "command",
    [
        "git push --force",
        "git push -f",
        "git push --force-with-lease",
        "git push origin +main",
        "git push origin :main",
        "git push --delete origin x",
        "git push --mirror",
        "git gc --prune=now",
        "git filter-branch --all",
        "git reflog expire --all",
        "git reflog drop x",
        "git prune",
        "git update-ref --delete refs/heads/x",
        "bash -c 'git push -f'",
    ],
)
def test_history_is_not_rewritten_even_where_git_is_free(command: str) -> None:
    assert isinstance(decided(command, Policy(git=Git.FREE)), Deny)


def test_a_reason_names_the_command_and_a_way_out() -> None:
    assert decided("git push") == Deny(
        reason="`git push` is not for sessions: here git may only look, add and commit",
        suggestion="commit here: what comes in and goes out is for Ralph and the person",
    )
    assert decided("ls; rm -rf /etc/x") == Deny(
        reason="`/etc/x` is outside the checkout, and this removes all that is in it",
        suggestion="remove files of the project only; a temporary folder below /tmp is fine",
    )


def test_a_door_that_a_person_opened_is_open_here_too() -> None:
    assert isinstance(decided("cat ~/.aws/config"), Deny)
    assert decided("cat ~/.aws/config", Policy(doors=("aws",))) == Allow()


def test_paths_are_seen_from_where_the_command_runs() -> None:
    inside = Ground(checkout="/w/proj", cwd="/w/proj/sub", home="/home/me")
    assert decide_command("rm -rf ../build", policy=Policy(), ground=inside) == Allow()
    assert isinstance(decide_command("rm -rf ../../x", policy=Policy(), ground=inside), Deny)
    assert decide_command("rm -rf *", policy=Policy(), ground=inside) == Allow()


@pytest.mark.parametrize("top", ["/tmp/one/proj", "/tmp/proj"])
def test_a_checkout_in_a_temporary_folder_has_neighbours(top: str) -> None:
    ground = Ground(checkout=top, home="/home/me")
    for command in ("rm -rf ..", "rm -rf ../other", f"rm -rf {top}/..", "cd sub && rm -rf ../.."):
        assert isinstance(decide_command(command, policy=Policy(), ground=ground), Deny), command
    for command in ("rm -rf /tmp/x", "rm -rf build", f"rm -rf {top}/build", "rm -rf /tmp/x-*"):
        assert decide_command(command, policy=Policy(), ground=ground) == Allow(), command


def test_there_are_hundreds_of_each_kind() -> None:
    assert len(EVERYDAY) > 400
    assert len(FORBIDDEN) > 500
