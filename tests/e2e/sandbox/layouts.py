"""What a hostile session leaves in a checkout, and the git of whoever comes next, watched.

Each layout is a script that a session runs at the top of a checkout. More are always welcome.
"""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from ralph.ports.executor import Command
from ralph.wiring.project import find_project
from ralph.wiring.project_sandbox import ProjectSandbox
from ralph.wiring.sandbox import open_sandboxed_run

BEGIN = r"""
OWN="$(git rev-parse --absolute-git-dir)"
COMMON="$(cd "$(git rev-parse --git-common-dir)"; pwd)"; cd "$(git rev-parse --show-toplevel)"
FIRST="$(mktemp -d)/first"; cp -r "$COMMON" "$FIRST"; rm -rf "$FIRST/modules" "$FIRST/worktrees"
OID=$(git rev-parse HEAD)
trap_for() {
TRAP="$PWD/trap-$1.sh"; SUB="sub-$1"; EVIL="evil-$1"
printf '#!/bin/sh\necho %s >> %s\ncat\n' "$1" "$CAUGHT" > "$TRAP"; chmod 755 "$TRAP"
}
hooks() {
mkdir -p "$1"
for hook in pre-commit post-checkout post-index-change; do cp "$TRAP" "$1/$hook"; done
}
links() {
mkdir -p "$1/refs/heads"; for at in HEAD refs/heads/main; do ln -s "$HOME/.bashrc" "$1/$at"; done
}
arm() {
hooks "$1/hooks"; cp -r "$FIRST/." "$1"
printf '[core]\n\tfsmonitor = %s\n' "$TRAP" >> "$1/config"
}
link() { git update-index --add --cacheinfo "160000,$OID,$1"; }
point() { mkdir -p "$1"; echo x > "$1/file"; echo "gitdir: $2" > "$1/.git"; }
lead() { arm "$1"; point "$SUB" "$1"; link "$SUB"; }
harmless() { git init -q --template= "$1"; git -C "$1" commit -q --allow-empty -m x; link "$1"; }
monitor() { printf '[core]\n\tfsmonitor = %s\n' "$TRAP"; }
forge() { (cd "$1"; git update-index --add --cacheinfo "100755,$(git hash-object -w "$TRAP"),$2"
LC_ALL=C sed -i "s:$2:$3:" .git/index; head -c -20 .git/index > body; { cat body
/usr/bin/printf "$(sha1sum body | cut -c1-40 | sed 's/../\\x&/g')"; } > .git/index; rm body); }
"""
"""`arm` makes a repository in which git runs the trap, `lead` one that git is led to. `OWN` is the
folder of git of this checkout, `COMMON` that of all."""

