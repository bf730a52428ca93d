"""An executor that plays functions, and the plays that tests are made of."""

from collections.abc import Callable, Mapping, Sequence

from ralph.core.ending import Exit, Stop
from ralph.ports.executor import Captured, Command, Listener, Timeouts
from ralph.testing.clock import FrozenClock

Play = Callable[[Command, Listener], Exit]
"""What a process does: speak to its listener, and exit."""


class FakeExecutor:
    """Plays functions instead of starting processes; sleeping only moves the clock."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock = clock
        self.sessions: list[Play] = []
        self.otherwise: Play | None = None
        """What sessions do when the script has none left."""
        self.gates: dict[str, list[int | Play]] = {}
        """What gates do, by their command, in order; the last one repeats."""
        self.slept: list[float] = []
        self.meanwhile: Callable[[], object] | None = None
        """What happens while a run sleeps."""
        self.swept: list[str] = []
        self.sent: list[tuple[str, ...]] = []
        """Programs that were started and let go."""
        self.conversations: list[Callable[[Command], int]] = []
        self.talked: list[Command] = []
        """Programs that had the terminal."""

    def run(
        self,
        command: Command,
        *,
        log: str,
        timeouts: Timeouts,
        listener: Listener,
        line_limit: int = 64 * 1024,
    ) -> Exit:
        """A gate by its command, anything else by the next session of the script."""
        del log, timeouts, line_limit
        gate = self.gates.get(command.argv[-1])
        if gate is not None:
            does = gate.pop(0) if len(gate) > 1 else gate[0]
            return (
                exits(does)(command, listener) if isinstance(does, int) else does(command, listener)
            )
        session = self.sessions.pop(0) if self.sessions else self.otherwise
        assert session is not None, "the script has no session left"
        return session(command, listener)

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        """Nothing here needs git."""
        raise NotImplementedError

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """Time passes at once."""
        del why
        self.sleep(seconds, is_over)

    def watch(self, fd: int, ready: Callable[[], None], *, writing: bool = False) -> None:
        """Nobody knocks."""

    def unwatch(self, fd: int) -> None:
        """Nobody knocks."""

    def sleep(self, seconds: float, tick: Callable[[], bool]) -> None:
        """Time passes at once."""
        if self.meanwhile is not None:
            self.meanwhile()
        if not tick():
            self.slept.append(seconds)
            self.clock.advance(seconds)

    def sweep(self, marker: str) -> int:
        """Remember whom it was asked to end."""
        self.swept.append(marker)
        return 0

    def converse(self, command: Command) -> int:
        """Whatever the person and the program do together."""
        assert self.conversations, "the script has no conversation left"
        self.talked.append(command)
        return self.conversations.pop(0)(command)

    def send(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        """Remember it."""
        del cwd, stdin
        self.sent.append(tuple(argv))


def exits(code: int) -> Play:
    """A gate that says nothing and exits."""

    def play(command: Command, listener: Listener) -> Exit:
        del command
        stop = listener.tick()
        return Exit(code=-15 if stop else code, stop=stop)

    return play


def says(text: str, *, code: int = 0, does: Callable[[], object] | None = None) -> Play:
    """A session that may do something, says something and exits."""

    def play(command: Command, listener: Listener) -> Exit:
        if does is not None:
            does()
        said = text.replace("TASK", command.env["RALPH_TASK_ID"])
        listener.output(said.encode())
        stop = listener.tick()
        return Exit(code=code, stop=stop, duration_s=1.0)

    return play


def is_stopped(stop: Stop) -> Play:
    """A session that Ralph itself ends."""

    def play(command: Command, listener: Listener) -> Exit:
        del command, listener
        return Exit(code=0, stop=stop)

    return play
