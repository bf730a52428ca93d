"""What people call a task: a story by its own id, such as `US-001`."""

from typing import Final

from ralph.core.ids import TaskId

REMEMBERED: Final = 1000


class Names:
    """Learned from events; whoever was not named yet is called by the id."""

    def __init__(self) -> None:
        self._aliases: dict[str, str] = {}

    def learn(self, task: TaskId, alias: str | None) -> None:
        """The newest are remembered."""
        if alias:
            self._aliases.pop(task, None)
            self._aliases[task] = alias
        if len(self._aliases) > REMEMBERED:
            del self._aliases[next(iter(self._aliases))]

    def of(self, task: str) -> str:
        """The alias, where there is one."""
        return self._aliases.get(task, task)