LED = {
    "into .git": 'lead "$PWD/.git/$EVIL"',
    "into objects": 'lead "$PWD/.git/objects/ab"',
    "into objects, by another name": 'lead "$PWD/.git/objects/$EVIL"',
    "into packs": 'lead "$PWD/.git/objects/pack/$EVIL"',
    "into logs": 'lead "$PWD/.git/logs/$EVIL"',
    "into refs": 'lead "$PWD/.git/refs/heads/$EVIL"',
    "into large files": 'lead "$PWD/.git/lfs/$EVIL"',
    "into a lock": 'lead "$PWD/.git/$EVIL.lock"',
    "into the cache": 'lead "$XDG_CACHE_HOME/$EVIL"',
    "into specs": 'lead "$PWD/.ralph/specs/$EVIL"',
    "into packages": 'lead "$PWD/node_modules/$EVIL"',
    "into an environment": 'lead "$PWD/.venv/lib/$EVIL"',
    "into a build": 'lead "$PWD/target/__pycache__/$EVIL"',
    "into a name like another": 'lead "$PWD/.git/a: b"',
    "by a relative path": 'arm ".git/$EVIL"; point "$SUB" "../.git/$EVIL"; link "$SUB"',
    "by a link": 'arm "$EVIL"; mkdir "$SUB"; ln -s "../$EVIL" "$SUB/.git"; link "$SUB"',
    "by a link to a pointer": 'arm ".git/$EVIL"; point mid "$PWD/.git/$EVIL"; mkdir "$SUB";'
    ' ln -s ../mid/.git "$SUB/.git"; link "$SUB"',
    "by itself": 'arm "$SUB/.git"; link "$SUB"',
    "by itself, in packages": 'S="node_modules/$SUB"; arm "$S/.git"; link "$S"',
    "behind what cannot be listed": 'S="$SUB/x"; arm "$S/.git"; link "$S"; chmod 111 "$SUB"',
    "behind what cannot be written": 'arm "$SUB/.git"; link "$SUB"; chmod 555 "$SUB" "$SUB/.git"',
    "to settings elsewhere": 'arm ".git/$EVIL"; mkdir -p "$SUB/.git"; cp .git/HEAD "$SUB/.git";'
    ' cp .git/index "$SUB/.git"; echo "$PWD/.git/$EVIL" > "$SUB/.git/commondir"; link "$SUB"',
    "to settings in a second file": 'harmless "$SUB"; monitor > "$EVIL";'
    r' printf "[include]\n\tpath = %s\n" "$PWD/$EVIL" >> "$SUB/.git/config"',
    "to settings behind much else": 'harmless "$SUB"; { yes "# none" | head -n 300000; monitor; }'
    ' >> "$SUB/.git/config"',
    "to settings behind a link": 'harmless "$SUB"; mv "$SUB/.git/config" "$EVIL";'
    ' monitor >> "$EVIL"; ln -s "$PWD/$EVIL" "$SUB/.git/config"',
}
"""Git is led to a repository that runs something, whenever the whole is looked at. Without a
sandbox each of them runs its trap."""

REBASE = """mkdir .git/rebase-merge; cd .git/rebase-merge; echo "exec $TRAP" > git-rebase-todo
cp git-rebase-todo git-rebase-todo.backup; echo refs/heads/main > head-name; echo $OID > onto
echo $OID > orig-head; : > interactive; : > done; echo 0 > end; echo 0 > msgnum; : > quiet; cd ../..
"""

DEEP = """N=$(printf %0200d 0); P=$PWD
while [ ${#P} -lt 3870 ]; do mkdir $N; cd $N; P=$P/$N; done
N=$(printf %0$((4085 - ${#P}))d 0); mkdir $N; cd $N; arm .git; echo x > file; cd "$OLDPWD"
cd "${P%%/000*}"; link "${P#$PWD/}/$N"
"""
"""So deep that the path of its settings is too long for whoever does not stand in there."""

ALONE = {
    "too deep": DEEP,
    "a rebase": REBASE,
    "another common folder": 'arm "$EVIL"; echo "$PWD/$EVIL" > .git/commondir',
}
"""The same, each in a checkout of its own."""

