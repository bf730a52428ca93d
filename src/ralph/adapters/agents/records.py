"""What probes have found out, kept for the person rather than for one project."""

import os
from collections.abc import Mapping

import msgspec

from ralph.core.capability import Capability
from ralph.core.errors import CannotWrite
from ralph.core.json_text import NOT_JSON
from ralph.files import read_regular, write_regular


class Records:
    """One JSON file for each agent, in the folder for state of the person's system."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        home = environ.get("HOME") or os.path.expanduser("~")
        state = environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
        self._folder = os.path.join(state, "ralph", "agents")

    def read(self, agent: str) -> Capability | None:
        """The last record, or None; one that cannot be read is as good as none."""
        try:
            return msgspec.json.decode(read_regular(self._path(agent)), type=Capability)
        except (OSError, *NOT_JSON):
            return None

    def write(self, record: Capability) -> None:
        """Keep it instead of the one before."""
        path = self._path(record.agent)
        draft = f"{path}.{os.getpid()}"
        try:
            os.makedirs(self._folder, exist_ok=True)
            write_regular(draft, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
            os.replace(draft, path)
        except OSError as error:
            raise CannotWrite(f"cannot write {path}: {error.strerror}") from error

    def _path(self, agent: str) -> str:
        return os.path.join(self._folder, f"{agent}.json")
