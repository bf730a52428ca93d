"""The control socket: the run answers the `ralph` commands of its session on it."""

import contextlib
import hmac
import os
import secrets
import socket
import stat
import tempfile
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ralph.core.errors import Busy, CannotWrite, RalphError, UnusableData, UsageError
from ralph.core.events import Event, ToolCalled
from ralph.core.ids import FeatureId, TaskId
from ralph.core.policy.tools import ToolPermissions
from ralph.core.safe_text import one_line
from ralph.core.task import (
    Task,
    TaskDraft,
    TaskStatus,
    normalize_paths,
    refuse_long_texts,
    task_flaw,
)
from ralph.core.transitions import Blocked
from ralph.files import remove_tree
from ralph.inside import hook_answers
from ralph.inside import session_calls as calls
from ralph.inside.session_tools import ADD_TASK as ADD_TASK_TOOL
from ralph.inside.session_tools import ADDING, CallingSession, run_tool
from ralph.inside.socket_clients import HELD_BYTES, SocketClients
from ralph.ports.executor import Executor
from ralph.ports.project_files import GuardrailWriter
from ralph.store.claims import Claim
from ralph.store.sessions import Session
from ralph.store.store import Store

BACKLOG: Final = 1024
LONGEST_FOLDER: Final = 80
"""The path of a socket may have about a hundred bytes."""
PREFIX: Final = "ralph-"
SOCKET: Final = "socket"
CALL_S: Final = 5.0
"""How long the database may look for the answer to one call: the loop waits for it."""
MOST_CHANGES: Final = 20_000
"""What one session may change or add. Calls that only read are not limited."""
MOST_CHANGED_BYTES: Final = 64 * 1024 * 1024
MOST_AT_ONCE: Final = 10_000
"""Tasks in one call: more would keep the loop from everything else."""
MOST_EVENTS: Final = 20_000
"""Answers to tools and hooks that are recorded for one session; later ones are only given."""
NOT_A_CALL: Final = (
    *(msgspec.MsgspecError, TypeError, KeyError),
    # Bytes that are no text, brackets without end, numbers that fit into no database.
    *(UnicodeError, RecursionError, OverflowError),
)
"""Errors of a line that is not a call. They must not end the loop."""


class LocalControlSocket:
    """A local socket that serves one session at a time, in the run's own thread."""

    def __init__(self, store: Store, executor: Executor, guardrails: GuardrailWriter) -> None:
        self.store = store
        self.guardrails = guardrails
        self.directory = _make_folder()
        self.path = os.path.join(self.directory, SOCKET)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Renamed when it listens: other runs remove a socket that refuses connections.
        unnamed = f"{self.path}~"
        server.bind(unnamed)
        server.listen(BACKLOG)
        os.rename(unnamed, self.path)
        server.settimeout(0)
        self.clients = SocketClients(server, executor, self._reply)
        self.added_tasks: list[TaskId] = []
        self._begin(None, "", ToolPermissions())

    def _begin(
        self, caller: CallingSession | None, token: str, permissions: ToolPermissions
    ) -> None:
        self.caller, self.token, self.permissions = caller, token, permissions
        self.additions = self.changes = self.changed_bytes = self.events = 0
        self.message = ""
        """What the session has not read yet."""
        self.is_to_end = False

    def open_session(
        self,
        session: Session,
        claim: Claim,
        permissions: ToolPermissions,
        home: FeatureId | None = None,
    ) -> Mapping[str, str]:
        """Each session gets a token of its own."""
        caller = CallingSession(store=self.store, session=session, claim=claim, home=home)
        self._begin(caller, secrets.token_hex(16), permissions)
        return {"RALPH_SOCKET": self.path, "RALPH_TOKEN": self.token}

    def send_to_session(self, words: str) -> None:
        """The session reads it with the answer to its next use of a tool."""
        self.message, self.is_to_end = words, True

    def close_session(self) -> None:
        """From now on no token is valid."""
        self.token, self.caller = "", None
        self.clients.drop_all()

    def drop_late_clients(self) -> None:
        self.clients.drop_late()

    def close(self) -> None:
        self.close_session()
        self.clients.close()
        with contextlib.suppress(OSError):
            remove_tree(self.directory)

    def _reply(self, line: bytes, unread: int) -> bytes:
        try:
            if unread > HELD_BYTES // 2:
                raise Busy("earlier answers have not been read yet", hint="read them first")
            with self.store.db.time_limit(CALL_S):
                said = msgspec.json.encode(calls.CallResult(value=self._serve(line))) + b"\n"
            if len(said) > HELD_BYTES:
                raise Busy(f"the answer has {len(said):,} bytes", hint="ask for less at once")
            return said
        except RalphError as error:
            name = type(error).__name__
            answer = calls.CallResult(error=name, message=str(error), hint=error.hint)
        except NOT_A_CALL as error:
            answer = calls.CallResult(error="UsageError", message=f"not a call: {error}")
        return msgspec.json.encode(answer) + b"\n"

    def _serve(self, line: bytes) -> Any:
        call = msgspec.json.decode(line, type=calls.SessionCall)
        caller = self.caller
        if caller is None or not hmac.compare_digest(call.token, self.token):
            raise UsageError("this session is over", hint="its token opens nothing any more")
        if call.method not in calls.READ_METHODS | {calls.HOOK_METHOD}:
            if not self.permissions.speaks:
                raise UsageError(
                    "a session that checks another one's work may only look",
                    hint="its verdict is in its final message",
                )
            self._count(call, len(line))
        if call.method in calls.CLAIM_METHODS:
            return _claim(caller, call)
        if call.method == calls.TOOL_METHOD:
            return self._use_tool(caller, msgspec.convert(call.args, calls.ToolCall))
        if call.method == calls.HOOK_METHOD:
            return self._answer_hook(caller, msgspec.convert(call.args, calls.HookCall))
        return self._call_store(caller, call)

    def _call_store(self, caller: CallingSession, call: calls.SessionCall) -> Any:
        """A method of the store, or one that adds guardrails."""
        if call.method not in calls.READ_METHODS | calls.ADD_METHODS | calls.GUARDRAIL_METHODS:
            raise UsageError(
                "a session may look, add tasks and claim its own, nothing else",
                hint="leave the rest to a person",
            )
        part, _, method = call.method.rpartition(".")
        receiver = (
            self.guardrails if call.method in calls.GUARDRAIL_METHODS else getattr(self.store, part)
        )
        args = calls.decode_arguments(call.method, call.args)
        if call.method == calls.ADD_TASK:
            args["draft"] = caller.placed(_checked(args["draft"]))
        elif call.method == calls.ADD_TASKS:
            args["drafts"] = [caller.placed(_checked(one)) for one in args["drafts"]]
        answer = getattr(receiver, method)(**args)
        if call.method == calls.ADD_TASK and caller.home is None:
            self.added_tasks.append(answer.id)
        self.additions += call.method not in calls.READ_METHODS
        return answer

    def _use_tool(self, caller: CallingSession, used: calls.ToolCall) -> dict[str, Any]:
        """One of Ralph's own tools; every use is recorded."""
        error = ""
        try:
            answer = run_tool(caller, used.name, used.arguments)
            self.additions += used.name in ADDING
            if used.name == ADD_TASK_TOOL and caller.home is None:
                self.added_tasks.append(answer["task"]["id"])
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
            self._record(caller, called)

    def _answer_hook(self, caller: CallingSession, asked: calls.HookCall) -> dict[str, Any]:
        if asked.name == "stop" and self.is_to_end:
            return {}  # it need not claim its task
        answer, event = hook_answers.answer_hook(
            asked.name, asked.payload, caller, self.permissions
        )
        if self.message and asked.name == "post-tool-use":
            name = str(asked.payload.get("hook_event_name") or "PostToolUse")
            said = {"hookEventName": name, "additionalContext": self.message}
            answer, self.message = {**answer, "hookSpecificOutput": said}, ""
        if event is not None:
            self._record(caller, event)
        return answer

    def _count(self, call: calls.SessionCall, size: int) -> None:
        """Refuse what would fill the disk."""
        count = max((len(a) for a in call.args.values() if isinstance(a, list)), default=1)
        if count > MOST_AT_ONCE:
            raise UsageError(f"more than {MOST_AT_ONCE:,} at once", hint="send them in parts")
        self.changes += count
        self.changed_bytes += size
        if self.changes > MOST_CHANGES or self.changed_bytes > MOST_CHANGED_BYTES:
            raise UsageError(
                "this session has changed as much as one session may",
                hint=f"{MOST_CHANGES:,} changes, {MOST_CHANGED_BYTES >> 20} MB",
            )
        refuse_long_texts(call.args)

    def _record(self, caller: CallingSession, event: Event) -> None:
        self.events += 1
        if self.events <= MOST_EVENTS:
            self.store.events.record(event, caller.session.run_id)