TOGETHER = {
    "what is under way": {
        "a merge": "echo $OID > .git/MERGE_HEAD; echo evil > .git/MERGE_MSG; : > .git/MERGE_MODE",
        "picks": 'mkdir .git/sequencer; echo "exec $TRAP" > .git/sequencer/todo;'
        " echo $OID > .git/sequencer/head; echo $OID > .git/CHERRY_PICK_HEAD",
        "a bisection": 'echo main > .git/BISECT_START; echo "$TRAP" > .git/BISECT_RUN;'
        " : > .git/BISECT_LOG; mkdir .git/refs/bisect; echo $OID > .git/refs/bisect/bad",
        "a shallow history": "git rev-parse HEAD > .git/shallow",
        "remotes of old": "mkdir -p .git/remotes; echo URL: ext::$TRAP > .git/remotes/origin;"
        " mkdir -p .git/branches; echo ext::$TRAP > .git/branches/other",
        "a worktree": "mkdir -p .git/worktrees/x; echo ../.. > .git/worktrees/x/commondir",
        "settings of a worktree": "monitor > .git/config.worktree",
        "an unknown folder": 'mkdir -p .git/x/y; cp "$TRAP" .git/x/y; cp "$TRAP" .git/hooks/',
    },
    "an old rebase": {
        "": "mkdir .git/rebase-apply; cd .git/rebase-apply; echo 1 > next; echo 1 > last;"
        " echo x > 0001; : > rebasing; cd ../..",
    },
    "other objects": {
        "borrowed": 'arm "$EVIL"; echo "$PWD/$EVIL/objects" > .git/objects/info/alternates',
        "replaced": "git replace -f HEAD:a $(echo evil | git hash-object -w --stdin)",
        "replaced, packed": 'git pack-refs; echo "$OID refs/replace/$OID" >> .git/packed-refs',
    },
    "promised objects": {
        "over the network": 'harmless "$SUB"; echo a > "$SUB/a"; git -C "$SUB" add a;'
        ' git -C "$SUB" commit -qm a; T=$(git -C "$SUB" rev-parse HEAD:);'
        ' rm -f "$SUB"/.git/objects/$(echo $T | cut -c1-2)/$(echo $T | cut -c3-); link "$SUB";'
        r' printf "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = x\n'
        r'[remote \"x\"]\n\turl = ssh://127.0.0.1:1/x\n\tpromisor = true\n" >> "$SUB/.git/config"',
    },
    "known repositories": {
        "a pointer": 'arm ".git/$EVIL"; echo "gitdir: ../.git/$EVIL" > known/.git',
        "their own": 'cp "$TRAP" nested/.git/hooks/pre-commit; monitor >> nested/.git/config',
        "one in the project": 'mkdir sub; mv fixture sub/.git; link sub',
        "one to come": r'printf "[submodule \"x\"]\n\tpath = x\n\turl = ext::%s\n" "$TRAP" >'
        " .gitmodules; link x",
    },
    "a known repository in the place of a pointer": {"": "rm known/.git; arm known/.git"},
    "a link in the place of a submodule": {"": 'mv known away; ln -s "$HOME" known'},
    "a repository in the project": {
        "": "arm evil.git; git add -A evil.git; git commit -q -m evil"
    },
    "links to the home": {
        path: f'rm -rf ".git/{path}"; ln -s "$HOME/.bashrc" ".git/{path}"'
        for path in ("COMMIT_EDITMSG", "logs/HEAD", "FETCH_HEAD", "index", "refs/heads/main",
                     "ORIG_HEAD", "gc.log", "packed-refs", "objects/pack/x.idx")
    },
    "more links": {
        "a head": "rm .git/HEAD; ln -s refs/heads/main .git/HEAD",
        "logs": 'rm -rf .git/logs/refs; ln -s "$HOME" .git/logs/refs',
    },
    "junk": {
        "refs": "git pack-refs --all; echo junk > .git/packed-refs",
        "a head": "echo junk > .git/HEAD",
        "an index": "echo junk > .git/index",
        "a ref": "echo junk > .git/refs/heads/main",
    },
    "a forged index": {
        "": "forge . -git/hooks/post-checkout .git/hooks/post-checkout",
        "of a known repository": "forge nested -git/hooks/post-checkout .git/hooks/post-checkout",
        "of a new repository": 'git init -q --template= "$SUB"; touch "$SUB/x";'
        ' git -C "$SUB" add x; forge "$SUB" -git/hooks/post-checkout .git/hooks/post-checkout',
    },
    "a forged index that leads out": {"": 'touch "$CAUGHT"; forge . --/caught ../caught'},
    "a forged index in two parts": {
        "": "forge . -git/hooks/post-checkout .git/hooks/post-checkout;"
        " git update-index --split-index"
    },
    "long names": {
        "a ref": f"mkfifo .git/refs/heads/{'n' * 255}",
        "a log": f'ln -s "$HOME/.bashrc" .git/logs/refs/heads/{"n" * 255}',
        "a pack": f"mkfifo .git/objects/pack/{'n' * 251}.idx",
    },
    "little junk": {
        "an index": "echo junk >> .git/index",
        "a ref": "rm .git/refs/heads/main; mkdir -p .git/refs/heads/main/x",
        "a head": "echo ref: ../../evil > .git/HEAD",
    },
    "gone": {
        path: f"rm -f .git/{path}" for path in ("index", "refs/heads/main", "HEAD", "packed-refs")
    },
    "renamed": {
        "": "for f in objects refs logs; do mv .git/$f .git/x-$f; done; mv .git x;"
        " rm .git/index; mkdir .git/index",
    },
    "pipes": {
        path: f'mkdir -p "$(dirname "{path}")"; rm -rf "{path}"; mkfifo "{path}"'
        for path in (
            ".gitignore", ".gitattributes", ".gitmodules", ".mailmap", "a", "folder/.gitignore",
            ".git/HEAD", ".git/index", ".git/refs/heads/main", ".git/packed-refs", ".git/shallow",
            ".git/COMMIT_EDITMSG", ".git/MERGE_HEAD", ".git/logs/HEAD",
            ".git/objects/info/alternates",
            ".git/objects/pack/x.idx", ".git/objects/pack/multi-pack-index", ".git/gc.log",
            ".git/config.worktree", ".git/commondir", "sub/.git", "nested/.git/config",
            "nested/.git/HEAD", ".ralph/specs/x.md",
        )
    },
}  # fmt: skip
"""Not all of it runs something, but none of it is what a commit needs."""

