"""Which files a command reads, writes and removes: those of the project, and no secrets."""

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import normpath
from typing import Final

from ralph.core.hidden_paths import BUILTIN_ALLOW_RULES, HIDDEN
from ralph.core.policy.decision import Deny, Doubt, Policy, PolicyContext, Verdict
from ralph.core.policy.git_rules import git_call
from ralph.core.policy.machine_rules import DISK, deny_because
from ralph.core.policy.output import found_files
from ralph.core.policy.paths import OWN_STATE, TEMPORARY, Reach, any_home, reach, resolve
from ralph.core.policy.words import (
    GLOB,
    UNKNOWN,
    CommandCall,
    Field,
    file_words,
    names,
    option_values,
    split_options,
    split_pattern,
)
from ralph.core.sandbox_rules import is_inside

WRITE_REDIRECTS: Final = names("> >> >| &> &>> >& <>")
REPOSITORY: Final = re.compile(r"(?:.*/)?\.git(?:/(?!info/).*)?", re.DOTALL)
MAYBE_EMPTY: Final = re.compile(rf"\A{UNKNOWN}+(?=/)")
"""`"$UNSET/"` is the root, unless the text gives the variable a value."""
IN_CHECKOUT: Final = (Reach.CHECKOUT, Reach.OWN_STATE, Reach.PROJECT)

Judge = Callable[[Field, str | None, PolicyContext], Verdict]


def judge_files(call: CommandCall, policy: Policy, context: PolicyContext) -> Iterator[Verdict]:
    """What the command does to files that have to stay as they are, and which secrets it reads."""
    for operator, field in call.redirects:
        if operator in WRITE_REDIRECTS:
            yield judge_written_file(field, call.cwd, context)
    for programs, files, judge, needed in USES:
        if call.name in programs and re.search(needed, call.arguments, re.DOTALL):
            for field in files(call):
                yield judge(field, call.cwd, context)
    read = [field.text for operator, field in call.redirects if operator in ("<", "<>")]
    if call.name not in NOT_READERS or (call.name == "git" and "--no-index" in call.texts):
        read += file_words(call.name, call.texts)
    for text in read:
        yield judge_read_file(text, call.cwd, context, policy.allow_rules)


# What happens to a file


def judge_written_file(target: Field, cwd: str | None, context: PolicyContext) -> Deny | None:
    """Whether one file must not be written."""
    path = resolve(target.text, cwd)
    place = reach(path, context) if path is not None else None
    if path is None or place is Reach.TEMPORARY:
        return None
    if place is Reach.DEVICE:
        return deny_because(DISK, path)
    inside = path[len(context.checkout) + 1 :]
    is_repository = place in IN_CHECKOUT and REPOSITORY.fullmatch(inside) is not None
    if not is_repository and place not in (Reach.SETTINGS, Reach.SYSTEM):
        return None
    return _deny_outside(target)


def _judge_filled(target: Field, cwd: str | None, context: PolicyContext) -> Verdict:
    """Whether files with any name must not be written into a folder."""
    path = resolve(target.text, cwd)
    if path is None or path in TEMPORARY or path == context.checkout:
        return None
    if is_inside(context.checkout, path) or is_inside(context.home, path):
        return _deny_outside(target)
    return judge_written_file(target, cwd, context)


def _deny_outside(target: Field) -> Deny:
    return Deny(
        reason=f"`{target.shown}` has an effect outside this session",
        suggestion="write to the checkout, or to a folder below /tmp",
    )


def _judge_removed(target: Field, cwd: str | None, context: PolicyContext) -> Verdict:
    """Whether a file, or the files that a pattern matches, must stay."""
    path = resolve(target.folder[0], cwd)
    place = reach(path, context) if path is not None else None
    own_state = [f"{context.checkout}/{name}" for name in OWN_STATE]
    is_whole = not target.glob and path in ("/", context.home, context.checkout, *own_state)
    if is_whole or (_may_be_many(target) and place is not Reach.OWN_STATE):
        return _judge_tree(target, cwd, context)
    # In the checkout each file may go that is named, `.git/index.lock` among them.
    return None if place in IN_CHECKOUT else judge_written_file(target, cwd, context)


def _judge_tree(target: Field, cwd: str | None, context: PolicyContext) -> Verdict:
    """Whether all that a path or a pattern means must stay."""
    known = MAYBE_EMPTY.sub("", target.text)
    folder, takes_all = target._replace(text=known).folder
    path = resolve(folder, cwd)
    is_part = (target.glob and not takes_all) or UNKNOWN in (path or "")
    if known != target.text and (is_part or path != "/"):
        return Doubt(reason=f"`{target.shown}` may begin at the root")
    if path is None:
        is_unclear = cwd is None and (takes_all or normpath(known) == ".")
        why = f"where `{target.shown}` is removed is not known"
        return Doubt(reason=why) if is_unclear else None
    place = reach(_known_folder(path), context)
    if place is Reach.ALL_TEMPORARY and is_part:
        return None
    takes_own_state = place is Reach.CHECKOUT and target.glob and _matches_own_state(known)
    # In a temporary folder, `../x` leads from the checkout to its neighbours.
    climbs = not known.startswith("/") and cwd is not None and is_inside(cwd, context.checkout)
    if place is Reach.OWN_STATE or takes_own_state:
        loss = "would lose what git and Ralph have kept"
    elif place is Reach.CHECKOUT and known and not is_part:
        loss = "would remove the whole checkout"
    elif place in IN_CHECKOUT or (place is Reach.TEMPORARY and not climbs):
        return None
    else:
        loss = "would remove what is outside the checkout"
    return Deny(
        reason=f"removing `{target.shown}` {loss}",
        suggestion="remove files of the project only; a temporary folder below /tmp is fine",
    )


