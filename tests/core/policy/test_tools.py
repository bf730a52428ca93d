"""Which tools a phase may use, by whatever name; and the shell that only looks."""

from typing import Literal

import pytest

from ralph.adapters.agents.claude.agent import Claude
from ralph.adapters.agents.codex.agent import Codex
from ralph.adapters.agents.droid.agent import Droid
from ralph.core.policy.decide import decide
from ralph.core.policy.decision import (
    Allow,
    Decision,
    Deny,
    Phase,
    Policy,
    PolicyContext,
    Rewrite,
    policy_of,
)
from ralph.core.policy.tools import AgentTools, ToolPermissions, command_of, with_command
from ralph.core.settings import Config, GitAccess, GitSection, PolicySection

CONTEXT = PolicyContext(checkout="/w/proj", home="/home/me")
CLAUDE, CODEX, DROID = Claude.traits.tools, Codex.traits.tools, Droid.traits.tools

ALL = [
    *("Read", "Glob", "Grep", "WebSearch", "WebFetch", "Write", "Edit", "Bash", "Task"),
    *("TodoWrite", "AskUserQuestion", "ExitPlanMode"),
]
TABLE = {
    Phase.DISCOVERY: "Read Glob Grep WebSearch WebFetch Write Task AskUserQuestion",
    Phase.PLANNING: "Read Glob Grep WebSearch WebFetch Write Task ExitPlanMode",
    Phase.BUILDING: "Read Write Edit Bash Glob Grep Task TodoWrite WebSearch WebFetch",
    Phase.VALIDATION: "Read Glob Grep Bash Task WebFetch",
}


def decided(
    tool: str,
    phase: Phase,
    tools: AgentTools = CLAUDE,
    policy: Policy | None = None,
    **given: object,
) -> Decision:
    permissions = ToolPermissions(
        policy=policy or Policy(), context=CONTEXT, tools=tools, phase=phase
    )
    return decide(tool, given, permissions)


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_has_its_tools_and_no_others(phase: Phase) -> None:
    for tool in ALL:
        verdict = decided(tool, phase, command="ls")
        assert isinstance(verdict, Allow) == (tool in TABLE[phase].split())
        if isinstance(verdict, Deny):
            assert verdict.reason == f"{tool} is not for the {phase} phase"
            assert "Read" in verdict.suggestion


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(
    ("tool", "tools", "same_as"),
    [
        ("MultiEdit", CLAUDE, "Edit"),
        ("NotebookEdit", CLAUDE, "Edit"),
        ("Agent", CLAUDE, "Task"),
        ("TaskCreate", CLAUDE, "TodoWrite"),
        ("BashOutput", CLAUDE, "Bash"),
        ("LS", CLAUDE, "Glob"),
        ("Execute", DROID, "Bash"),
        ("Create", DROID, "Write"),
        ("FetchUrl", DROID, "WebFetch"),
        ("ExitSpecMode", DROID, "ExitPlanMode"),
        ("update_plan", CODEX, "TodoWrite"),
        ("web_search", CODEX, "WebSearch"),
        ("view_image", CODEX, "Read"),
    ],
)
def test_an_agents_own_name_means_the_same(
    phase: Phase, tool: str, tools: AgentTools, same_as: str
) -> None:
    assert isinstance(decided(tool, phase, tools), Allow) == (same_as in TABLE[phase].split())


@pytest.mark.parametrize("phase", Phase)
def test_a_patch_is_for_phases_that_write_or_edit(phase: Phase) -> None:
    assert isinstance(decided("apply_patch", phase, CODEX), Allow) == (
        phase is not Phase.VALIDATION
    )


@pytest.mark.parametrize("phase", [Phase.DISCOVERY, Phase.PLANNING])
def test_a_patch_may_be_called_in_a_shell_that_only_reads(phase: Phase) -> None:
    """As models do that codex does not know."""
    patch = "cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"
    assert decided("exec_command", phase, CODEX, cmd=patch) == Allow()


@pytest.mark.parametrize("phase", [Phase.DISCOVERY, Phase.PLANNING])
@pytest.mark.parametrize(
    "command", ["apply_patch <<E > a.md\nE", "apply_patch <<E; touch a\nE", "touch a"]
)
def test_a_shell_with_a_patch_writes_nothing_else(phase: Phase, command: str) -> None:
    assert isinstance(decided("exec_command", phase, CODEX, cmd=command), Deny)


@pytest.mark.parametrize("phase", Phase)
def test_ralphs_own_tools_are_for_every_phase(phase: Phase) -> None:
    assert decided("mcp__ralph__ralph_get_next_task", phase) == Allow()
    assert isinstance(decided("mcp__other__tool", phase), Deny)
    assert isinstance(decided("Unheard", phase), Deny)