KINDS = {
    "a linked worktree": "git worktree add -q -b linked ../linked; echo linked",
    "a submodule": "cd ..; git init -q -b main --template= super; cd super;"
    " git -c protocol.file.allow=always submodule --quiet add ../x inner; git commit -qm first;"
    " echo super/inner",
    "a part of the repository": "mkdir -p apps/web; git mv .ralph.toml apps/web;"
    " git commit -qm moved; echo x/apps/web",
    "with a folder of git elsewhere": "git submodule --quiet deinit -f known; rm -rf .git/modules;"
    " mv .git ../separate; echo gitdir: $PWD/../separate > .git; echo x",
    "with settings of its own": "git config extensions.worktreeConfig true;"
    " git config --worktree core.bare false; echo x",
    "with packs": "git gc -q; git pack-refs --all; echo x",
}
"""Checkouts of other kinds: how a person makes them of a plain one, and where they are."""

IN_ANY_KIND = {
    "into its own folder": 'lead "$OWN/$EVIL"',
    "into the common folder": 'lead "$COMMON/$EVIL"',
    "another repository": 'arm "$EVIL"; echo "gitdir: $PWD/$EVIL" > .git',
    "another common folder": 'arm "$EVIL"; echo "$PWD/$EVIL" > "$OWN/commondir"',
    "settings of this checkout": 'monitor > "$OWN/config.worktree"',
    "settings": 'monitor >> "$OWN/config"; monitor >> "$COMMON/config"',
    "hooks": 'hooks "$OWN/hooks"; hooks "$COMMON/hooks"',
    "a worktree": 'W="$COMMON/worktrees/y"; mkdir -p "$W" "$SUB"; arm "$EVIL"; link "$SUB";'
    ' echo "$PWD/$EVIL" > "$W/commondir"; echo $OID > "$W/HEAD"; echo "gitdir: $W" > "$SUB/.git"',
    "a repository in its place": "rm -f .git; arm .git",
    "a submodule's repository": 'arm "$OWN/modules/known"; monitor >> known/.git',
    "the repository around": "arm ../.git; echo gitdir: $PWD > ../.git; arm apps/.git",
    "attributes": 'mkdir -p "$OWN/info"; echo "* filter=x" > "$OWN/info/attributes"',
    "what is under way": "for at in AUTO_MERGE REVERT_HEAD BISECT_TERMS MERGE_AUTOSTASH; do"
    ' echo $OID > "$OWN/$at"; done; mkdir -p "$OWN/rr-cache/x"; cp "$TRAP" "$OWN/rr-cache/x"',
    "refs of its own": 'for at in bisect worktree rewritten; do mkdir -p "$OWN/refs/$at";'
    ' echo $OID > "$OWN/refs/$at/x"; done',
    "a rebase": 'R="$OWN/rebase-merge"; mkdir "$R"; for at in git-rebase-todo done; do'
    ' echo "exec $TRAP" > "$R/$at"; done; echo $OID > "$R/onto"; echo $OID > "$R/orig-head";'
    ' : > "$R/interactive"; echo 0 > "$R/end"; echo 0 > "$R/msgnum"',
}
"""What a session may try in one of them."""

