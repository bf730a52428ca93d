"""The small parts of a sandbox: what is found on disk, what is left behind, who is chosen."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.sandbox import checkout_sandbox, session_files
from ralph.adapters.sandbox.domain_proxy import is_listed, is_near, split_address
from ralph.adapters.sandbox.launcher import ABSTRACT_SOCKETS, CONNECT_UNIX, sockets_only
from ralph.adapters.sandbox.linux_sandboxes import Bubblewrap, Landlock
from ralph.adapters.sandbox.resolved_paths import is_its_own, resolve_rules
from ralph.core.errors import TemporaryFailure, Unavailable
from ralph.core.sandbox_rules import Access, BlockedProgram, PathRule, SandboxRules
from ralph.git_layout import GitLayout, find_layout, top_of
from ralph.ports.executor import Command, CommandOutput


class Answers:
    """Runs nothing; answers by the program's name."""

    def __init__(self, **codes: tuple[int, str]) -> None:
        self.codes = codes

    def capture(self, command: Command, **_: object) -> CommandOutput:
        name = "landlock" if any("launcher.py" in word for word in command.argv) else "bwrap"
        code, said = self.codes[name]
        return CommandOutput(code=code, stdout=b"", stderr=said.encode())

    def wait(self, why: str, seconds: float, is_over: object) -> None:
        """Time passes at once."""


def some_sandbox_rules(top: Path, *places: PathRule, **fields: object) -> SandboxRules:
    whole = (PathRule(path=str(top), access=Access.WRITE, why="checkout"), *places)
    return SandboxRules(top=str(top), git="", home="/home/x", paths=whole, **fields)  # type: ignore[arg-type]


@pytest.fixture
def has_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("sys.platform", "linux")


@pytest.mark.usefixtures("has_bubblewrap")
def test_bubblewrap_is_chosen_where_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.adapters.sandbox.linux_sandboxes.version", lambda: 9)
    sandbox, note = checkout_sandbox.choose_sandbox(
        "auto", Answers(bwrap=(0, "")), os.environ["PATH"]
    )
    assert (sandbox.name, note, list(sandbox.known_limits)) == ("bubblewrap", "", [])


@pytest.mark.usefixtures("has_bubblewrap")
def test_landlock_stands_in_where_bubblewrap_cannot_start_and_says_so() -> None:
    answers = Answers(bwrap=(1, "bwrap: No permissions to create new namespace"), landlock=(0, ""))
    sandbox, note = checkout_sandbox.choose_sandbox("auto", answers, os.environ["PATH"])
    assert sandbox.name == "landlock"
    assert "No permissions to create new namespace" in note
    assert "sysctl" in note
    assert len(sandbox.known_limits) > 3


@pytest.mark.usefixtures("has_bubblewrap")
def test_a_sandbox_that_cannot_be_built_is_an_error_with_a_way_out() -> None:
    answers = Answers(bwrap=(1, "bwrap: no"), landlock=(126, "ralph: this kernel has no Landlock"))
    with pytest.raises(Unavailable, match="bubblewrap cannot start: no") as refused:
        checkout_sandbox.choose_sandbox("auto", answers, os.environ["PATH"])
    assert "--no-sandbox" in refused.value.hint
    assert refused.value.exit_code == 69


@pytest.mark.usefixtures("has_bubblewrap")
def test_what_an_older_kernel_lets_through_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.adapters.sandbox.linux_sandboxes.version", lambda: 5)
    monkeypatch.setattr("ralph.adapters.sandbox.linux_sandboxes.version", lambda: 3)
    bubblewrap = Bubblewrap(os.environ["PATH"])
    assert bubblewrap.probe(Answers(bwrap=(0, ""))) is None
    assert "sockets that have no file" in bubblewrap.known_limits[0]
    assert "after a session began" in bubblewrap.known_limits[1]
    assert "sockets of other programs" in Landlock().known_limits[-2]
    assert "whatever [sandbox] network says" in Landlock().known_limits[-1]


