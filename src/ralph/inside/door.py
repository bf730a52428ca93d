"""The door: a local socket on which the running loop answers `ralph` commands of its session."""

import contextlib
import hmac
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ralph.core.errors import CannotWrite, RalphError, UsageError
from ralph.core.events import ToolCalled
from ralph.core.ids import FeatureId, TaskId
from ralph.core.policy.leash import Leash
from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.core.transitions import Blocked, Transition
from ralph.inside import hooks
from ralph.inside.knock import LONGEST
from ralph.inside.tools import ADD_TASK, BY_NAME, Caller, perform
from ralph.ports.calls import (
    ADDITIONS,
    CLAIMS,
    HOOK,
    LESSONS,
    READS,
    TOOL,
    Answer,
    Call,
    Hooked,
    Used,
    arguments,
)
from ralph.ports.claims import Claim
from ralph.ports.executor import Executor
from ralph.ports.history import Session
from ralph.ports.library import Lessons
from ralph.ports.store import Store

BACKLOG: Final = 1024
LONGEST_FOLDER: Final = 80
PREFIX: Final = "ralph-"
ANSWER_SECONDS: Final = 5.0
"""A caller that does not take its answer must not hold up the loop."""
NOT_A_CALL: Final = (
    *(msgspec.MsgspecError, TypeError, KeyError),
    # Bytes that are no text, brackets without end, numbers that fit into no database.
    *(UnicodeDecodeError, RecursionError, OverflowError),
)
"""What comes of a line that nobody can make sense of. Whoever sends it must not end the loop."""


