"""Whether the small programs that people hand to `sed` and `awk` only look."""

import re
from collections.abc import Sequence
from typing import Final

from ralph.core.policy.known import UNKNOWN

# sed: addresses, then one letter, then what belongs to it

BETWEEN: Final = re.compile(r"[\s;}]+")
ADDRESS: Final = re.compile(
    rf"[\d$,+~!\s{UNKNOWN}]+|/(?:\\.|[^/\\\n])*/[IM]*|\\(.).*?\1[IM]*", re.S
)
ALONE: Final = re.compile(r"[={dDgGhHnNpPxFz]|[lqQL]\s*\d*")
TO_END: Final = re.compile(r"[aicrR](?:[^\n\\]|\\.)*|#[^\n]*|[:btTv][^\n;}]*", re.S)
SWAPPED: Final = re.compile(r"y(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1", re.S)
REPLACED: Final = re.compile(r"s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1([a-zA-Z0-9]*)", re.S)

PARTS: Final = (BETWEEN, ADDRESS, ALONE, TO_END, SWAPPED, REPLACED)


def sed_looks(words: Sequence[str]) -> bool:
    """Whether nothing is written or run but what goes to stdout."""
    scripts: list[str] = []
    rest: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if found := re.fullmatch(r"-[nErszu]*e(.*)|--expression=(.*)", word, re.S):
            script = found[1] or found[2]
            scripts += [script] if script else words[at : at + 1]
            at += 0 if script else 1
        elif word.startswith("-") and word != "-":
            if not re.fullmatch(r"-[nErszu]+|--[a-hj-z][\w-]*", word) or word.startswith("--fi"):
                return False
        else:
            rest.append(word)
    return all(_looks(script) for script in scripts or rest[:1])


def _looks(script: str) -> bool:
    at = 0
    while at < len(script):
        found = next(filter(None, (part.match(script, at) for part in PARTS)), None)
        if found is None or (found.re is REPLACED and set(found[2]) & set("ew")):
            return False  # `w`, `W`, `e`, or nothing that anybody knows
        at = found.end()
    return True


# awk: what is neither text nor pattern

LONGEST: Final = 10_000
"""What is longer is no small program."""
TEXTS: Final = re.compile(r'"(?:\\.|[^"\\\n])*"')
PATTERN: Final = re.compile(r"((?:^|[({;,!~&|\n])\s*)/(?:\\.|\[[^\]\n]*\]|[^/\\\n])+/")
INNER: Final = re.compile(r"\([^()]*\)")
PRINTS: Final = re.compile(r"\bprintf?\b[^;}\n]*")
CALLS: Final = re.compile(r"\bsystem\b|@|(?<!\|)\|(?!\|)")


def awk_looks(words: Sequence[str]) -> bool:
    """Whether it neither starts anything nor prints into a file."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        option = words[at]
        if not re.match(r"-[Fv]|--(?:field-sep|assign|re-|posix|trad|csv)|-[cP]$", option):
            return False
        at += 2 if option in ("-F", "-v", "--assign", "--field-separator") else 1
    at += at < len(words) and words[at] == "--"
    given = words[at] if at < len(words) else ""
    program = PATTERN.sub(r"\1//", TEXTS.sub('""', given))
    if len(given) > LONGEST or CALLS.search(program):
        return False
    while INNER.search(program):
        # In brackets it compares.
        program = INNER.sub("", program)
    return not any(">" in found.group() for found in PRINTS.finditer(program))
