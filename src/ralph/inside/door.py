"""The door: a local socket on which the running loop answers `ralph` commands of its session."""

import contextlib
import hmac
import os
import secrets
import socket
import tempfile
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ralph.core.errors import Busy, CannotWrite, RalphError, UsageError
from ralph.core.events import Event, ToolCalled
from ralph.core.ids import FeatureId, TaskId
from ralph.core.lengths import refuse_long_texts
from ralph.core.policy.leash import Leash
from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.core.transitions import Blocked, Transition
from ralph.files import remove_tree
from ralph.inside import hooks
from ralph.inside.clients import HELD_BYTES, Clients
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
MOST_CHANGES: Final = 20_000
"""Calls of one session that may change something; it may look as often as it likes."""
MOST_CHANGED_BYTES: Final = 64 * 1024 * 1024
"""How long all of those calls may be together."""
MOST_AT_ONCE: Final = 10_000
"""Tasks in one call: more would keep the loop from everything else."""
MOST_EVENTS: Final = 20_000
"""Answers to tools and hooks that are recorded for one session; later ones are given all the same.
"""
NOT_A_CALL: Final = (
    *(msgspec.MsgspecError, TypeError, KeyError),
    # Bytes that are no text, brackets without end, numbers that fit into no database.
    *(UnicodeError, RecursionError, OverflowError),
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
        self.clients = Clients(self.server, executor, self._reply)
        self.added = 0
        self.tasks: list[TaskId] = []
        """What sessions have added for the run."""
        self.home: FeatureId | None = None
        self.changes = self.changed_bytes = self.events = 0
        self.leash = Leash()
        self.token = ""
        self.words = ""
        """What the session has not heard yet."""
        self.is_to_end = False
        self.session: Session | None = None
        self.claim: Claim | None = None

    def open_for(
        self, session: Session, claim: Claim, leash: Leash, home: FeatureId | None = None
    ) -> Mapping[str, str]:
        """A fresh token for each session."""
        self.leash, self.home = leash, home
        self.token, self.session, self.claim = secrets.token_hex(16), session, claim
        self.added = self.changes = self.changed_bytes = self.events = 0
        self.words, self.is_to_end = "", False
        return {"RALPH_SOCKET": self.path, "RALPH_TOKEN": self.token}

    def tell(self, words: str) -> None:
        """It is heard with the next use of a tool."""
        self.words, self.is_to_end = words, True

    def shut(self) -> None:
        """No token is good any more."""
        self.token, self.session, self.claim = "", None, None
        self.clients.drop_all()

    def look_after(self) -> None:
        """Drop clients that took too long."""
        self.clients.drop_late()

    def close(self) -> None:
        """Take the door away."""
        self.shut()
        self.clients.close()
        with contextlib.suppress(OSError):
            remove_tree(self.directory)

    def _reply(self, line: bytes, unread: int) -> bytes:
        try:
            if unread > HELD_BYTES // 2:
                raise Busy("earlier answers have not been read yet", hint="read them first")
            return msgspec.json.encode(Answer(value=self._serve(line))) + b"\n"
        except RalphError as error:
            answer = Answer(error=type(error).__name__, message=str(error), hint=error.hint)
        except NOT_A_CALL as error:
            answer = Answer(error="UsageError", message=f"not a call: {error}")
        return msgspec.json.encode(answer) + b"\n"

    def _serve(self, line: bytes) -> Any:
        call = msgspec.json.decode(line, type=Call)
        if not self.token or not hmac.compare_digest(call.token, self.token):
            raise UsageError("this session is over", hint="its token opens nothing any more")
        if not self.leash.speaks and call.method not in READS | {HOOK}:
            raise UsageError(
                "a session that checks another one's work may only look",
                hint="its verdict is in its final message",
            )
        if call.method not in READS | {HOOK}:
            self._count(call, len(line))
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
            self._record(called)

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
            self._record(told)
        return answer

    def _count(self, call: Call, size: int) -> None:
        """Refuse what would fill the disk."""
        self.changes += 1
        self.changed_bytes += size
        if self.changes > MOST_CHANGES or self.changed_bytes > MOST_CHANGED_BYTES:
            raise UsageError(
                "this session has changed as much as one session may",
                hint=f"{MOST_CHANGES:,} calls, {MOST_CHANGED_BYTES >> 20} MB",
            )
        refuse_long_texts(call.args)
        if any(len(a) > MOST_AT_ONCE for a in call.args.values() if isinstance(a, list)):
            raise UsageError(f"more than {MOST_AT_ONCE:,} at once", hint="send them in parts")

    def _record(self, event: Event) -> None:
        assert self.session is not None
        self.events += 1
        if self.events <= MOST_EVENTS:
            self.store.record(event, self.session.run_id)

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
                remove_tree(entry.path)


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
