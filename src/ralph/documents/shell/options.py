"""Options of a shell: what `set -euo pipefail` and `bash -ec` switch on, and `+e` off."""

from collections.abc import Sequence
from typing import Final

from ralph.documents.shell.ways import State

NAMES: Final = {"errexit": "e", "nounset": "u", "noexec": "n", "errtrace": "E"}
LONG_VALUES: Final = frozenset({"--rcfile", "--init-file"})


class Options:
    """Read from the words behind a command's name."""

    def __init__(self) -> None:
        self.switches: dict[str, bool] = {}
        """Letters and long names, on or off."""
        self.is_unknown = False
        """Whether a word among them is known only as the shell runs."""

    def has(self, name: str) -> bool:
        """Whether it is switched on."""
        return self.switches.get(name, False)

    def take(self, words: Sequence[str | None]) -> list[str | None]:
        """Read the options; what stands behind them is left."""
        waiting = list(words)
        while waiting:
            word = waiting[0]
            if word is None:
                # Behind `-c` it is the script.
                self.is_unknown = not self.has("c")
                return waiting
            if word[:1] not in ("-", "+") or word == "+":
                return waiting
            waiting.pop(0)
            if word in ("-", "--"):
                return waiting
            if word.startswith("--"):
                self.switches[word[2:]] = True
                del waiting[: 1 if word in LONG_VALUES else 0]
                continue
            for letter in word[1:]:
                name: str | None = letter
                if letter in "oO":
                    name = waiting.pop(0) if waiting else ""
                if name is None:
                    self.is_unknown = True
                else:
                    self.switches[NAMES.get(name, name)] = word[0] == "-"
        return waiting


def switched(state: State, options: Options) -> State:
    """The state with these options."""
    switches = options.switches
    return state._replace(
        errexit=switches.get("e", state.errexit),
        nounset=switches.get("u", state.nounset),
        errtrace=switches.get("E", state.errtrace),
        noexec=switches.get("n", state.noexec),
        pipefail=switches.get("pipefail", state.pipefail),
        inherits=switches.get("posix", state.inherits),
    )
