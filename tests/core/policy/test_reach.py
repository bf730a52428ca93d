"""What reaches out of the checkout, into later sessions or at other processes is refused."""

import shlex

import pytest

from ralph.core.policy.deciding import decide, decide_command
from ralph.core.policy.decision import Allow, Deny, Git, Ground, Phase, Policy
from ralph.core.policy.tools import Toolbox
from tests.core.policy.allowed import ALLOWED
from tests.core.policy.refused import DOUBTED, REFUSED

GROUND = Ground(checkout="/w/proj", home="/home/me")
STRICT = Policy(strict=True)


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_that_reaches_out_is_refused(command: str) -> None:
    assert isinstance(decide_command(command, policy=STRICT, ground=GROUND), Deny)
    usual = decide_command(command, policy=Policy(), ground=GROUND)
    if command in DOUBTED:
        assert isinstance(usual, Allow)
        assert usual.doubts
    else:
        assert isinstance(usual, Deny)
        assert usual.suggestion


@pytest.mark.parametrize("command", ALLOWED)
def test_ordinary_work_in_the_checkout_is_allowed(command: str) -> None:
    assert decide_command(command, policy=STRICT, ground=GROUND) == Allow()


@pytest.mark.parametrize(
    "around", ["bash -c {}", "sudo sh -ec {}", "env A=b bash -c {}", "eval {}"]
)
def test_a_shell_around_it_changes_nothing(around: str) -> None:
    for command in REFUSED:
        text = around.format(shlex.quote(command))
        assert isinstance(decide_command(text, policy=STRICT, ground=GROUND), Deny), text
    for command in ALLOWED:
        text = around.format(shlex.quote(command))
        assert decide_command(text, policy=STRICT, ground=GROUND) == Allow(), text


@pytest.mark.parametrize(
    "command", ["git mv a b", "git rm a", "git rm --cached a", "git restore --staged a"]
)
def test_where_git_is_read_only_it_moves_and_removes_nothing(command: str) -> None:
    read_only = Policy(git=Git.READ_ONLY)
    assert isinstance(decide_command(command, policy=read_only, ground=GROUND), Deny)


@pytest.mark.parametrize("checkout", ["/root/proj", "/opt/proj", "/home/me/.dotfiles", "/srv/x/y"])
def test_a_checkout_may_be_anywhere(checkout: str) -> None:
    ground = Ground(checkout=checkout, home="/root")
    for command in ("echo x > .bashrc", "cp x bin/y", "tar -C build -xf x.tar", "rm -rf build/*"):
        assert decide_command(command, policy=STRICT, ground=ground) == Allow(), command


@pytest.mark.parametrize("home", ["/root", "/tmp/x/home", "/home/me/.cache/home", "/tmp/x/proj/h"])
def test_a_home_may_be_anywhere(home: str) -> None:
    ground = Ground(checkout="/tmp/x/proj", home=home)
    for command in (
        "find ~ -type f -print0 | xargs -0 rm -f",
        "rm -rf ~/Documents",
        "echo x >> ~/.bashrc",
        "tar -C ~ -xf x.tar",
        "chmod -R 777 ~",
    ):
        assert isinstance(decide_command(command, policy=STRICT, ground=ground), Deny), command
    for command in ("rm -rf /tmp/y", "echo x > /tmp/y", "rm -rf build", "tar -C /tmp/y -xf x.tar"):
        assert decide_command(command, policy=STRICT, ground=ground) == Allow(), command


@pytest.mark.parametrize(
    ("path", "is_allowed"),
    [
        ("/home/me/.bashrc", False),
        ("~/.zshrc", False),
        ("/etc/profile", False),
        ("/w/proj/.git/hooks/pre-commit", False),
        ("/w/proj/.bashrc", True),
        ("src/x.py", True),
        ("/tmp/x", True),
        ("/home/me/.claude/plans/x.md", True),
    ],
)
def test_a_tool_that_writes_files_follows_the_same_rule(path: str, *, is_allowed: bool) -> None:
    for tool in ("Write", "Edit"):
        verdict = decide(
            tool,
            {"file_path": path},
            phase=Phase.BUILDING,
            policy=Policy(),
            ground=GROUND,
            toolbox=Toolbox(),
        )
        assert isinstance(verdict, Allow) is is_allowed
    assert (
        decide(
            "Read",
            {"file_path": path},
            phase=Phase.BUILDING,
            policy=Policy(),
            ground=GROUND,
            toolbox=Toolbox(),
        )
        == Allow()
    )


def test_there_are_many_of_each_kind() -> None:
    assert len(REFUSED) > 200
    assert len(ALLOWED) > 150