def test_what_can_be_installed_is_not_replaced_by_something_weaker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(Unavailable, match="bubblewrap is not installed") as refused:
        checkout_sandbox.choose_sandbox("auto", Answers(landlock=(0, "")), os.environ["PATH"])
    assert "bubblewrap" in refused.value.hint


def test_where_there_is_no_sandbox_at_all_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "freebsd14")
    with pytest.raises(Unavailable, match="no sandbox for freebsd14"):
        checkout_sandbox.choose_sandbox("auto", Answers(), os.environ["PATH"])


@pytest.mark.usefixtures("has_bubblewrap")
@pytest.mark.parametrize(
    "death",
    [(-9, ""), (137, ""), (1, "bwrap: Creating new namespace failed: Cannot allocate memory")],
)
def test_a_bubblewrap_that_is_killed_is_no_reason_for_a_weaker_sandbox(
    death: tuple[int, str],
) -> None:
    answers = Answers(bwrap=death, landlock=(0, ""))
    with pytest.raises(TemporaryFailure, match="bubblewrap cannot start now"):
        checkout_sandbox.choose_sandbox("auto", answers, os.environ["PATH"])


@pytest.mark.usefixtures("has_bubblewrap")
def test_a_sandbox_that_was_asked_for_by_name_is_the_only_one_tried() -> None:
    answers = Answers(bwrap=(1, "bwrap: no"), landlock=(0, ""))
    with pytest.raises(
        Unavailable, match="sessions need a sandbox, and bubblewrap cannot start: no"
    ):
        checkout_sandbox.choose_sandbox("bubblewrap", answers, os.environ["PATH"])
    assert checkout_sandbox.choose_sandbox("landlock", answers, "")[0].name == "landlock"


@pytest.mark.usefixtures("has_bubblewrap")
def test_a_link_below_tmp_is_made_once_for_all_sandboxes_with_the_same_temp_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, temp = tmp_path / "tmp", tmp_path / "temp"
    for folder in (private / "env/lib/python", temp / "env"):
        folder.mkdir(parents=True)
    (private / "env/lib64").symlink_to("lib")
    monkeypatch.setattr("ralph.adapters.sandbox.linux_sandboxes.PRIVATE", (str(private),))
    module = PathRule(path=f"{private}/env/lib64/python", access=Access.READ, why="a program")
    rules = some_sandbox_rules(tmp_path / "top", module, temp=str(temp))
    command = Command(argv=("true",), cwd="/", env={"PATH": "/bin:/usr/bin"})
    sandbox = Bubblewrap(os.environ["PATH"])
    assert f"{private}/env/lib64" in sandbox.wrap(command, rules).argv
    (temp / "env/lib64").symlink_to("lib")
    assert f"{private}/env/lib64" not in sandbox.wrap(command, rules).argv


@pytest.mark.usefixtures("has_bubblewrap")
def test_an_older_bubblewrap_is_used_without_what_it_does_not_know(tmp_path: Path) -> None:
    class Older(Answers):
        def capture(self, command: Command, **_: object) -> CommandOutput:
            unknown = "--disable-userns" in command.argv
            said = b"bwrap: Unknown option --disable-userns" if unknown else b""
            return CommandOutput(code=int(unknown), stdout=b"", stderr=said)

    sandbox = Bubblewrap(os.environ["PATH"])
    assert sandbox.probe(Older()) is None
    command = Command(argv=("true",), cwd="/", env={"PATH": "/bin:/usr/bin"})
    assert "--disable-userns" not in sandbox.wrap(command, some_sandbox_rules(tmp_path)).argv


@pytest.mark.parametrize("sandbox", [Bubblewrap("/usr/bin"), Landlock()])
def test_what_cannot_be_started_is_never_started_without_a_sandbox(
    sandbox: Bubblewrap, tmp_path: Path
) -> None:
    command = Command(argv=("no-such-program", "-x"), cwd="/", env={"PATH": "/bin", "A": "b"})
    wrapped = sandbox.wrap(command, some_sandbox_rules(tmp_path))
    assert wrapped.argv == ("no-such-program",)
    assert wrapped.env == {"PATH": "/nowhere"}


