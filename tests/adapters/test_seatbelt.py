"""The profile for macOS: generated anywhere, its structure checked anywhere."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.sandbox.seatbelt import Seatbelt, parameters, profile
from ralph.core.hidden_paths import BUILTIN_ALLOW_RULES
from ralph.core.resource_limits import ResourceLimits
from ralph.core.sandbox_rules import (
    NetworkAccess,
    SandboxPaths,
    SandboxRules,
    build_sandbox_rules,
)
from ralph.core.settings import SandboxSection
from ralph.ports.executor import Command

Rule = list["str | Rule"]


def some_sandbox_rules(tmp_path: Path, **sandbox_settings: object) -> SandboxRules:
    top = '/Users/ann/a "project"'
    site = SandboxPaths(
        home="/Users/ann",
        top=top,
        project=top,
        git_dir=f"{top}/.git",
        common_dir=f"{top}/.git",
        database=f"{top}/.ralph/progress.db",
        cache="/Users/ann/Library/Caches/ralph",
        folders=f"{top}/.ralph/.tmp",
        ralph_sockets=("/Volumes/socket",),
        homes=("/Users",),
        required=(("/Users/ann/.pyenv", "on your PATH"),),
    )
    section = SandboxSection(**sandbox_settings)  # type: ignore[arg-type]
    sandbox_rules = build_sandbox_rules(site, section, BUILTIN_ALLOW_RULES, ResourceLimits())
    temp = tmp_path / "session" / "tmp"
    temp.mkdir(parents=True)
    return replace(sandbox_rules, temp=str(temp))


def parse(text: str) -> list[Rule]:
    """S-expressions as lists; strings keep their quotes."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith(";"))
    stack: list[Rule] = [[]]
    at = 0
    while at < len(lines):
        char = lines[at]
        if char == "(":
            stack.append([])
        elif char == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif char == '"':
            end = at + 1
            while lines[end] != '"':
                end += 2 if lines[end] == "\\" else 1
            stack[-1].append(lines[at : end + 1])
            at = end
        elif not char.isspace():
            end = at
            while lines[end] not in '() "\n':
                end += 1
            stack[-1].append(lines[at:end])
            at = end - 1
        at += 1
    assert len(stack) == 1, "a bracket is open"
    return stack[0]  # type: ignore[return-value]


class Judge:
    """Decides as the kernel does: the last rule that fits."""

    def __init__(
        self, sandbox_rules: SandboxRules, blocked: tuple[str, ...] = (), program: str = "/bin/x"
    ) -> None:
        self.named = dict(parameters(sandbox_rules))
        self.rules = parse(profile(sandbox_rules, blocked, program))

    def allows(self, operation: str, path: str) -> bool:
        verdict = True
        for rule in self.rules:
            if rule[0] not in ("allow", "deny") or rule[1] == "default":
                continue
            operations = [word for word in rule[1:] if isinstance(word, str)]
            filters = [word for word in rule[1:] if isinstance(word, list)]
            if any(self._is(operation, str(one)) for one in operations) and (
                not filters or any(self._fits(one, path) for one in filters)
            ):
                verdict = rule[0] == "allow"
        return verdict

    def _is(self, operation: str, pattern: str) -> bool:
        return operation == pattern or (
            pattern.endswith("*") and operation.startswith(pattern.rstrip("*"))
        )

    def _fits(self, filter_: Rule, path: str) -> bool:
        if filter_[0] not in ("subpath", "literal"):
            return False
        wanted = self._text(filter_[1])
        below = filter_[0] == "subpath" and path.startswith(wanted.rstrip("/") + "/")
        return path == wanted or below

    def _text(self, value: "str | Rule") -> str:
        if isinstance(value, str):
            return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        if value[0] == "param":
            return self.named[self._text(value[1])]
        assert value[0] == "string-append"
        return "".join(self._text(part) for part in value[1:])


