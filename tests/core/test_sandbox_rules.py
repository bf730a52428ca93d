"""The sandbox rules: what a session may do where, and who decides."""

from typing import Any

import pytest

from ralph.core.errors import UsageError
from ralph.core.hidden_paths import (
    BUILTIN_ALLOW_RULES,
    AllowRule,
    all_allow_rules,
    check_rule_names,
)
from ralph.core.resource_limits import ResourceLimits
from ralph.core.sandbox_rules import (
    Access,
    NetworkAccess,
    PathRule,
    SandboxPaths,
    SandboxRules,
    build_sandbox_rules,
    is_inside,
    outermost_first,
)
from ralph.core.settings import SandboxSection


def a_site(**changes: object) -> SandboxPaths:
    facts: dict[str, object] = {
        "home": "/home/ann",
        "top": "/home/ann/work",
        "project": "/home/ann/work",
        "git_dir": "/home/ann/work/.git",
        "common_dir": "/home/ann/work/.git",
        "database": "/home/ann/work/.ralph/progress.db",
        "cache": "/home/ann/.cache/ralph/sandbox/work",
        "folders": "/home/ann/work/.ralph/.tmp",
        "homes": ("/home", "/root"),
        "required": (
            ("/etc", "the system"),
            ("/home/ann/.pyenv", "on your PATH"),
            ("/home/ann/.docker/bin", "on your PATH"),
        ),
        "variables": {"SSH_AUTH_SOCK": "/run/agent.sock"},
        **changes,
    }
    return SandboxPaths(**facts)  # type: ignore[arg-type]


def some_sandbox_rules(site: SandboxPaths | None = None, **changes: object) -> SandboxRules:
    rules: Any = changes.pop("rules", BUILTIN_ALLOW_RULES)
    section = SandboxSection(**changes)  # type: ignore[arg-type]
    return build_sandbox_rules(site or a_site(), section, rules, ResourceLimits())


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann/work",
        "/home/ann/work/src/deep/down.py",
        "/home/ann/work/.git/index",
        "/home/ann/work/.git/objects/ab/cd",
        "/home/ann/work/.ralph/features/login/spec.md",
        "/home/ann/work/.ralph/specs/x.md",
        "/home/ann/work/.ralph/skills/x/SKILL.md",
        "/home/ann/work/.ralph/progress.md",
        "/home/ann/work/.ralph/guardrails.md",
        "/home/ann/work/.ralph/IMPLEMENTATION_PLAN.md",
        "/home/ann/.cache/ralph/sandbox/work/pip",
    ],
)
def test_a_session_writes_where_its_work_is(path: str) -> None:
    assert some_sandbox_rules().access_to(path) is Access.WRITE


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/home/ann/.pyenv/versions/3.12/bin/python",
        "/home/ann/.docker/bin/compose",
        "/home/ann/work/.ralph.toml",
        "/home/ann/work/.ralph/progress.db",
        "/home/ann/work/.ralph/config.sh",
        "/home/ann/work/.ralph/runs/run-1.log",
        "/home/ann/work/.ralph/metrics.json",
        "/home/ann/work/.agents/ralph/PROMPT_build.md",
        "/home/ann/work/.claude/settings.json",
        "/home/ann/work/.mcp.json",
        "/home/ann/work/.git/config",
        "/home/ann/work/.git/hooks/pre-commit",
        "/home/ann/work/.git/info/attributes",
        "/home/ann/work/.git/modules/lib/config",
        "/home/ann/work/.git/commondir",
        "/home/ann/work/.git/ralph/projects",
    ],
)
def test_a_session_only_reads_what_judges_or_runs_elsewhere(path: str) -> None:
    assert some_sandbox_rules().access_to(path) is Access.READ


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann",
        "/home/ann/.bashrc",
        "/home/ann/.cache/pip",
        "/home/ann/worker",
        "/home/ann/.a-store-that-nobody-knows/token",
        "/home/ann/Documents/taxes.pdf",
        "/home/bob/.profile",
        "/root/.ssh",
        "/srv/data",
        "/var/lib/mysql/mysql.sock",
        "/run/docker.sock",
        "/mnt/disk",
    ],
)
def test_a_session_does_not_see_what_it_does_not_need(path: str) -> None:
    assert some_sandbox_rules().access_to(path) is Access.HIDE
    opened = some_sandbox_rules(read=(path,)).access_to(path)
    assert opened is Access.READ


