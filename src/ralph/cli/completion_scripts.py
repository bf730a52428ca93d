"""Completion scripts, written from the table of what can be completed.

Each finds the longest run of words that names a command, then offers what may follow it. Names of
tasks and features come from `ralph task ids`, which is quick and never complains.
"""

from collections.abc import Sequence
from shlex import quote

from ralph.cli.completion_table import NAMES, Entry, Option


def bash(entries: Sequence[Entry]) -> str:
    """For bash 3.2 and later: macOS has no newer one."""
    cases = []
    for entry in entries:
        words = " ".join((*entry.below, *entry.choices))
        flags = " ".join(flag for option in entry.options for flag in option.flags)
        cases.append(
            f"        {quote(entry.name)}) words={quote(words)} options={quote(flags)}"
            f" names={entry.names} ;;"
        )
    known = "|".join(quote(entry.name) for entry in entries if entry.name)
    return f"""\
# bash completion for ralph; add to ~/.bashrc: eval "$(ralph completion bash)"
_ralph_ids() {{
    ralph task ids --of "$1" -- "$2" 2>/dev/null | cut -f1
}}
_ralph() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    local name='' words='' options='' names='' longer i
    for ((i = 1; i < COMP_CWORD; i++)); do
        longer="${{name:+$name }}${{COMP_WORDS[i]}}"
        case "$longer" in
            {known}) name=$longer ;;
        esac
    done
    case "$name" in
{chr(10).join(cases)}
    esac
    case "$before" in
{chr(10).join(_bash_values(entries))}
    esac
    case "$current" in
        -*) words=$options names='' ;;
    esac
    if [ -n "$names" ]; then
        words="$words $(_ralph_ids "$names" "$current")"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _ralph ralph
"""


def _bash_values(entries: Sequence[Entry]) -> list[str]:
    """What to offer for the value of an option."""
    lines = []
    for option in _valued(entries):
        pattern = "|".join(option.flags)
        if option.takes in NAMES:
            names = NAMES[option.takes]
            lines.append(f"        {pattern}) words='' options='' names={names} ;;")
        elif option.choices:
            choices = quote(" ".join(option.choices))
            lines.append(f"        {pattern}) words={choices} options='' names='' ;;")
        else:
            lines.append(f"        {pattern}) return ;;")
    return lines


def zsh(entries: Sequence[Entry]) -> str:
    """For zsh, with descriptions."""
    cases = []
    summaries = {entry.name: entry.summary for entry in entries}
    for entry in entries:
        words = [
            _described(word, summaries.get(f"{entry.name} {word}".strip(), ""))
            for word in (*entry.below, *entry.choices)
        ]
        options = [
            _described(flag, option.help) for option in entry.options for flag in option.flags
        ]
        cases.append(
            f"        {quote(entry.name)}) follow=({' '.join(words)}) options=({' '.join(options)})"
            f" names={entry.names} ;;"
        )
    known = "|".join(quote(entry.name) for entry in entries if entry.name)
    return f"""\
#compdef ralph
# zsh completion for ralph; install: ralph completion zsh > "${{fpath[1]}}/_ralph"
_ralph_ids() {{
    local -a ids
    ids=(${{(f)"$(ralph task ids --of "$1" -- "$PREFIX" 2>/dev/null |
        sed 's/:/\\\\:/g; s/\t/:/')"}})
    _describe "$1" ids
}}
_ralph() {{
    local name='' names='' longer i
    local -a words_before options choices
    words_before=("${{(@)words[2,CURRENT-1]}}")
    local before=${{words[CURRENT-1]}}
    for i in "${{words_before[@]}}"; do
        longer="${{name:+$name }}$i"
        case "$longer" in
            {known}) name=$longer ;;
        esac
    done
    local -a follow
    case "$name" in
{chr(10).join(cases)}
    esac
    case "$before" in
{chr(10).join(_zsh_values(entries))}
    esac
    if [[ $PREFIX == -* ]]; then
        _describe option options
        return
    fi
    (( ${{#follow}} )) && _describe command follow
    [[ -n $names ]] && _ralph_ids $names
    [[ -z $names && ${{#follow}} -eq 0 ]] && _files
}}
if [ "$funcstack[1]" = _ralph ]; then
    _ralph "$@"
else
    compdef _ralph ralph
fi
"""


def _zsh_values(entries: Sequence[Entry]) -> list[str]:
    lines = []
    for option in _valued(entries):
        pattern = "|".join(option.flags)
        if option.takes in NAMES:
            lines.append(f"        {pattern}) _ralph_ids {NAMES[option.takes]}; return ;;")
        elif option.choices:
            choices = " ".join(map(quote, option.choices))
            lines.append(
                f"        {pattern}) choices=({choices}); _describe value choices; return ;;"
            )
        else:
            lines.append(f"        {pattern}) _files; return ;;")
    return lines


def _described(word: str, text: str) -> str:
    return quote(f"{word}:{text}" if text else word)


def fish(entries: Sequence[Entry]) -> str:
    """For fish, with descriptions."""
    known = " ".join(quote(entry.name) for entry in entries if entry.name)
    lines = [
        "# fish completion for ralph; install:",
        "#   ralph completion fish > ~/.config/fish/completions/ralph.fish",
        "function __ralph_at",
        "    set -l name ''",
        "    for word in (commandline -opc)[2..-1]",
        '        set -l longer (string trim "$name $word")',
        f"        contains -- $longer {known}; and set name $longer",
        "    end",
        '    test "$name" = "$argv[1]"',
        "end",
        "function __ralph_ids",
        "    ralph task ids --of $argv[1] -- (commandline -ct) 2>/dev/null",
        "end",
    ]
    summaries = {entry.name: entry.summary for entry in entries}
    for entry in entries:
        here = f"complete -c ralph -n {quote(f'__ralph_at {quote(entry.name)}')}"
        for word in (*entry.below, *entry.choices):
            text = summaries.get(f"{entry.name} {word}".strip(), "")
            lines.append(f"{here} -f -a {word}" + (f" -d {quote(text)}" if text else ""))
        if entry.names:
            lines.append(f"{here} -f -a '(__ralph_ids {entry.names})'")
        lines += [f"{here} {_fish_option(option)}" for option in entry.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    ]
    if option.takes in NAMES:
        parts.append(f"-x -a '(__ralph_ids {NAMES[option.takes]})'")
    elif option.choices:
        parts.append(f"-x -a {quote(' '.join(option.choices))}")
    elif option.takes:
        parts.append("-r")
    return " ".join([*parts, f"-d {quote(option.help)}"])


def _valued(entries: Sequence[Entry]) -> list[Option]:
    """Options that take a value, once each: they mean the same in every command."""
    found = {option.flags: option for entry in entries for option in entry.options if option.takes}
    return list(found.values())
