"""What nobody wants to happen while they sleep, whatever the settings say."""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import Final

from ralph.core.policy.decision import Deny, Doubt, Ground
from ralph.core.policy.finding import found_files
from ralph.core.policy.git_words import git_call
from ralph.core.policy.known import ALL, UNKNOWN, Field
from ralph.core.policy.places import (
    TEMPORARY,
    in_checkout,
    is_own,
    is_spare,
    is_within,
    parted,
    resolved,
    without_glob,
)
from ralph.core.policy.walking import Call
from ralph.core.policy.written_files import judge_written

OWN_STATE: Final = (".git", ".ralph")
MAYBE_EMPTY: Final = re.compile(rf"\A{UNKNOWN}+(?=/)")


def judge_destruction(call: Call, ground: Ground) -> Deny | Doubt | None:
    """What the command would destroy, if anything."""
    judge = JUDGES.get(call.name)
    return judge(call, ground) if judge is not None else None


def _rm(call: Call, ground: Ground) -> Deny | Doubt | None:
    options, targets = parted(call.words[1:])
    is_deep = any(re.match(r"-[a-zA-Z]*[rR]|--rec|--no-pres", option) for option in options)
    return _first(
        _removal(target, call.cwd, ground)
        if is_deep or (_is_many(target) and not _is_own_state(target, call.cwd, ground))
        else _file(target, call.cwd, ground)
        for target in targets
    )


def _is_many(target: Field) -> bool:
    return target.glob or not target.known


def _is_own_state(target: Field, cwd: str | None, ground: Ground) -> bool:
    path = resolved(without_glob(target.text)[0], cwd) or ""
    return any(is_within(path, own) for own in _own_state(ground))


def _file(target: Field, cwd: str | None, ground: Ground) -> Deny | None:
    """In the checkout each file may go that is named, `.git/index.lock` among them."""
    if in_checkout(resolved(target.text, cwd) or "", ground):
        return None
    return judge_written(target.text, cwd, ground)


def _own_state(ground: Ground) -> list[str]:
    return [f"{ground.checkout}/{name}" for name in OWN_STATE]


def _removal(target: Field, cwd: str | None, ground: Ground) -> Deny | Doubt | None:
    # `"$UNSET/"` is the root, as long as nobody says that the variable has a value.
    text = MAYBE_EMPTY.sub("", target.text)
    folder, takes_all = without_glob(text) if target.glob else (text, False)
    if text.endswith(ALL) and not target.glob:
        folder, takes_all = text.removesuffix(ALL) or "/", True
    path = resolved(folder, cwd)
    is_part = (target.glob and not takes_all) or UNKNOWN in (path or "")
    shown = target.shown
    if text != target.text and (is_part or path != "/"):
        return Doubt(reason=f"`{shown}` may begin at the root")
    if path is None:
        unclear = cwd is None and (takes_all or normpath(text) == ".")
        return Doubt(reason=f"where `{shown}` is removed is not known") if unclear else None
    path = _known_folder(path)
    if any(is_within(path, own) for own in _own_state(ground)) or (
        target.glob and path == ground.checkout and _takes_own_state(text)
    ):
        return Deny(
            reason=f"removing `{shown}` would lose what git and Ralph have kept",
            suggestion="remove files of the project only",
        )
    if _may_go(path, target, cwd, ground) or (is_part and path in TEMPORARY):
        if path == ground.checkout and not is_part:
            return Deny(
                reason=f"removing `{shown}` would remove the whole checkout",
                suggestion="name what is to be removed",
            )
        return None
    return Deny(
        reason=f"`{shown}` is outside the checkout, and this removes all that is in it",
        suggestion="remove files of the project only; a temporary folder below /tmp is fine",
    )


def _may_go(path: str, target: Field, cwd: str | None, ground: Ground) -> bool:
    """In the checkout, or in a temporary folder that has nothing to do with it."""
    if in_checkout(path, ground):
        return True
    climbs = not target.text.startswith("/") and is_within(cwd or "", ground.checkout)
    beside = ground.checkout.rpartition("/")[0]
    neighbour = beside not in TEMPORARY and is_within(path, beside)
    return is_spare(path, ground) and not (climbs or neighbour or is_within(ground.checkout, path))


def _known_folder(path: str) -> str:
    """The deepest folder of the path that is known."""
    if UNKNOWN not in path:
        return path
    return path[: path.index(UNKNOWN)].rpartition("/")[0] or "/"


def _takes_own_state(pattern: str) -> bool:
    """`.g*`, `.??*`, `.[!.]*`: the dot stands there in letters, or it does not count."""
    part = next((part for part in pattern.split("/") if re.search(r"[*?\[]", part)), "")
    plain = part.replace("[^", "[!")
    return part.startswith(".") and any(fnmatchcase(name, plain) for name in OWN_STATE)


def _find(call: Call, ground: Ground) -> Deny | Doubt | None:
    if "-delete" not in [word.text for word in call.words]:
        return None
    return _first(_removal(Field(each), call.cwd, ground) for each in found_files(call.words))


def _rsync(call: Call, ground: Ground) -> Deny | Doubt | None:
    """`--delete`: what is not in the source goes."""
    options, words = parted(call.words[1:])
    if not words or not any(option.startswith("--del") for option in options):
        return None
    is_elsewhere = ":" in words[-1].text
    return None if is_elsewhere else _removal(words[-1], call.cwd, ground)


def _chmod(call: Call, ground: Ground) -> Deny | None:
    options, words = parted(call.words[1:])
    is_deep = any(re.match(r"-[a-zA-Z]*R|--rec", option) for option in options)
    for word in words if any("--reference" in option for option in options) else words[1:]:
        path = resolved(without_glob(MAYBE_EMPTY.sub("", word.text))[0], call.cwd)
        if path is None or not (is_deep or _is_many(word)):
            continue
        if not is_own(_known_folder(path), ground):
            return Deny(
                reason=f"this changes all files in `{word.shown}`, which is outside the checkout",
                suggestion="change files of the project only",
            )
    return None


def _mv(call: Call, ground: Ground) -> Deny | Doubt | None:
    """What is moved away is gone from where it was."""
    _, words = parted(call.words[1:])
    precious = {"/", ground.home, ground.checkout, *_own_state(ground)}
    gone = [
        word for word in words[:-1] if _is_many(word) or resolved(word.text, call.cwd) in precious
    ]
    return _first(_removal(word, call.cwd, ground) for word in gone)


def _git(call: Call, ground: Ground) -> Deny | Doubt | None:
    """`git rm -r .`"""
    git = git_call(call.words)
    options, targets = parted(git.arguments)
    if git.subcommand != "rm" or {"--cached", "-n", "--dry-run"} & set(options):
        return None
    # A path may be a pattern for git, too, and begin at the top.
    paths = [re.sub(r"\A:(?:/|\(\w*\))?", "./", target.text) for target in targets]
    return _first(_removal(Field(path, glob="*" in path), call.cwd, ground) for path in paths)


def _first(verdicts: Iterable[Deny | Doubt | None]) -> Deny | Doubt | None:
    """The first refusal; a doubt when there is none."""
    found = [verdict for verdict in verdicts if verdict is not None]
    return next((each for each in found if isinstance(each, Deny)), found[0] if found else None)


JUDGES: Final[dict[str, Callable[[Call, Ground], Deny | Doubt | None]]] = {
    **dict.fromkeys(("rm", "shred", "unlink", "truncate"), _rm),
    "find": _find,
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "setfacl"), _chmod),
    "mv": _mv,
    "rsync": _rsync,
    "git": _git,
}