def test_a_session_can_hold_no_lock_of_ralphs() -> None:
    rules = some_sandbox_rules(read=("/",))
    assert rules.access_to("/home/ann/work/.git/ralph/merge.lock") is Access.HIDE


def test_whoever_opens_the_whole_system_still_has_a_home() -> None:
    sandbox_rules = some_sandbox_rules(read=("/",))
    assert sandbox_rules.access_to("/srv/data") is Access.READ
    assert {
        sandbox_rules.access_to(path)
        for path in ("/home/bob/x", "/home/ann/x", "/root/x", "/run/x")
    } == {Access.HIDE}


@pytest.mark.parametrize(
    "name",
    [".ssh/id", ".aws/credentials", ".kube/config", ".config/gcloud/x", ".netrc", ".claude/x",
     ".codex/auth.json", ".factory/auth", ".docker/config.json", ".npmrc", ".gnupg/x"],
)  # fmt: skip
def test_a_session_does_not_see_secrets(name: str) -> None:
    assert some_sandbox_rules().access_to(f"/home/ann/{name}") is Access.HIDE


@pytest.mark.parametrize("rule", sorted(BUILTIN_ALLOW_RULES))
def test_a_rule_opens_what_it_names_and_nothing_else_does(rule: str) -> None:
    shut, opened = some_sandbox_rules(), some_sandbox_rules(allow=(rule,))
    paths = [
        path.replace("~", "/home/ann")
        for path in (*BUILTIN_ALLOW_RULES[rule].write, *BUILTIN_ALLOW_RULES[rule].read)
    ]
    assert paths
    assert {shut.access_to(path) for path in paths} == {Access.HIDE}
    assert Access.HIDE not in {opened.access_to(path) for path in paths}
    assert {one.name for one in shut.blocked if one.rule == rule} == set(
        BUILTIN_ALLOW_RULES[rule].bins
    )
    assert not [one for one in opened.blocked if one.rule == rule]
    others = [name for name in BUILTIN_ALLOW_RULES if name != rule]
    assert {one.rule for one in opened.blocked} <= set(others)


def test_variables_of_a_closed_rule_stay_outside() -> None:
    env = {"AWS_PROFILE": "x", "DISPLAY": ":0", "PATH": "/bin", "XDG_CACHE_HOME": "/elsewhere"}
    inside = some_sandbox_rules().environment(env)
    assert "AWS_PROFILE" not in inside
    assert "DISPLAY" not in inside
    assert inside["PATH"] == "/bin"
    assert inside["XDG_CACHE_HOME"] == "/home/ann/.cache/ralph/sandbox/work"
    assert some_sandbox_rules(allow=("aws",)).environment(env)["AWS_PROFILE"] == "x"


def test_a_socket_may_be_named_by_a_variable() -> None:
    assert some_sandbox_rules(allow=("ssh",)).sockets == ("/run/agent.sock",)
    assert some_sandbox_rules(a_site(variables={}), allow=("ssh",)).sockets == ()


def test_what_a_person_allows_counts_more_than_what_is_closed() -> None:
    sandbox_rules = some_sandbox_rules(
        write=("~/.ssh", ".claude", "/srv/shared"), read=("~/.npmrc",)
    )
    assert sandbox_rules.access_to("/home/ann/.ssh/known_hosts") is Access.WRITE
    assert sandbox_rules.access_to("/home/ann/work/.claude/skills") is Access.WRITE
    assert sandbox_rules.access_to("/srv/shared/x") is Access.WRITE
    assert sandbox_rules.access_to("/home/ann/.npmrc") is Access.READ