def test_it_allows_by_default_and_denies_writes(tmp_path: Path) -> None:
    text = profile(some_sandbox_rules(tmp_path), (), "/bin/x")
    rules = parse(text)
    assert rules[0] == ["version", "1"]
    assert rules[1] == ["allow", "default"]
    assert ["deny", "file-write*"] in rules
    assert ["deny", "mach-lookup", ["global-name", '"com.apple.systemevents"']] in rules


def test_every_path_of_the_table_can_be_written(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules)
    for path in (
        f"{sandbox_rules.top}/src/a.py",
        f"{sandbox_rules.top}/.git/index",
        "/tmp/x",
        "/private/tmp/x",
        "/var/folders/ab/x",
        f"{sandbox_rules.home}/.local/state/x",
        f"{sandbox_rules.home}/Library/Caches/ralph/x",
        f"{sandbox_rules.temp}/x",
        "/dev/null",
    ):
        assert judge.allows("file-write-data", path), path


def test_nothing_else_can_be_written(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules)
    for path in (
        "/etc/hosts",
        "/usr/local/bin/x",
        f"{sandbox_rules.home}/.zshrc",
        f"{sandbox_rules.home}/.claude/settings.json",
        f"{sandbox_rules.home}/.cache/x",
        f"{sandbox_rules.top}/.ralph.toml",
        f"{sandbox_rules.top}/.ralph/progress.db",
        f"{sandbox_rules.top}/.claude/settings.json",
        f"{sandbox_rules.top}/.mcp.json",
        f"{sandbox_rules.top}/.git/config",
        f"{sandbox_rules.top}/.git/hooks/pre-commit",
        f"{sandbox_rules.top}/.git/commondir",
        f"{sandbox_rules.top}/.agents/ralph/agents.sh",
    ):
        assert not judge.allows("file-write-data", path), path
        assert not judge.allows("file-write-unlink", path), path


def test_folders_that_hold_something_protected_cannot_be_renamed_away(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules)
    for path in (f"{sandbox_rules.top}/.git", f"{sandbox_rules.top}/.agents", sandbox_rules.top):
        assert not judge.allows("file-write-unlink", path), path
    assert judge.allows("file-write-unlink", f"{sandbox_rules.top}/src")
    assert judge.allows("file-write-create", f"{sandbox_rules.top}/.git/index.lock")


def test_secrets_cannot_be_read_and_the_rest_can(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules)
    for name in (".ssh/id", ".aws/credentials", ".netrc", ".claude/.credentials.json", ".npmrc"):
        assert not judge.allows("file-read-data", f"{sandbox_rules.home}/{name}"), name
    for path in (
        f"{sandbox_rules.home}/.pyenv/version",
        f"{sandbox_rules.top}/.ralph.toml",
        "/etc/hosts",
    ):
        assert judge.allows("file-read-data", path), path


def test_of_the_home_only_what_is_needed_can_be_read(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules)
    for path in (
        f"{sandbox_rules.home}/.zshrc",
        f"{sandbox_rules.home}/.unknown/token",
        "/Users/bob/notes",
    ):
        assert not judge.allows("file-read-data", path), path
        assert not judge.allows("file-read-metadata", path), path
    for path in ("/Users", sandbox_rules.home):
        assert judge.allows("file-read-metadata", path), "whoever goes to the checkout comes by"
        assert not judge.allows("file-read-data", path), path


def test_sockets_outside_cannot_be_reached_wherever_they_are_made(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules)
    for path in (
        "/opt/later.sock",
        f"{sandbox_rules.home}/.pyenv/s",
        "/var/db/s",
        "/private/tmp/s",
    ):
        assert not judge.allows("network-outbound", path), path
    for path in ("/Volumes/socket/s", f"{sandbox_rules.temp}/s", f"{sandbox_rules.top}/own.sock"):
        assert judge.allows("network-outbound", path), path


def test_a_rule_opens_its_folder(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path, allow=("aws",))
    judge = Judge(sandbox_rules)
    assert judge.allows("file-read-data", f"{sandbox_rules.home}/.aws/config")
    assert judge.allows("file-write-data", f"{sandbox_rules.home}/.aws/config")