@pytest.mark.parametrize(("program", "part"), [("agent.sh", "agent.sh"), ("bin/agent", "bin")])
def test_a_program_beside_the_checkout_does_not_cover_it(
    tmp_path: Path, program: str, part: str
) -> None:
    """Such as both in a folder of /tmp, which is another one inside."""
    hidden, top = tmp_path / "hidden", tmp_path / "hidden" / "project"
    (hidden / "bin").mkdir(parents=True)
    top.mkdir()
    (hidden / program).write_text("#!/bin/sh\n")
    (hidden / program).chmod(0o755)
    sandbox_rules = some_sandbox_rules(
        top, PathRule(path=str(hidden), access=Access.HIDE, why="not yours")
    )
    command = Command(argv=(str(hidden / program),), cwd=str(top), env={"PATH": "/bin"})
    argv = Bubblewrap("/usr/bin").wrap(command, sandbox_rules).argv
    mounted = [argv[at + 2] for at, word in enumerate(argv) if word in ("--bind", "--ro-bind")]
    behind = mounted[mounted.index(str(top)) :]
    assert str(hidden / part) in behind
    assert str(hidden) not in behind


def test_a_link_that_leads_out_of_the_checkout_is_not_opened(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (tmp_path / "elsewhere").mkdir()
    top.mkdir()
    (top / "documents").symlink_to("../elsewhere")
    place = PathRule(path=str(top / "documents"), access=Access.WRITE, why="documents")
    found = [one.path for one in resolve_rules(some_sandbox_rules(top, place), "/bin").paths]
    assert found == [str(top)]


def test_a_checkout_behind_a_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    top = tmp_path / "link"
    place = PathRule(path=str(top / "inner"), access=Access.WRITE, why="documents")
    found = [one.path for one in resolve_rules(some_sandbox_rules(top, place), "/bin").paths]
    assert found == [str(tmp_path / "real"), str(tmp_path / "real/inner")]


def test_programs_are_blocked_by_the_file_behind_every_link(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "opt").mkdir()
    for name in ("opt/tool-2.1", "opt/manager", "bin/plain"):
        (tmp_path / name).write_text("")
    (tmp_path / "bin/tool").symlink_to("../opt/tool-2.1")
    (tmp_path / "bin/other").symlink_to("../opt/manager")
    blocked = tuple(BlockedProgram(name=name, rule="r") for name in ("tool", "other", "plain"))
    sandbox_rules = replace(some_sandbox_rules(tmp_path / "top"), blocked=blocked)
    found = resolve_rules(sandbox_rules, str(tmp_path / "bin")).blocked
    assert found == (str(tmp_path / "opt/tool-2.1"), str(tmp_path / "bin/plain"))


@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("aws", "/x/aws", True),
        ("aws", "/x/aws2", True),
        ("kubectl", "/x/kubectl-1.30", True),
        ("aws", "/x/awsome", False),
        ("node", "/x/mise", False),
    ],
)
def test_a_file_that_does_many_things_is_not_one_program(
    name: str,
    file: str,
    expected: bool,  # noqa: FBT001
) -> None:
    assert is_its_own(name, file) is expected


def test_a_folder_for_one_command_is_gone_afterwards_whatever_is_in_it() -> None:
    with session_files.command_folder() as folder:
        deep = Path(folder, "tmp/a/b")
        deep.mkdir(parents=True)
        (deep / "file").write_text("x")
        deep.chmod(0)
    assert not Path(folder).exists()


def test_abandoned_folders_are_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(session_files, "LONGEST", 1000)
    dead = tmp_path / "ralph~dead"
    (dead / "tmp").mkdir(parents=True)
    with session_files.command_folder() as alive:
        session_files.remove_abandoned()
        assert not dead.exists()
        assert Path(alive, "tmp").is_dir()