def test_what_lies_deeper_counts_more() -> None:
    sandbox_rules = some_sandbox_rules(write=("~",))
    assert sandbox_rules.access_to("/home/ann/.bashrc") is Access.WRITE
    assert sandbox_rules.access_to("/home/ann/.ssh/id") is Access.HIDE
    assert sandbox_rules.access_to("/home/ann/work/.ralph.toml") is Access.READ


def test_a_linked_worktree_writes_its_own_part_of_the_repository() -> None:
    own = "/home/ann/main/.git/worktrees/side"
    sandbox_rules = some_sandbox_rules(a_site(git_dir=own, common_dir="/home/ann/main/.git"))
    assert sandbox_rules.access_to(f"{own}/index") is Access.WRITE
    assert sandbox_rules.access_to("/home/ann/main/.git/objects/ab") is Access.WRITE
    for path in (f"{own}/commondir", f"{own}/gitdir", "/home/ann/work/.git"):
        assert sandbox_rules.access_to(path) is Access.READ
    for name in ("config", "hooks/x", "worktrees/other/commondir", "HEAD", "index", "info/exclude"):
        assert sandbox_rules.access_to(f"/home/ann/main/.git/{name}") is Access.READ


def test_a_database_elsewhere_is_hidden_with_its_companions() -> None:
    sandbox_rules = some_sandbox_rules(a_site(database="/home/ann/work/state.db"))
    for end in ("", "-wal", "-shm"):
        assert sandbox_rules.access_to(f"/home/ann/work/state.db{end}") is Access.HIDE


def test_a_rule_of_ones_own_is_closed_like_any_other() -> None:
    rules = all_allow_rules(
        {"deploy": AllowRule(read=("~/.deploy",), bins=("deploy",), env=("DEPLOY_*",))}
    )
    shut = some_sandbox_rules(rules=rules)
    assert shut.access_to("/home/ann/.deploy/key") is Access.HIDE
    assert "deploy" in {one.name for one in shut.blocked}
    opened = some_sandbox_rules(rules=rules, allow=("deploy",))
    assert opened.access_to("/home/ann/.deploy/key") is Access.READ
    assert "DEPLOY_*" not in opened.dropped


def test_a_rule_of_the_same_name_adds_to_ours() -> None:
    joined = all_allow_rules({"aws": AllowRule(bins=("aws-vault",))})["aws"]
    assert joined.bins == ("aws", "aws-vault")
    assert joined.write == BUILTIN_ALLOW_RULES["aws"].write


def test_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no sandbox rule 'awz'"):
        check_rule_names(("aws", "awz"), BUILTIN_ALLOW_RULES)


def test_every_place_says_why() -> None:
    assert all(place.why and place.path.startswith("/") for place in some_sandbox_rules().paths)


def test_the_network_is_what_a_person_wants() -> None:
    sandbox_rules = some_sandbox_rules(network=NetworkAccess.PROXY, domains=("example.com",))
    assert (sandbox_rules.network, sandbox_rules.domains) == ("proxy", ("example.com",))


def test_shallow_places_come_first_and_the_last_word_counts() -> None:
    places = (
        PathRule(path="/a/b", access=Access.READ, why="1"),
        PathRule(path="/a", access=Access.WRITE, why="2"),
        PathRule(path="/a/b", access=Access.HIDE, why="3"),
        PathRule(path="", access=Access.WRITE, why="a variable that is not set"),
    )
    assert [(place.path, place.why) for place in outermost_first(places)] == [
        ("/a", "2"),
        ("/a/b", "3"),
    ]


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [("/a", "/a", True), ("/a/b", "/a", True), ("/ab", "/a", False), ("/x", "/", True)],
)
def test_inside_is_by_whole_names(path: str, folder: str, expected: bool) -> None:  # noqa: FBT001
    assert is_inside(path, folder) is expected