IN_TWO_STEPS = {
    "hooks of a repository": (
        'harmless lib; mkdir -p "$SUB/x"; cp "$TRAP" "$SUB/x/pre-commit"',
        'rm -rf lib/.git/hooks; mv "$SUB/x" lib/.git/hooks',
    ),
    "links in a repository": (
        'harmless lib; mkdir -p "$SUB/x"; ln -s "$HOME/.bashrc" "$SUB/x/HEAD"',
        'rm -rf lib/.git/logs; mv "$SUB/x" lib/.git/logs',
    ),
    "settings of an agent": (
        'mkdir -p node_modules/x/.claude; cp "$TRAP" node_modules/x/.claude/hook',
        "mv node_modules/x lib",
    ),
    "objects by other names": (
        'mkdir -p .git/objects/ab/x; cp "$TRAP" .git/objects/ab/x/$(printf %038d 0)',
        # A folder that is there would take it in.
        "N=0; while [ -e .git/objects/0$N ]; do N=$((N + 1)); done;"
        " mv .git/objects/ab/x .git/objects/0$N",
    ),
    "a repository that is too deep": (
        "N=$(printf %0200d 0); for i in 1 2 3 4 5; do mkdir $N; cd $N; done; arm x; rm -r x/refs",
        "N=$(printf %0200d 0); A=$PWD; P=$PWD; while [ ${#P} -lt 3300 ]; do mkdir -p e; cd e;"
        " mkdir $N; cd $N; P=$P/e/$N; done; mv $A/$N .;"
        " for i in 1 2 3 4 5; do cd $N; done; mkdir x/refs; mv x .git",
    ),
}
"""What one command prepares where it does no harm, and the next one moves to its place."""

LAYOUTS = {"led": LED, **{name: {"": script} for name, script in ALONE.items()}, **TOGETHER}

GIT = """
git status; git diff; git log -1 --stat; git diff HEAD
for at in sub* nested known folder node_modules/* deep/* evil*; do [ -d "$at" ] && {
git -C "$at" status; git -C "$at" checkout .; git -C "$at" add -A
git -C "$at" commit -q --allow-empty -m mine; }; done; git checkout .
for at in "$XDG_CACHE_HOME"/*/ .ralph/.tmp/planted/*/ .ralph/specs/*/ .git/*/; do
[ -d "$at" ] && git -C "$at" status; done
git add -A; git commit -q -m mine; echo x > mine; git add mine; git stash
git stash pop; git checkout -q -b other; git add -A; git commit -q -m more; git checkout -q main
git rebase --continue; git am --continue; git cherry-pick --continue; git submodule status
git submodule update --init; git merge -q other; git gc -q; git status
"""
"""What whoever comes next does."""

PROGRAMS = (
    *("git", "sh", "dash", "bash", "sed", "basename", "dirname", "uname", "cat", "tr", "expr"),
    *("gettext", "envsubst"),
)
"""Git's own, and what its scripts are made of."""
STARTED = re.compile(r'execve\("([^"]*)", (\[.*)\) = 0')