def _judge_changed(target: Field, cwd: str | None, context: PolicyContext) -> Verdict:
    folder, _ = target._replace(text=MAYBE_EMPTY.sub("", target.text)).folder
    path = resolve(folder, cwd)
    if path is None or reach(_known_folder(path), context) in (*IN_CHECKOUT, Reach.TEMPORARY):
        return None
    return Deny(
        reason=f"this changes all files in `{target.shown}`, which is outside the checkout",
        suggestion="change files of the project only",
    )


def _may_be_many(target: Field) -> bool:
    return target.glob or not target.known


def _known_folder(path: str) -> str:
    """The deepest folder of the path that is known."""
    if UNKNOWN not in path:
        return path
    return path[: path.index(UNKNOWN)].rpartition("/")[0] or "/"


def _matches_own_state(pattern: str) -> bool:
    """`.g*`, `.??*`, `.[!.]*`: a pattern matches a leading dot only if it begins with one."""
    part = next((part for part in pattern.split("/") if GLOB.search(part)), "")
    return part.startswith(".") and any(fnmatchcase(name, part) for name in OWN_STATE)


# Which files a program uses

Files = Callable[[CommandCall], list[Field]]


def _operands(call: CommandCall) -> list[Field]:
    return split_options(call.words[1:])[1]


def _changed(call: CommandCall) -> list[Field]:
    """The first operand of `chmod` is a mode, unless it takes that of another file."""
    is_deep = re.search(r" (?:-[a-zA-Z]*R|--rec)", call.arguments)
    targets = _operands(call)[0 if "--reference" in call.arguments else 1 :]
    return [target for target in targets if is_deep or _may_be_many(target)]


def _edited(call: CommandCall) -> list[Field]:
    """The files of `sed -i`, and of `dd`."""
    return [Field(text.removeprefix("of=")) for text in file_words(call.name, call.texts)]


def _option(letter: str, long: str, default: str = "") -> Files:
    return lambda call: option_values(call.words, letter, long) or [Field(default)]


def _copied(call: CommandCall) -> tuple[list[Field], list[Field]]:
    """What is copied, and where to, if that is on this machine."""
    *sources, target = _operands(call) or [Field("")]
    named = TARGET(call)[0]
    if named.text and call.name != "rsync":
        sources, target = [each for each in (*sources, target) if each.text != named.text], named
    is_here = ":" not in target.text or call.name not in ("rsync", "scp")
    return sources, [target] if is_here and (sources or named.text) else []


def _copies(call: CommandCall) -> list[Field]:
    sources, targets = _copied(call)
    here = [source.text.rpartition(":")[2].rstrip("/").rpartition("/")[2] for source in sources]
    return targets + [Field(f"{each.text}/{name}") for each in targets for name in here]


def _filled(call: CommandCall) -> list[Field]:
    """A folder into which files with any name are copied."""
    sources, targets = _copied(call)
    is_deep = re.search(r" (?:-[a-zA-Z]*[rRa]|--rec|--arch)", call.arguments)
    is_many = is_deep or call.name == "rsync" or any("*" in source.text for source in sources)
    return targets if is_many else []


def _at_root(call: CommandCall) -> list[Field]:
    """Where names in an archive begin that may begin with a slash."""
    return [Field("/")] if KEEPS_ROOT.search(call.arguments) else []


def _removed_by_git(call: CommandCall) -> list[Field]:
    """A path may be a pattern for git, too, and begin at the top."""
    git = git_call(call.words)
    options, targets = split_options(git.arguments)
    if git.subcommand != "rm" or {"--cached", "-n", "--dry-run"} & set(options):
        return []
    paths = [re.sub(r"\A:(?:/|\(\w*\))?", "./", target.text) for target in targets]
    return [Field(path, glob="*" in path) for path in paths]