class SocketDoor:
    """Serves one session at a time, from the loop's own thread."""

    def __init__(self, store: Store, executor: Executor, lessons: Lessons) -> None:
        self.store = store
        self.lessons = lessons
        self.executor = executor
        self.directory = _folder()
        self.path = os.path.join(self.directory, "door")
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Named when it listens: a door behind which nobody listens is taken for a dead one.
        unnamed = f"{self.path}~"
        self.server.bind(unnamed)
        self.server.listen(BACKLOG)
        os.rename(unnamed, self.path)
        self.server.settimeout(0)
        executor.watch(self.server.fileno(), self._welcome)
        self.added = 0
        self.tasks: list[TaskId] = []
        """What sessions have added for the run."""
        self.home: FeatureId | None = None
        self.leash = Leash()
        self.token = ""
        self.words = ""
        """What the session has not heard yet."""
        self.is_to_end = False
        self.session: Session | None = None
        self.claim: Claim | None = None
        self.guests: dict[int, tuple[socket.socket, bytearray]] = {}

    def open_for(
        self, session: Session, claim: Claim, leash: Leash, home: FeatureId | None = None
    ) -> Mapping[str, str]:
        """A fresh token for each session."""
        self.leash, self.home = leash, home
        self.token, self.session, self.claim = secrets.token_hex(16), session, claim
        self.added = 0
        self.words, self.is_to_end = "", False
        return {"RALPH_SOCKET": self.path, "RALPH_TOKEN": self.token}

    def tell(self, words: str) -> None:
        """It is heard with the next use of a tool."""
        self.words, self.is_to_end = words, True

    def shut(self) -> None:
        """No token is good any more."""
        self.token, self.session, self.claim = "", None, None
        for fd in list(self.guests):
            self._see_off(fd)

    def close(self) -> None:
        """Take the door away."""
        self.shut()
        self.executor.unwatch(self.server.fileno())
        self.server.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _welcome(self) -> None:
        # All who wait, not one at a time: an agent may use many tools at once.
        with contextlib.suppress(BlockingIOError):
            while True:
                guest, _ = self.server.accept()
                guest.settimeout(0)
                self._seat(guest)

    def _seat(self, guest: socket.socket) -> None:
        fd = guest.fileno()
        self.guests[fd] = (guest, bytearray())
        self.executor.watch(fd, lambda: self._hear(fd))

    def _see_off(self, fd: int) -> None:
        guest, _ = self.guests.pop(fd)
        self.executor.unwatch(fd)
        guest.close()

    def _hear(self, fd: int) -> None:
        guest, heard = self.guests[fd]
        try:
            more = guest.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        heard += more
        if not more or len(heard) > LONGEST:
            self._see_off(fd)
        elif heard.endswith(b"\n"):
            self._reply(guest, bytes(heard))
            self._see_off(fd)

    def _reply(self, guest: socket.socket, line: bytes) -> None:
        try:
            answer = Answer(value=msgspec.to_builtins(self._serve(line)))
        except RalphError as error:
            answer = Answer(error=type(error).__name__, message=str(error), hint=error.hint)
        except NOT_A_CALL as error:
            answer = Answer(error="UsageError", message=f"not a call: {error}")
        with contextlib.suppress(OSError):
            guest.settimeout(ANSWER_SECONDS)
            guest.sendall(msgspec.json.encode(answer) + b"\n")

    def _serve(self, line: bytes) -> Any:
        call = msgspec.json.decode(line, type=Call)
        if not self.token or not hmac.compare_digest(call.token, self.token):
            raise UsageError("this session is over", hint="its token opens nothing any more")
        if not self.leash.speaks and call.method not in READS | {HOOK}:
            raise UsageError(
                "a session that checks another one's work may only look",
                hint="its verdict is in its final message",
            )
        if call.method in CLAIMS:
            return self._claimed(call)
        if call.method == TOOL:
            return self._use(msgspec.convert(call.args, Used))
        if call.method == HOOK:
            return self._hook(msgspec.convert(call.args, Hooked))
        if call.method not in READS | ADDITIONS | LESSONS:
            raise UsageError(
                "a session may look, add tasks and claim its own, nothing else",
                hint="leave the rest to a person",
            )
        whom = self.lessons if call.method in LESSONS else self.store
        args = arguments(call.method, call.args)
        if call.method == "add_task":
            args["draft"] = self._caller().placed(args["draft"])
        elif call.method == "add_many":
            args["drafts"] = [self._caller().placed(one) for one in args["drafts"]]
        answer = getattr(whom, call.method)(**args)
        if call.method == "add_task" and self.home is None:
            self.tasks.append(answer.id)
        self.added += call.method not in READS
        return answer

    def _caller(self) -> Caller:
        assert self.claim is not None
        assert self.session is not None
        return Caller(store=self.store, session=self.session, claim=self.claim, home=self.home)

    def _use(self, used: Used) -> dict[str, Any]:
        """One of Ralph's own tools; every use is on record."""
        caller = self._caller()
        error = ""
        try:
            answer = perform(caller, used.name, used.arguments)
            self.added += BY_NAME[used.name].adds
            if used.name == ADD_TASK and self.home is None:
                self.tasks.append(answer["task"]["id"])
            return answer
        except RalphError as refused:
            error = one_line(str(refused), 300)
            raise
        finally:
            called = ToolCalled(
                task_id=caller.claim.task.id,
                session_id=caller.session.id,
                tool=one_line(used.name, 60),
                error=error,
            )
            self.store.record(called, caller.session.run_id)

    def _hook(self, asked: Hooked) -> dict[str, Any]:
        """What the agent's own program asks; only what is worth telling is on record."""
        caller = self._caller()
        if asked.name == "stop" and self.is_to_end:
            return {}  # it need not say how its task stands
        answer, told = hooks.answer(asked.name, asked.payload, caller, self.leash)
        if self.words and asked.name == "post-tool-use":
            event = str(asked.payload.get("hook_event_name") or "PostToolUse")
            said = {"hookEventName": event, "additionalContext": self.words}
            answer, self.words = {**answer, "hookSpecificOutput": said}, ""
        if told is not None:
            self.store.record(told, caller.session.run_id)
        return answer

    def _claimed(self, call: Call) -> Task:
        """A completion is a claim: it is written down and judged after the session."""
        assert self.claim is not None
        assert self.session is not None
        args = arguments(call.method, call.args)
        task = self.store.find(args["task"])
        if task.id != self.claim.task.id:
            raise UsageError(
                f"task {task.id} is not this session's, so it cannot be settled here",
                hint=f"this session's task is {self.claim.task.id}",
            )
        match call.method:
            case "force_done":
                self.store.tell(self.session.id, "done")
            case "force_failed":
                self.store.tell(self.session.id, args["reason"] or "the agent gave up")
            case _:
                return self._block(args["steps"])
        return self.store.find(task.id)

    def _block(self, steps: list[Transition]) -> Task:
        assert self.claim is not None
        if not all(isinstance(step, Blocked) for step in steps):
            raise UsageError("a session may block its own task, nothing else")
        return self.store.apply(self.claim.task.id, steps)


def _folder() -> str:
    """A place for the socket: not below the project, since its path may have a hundred bytes only;
    and some people's TMPDIR is longer than that."""
    usual = tempfile.gettempdir()
    where = usual if len(os.fsencode(usual)) <= LONGEST_FOLDER else "/tmp"
    _remove_dead_doors(where)
    try:
        return tempfile.mkdtemp(prefix=PREFIX, dir=where)
    except OSError as error:
        raise CannotWrite(
            f"no folder can be made in {where}: {error.strerror}", hint="set TMPDIR to another one"
        ) from error


def _remove_dead_doors(where: str) -> None:
    """Take away what runs that were killed have left: nobody listens behind their doors."""
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _is_dead(os.path.join(entry.path, "door")):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_dead(door: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        knock.settimeout(0)
        try:
            knock.connect(door)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