class Garden:
    """Many checkouts of one person."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home, self.caught = base / "home", base / "caught"
        self.home.mkdir(parents=True)
        (self.home / ".bashrc").write_text("# mine\n")
        self._seed = base / "seed"
        self._make_seed()

    def _make_seed(self) -> None:
        """With a submodule, a repository of the person's own, and one in files of the project."""
        seed, part = self._seed, self.base / "part"
        script = """set -e
        git init -q -b main --template= "$2"; git -C "$2" commit -q --allow-empty -m part
        git init -q -b main --template= "$1"; cd "$1"; mkdir folder; echo a > a; echo b > folder/b
        printf '[agent]\ncommand = "true"\n' > .ralph.toml; printf 'nested/\n.ralph/\n' > .gitignore
        git -c protocol.file.allow=always submodule --quiet add "$2" known
        cp -r "$2/.git" fixture; cp -r "$2" nested; mkdir -p nested/.git/hooks
        printf "[core]\n\tfsmonitor = %s/trap-2.sh\n" "$1" >> fixture/config
        git add -A; git commit -q -m first; git branch side"""
        self._run(["sh", "-c", script, "sh", str(seed), str(part)], cwd=self.base)

    def checkout(self, name: str) -> Path:
        """A new one."""
        return Path(shutil.copytree(self._seed, self.base / name, symlinks=True))

    def checkout_of_kind(self, kind: str) -> Path:
        made = self._run(["sh", "-ec", KINDS[kind]], cwd=self.checkout("x"))
        return self.base / made.stdout.decode().split()[-1]

    def session(self, top: Path, *scripts: str, **env: str) -> list[str]:
        """Run a script as a session does, and others after it, as gates do; return what was said
        about them."""
        here, said = os.getcwd(), []
        os.chdir(top)
        try:
            with open_sandboxed_run(ProjectSandbox(project=find_project())) as run:
                env = {**run.env, "CAUGHT": str(self.caught), **env}
                for script in scripts:
                    command = Command(argv=("sh", "-c", script), cwd=str(top), env=env)
                    with run.checkout_sandbox.sandboxed(command) as inside:
                        run.executor.run_long(inside.command, timeout_s=60, tick=lambda: False)
                        assert inside.has_started
                    said += inside.warnings
            return said
        finally:
            os.chdir(here)

    def without_sandbox(self, top: Path, script: str) -> None:
        """The same, as if there were none."""
        env = {**os.environ, **self.env(top), "CAUGHT": str(self.caught)}
        subprocess.run(["sh", "-c", script], cwd=top, env=env, capture_output=True, check=False)

    def env(self, top: Path) -> Mapping[str, str]:
        """Of the program that runs next."""
        cache = next(iter((self.home / ".cache/ralph/sandbox").glob(f"{top.name}-*")), self.base)
        return {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(cache),
            "GIT_EDITOR": ":",
            "GIT_PAGER": "cat",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }

    def visit(self, top: Path, script: str = GIT) -> list[str]:
        """Use git there, and return what was started that is not git's own."""
        trace = self.base / f"{top.name}.trace"
        watched = ("strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", "trace=execve")
        argv = [*watched, "-o", str(trace), "sh", "-c", script]
        self._run(argv, cwd=top, check=False, **self.env(top))
        return sorted({*_started(trace.read_text(errors="replace"))})

    def says(self, top: Path, *args: str) -> str:
        """The answer of git."""
        return self._run(["git", *args], cwd=top).stdout.decode(errors="replace").strip()

    def _run(
        self, argv: list[str], *, cwd: Path, check: bool = True, **env: str
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            argv,
            cwd=cwd,
            env={**os.environ, **env},
            check=check,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=100,
        )


def _started(trace: str) -> Iterable[str]:
    for program, words in STARTED.findall(trace):
        name = os.path.basename(program)
        is_known = name in PROGRAMS or name.startswith("git-")
        if not program.startswith(("/usr/", "/bin/")) or not is_known or "trap-" in words:
            yield f"{program} {words}"


