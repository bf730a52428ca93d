"""What a command prints, where its words say so. Lists of files keep their folder."""

import re
from collections.abc import Sequence
from posixpath import dirname
from typing import Final

from ralph.core.policy.machine_rules import selects_all
from ralph.core.policy.words import ALL_FILES, NOTHING, SOME_FILE, UNKNOWN, Field, file_words, names

SILENT: Final = names(": true false cd set export mkdir sleep test")
LISTERS: Final = names("ls dir tree du stat file fd fdfind eza rg grep egrep fgrep ag ack")
"""Programs that print names of files in the folders that they are given."""
SEARCH_ALL: Final = names("locate plocate mlocate mdfind")
CONDITIONS: Final = re.compile(
    r"-i?(?:name|path|wholename|regex|lname)|-empty|-x?type|-[acm](?:time|min)|-[ac]?newer.*"
    r"|-size|-perm|-user|-group|-uid|-gid|-no(?:user|group)|-links|-inum|-samefile|-used"
)
"""Conditions of `find` that leave a part of a folder."""
OWN_STATE: Final = re.compile(r"(?:^|/)(\.git|\.ralph)(?:/|$)")
GIT_FOLDERS: Final = {
    "--show-toplevel": "",
    **dict.fromkeys(("--git-dir", "--absolute-git-dir", "--git-common-dir"), "/.git"),
}
ESCAPE: Final = re.compile(r"\\[abceEfnrtvxuU0-9\\]")
MOST_ITEMS: Final = 50


def printed_by_program(
    name: str, words: Sequence[Field], stdin: Field | None, cwd: str | None, checkout: str
) -> Field:
    """What it prints; UNKNOWN for what its words do not say."""
    texts = [word.one_match for word in words[1:]]
    operands = [text for text in texts if text[:1] != "-" and text != "/dev/stdin"]
    if name == "tee" or (name == "cat" and not operands):
        return stdin or Field(UNKNOWN)
    if name in SILENT:
        return NOTHING
    lines = _paths(name, texts, cwd, checkout) or listed_files(name, words)
    if lines:
        return Field("\n".join(lines) + "\n")
    match name, texts:
        case "echo", _:
            text = " ".join(texts)
            # Shells disagree about backslashes here, and about options.
            return Field(UNKNOWN if ESCAPE.search(text) or text[:1] == "-" else f"{text}\n")
        case "pgrep", _ if operands and selects_all(operands, texts):
            return Field("1\n")  # init is one of them
        case "printf", ["%s" | r"%s\n" | r"%s\0", *values]:
            return Field("\n".join(values))
        case "printf", [text, *_]:
            text = text.removesuffix("\\n")
            return Field(UNKNOWN if "%" in text or "\\" in text else f"{text}\n")
        case _:
            return _filtered(stdin) if stdin else Field(UNKNOWN)


def _filtered(stdin: Field) -> Field:
    """Of a list of files, some remain."""
    lines = {
        line.replace(ALL_FILES, f"/{UNKNOWN}")
        for line in stdin.text.splitlines()
        if UNKNOWN in line
    }
    return Field("".join(f"{line}\n" for line in sorted(lines)) or UNKNOWN)


def _paths(name: str, texts: Sequence[str], cwd: str | None, checkout: str) -> list[str]:
    """The path, or the name of a program, that a command prints."""
    last = texts[-1] if texts else ""
    match name, texts:
        case "pwd", _:
            return [cwd or SOME_FILE]
        case "dirname", [path] if UNKNOWN not in path:
            return [dirname(path.rstrip("/")) or "."]
        case "mktemp", _:
            return [f"{dirname(last) or '/tmp'}/{UNKNOWN}"]
        case "git", ["rev-parse", *_] if last in GIT_FOLDERS and checkout:
            return [checkout + GIT_FOLDERS[last]]
        case ("which", [program]) | ("command", ["-v", program]) | ("type", ["-p" | "-P", program]):
            # Wherever the program is, its name counts.
            return [program]
        case _:
            return []


def listed_files(name: str, words: Sequence[Field]) -> list[str]:
    """The files that a command lists, where their folders are named."""
    if name == "find":
        return [field.text for field in found_files(words)]
    if name in SEARCH_ALL:
        return [f"/{UNKNOWN}"]
    if name not in LISTERS:
        return []
    texts = [word.one_match for word in words[1:]]
    files = texts if "--files" in texts else file_words(name, texts)
    return [
        file if UNKNOWN in file else f"{file.rstrip('/')}/{UNKNOWN}"
        for file in files
        if file.startswith(("/", "../")) or file == ".."
    ]


def found_files(words: Sequence[Field]) -> list[Field]:
    """What `find` finds: all files below its folders, or what its conditions leave of them."""
    texts = [word.text for word in words]
    folders: list[str] = []
    for text in texts[1:]:
        if text[:1] in ("-", "(", "!", ")") and not re.match("-[LHPEO]", text):
            break
        if text[:1] != "-":
            folders.append(SOME_FILE if text == UNKNOWN else text.rstrip("/"))
    folders = folders[:MOST_ITEMS] or ["."]
    values = [
        after
        for before, text, after in zip(["", *texts], texts, [*texts[1:], ""], strict=False)
        if CONDITIONS.fullmatch(text)
        and before not in ("!", "-not")
        and not (text == "-type" and set(after) <= set("fd,"))
    ]
    if not values:
        return [Field(folder + ALL_FILES) for folder in folders]
    own = {found[1] for value in values if (found := OWN_STATE.search(value))}
    kept = own if "-prune" not in texts else set()
    return [Field(f"{folder}/{name}") for name in (*kept, UNKNOWN) for folder in folders]
