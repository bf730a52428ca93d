"""Print a script that completes commands, options and task ids.

bash: add `eval "$(ralph completion bash)"` to ~/.bashrc
zsh: ralph completion zsh > "${fpath[1]}/_ralph", then start a new shell
fish: ralph completion fish > ~/.config/fish/completions/ralph.fish

examples:
  eval "$(ralph completion bash)"
  ralph completion zsh > ~/.zfunc/_ralph
  ralph completion fish > ~/.config/fish/completions/ralph.fish
"""

from argparse import Action, Namespace
from collections.abc import Iterator
from contextlib import suppress

from ralph.cli.command import command, option
from ralph.cli.commands import COMMANDS, GROUPS, groups, listed, load, summary

NAMES = {
    **dict.fromkeys(("TASK", "BLOCKER", "BLOCKED", "TASK|RUN"), "tasks"),
    "FEATURE": "features",
    "TARGET": "tasks and features",
}
"""The arguments that name something in the store."""

SCRIPTS = {
    "bash": """\
_ralph() {
    local word line
    COMPREPLY=()
    while IFS=$'\\t' read -r word line; do
        COMPREPLY+=("$word")
    done < <(ralph complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _ralph ralph
""",
    "zsh": """\
#compdef ralph
_ralph() {
    local -a offers
    offers=(${(f)"$(ralph complete -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null |
        sed 's/:/\\\\:/g; s/\t/:/')"})
    if (( ${#offers} )); then _describe ralph offers; else _files; fi
}
if [ "$funcstack[1]" = _ralph ]; then _ralph "$@"; else compdef _ralph ralph; fi
""",
    "fish": """\
function __ralph_offers
    set -l before (commandline -opc)
    set -l offers (ralph complete -- $before[2..-1] (commandline -ct) 2>/dev/null)
    if test -n "$offers"
        printf '%s\\n' $offers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c ralph -f -a '(__ralph_offers)'
""",
}
LOOKED_AT = 5000
MOST = 200
"""Names in one menu."""

FEW = 20
"""Commands that get a summary."""

Offers = Iterator[tuple[str, str]]
"""Words, and what each is."""


@command(option("shell", "SHELL", "which one", choices=list(SCRIPTS)))
def completion(args: Namespace) -> None:
    print(SCRIPTS[args.shell], end="")


@command(option("words", "WORD", "the words typed after `ralph`, the last unfinished", nargs="*"))
def complete(args: Namespace) -> None:
    """Print what may follow on a command line, for the scripts of `ralph completion`.

    examples:
      ralph complete -- task add --pri
    """
    from ralph.core.safe_text import one_line

    *before, begun = args.words or [""]
    for word, about in _offers(before, begun):
        if word.startswith(begun):
            print(f"{one_line(word)}\t{one_line(about, 60)}")


def _offers(before: list[str], begun: str) -> Offers:
    from ralph.cli.parser import build

    known, name = {*listed(), *groups()}, ""
    for word in before:
        name = longer if (longer := f"{name} {word}".lstrip()) in known else name
    if name not in COMMANDS:
        start = f"{name} {begun}".lstrip()
        offered = [one for one in (*listed(), *groups()) if one.rpartition(" ")[0] == name]
        offered = [one for one in offered if one.startswith(start)]
        for one in offered:
            # A summary costs the import of its command, and all of them half a second.
            about = GROUPS.get(one) or (summary(one) if len(offered) <= FEW else "")
            yield one.rpartition(" ")[2], about
        return
    actions = build(name, load(name))._actions  # argparse has no other way
    for action in actions:
        if before[-1] in action.option_strings and action.nargs != 0:
            yield from _values(action, begun)
            return
    if begun.startswith("-"):
        for action in actions:
            yield from ((word, action.help or "") for word in action.option_strings)
    else:
        arguments = (_values(action, begun) for action in actions if not action.option_strings)
        yield from next(filter(None, map(list, arguments)), [])


def _values(action: Action, begun: str) -> Offers:
    metavar = str(action.metavar or action.dest).upper()
    if metavar == "AGENT":
        return _agents()
    if metavar in NAMES:
        return _names(NAMES[metavar], begun)
    return ((str(choice), "") for choice in action.choices or ())


def _agents() -> Offers:
    from ralph.core.errors import RalphError
    from ralph.wiring.agents import known_agents
    from ralph.wiring.project import find_project

    names = set(known_agents())
    with suppress(RalphError):
        names |= set(find_project(anywhere=True).own_agents)
    return ((name, "") for name in sorted(names))


def _names(kinds: str, begun: str) -> Offers:
    from ralph.core.errors import RalphError
    from ralph.store.tasks import TaskFilter
    from ralph.wiring.project import find_project, open_store

    found: list[tuple[str, str]] = []
    # Outside a project there is nothing to complete, and a shell wants no error.
    with suppress(RalphError), open_store(find_project()) as store:
        if "features" in kinds:
            found += [(feature.name, feature.status.value) for feature in store.features.all()]
        if "tasks" in kinds:
            for task in store.tasks.select(TaskFilter(limit=LOOKED_AT)):
                found += [(name, task.title) for name in (task.id, task.alias) if name]
    yield from [one for one in found if one[0].startswith(begun)][:MOST]