def test_folders_that_hold_a_place_go_with_the_last_sandbox(tmp_path: Path) -> None:
    place, kept = tmp_path / "a/b", tmp_path / "mine"
    kept.mkdir()
    first, second = (session_files.PlaceholderFolders(str(tmp_path / "state")) for _ in range(2))
    first.create([str(place), str(kept)])
    second.create([str(place)])
    assert place.is_dir()
    first.remove()
    assert place.is_dir(), "the second sandbox still needs it"
    second.remove()
    assert not (tmp_path / "a").exists()
    assert kept.is_dir(), "it was there before"


def test_a_folder_that_somebody_put_something_into_stays(tmp_path: Path) -> None:
    holding = session_files.PlaceholderFolders(str(tmp_path / "state"))
    holding.create([str(tmp_path / "held")])
    (tmp_path / "held/file").write_text("from outside")
    holding.remove()
    assert (tmp_path / "held/file").exists()


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("example.com", 443, True),
        ("example.com", 80, True),
        ("example.com", 22, False),
        ("www.example.com", 443, False),
        ("a.b.example.org", 443, True),
        ("example.org", 443, False),
        ("evilexample.org", 443, False),
        ("api.example.net", 8443, True),
        ("api.example.net", 443, False),
        ("::1", 9000, True),
    ],
)
def test_only_listed_domains_are_let_through(host: str, port: int, expected: bool) -> None:  # noqa: FBT001
    domains = ["example.com", "*.example.org", "api.example.net:8443", "[::1]:9000"]
    assert is_listed(host, port, domains) is expected


def test_a_name_is_compared_as_the_network_does() -> None:
    assert split_address("Example.COM.:443", 80) == ("example.com", 443)
    assert split_address("[::1]", 80) == ("::1", 80)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("169.254.169.254", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("10.0.0.1", False),
        ("93.184.216.34", False),
    ],
)
def test_names_that_lead_back_here_are_told_apart(address: str, expected: bool) -> None:  # noqa: FBT001
    assert is_near(address) is expected


def test_the_layout_of_a_repository_is_read_without_git(tmp_path: Path) -> None:
    top, common = tmp_path / "top", tmp_path / "main/.git"
    own = common / "worktrees/top"
    own.mkdir(parents=True)
    (top / "deep/down").mkdir(parents=True)
    (top / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    assert top_of(str(top / "deep/down")) == str(top)
    assert find_layout(str(top)) == GitLayout(str(own), str(common))
    ordinary = tmp_path / "ordinary"
    (ordinary / ".git").mkdir(parents=True)
    (ordinary / ".git/commondir").write_text("/planted\n")
    assert find_layout(str(ordinary)) == GitLayout(str(ordinary / ".git"), str(ordinary / ".git"))


@pytest.mark.parametrize(
    ("said", "helps"),
    [
        ("nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", "max_user_namesp"),
        ("Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"),
    ],
)
@pytest.mark.usefixtures("has_bubblewrap")
def test_the_way_out_is_for_the_trouble_that_there_is(
    said: str, helps: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bubblewrap = Bubblewrap(os.environ["PATH"])
    monkeypatch.setattr("os.path.exists", lambda _: False)
    trouble = bubblewrap.probe(Answers(bwrap=(1, f"bwrap: {said}")))
    assert trouble is not None
    assert helps in trouble.way_out


def test_where_the_kernel_can_sockets_of_others_are_closed_by_their_path() -> None:
    older, none = sockets_only({"socket": ["/socket"]}, 8)
    assert (older.files, older.scoped, none) == (0, ABSTRACT_SOCKETS, [])
    newer, rules = sockets_only({"socket": ["/socket"]}, 9)
    assert newer.files & CONNECT_UNIX
    assert dict(rules)["/socket"] == CONNECT_UNIX
    assert dict(rules)["/"] & newer.files == newer.files & ~CONNECT_UNIX, "files can be moved"
