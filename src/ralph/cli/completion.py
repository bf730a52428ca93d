"""Print a script that completes commands, options and task ids.

bash: add `eval "$(ralph completion bash)"` to ~/.bashrc
zsh: ralph completion zsh > "${fpath[1]}/_ralph", then start a new shell
fish: ralph completion fish > ~/.config/fish/completions/ralph.fish
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
eval "$(ralph completion bash)"
ralph completion zsh > ~/.zfunc/_ralph
ralph completion fish > ~/.config/fish/completions/ralph.fish
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=["bash", "zsh", "fish"], help="which one")


def run(args: Namespace) -> int:
    from ralph.cli import completion_scripts as scripts
    from ralph.cli.completion_table import entries

    write = {"bash": scripts.bash, "zsh": scripts.zsh, "fish": scripts.fish}[args.shell]
    print(write(entries()), end="")
    return 0
