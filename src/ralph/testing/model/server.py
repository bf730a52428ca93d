"""A scripted model for tests of agents: no account, no cost, no network beyond this machine."""

from typing import Self

from ralph.testing.model.handler import Listener
from ralph.testing.model.ledger import Ledger


class ModelServer(Ledger):
    """Speaks Anthropic Messages, OpenAI Responses and OpenAI chat completions.

    A request gets the turn that follows after as many tool results as it holds, in the scenario
    that its conversation names with `[[scenario:NAME]]`, or in `default`.
    """

    def __init__(self, *, remember: int = 1000) -> None:
        super().__init__(remember=remember)
        self._listener = Listener(self)

    @property
    def url(self) -> str:
        """Where it listens, without `/v1`."""
        return f"http://127.0.0.1:{self._listener.port}"

    def __enter__(self) -> Self:
        self._listener.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._listener.__exit__()
