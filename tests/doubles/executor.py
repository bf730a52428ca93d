"""An executor that plays functions, and the plays that tests are made of."""

from collections.abc import Callable, Sequence

from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.ports.executor import Command, CommandOutput, OutputListener, Timeouts
from tests.doubles.clock import FrozenClock

Play = Callable[[Command, OutputListener], ProcessExit]
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
        self.passing_when_empty: set[str] = set()
        """Gates that pass in an empty checkout, by their command."""
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
        listener: OutputListener,
        line_limit: int = 64 * 1024,
    ) -> ProcessExit:
        """A gate by its command, anything else by the next session of the script."""
        del log, timeouts, line_limit
        if "empty-checkout" in command.argv:
            return exits(0 if command.argv[-1] in self.passing_when_empty else 1)(command, listener)
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
        command: Command,
        *,
        timeout_s: float = 120.0,
        tick: Callable[[], bool] | None = None,
    ) -> CommandOutput:
        """Nothing here needs git."""
        raise NotImplementedError

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        """Time passes at once."""
        del why
        self.sleep(seconds, is_over)

    def watch(self, fd: int, ready: Callable[[], None], *, writing: bool = False) -> None:
        """Nothing is ever ready to read."""

    def unwatch(self, fd: int) -> None:
        """Nothing is ever ready to read."""

    def sleep(self, seconds: float, tick: Callable[[], bool]) -> None:
        """Time passes at once."""
        if self.meanwhile is not None:
            self.meanwhile()
        if not tick():
            self.slept.append(seconds)
            self.clock.advance(seconds)

    def end_marked(self, marker: str) -> int:
        """Remember whom it was asked to end."""
        self.swept.append(marker)
        return 0

    def run_interactive(self, command: Command) -> int:
        """Whatever the person and the program do together."""
        assert self.conversations, "the script has no conversation left"
        self.talked.append(command)
        return self.conversations.pop(0)(command)

    def start_detached(self, argv: Sequence[str], *, cwd: str = "/", stdin: bytes = b"") -> None:
        """Remember it."""
        del cwd, stdin
        self.sent.append(tuple(argv))


def exits(code: int) -> Play:
    """A gate that says nothing and exits."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        del command
        stop = listener.tick()
        return ProcessExit(code=-15 if stop else code, stop=stop)

    return play


def says(text: str, *, code: int = 0, does: Callable[[], object] | None = None) -> Play:
    """A session that may do something, says something and exits."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        if does is not None:
            does()
        said = text.replace("TASK", command.env.get("RALPH_TASK_ID", ""))
        listener.output(said.encode())
        stop = listener.tick()
        return ProcessExit(code=code, stop=stop, duration_s=1.0)

    return play


def is_stopped(stop: EndingKind) -> Play:
    """A session that Ralph itself ends."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        del command, listener
        return ProcessExit(code=0, stop=stop)

    return play
