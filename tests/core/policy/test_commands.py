"""Shell commands, and what the policy decides about each."""

import shlex
from collections.abc import Iterable

import pytest

from ralph.core.policy.decide import decide_command
from ralph.core.policy.decision import (
    Allow,
    Decision,
    Deny,
    Policy,
    PolicyContext,
    Rewrite,
)
from tests.core.policy.tables import ALLOWED, DENIED, DOUBTED
from tests.core.policy.uv_tables import REFUSED, REWRITTEN, UNTOUCHED

CONTEXT = PolicyContext(checkout="/w/proj", home="/home/me")
STRICT = Policy(strict=True)
UV = Policy(uses_uv=True)


def decided(
    text: str,
    policy: Policy = Policy(),  # noqa: B008 - a frozen value
    context: PolicyContext = CONTEXT,
) -> Decision:
    return decide_command(text, policy=policy, context=context)


def allowed(commands: Iterable[str], policy: Policy = STRICT) -> list[str]:
    """Those that run as they are, without a doubt."""
    return [each for each in commands if decided(each, policy) == Allow()]


def denied(commands: Iterable[str], policy: Policy) -> list[str]:
    """Those that do not run, and are told why."""
    verdicts = ((each, decided(each, policy)) for each in commands)
    return [each for each, verdict in verdicts if isinstance(verdict, Deny) and verdict.reason]


def test_an_everyday_command_runs_even_where_the_policy_is_strict() -> None:
    assert set(ALLOWED) - set(allowed(ALLOWED)) == set()


def test_a_dangerous_command_does_not_run() -> None:
    assert set(DENIED) - set(denied(DENIED, Policy())) == set()


def test_what_cannot_be_resolved_is_noted_and_in_strict_mode_denied() -> None:
    for command in DOUBTED:
        verdict, strict = decided(command), decided(command, STRICT)
        assert isinstance(verdict, Allow), command
        assert isinstance(strict, Deny), command
        assert verdict.doubts, command
        assert verdict.doubts[0] in strict.reason


@pytest.mark.parametrize("around", ["bash -c {}", "sudo sh -ec {}", "env Q=b bash -c {}"])
def test_a_shell_around_a_command_changes_nothing(around: str) -> None:
    inside = [each for each in DENIED + ALLOWED if "\0" not in each and "\ud800" not in each][::3]
    texts = {around.format(shlex.quote(each)): each for each in inside if each.strip()}
    expected = {text for text, each in texts.items() if each in DENIED}
    assert expected ^ set(denied(texts, STRICT)) == set()


def test_a_python_tool_runs_under_uv() -> None:
    for command, meant in REWRITTEN.items():
        assert decided(command, UV) == Rewrite(command=meant)
        assert decided(meant, UV) == Allow(), "once is enough"
        assert decided(command) == Allow(), "and only where uv is wanted"


def test_what_is_no_python_tool_stays_as_it_is() -> None:
    assert [each for each in UNTOUCHED if not isinstance(decided(each, UV), Allow)] == []


def test_packages_are_uvs_alone_where_a_project_wants_it_so() -> None:
    for command in REFUSED:
        verdict = decided(command, UV)
        assert isinstance(verdict, Deny), command
        assert "uv alone" in verdict.reason
        assert "`uv add NAME`" in verdict.suggestion
        assert isinstance(decided(command), Allow)


def test_looking_is_allowed_where_git_is_read_only() -> None:
    read_only = Policy(git="read-only", strict=True)
    for command in [text for text in ALLOWED if text.startswith("git ")]:
        verdict = decided(command, read_only)
        if verdict != Allow():
            assert isinstance(verdict, Deny)
            assert any(f"git {verb}" in verdict.reason for verb in CHANGES), command


CHANGES = ("add", "commit", "mv", "rm", "restore", "apply", "-c", "-C")

READ_ONLY_DENIES = [
    "git commit -m x",
    "git add -A",
    "git -C x commit",
    "bash -c 'git commit'",
    "xargs git commit",
    "env GIT_DIR=x git commit",
    "git frobnicate",
    "git add . && ls",
    "git config a.b c",
    "git mv a b",
    "git rm a",
    "git rm --cached a",
    "git restore --staged a",
]
FREE_ALLOWS = [
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
]
FREE_DENIES = [
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
]