@pytest.mark.parametrize("tool", ["Bash", "shell", "exec_command", "Execute"])
def test_a_shell_of_any_name_is_judged_by_its_command(tool: str) -> None:
    box = DROID if tool == "Execute" else CODEX
    assert isinstance(decided(tool, Phase.BUILDING, box, command="git push"), Deny)
    assert isinstance(decided(tool, Phase.BUILDING, box, cmd="git push"), Deny)
    assert decided(tool, Phase.BUILDING, box, command="git status") == Allow()


def test_what_is_typed_into_a_running_shell_is_a_command_too() -> None:
    assert isinstance(
        decided("write_stdin", Phase.BUILDING, CODEX, session_id=1, chars="git push\n"), Deny
    )


@pytest.mark.parametrize("phase", [Phase.DISCOVERY, Phase.PLANNING])
@pytest.mark.parametrize(
    "command",
    [
        "ralph task add 'x'",
        "ralph status --json",
        "cd sub && ralph task list",
        "root=$(ralph task tree --json | grep x | cut -d'\"' -f4); ralph task add y --parent $root",
        "ralph task add \"$(cat <<'EOF'\nx\nEOF\n)\"",
    ],
)
def test_ralph_itself_can_be_called_in_phases_without_a_shell(phase: Phase, command: str) -> None:
    assert decided("Bash", phase, command=command) == Allow()


@pytest.mark.parametrize("command", ["ralph x; make", "make", "ls", "ralph x > f", "eval ralph $x"])
def test_other_commands_cannot(command: str) -> None:
    assert isinstance(decided("Bash", Phase.PLANNING, command=command), Deny)


READS = r"""
ls -la
cat README.md
sed -n '1,80p' src/a.py
head -20 x | tail -5
rg -n "git push" src
grep -rn x . 2>/dev/null
find . -name '*.py' -type f
find . -name '*.py' -exec grep -l x {} +
git status
git log --oneline | head
git show HEAD:x
git diff main
wc -l $(git ls-files)
awk '{print $1}' x
jq .a x.json
cat x | sort | uniq -c
for f in *.md; do echo "$f"; cat "$f"; done
if [ -f x ]; then cat x; fi
while read -r l; do echo "$l"; done < x
bash -lc 'ls && cat x'
bash -lc "sed -n '1,5p' x"
git ls-files | xargs wc -l
test -f x && echo yes
cd src && ls
tree -L 2
ls > /dev/null 2>&1
echo x >&2
timeout 5 cat x
FOO=1 ls
diff <(ls a) <(ls b)
tar tzf x.tgz
ralph task list
nl -ba x
awk '$3 > 100 {print $1}' x
awk 'NR>=10 && NR<=20' x
awk -F, '{ if ($2 > max) max = $2 } END { print max }' x
awk '/a|b/ { print "c > d | e" }' x
awk -v n=3 -F: 'length($0) > n || /x/' src/*.py
gawk '{print $1}' x
sed -n '/def e /p' x
sed 's/ w / e /' f
sed -n '/write /,/e w/p' f
sed -n "${a},${b}p" f
sed -e 's#http://##g' -e '/^\s*$/d' f
sed '1,5!d;s/e/w/;y/ab/we/;5q' f
sed -n 's/^export \(.*\)/\1/p' f
sed '/x/{n;p;}' f
xxd -l 64 x
sort x | uniq -c
uniq -f 2 x
python3 --version
node -v
go version
env | grep X
ls >&2
git format-patch -1 --stdout
"""
WRITES = r"""
touch x
echo x > f
cat x >> f
ls | tee f
sed -i s/a/b/ x
sed -n 'w out' x
sed --in-place s/a/b/ x
rm x
mv a b
cp a b
mkdir d
make
npm test
python x.py
node -e 1
git add .
git commit -m x
git diff --output=f
find . -delete
find . -exec rm {} +
find . -fprint f
sort -o f x
awk 'BEGIN { system("x") }'
awk '{ print > "f" }' x
xargs rm < x
bash -c 'touch x'
bash script.sh
bash
./run
eval "$x"
$x
curl -o f http://x
tar xzf x.tgz
ls; touch x
ls && (cat x; touch y)
cat <<EOF > f
dd if=a of=b
chmod +x f
sed 's/.*/touch x/e' f
sed '1e touch x' f
sed '$w out' f
sed '1,3w out' f
sed -n '/x/w/tmp/out' f
sed 's/a/b/gw out' f
sed -e p --expression='w out' f
sed -f script f
sed -Ei s/a/b/ f
awk 'BEGIN{"touch x"|getline}'
awk 'BEGIN { cmd = "touch x"; cmd | getline }'
awk 'BEGIN { print "x" |& "sh" }'
awk '{print $1 >> "out"}' f
awk '/x/ { printf("a") > $2 }' f
awk -f prog.awk f
awk -i inplace 1 f
ls >& f
echo x >&f
tree -o f
uniq a b
xxd a b
xxd -r a
date -s 2020-01-01
hostname foo
rg --pre ./x foo
man -P 'touch x' ls
git archive -o f HEAD
git format-patch HEAD~1
git fsck --lost-found
./python --version
"""