def _checked(draft: TaskDraft) -> TaskDraft:
    """Refuse names that lead elsewhere, and states: whether a task counts is for Ralph to say, and
    what is below a task decides about it."""
    flaw = task_flaw(draft.title, draft.description, draft.id, draft.alias)
    if draft.status is not TaskStatus.PENDING:
        flaw = f"a session may add tasks that are open, and this one is {draft.status}"
    if flaw:
        raise UnusableData(flaw)
    return replace(draft, files=normalize_paths(draft.files))


def _claim(caller: CallingSession, call: calls.SessionCall) -> Task:
    """A completion is a claim: it is stored, and judged after the session."""
    args = calls.decode_arguments(call.method, call.args)
    task = caller.store.tasks.find(args["task"])
    if task.id != caller.claim.task.id:
        raise UsageError(
            f"task {task.id} is not this session's, so it cannot be settled here",
            hint=f"this session's task is {caller.claim.task.id}",
        )
    if call.method not in (calls.FORCE_DONE, calls.FORCE_FAILED):
        if not all(isinstance(step, Blocked) for step in args["steps"]):
            raise UsageError("a session may block its own task, nothing else")
        return caller.store.tasks.apply(task.id, args["steps"])
    claim = "done" if call.method == calls.FORCE_DONE else args["reason"] or "the agent gave up"
    caller.store.sessions.save_socket_claim(caller.session.id, claim, caller.claim)
    return caller.store.tasks.find(task.id)


def _make_folder() -> str:
    """A folder for the socket, in TMPDIR if its path is short enough."""
    usual = tempfile.gettempdir()
    where = usual if len(os.fsencode(usual)) <= LONGEST_FOLDER else "/tmp"
    _remove_dead_sockets(where)
    try:
        return tempfile.mkdtemp(prefix=PREFIX, dir=where)
    except OSError as error:
        raise CannotWrite(
            f"no folder can be made in {where}: {error.strerror}", hint="set TMPDIR to another one"
        ) from error


def _remove_dead_sockets(where: str) -> None:
    """Remove the sockets of runs that were killed: they refuse connections. And their folders, in
    which nothing else is: a folder of that name may be a person's."""
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            path = os.path.join(entry.path, SOCKET)
            if entry.name.startswith(PREFIX) and _is_dead(path):
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    os.rmdir(entry.path)


def _is_dead(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(0)
        try:
            # A folder and a file refuse connections as well.
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                client.connect(path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