PLACES = (
    ".git", ".git/x", ".git/objects", ".git/objects/ab", ".git/objects/pack/y", ".git/refs",
    ".git/objects/info/x", ".git/refs/x", ".git/refs/heads/main", ".git/refs/replace/x",
    ".git/logs/x",
    ".git/logs/HEAD", ".git/HEAD", ".git/index", ".git/packed-refs", ".git/config", ".git/hooks/x",
    ".git/info/x", ".git/modules/x", ".git/worktrees/x", ".git/rebase-merge", ".git/sequencer",
    ".git/COMMIT_EDITMSG", ".git/FETCH_HEAD", ".git/ORIG_HEAD", ".git/lfs/x", ".git/x.lock",
    "sub", "sub/.git", "nested", "nested/.git", "nested/.git/config", "nested/.git/hooks/pre-push",
    "known", "known/.git", "fixture", "fixture/config", "node_modules/x/.git", "a", "folder",
    "folder/.git", ".gitignore", ".gitattributes", ".gitmodules", '"$XDG_CACHE_HOME/x"',
    ".ralph/specs/x", ".ralph/specs/x/.git", ".venv/x", "plain", "plain/x", "plain/x/.git/hooks",
    "plain/hooks", "plain/refs/heads", ".git/objects/ab/x", "node_modules/x",
)  # fmt: skip
ACTS = (
    "arm {0}", "arm {0}", "point {0} $PWD/{1}", "mkdir -p {0}; echo gitdir: $PWD/{1} > {0}/.git",
    "rm -rf {0}; ln -s $PWD/{1} {0}", "rm -rf {0}; ln -s $HOME/.bashrc {0}", "ln -s $HOME {0}",
    "rm -rf {0}; mkfifo {0}", "rm -rf {0}", "mv {0} {1}", "cp -r {0} {1}", "echo junk > {0}",
    "mkdir -p {0}", "chmod 600 {0}", "rm -rf {1}; mv {0} {1}", "chmod 111 {0}", "chmod 0 {0}",
    "echo $PWD/{0} > {1}/commondir", "link {0}",
    "cp $TRAP {0}", "monitor >> {0}", "echo $OID > {0}",
    "git add -A", "git commit -q -m x", "git -C {0} add -A",
)  # fmt: skip


PREPARED = (
    ("hooks {0}", "nested/.git/hooks"), ("hooks {0}", ".git/hooks"), ("hooks {0}", ".git/x"),
    ("links {0}", "nested/.git/logs"), ("links {0}", "nested/.git/x"), ("links {0}", ".git/logs"),
    ("arm {0}", "$SUB/.git"), ("arm {0}", "nested/.git"), ("arm {0}", "node_modules/x/.git"),
    ("arm {0}", '"$XDG_CACHE_HOME/x"'), ("arm {0}; rm -r {0}/refs", "known"),
    ("point {0} $PWD/.git/$EVIL; arm .git/$EVIL", "deep/er"),
    ("mkdir -p {0}/.claude; cp $TRAP {0}/.claude/hook", "folder"),
    ("mkdir -p {0}; cp $TRAP {0}/$(printf %038d 0)", ".git/objects/00"),
)  # fmt: skip
"""What a session makes, and where it does harm."""
CARRIERS = (
    ("{0}", ":"),
    ("plain-$SUB", "rm -rf {0}; mkdir -p $(dirname {0}); mv plain-$SUB {0}"),
    ("plain-$SUB/x", "rm -rf {0}; mkdir -p $(dirname {0}); mv plain-$SUB {0}; mv {0}/x {0}/.git"),
    ("node_modules/$SUB/x", "rm -rf {0}; mkdir -p $(dirname {0}); mv node_modules/$SUB/x {0}"),
    (".git/objects/ab/$SUB", "rm -rf {0}; mkdir -p $(dirname {0}); mv .git/objects/ab/$SUB {0}"),
    ("plain-$SUB", "rm -rf {0}; cp -r plain-$SUB {0}"),
    ("{0}-; chmod 600 {0}-", "chmod 700 {0}-; rm -rf {0}; mv {0}- {0}"),
)
"""Where one command puts something, and how a later one brings it to its place."""


def planting(scripts: Iterable[str]) -> str:
    """One script of several, each with a trap of its own."""
    parts = (f"trap_for {at}\n{script}\n" for at, script in enumerate(scripts))
    return BEGIN + "".join(parts)


def at_random(seed: int) -> list[str]:
    """A layout that nobody has thought of, made by several commands."""
    luck = random.Random(seed)
    before, after = [], []
    for _ in range(luck.randint(1, 4)):
        (content, target), (made_at, carry) = luck.choice(PREPARED), luck.choice(CARRIERS)
        where, _, shut = made_at.format(target).partition(";")
        before.append(f"{content.format(where)};{shut}")
        after.append(carry.format(target))
    places = luck.sample(PLACES, 7)
    acts = [luck.choice(ACTS).format(*luck.sample(places, 2)) for _ in range(luck.randint(2, 9))]
    middle = luck.randint(0, len(acts))
    steps = ([*before, *acts[:middle]], [*after, *acts[middle:]])
    return [planting(step) for step in steps]