@pytest.mark.parametrize("phase", [Phase.DISCOVERY, Phase.PLANNING])
def test_an_agent_that_reads_by_shell_can_still_read(phase: Phase) -> None:
    for command in READS.strip().splitlines():
        assert decided("Bash", phase, CODEX, command=command) == Allow(), command
        assert decided("shell", phase, CODEX, command=["bash", "-lc", command]) == Allow(), command


def test_and_cannot_write() -> None:
    for command in WRITES.strip().splitlines():
        verdict = decided("Bash", Phase.PLANNING, CODEX, command=command)
        assert isinstance(verdict, Deny), command


def test_a_list_of_words_is_judged_like_the_text_that_means_the_same() -> None:
    assert command_of({"command": ["git", "commit", "-m", "a b"]}) == "git commit -m 'a b'"
    assert command_of({"command": ["bash", "-lc", "ls | wc"]}) == "ls | wc"
    assert command_of({"command": ["python", "-c", "ls"]}) == "python -c ls"
    assert command_of({"other": 1}) == ""


def test_where_a_rewritten_command_would_be_ignored_it_is_denied_and_named() -> None:
    verdict = decided(
        "Bash",
        Phase.BUILDING,
        AgentTools(takes_rewrites=False),
        Policy(uses_uv=True),
        command="pytest",
    )
    assert isinstance(verdict, Deny)
    assert verdict.suggestion == "run `uv run pytest`"


def test_a_rewritten_command_goes_where_the_old_one_was() -> None:
    verdict = decided(
        "Bash", Phase.BUILDING, policy=Policy(uses_uv=True), command="pytest", timeout=5
    )
    assert verdict == Rewrite(command="uv run pytest")
    assert with_command({"command": "pytest", "timeout": 5}, "uv run pytest") == {
        "command": "uv run pytest",
        "timeout": 5,
    }
    assert with_command({"cmd": ["bash", "-lc", "pytest"]}, "x") == {"cmd": ["bash", "-lc", "x"]}
    assert with_command({"command": ["pytest"]}, "x y") == {"command": ["bash", "-c", "x y"]}


@pytest.mark.parametrize("key", ["file_path", "path"])
def test_no_tool_reads_keys(key: str) -> None:
    given = {key: "/home/me/.ssh/id_rsa"}
    assert isinstance(decided("Read", Phase.BUILDING, **given), Deny)  # type: ignore[arg-type]
    assert decided("Read", Phase.BUILDING, **{key: "/w/proj/README.md"}) == Allow()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("git", "commits", "meant"),
    [
        ("commit", "auto", "commit"),
        ("free", "auto", "free"),
        ("read-only", "auto", "read-only"),
        ("commit", "ralph", "read-only"),
        ("free", "ralph", "read-only"),
        ("commit", "none", "read-only"),
    ],
)
def test_git_is_read_only_wherever_the_agent_does_not_commit(
    git: GitAccess, commits: Literal["auto", "ralph", "none"], meant: str
) -> None:
    config = Config(policy=PolicySection(git=git), git=GitSection(commit=commits))
    assert policy_of(config, has_uv_lock=True, strict=False).git == meant


def test_packages_are_uvs_where_it_is_set_or_locked() -> None:
    def uses_uv(packaging: Literal["auto", "uv", "free"], *, has_uv_lock: bool) -> bool:
        config = Config(policy=PolicySection(packaging=packaging))
        return policy_of(config, has_uv_lock=has_uv_lock, strict=False).uses_uv

    assert uses_uv("auto", has_uv_lock=True)
    assert not uses_uv("auto", has_uv_lock=False)
    assert uses_uv("uv", has_uv_lock=False)
    assert not uses_uv("free", has_uv_lock=True)


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
def test_a_tool_that_writes_files_follows_the_rules_for_commands(
    path: str, *, is_allowed: bool
) -> None:
    for tool in ("Write", "Edit"):
        assert isinstance(decided(tool, Phase.BUILDING, file_path=path), Allow) is is_allowed
    assert decided("Read", Phase.BUILDING, file_path=path) == Allow()