TARGET: Final = _option("t", "target-directory")
REMOVERS: Final = names("rm shred unlink truncate")
EDITORS: Final = names("tee sponge truncate shred patch ed ex vi vim nvim nano emacs")
TAR: Final = names("tar bsdtar gtar")
EXTRACTS: Final = r"\A [a-zA-Z]*x| -[a-zA-Z]*x| --(?:extract|get)"
KEEPS_ROOT: Final = re.compile(r"\A [a-zA-Z]*P| -[a-zA-Z]*P| --abs")
OUTPUTS: Final = names("sort zstd openssl gcc cc g++ clang clang++ go rustc")
USES: Final[tuple[tuple[frozenset[str], Files, Judge, str], ...]] = (
    (REMOVERS, _operands, _judge_tree, r" (?:-[a-zA-Z]*[rR]|--rec|--no-pres)"),
    (REMOVERS, _operands, _judge_removed, ""),
    (names("rimraf trash trash-put srm wipe"), _operands, _judge_tree, ""),
    (names("find"), lambda call: found_files(call.words), _judge_tree, " -delete "),
    (names("find"), _option("fprintf|fprint0|fprint|fls", "none"), judge_written_file, ""),
    (names("rsync"), lambda call: _copied(call)[1], _judge_tree, " --del"),
    (names("mv"), lambda call: _copied(call)[0], _judge_removed, ""),
    (names("git"), _removed_by_git, _judge_tree, ""),
    (names("chmod chown chgrp chattr setfacl"), _changed, _judge_changed, ""),
    (EDITORS, _operands, judge_written_file, ""),
    (names("sed perl ruby yq"), _edited, judge_written_file, " (?:-[a-zA-Z]*i|--in-place)"),
    (names("cp mv ln install rsync scp"), _copies, judge_written_file, ""),
    (names("dd"), _edited, judge_written_file, ""),
    (names("curl"), _option("o", "output"), judge_written_file, ""),
    (names("curl"), _option("none", "output-dir"), _judge_filled, ""),
    (OUTPUTS, _option("out|o", "output"), judge_written_file, ""),
    (names("wget"), _option("O|P", "output-document|directory-prefix"), judge_written_file, ""),
    (names("cp mv install rsync scp"), _filled, _judge_filled, ""),
    (TAR, _option("C", "directory", "."), _judge_filled, EXTRACTS),
    (TAR, _at_root, _judge_filled, EXTRACTS),
    (names("cpio"), _option("D", "directory", "."), _judge_filled, r" (?:-[a-zA-Z]*i|--extract)"),
    (names("7z 7za 7zr"), _option("o", "none", "."), _judge_filled, r"\A [xe] "),
    (names("dpkg dpkg-deb"), lambda call: [*call.words[-1:]], _judge_filled, " (?:-[xXR]|--.*ext)"),
    (names("unrar"), lambda call: [*call.words[-1:]], _judge_filled, r"\A [xe] .*/ \Z"),
    (names("stow"), _option("t", "target"), _judge_filled, ""),
    (names("unzip"), _option("d", "none", "."), _judge_filled, r"\A(?!.* -[a-zA-Z]*[lptvZ])"),
)
"""Programs, the files that they use, what happens to those, and an argument that it needs."""

# Secrets

SECRETS: Final = (
    "keys",
    "logins to clouds and registries",
    "histories, in which passwords end up",
    "the system's passwords",
)
LOGINS: Final = ("~/.claude/.credentials.json", "~/.codex/auth.json", "~/.factory/auth.json")
PUBLIC: Final = re.compile(r".*/\.ssh/(?:[^/\0]*\.pub|known_hosts|config|authorized_keys)")
NOT_READERS: Final = names(
    "echo printf ls stat test [ [[ file du mkdir chmod touch cd pushd export ssh sftp ssh-add"
    " ssh-keygen git which type rm local declare alias basename dirname realpath readlink find fd"
) | {""}
"""They print or look up names, or use a key without showing it."""


@lru_cache(maxsize=8)
def _secret_places(home: str, allow_rules: tuple[str, ...]) -> re.Pattern[str]:
    """Where keys and passwords are, without those that a person's rules allow."""
    found = [*LOGINS, *(place for group in SECRETS for place in HIDDEN[group])]
    for name, rule in BUILTIN_ALLOW_RULES.items():
        if name not in allow_rules:
            found += (*rule.read, *rule.write)
    full = [re.escape(each).replace(r"\~", any_home(home), 1) for each in found]
    return re.compile(f"(?:{'|'.join(full)})(?:/.*)?", re.DOTALL)


def judge_read_file(
    text: str, cwd: str | None, context: PolicyContext, allow_rules: tuple[str, ...]
) -> Deny | None:
    """Whether a word contains a path to keys or passwords: `-v HERE:THERE`, `-d@FILE`."""
    secrets = _secret_places(context.home, allow_rules)
    for part in {text, *re.split(r"[:,=@]|\A-[A-Za-z]", "" if re.search(r"\s", text) else text)}:
        # A pattern may match a home, or a file among keys.
        paths = [
            path for path in (resolve(part, cwd), resolve(split_pattern(part)[0], cwd)) if path
        ]
        if any(map(secrets.fullmatch, paths)) and not any(map(PUBLIC.fullmatch, paths)):
            return Deny(
                reason=f"`{Field(text).shown}` holds keys or passwords",
                suggestion="do without; a person allows what a task needs",
            )
    return None