def test_blocked_programs_can_neither_run_nor_be_copied(tmp_path: Path) -> None:
    judge = Judge(some_sandbox_rules(tmp_path), blocked=("/opt/homebrew/bin/aws",))
    assert not judge.allows("process-exec", "/opt/homebrew/bin/aws")
    assert not judge.allows("file-read-data", "/opt/homebrew/bin/aws")
    assert judge.allows("process-exec", "/opt/homebrew/bin/git")


def test_an_agent_in_its_own_hidden_folder_can_be_started(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    judge = Judge(sandbox_rules, program=f"{sandbox_rules.home}/.claude/local/claude")
    assert judge.allows("file-read-data", f"{sandbox_rules.home}/.claude/local/node_modules/x")
    assert not judge.allows("file-read-data", f"{sandbox_rules.home}/.claude/.credentials.json")


@pytest.mark.parametrize("network", list(NetworkAccess))
def test_the_network_is_closed_unless_it_is_on(tmp_path: Path, network: NetworkAccess) -> None:
    sandbox_rules = replace(some_sandbox_rules(tmp_path, network=network), port=4711)
    rules = parse(profile(sandbox_rules, (), "/bin/x"))
    assert (["deny", "network*"] in rules) is (network is not NetworkAccess.ON)
    to_proxy = ["allow", "network-outbound", ["remote", "ip", '"localhost:4711"']]
    assert (to_proxy in rules) is (network is NetworkAccess.PROXY)
    judge = Judge(sandbox_rules)
    assert judge.allows("network-outbound", "/Volumes/socket/socket")
    assert not judge.allows("network-outbound", "/private/var/run/docker.sock")


def test_project_home_and_repository_are_parameters(tmp_path: Path) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    text = profile(sandbox_rules, (), "/bin/x")
    for name in ("PROJECT_DIR", "HOME", "ROOT_GIT_DIR"):
        assert f'(param "{name}")' in text
    assert "/Users/ann" not in text


def test_the_command_names_the_profile_and_the_file_lies_beside_the_temporary_folder(
    tmp_path: Path,
) -> None:
    sandbox_rules = some_sandbox_rules(tmp_path)
    command = Command(argv=("/bin/sh", "-c", "true"), cwd=sandbox_rules.top, env={"PATH": "/bin"})
    wrapped = Seatbelt().wrap(command, sandbox_rules)
    at = wrapped.argv.index("/usr/bin/sandbox-exec")
    file = Path(wrapped.argv[at + 2])
    assert wrapped.argv[at + 1] == "-f"
    assert file == tmp_path / "session/profile.sb"
    assert parse(file.read_text())[0] == ["version", "1"]
    assert f"PROJECT_DIR={sandbox_rules.top}" in wrapped.argv
    assert wrapped.argv[-3:] == command.argv
    assert wrapped.env["TMPDIR"] == sandbox_rules.temp


def test_documents_can_be_replaced_by_files_with_longer_names(tmp_path: Path) -> None:
    """As most tools write a file; and nothing else can be put beside them."""
    sandbox_rules = replace(
        some_sandbox_rules(tmp_path),
        session_folder="/Users/ann/p.x/.ralph",
        documents=("notes.md",),
    )
    (line,) = [
        line for line in profile(sandbox_rules, (), "/bin/sh").splitlines() if "regex" in line
    ]
    found = re.fullmatch(r'\(allow file-write\* \(regex #"(.*)"\)\)', line)
    assert found is not None
    pattern = re.compile(found[1])
    for name in ("notes.md", "notes.md.tmp.2.01dd4f", ".notes.md.d108.tmp"):
        assert pattern.match(f"/Users/ann/p.x/.ralph/{name}"), name
    for name in ("config.sh", "notes.mdx", "notes.md.d/x", "xnotes.md", "../notes.md"):
        assert not pattern.match(f"/Users/ann/p.x/.ralph/{name}"), name
    assert not pattern.match("/Users/ann/pyx/.ralph/notes.md")