def test_git_that_is_read_only_changes_nothing() -> None:
    assert denied(READ_ONLY_DENIES, Policy(git="read-only")) == READ_ONLY_DENIES


def test_where_git_is_free_it_may_do_what_can_be_undone() -> None:
    free = Policy(git="free", strict=True)
    assert allowed(FREE_ALLOWS, free) == FREE_ALLOWS
    assert denied(FREE_DENIES, free) == FREE_DENIES


def test_a_reason_names_the_command_and_a_way_out() -> None:
    assert decided("git push") == Deny(
        reason="`git push` is not for sessions: here git may only look, add and commit",
        suggestion="commit here: what comes in and goes out is for Ralph and the person",
    )
    assert decided("ls; rm -rf /etc/x") == Deny(
        reason="removing `/etc/x` would remove what is outside the checkout",
        suggestion="remove files of the project only; a temporary folder below /tmp is fine",
    )


def test_a_rule_that_a_person_allows_counts_here_too() -> None:
    assert isinstance(decided("cat ~/.aws/config"), Deny)
    assert decided("cat ~/.aws/config", Policy(allow_rules=("aws",))) == Allow()


def test_paths_are_seen_from_where_the_command_runs() -> None:
    inside = PolicyContext(checkout="/w/proj", cwd="/w/proj/sub", home="/home/me")
    assert decided("rm -rf ../build", context=inside) == Allow()
    assert isinstance(decided("rm -rf ../../x", context=inside), Deny)
    assert decided("rm -rf *", context=inside) == Allow()


@pytest.mark.parametrize("top", ["/tmp/one/proj", "/tmp/proj"])
def test_a_checkout_in_a_temporary_folder_has_neighbours(top: str) -> None:
    context = PolicyContext(checkout=top, home="/home/me")
    for command in ("rm -rf ..", "rm -rf ../other", f"rm -rf {top}/..", "cd sub && rm -rf ../.."):
        assert isinstance(decided(command, context=context), Deny), command
    for command in ("rm -rf /tmp/x", "rm -rf build", f"rm -rf {top}/build", "rm -rf /tmp/x-*"):
        assert decided(command, context=context) == Allow(), command


@pytest.mark.parametrize("checkout", ["/root/proj", "/opt/proj", "/home/me/.dotfiles", "/srv/x/y"])
def test_a_checkout_may_be_anywhere(checkout: str) -> None:
    context = PolicyContext(checkout=checkout, home="/root")
    for command in ("echo x > .bashrc", "cp x bin/y", "tar -C build -xf x.tar", "rm -rf build/*"):
        assert decided(command, STRICT, context) == Allow(), command


@pytest.mark.parametrize("home", ["/root", "/tmp/x/home", "/home/me/.cache/home", "/tmp/x/proj/h"])
def test_a_home_may_be_anywhere(home: str) -> None:
    context = PolicyContext(checkout="/tmp/x/proj", home=home)
    for command in (
        "find ~ -type f -print0 | xargs -0 rm -f",
        "rm -rf ~/Documents",
        "echo x >> ~/.bashrc",
        "tar -C ~ -xf x.tar",
        "chmod -R 777 ~",
    ):
        assert isinstance(decided(command, STRICT, context), Deny), command
    for command in ("rm -rf /tmp/y", "echo x > /tmp/y", "rm -rf build", "tar -C /tmp/y -xf x.tar"):
        assert decided(command, STRICT, context) == Allow(), command


LATER_VALUES = {
    "x=build; x=/; rm -rf $x": False,
    "x=/; x=build; rm -rf $x": True,
    "x=build; if a; then x=/; fi; rm -rf $x": False,
    "a && x=build; rm -rf $x/": True,
    "a || x=build; rm -rf $x/": True,
    "x=build && rm -rf $x/": True,
    "for d in a b; do x=$d/out; rm -rf $x/; done": True,
    "x=build; f() { x=/; }; f; rm -rf $x": False,
    "x=build; unset x; rm -rf $x/": False,
    "IFS=, read -r a b <<< x; rm -rf build": True,
    "x=/ true; x=build; rm -rf $x": True,
    'rm -rf "$(cd .. && pwd)"': False,
    'rm -rf "$(cd sub && pwd)"': True,
}


def test_a_variable_has_the_value_that_was_assigned_last() -> None:
    found = {text: isinstance(decided(text), Allow) for text in LATER_VALUES}
    assert found == LATER_VALUES
