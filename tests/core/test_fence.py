"""The fence: what a session may do where, and who decides."""

import pytest

from ralph.core.doors import RULES, Rule, all_rules, check_rules
from ralph.core.errors import UsageError
from ralph.core.fence import Access, Fence, Network, Place, Site, Wishes, build, is_inside, ordered


def a_site(**changes: object) -> Site:
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
        "needed": (
            ("/etc", "the system"),
            ("/home/ann/.pyenv", "on your PATH"),
            ("/home/ann/.docker/bin", "on your PATH"),
        ),
        "variables": {"SSH_AUTH_SOCK": "/run/agent.sock"},
        **changes,
    }
    return Site(**facts)  # type: ignore[arg-type]


def a_fence(site: Site | None = None, **changes: object) -> Fence:
    return build(site or a_site(), Wishes(**{"rules": RULES, **changes}))  # type: ignore[arg-type]


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
    assert a_fence().access(path) is Access.WRITE


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
        "/home/ann/work/.git/ralph/run.lock",
    ],
)
def test_a_session_only_reads_what_judges_or_runs_elsewhere(path: str) -> None:
    assert a_fence().access(path) is Access.READ


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
    assert a_fence().access(path) is Access.HIDE
    opened = a_fence(read=(path,)).access(path)
    assert opened is Access.READ


def test_whoever_opens_the_whole_system_still_has_a_home() -> None:
    fence = a_fence(read=("/",))
    assert fence.access("/srv/data") is Access.READ
    assert {fence.access(path) for path in ("/home/bob/x", "/home/ann/x", "/root/x", "/run/x")} == {
        Access.HIDE
    }


@pytest.mark.parametrize(
    "name",
    [".ssh/id", ".aws/credentials", ".kube/config", ".config/gcloud/x", ".netrc", ".claude/x",
     ".codex/auth.json", ".factory/auth", ".docker/config.json", ".npmrc", ".gnupg/x"],
)  # fmt: skip
def test_a_session_does_not_see_secrets(name: str) -> None:
    assert a_fence().access(f"/home/ann/{name}") is Access.HIDE


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_opens_what_it_names_and_nothing_else_does(rule: str) -> None:
    shut, opened = a_fence(), a_fence(allow=(rule,))
    paths = [path.replace("~", "/home/ann") for path in (*RULES[rule].write, *RULES[rule].read)]
    assert paths
    assert {shut.access(path) for path in paths} == {Access.HIDE}
    assert Access.HIDE not in {opened.access(path) for path in paths}
    assert {one.name for one in shut.blocked if one.rule == rule} == set(RULES[rule].bins)
    assert not [one for one in opened.blocked if one.rule == rule]
    others = [name for name in RULES if name != rule]
    assert {one.rule for one in opened.blocked} <= set(others)


def test_variables_of_a_closed_rule_stay_outside() -> None:
    env = {"AWS_PROFILE": "x", "DISPLAY": ":0", "PATH": "/bin", "XDG_CACHE_HOME": "/elsewhere"}
    inside = a_fence().environment(env)
    assert "AWS_PROFILE" not in inside
    assert "DISPLAY" not in inside
    assert inside["PATH"] == "/bin"
    assert inside["XDG_CACHE_HOME"] == "/home/ann/.cache/ralph/sandbox/work"
    assert a_fence(allow=("aws",)).environment(env)["AWS_PROFILE"] == "x"


def test_a_socket_may_be_named_by_a_variable() -> None:
    assert a_fence(allow=("ssh",)).sockets == ("/run/agent.sock",)
    assert a_fence(a_site(variables={}), allow=("ssh",)).sockets == ()


def test_what_a_person_allows_counts_more_than_what_is_closed() -> None:
    fence = a_fence(write=("~/.ssh", ".claude", "/srv/shared"), read=("~/.npmrc",))
    assert fence.access("/home/ann/.ssh/known_hosts") is Access.WRITE
    assert fence.access("/home/ann/work/.claude/skills") is Access.WRITE
    assert fence.access("/srv/shared/x") is Access.WRITE
    assert fence.access("/home/ann/.npmrc") is Access.READ


def test_what_lies_deeper_counts_more() -> None:
    fence = a_fence(write=("~",))
    assert fence.access("/home/ann/.bashrc") is Access.WRITE
    assert fence.access("/home/ann/.ssh/id") is Access.HIDE
    assert fence.access("/home/ann/work/.ralph.toml") is Access.READ


def test_a_linked_worktree_writes_its_own_part_of_the_repository() -> None:
    own = "/home/ann/main/.git/worktrees/side"
    fence = a_fence(a_site(git_dir=own, common_dir="/home/ann/main/.git"))
    assert fence.access(f"{own}/index") is Access.WRITE
    assert fence.access("/home/ann/main/.git/objects/ab") is Access.WRITE
    for path in (f"{own}/commondir", f"{own}/gitdir", "/home/ann/work/.git"):
        assert fence.access(path) is Access.READ
    for name in ("config", "hooks/x", "worktrees/other/commondir", "HEAD", "index", "info/exclude"):
        assert fence.access(f"/home/ann/main/.git/{name}") is Access.READ


def test_a_database_elsewhere_is_protected_with_its_companions() -> None:
    fence = a_fence(a_site(database="/home/ann/work/state.db"))
    for end in ("", "-wal", "-shm"):
        assert fence.access(f"/home/ann/work/state.db{end}") is Access.READ


def test_a_rule_of_ones_own_is_closed_like_any_other() -> None:
    rules = all_rules({"deploy": Rule(read=("~/.deploy",), bins=("deploy",), env=("DEPLOY_*",))})
    shut = a_fence(rules=rules)
    assert shut.access("/home/ann/.deploy/key") is Access.HIDE
    assert "deploy" in {one.name for one in shut.blocked}
    opened = a_fence(rules=rules, allow=("deploy",))
    assert opened.access("/home/ann/.deploy/key") is Access.READ
    assert "DEPLOY_*" not in opened.dropped


def test_a_rule_of_the_same_name_adds_to_ours() -> None:
    joined = all_rules({"aws": Rule(bins=("aws-vault",))})["aws"]
    assert joined.bins == ("aws", "aws-vault")
    assert joined.write == RULES["aws"].write


def test_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no sandbox rule 'awz'"):
        check_rules(("aws", "awz"), RULES)


def test_every_place_says_why() -> None:
    assert all(place.why and place.path.startswith("/") for place in a_fence().places)


def test_the_network_is_what_a_person_wants() -> None:
    fence = a_fence(network=Network.PROXY, domains=("example.com",))
    assert (fence.network, fence.domains) == ("proxy", ("example.com",))


def test_shallow_places_come_first_and_the_last_word_counts() -> None:
    places = (
        Place(path="/a/b", access=Access.READ, why="1"),
        Place(path="/a", access=Access.WRITE, why="2"),
        Place(path="/a/b", access=Access.HIDE, why="3"),
        Place(path="", access=Access.WRITE, why="a variable that is not set"),
    )
    assert [(place.path, place.why) for place in ordered(places)] == [("/a", "2"), ("/a/b", "3")]


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [("/a", "/a", True), ("/a/b", "/a", True), ("/ab", "/a", False), ("/x", "/", True)],
)
def test_inside_is_by_whole_names(path: str, folder: str, expected: bool) -> None:  # noqa: FBT001
    assert is_inside(path, folder) is expected
