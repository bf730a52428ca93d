"""One frame of the live view: the board as lines of text that fit the window."""

import os
from collections.abc import Iterator
from typing import Final

from rich.style import Style
from rich.text import Text

from ralph.core.duration import spoken
from ralph.core.safe_text import one_line
from ralph.ui.board import Board, Current, GateState
from ralph.ui.doings import doing_rows
from ralph.ui.fitting import SPINNER, Room, spread, usable
from ralph.ui.holding import ROWS, held_rows
from ralph.ui.link import link_to
from ralph.ui.region import Size
from ralph.ui.team_frame import team_rows
from ralph.ui.wording import cost, dollars, many

QUIET_S: Final = 60.0
"""A silence that is worth a word."""
HINTS: Final = (
    "Ctrl-C stops cleanly · ralph pause | inject from another terminal",
    "Ctrl-C stops cleanly · ralph pause | inject",
    "Ctrl-C stops cleanly",
)
GATE_MARKS: Final = {
    GateState.PLANNED: ("·", "dim"),
    GateState.RUNNING: ("…", "cyan"),
    GateState.PASSED: ("✓", "green"),
    GateState.FAILED: ("✗", "red"),
}


def frame(board: Board, now: float, size: Size, beat: int) -> list[Text]:
    """The lines of the region. Their number changes only with the window and the work."""
    width = usable(size.columns)
    # Header, bar and task have a line each; some lines that stay should be in sight above them.
    room = Room(size.lines - 3 - (7 if size.lines >= 20 else 1))
    hints, log = room.grant(1), room.grant(1)
    if board.team.is_there:
        # The task's own line is not needed.
        room.left += 1
        upcoming = room.grant(min(4, size.lines // 10))
        has_air = room.left >= 3 + 2 * len(board.team.seats)
        air = [Text()] if has_air and room.grant(3) else []
        work = team_rows(board, now, width, room, beat)
    else:
        work, upcoming, air = _alone(board, now, size, room, beat)
    lines = [
        *air,
        _header(board, now, width),
        _bar(board, width),
        *air,
        *work,
        *_upcoming(board, width, upcoming),
        *air,
        *[_log(board, width)][:log],
        *[_hints(board, width)][:hints],
    ]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _alone(
    board: Board, now: float, size: Size, room: Room, beat: int
) -> tuple[list[Text], int, list[Text]]:
    """The one task in hand; how many lines are for what comes next; and an empty line, if there is
    room for some."""
    width = usable(size.columns)
    is_working = board.hold is None
    gates = room.grant(1 if board.gates and is_working else 0)
    is_heard = board.current is not None or bool(board.activity.doings)
    agent = room.grant(_agent_lines(size) if is_heard and is_working else 0, least=2)
    held = room.grant(ROWS if board.hold else 0, least=2)
    upcoming = room.grant(min(6, max(3, size.lines // 7)))
    air = [Text()] if room.grant(3, least=3) else []
    work = [
        *_headline(board, now, width, held, beat),
        *_agent(board, now, width, agent),
        *[_gates(board)][:gates],
    ]
    return work, upcoming, air


def _header(board: Board, now: float, width: int) -> Text:
    left = Text("Ralph", style="bold")
    if board.run is not None:
        agent = board.current.agent if board.current and board.current.agent else board.agent
        for word in (one_line(board.run.target, 60), agent, board.activity.model):
            if word:
                left.append(f" · {word}", style="not bold")
        left.append_text(_wall(one_line(board.run.sandbox, 40)))
    elapsed = "" if board.started is None else spoken(max(0.0, now - board.started) // 1)
    return spread(left, (_clock(elapsed), _spend(board)), width)


def _wall(sandbox: str) -> Text:
    """Which wall stands around sessions. None is worth a colour."""
    if sandbox == "off":
        return Text.assemble((" · ", "not bold"), ("sandbox off", "not bold yellow"))
    return Text(f" · {sandbox}", style="not bold")


def _clock(words: str) -> str:
    return words.replace(".0s", "s")


def _spend(board: Board) -> str:
    spent = board.spent
    if not spent.sessions:
        return ""
    if 0 < spent.unknown < spent.sessions:
        # The account has room for the whole sentence; here it would push the clock away.
        return f"at least {dollars(spent.known_usd, estimated=spent.estimated > 0)}"
    return cost(spent)


def _bar(board: Board, width: int) -> Text:
    counts = board.counts
    words = Text(f"{counts.done} of {counts.total} done", style="bold")
    for number, word, style in (
        (counts.failed, "failed", "red"),
        (counts.blocked, "blocked", "yellow"),
    ):
        if number:
            words.append(" · ", style="not bold dim")
            words.append(f"{number} {word}", style=f"not bold {style}")
    if board.denied:
        words.append(f" · {board.denied.total()} not permitted", style="not bold yellow")
    if board.warned:
        words.append(f" · {many(board.warned, 'warning')}", style="not bold yellow")
    length = width - words.cell_len - 2
    if length < 8:
        return words
    done = round(length * counts.done / counts.total) if counts.total else 0
    failed = round(length * counts.failed / counts.total) if counts.total else 0
    return Text.assemble(
        ("━" * done, "green"),
        ("━" * min(failed, length - done), "red"),
        ("─" * (length - done - failed), "dim"),
        "  ",
        words,
    )


def _headline(board: Board, now: float, width: int, held: int, beat: int) -> list[Text]:
    if board.hold is not None:
        return held_rows(board.hold, now, width, held)
    spinner = SPINNER[beat % len(SPINNER)]
    if board.current is None:
        words = "choosing the next task" if board.run else "starting"
        if board.run and GateState.RUNNING in board.gates.values():
            words = "taking the baseline: which gates pass before the work"
        return [Text.assemble((spinner, "cyan"), f" {words}")]
    current = board.current
    name = one_line(board.names.of(current.task_id), 40)
    left = Text.assemble((spinner, "cyan"), " ", (name, "cyan"), " ")
    left.append(current.title, style="bold")
    return [spread(left, _current_facts(board, current, now), width)]


def _current_facts(board: Board, current: Current, now: float) -> Iterator[str]:
    activity = board.activity
    quiet = now - activity.heard if activity.heard is not None else 0.0
    if quiet >= QUIET_S and not current.is_judged and not activity.is_in_tool:
        yield f"quiet for {_clock(spoken(quiet // 1))}"
    if current.retry_count:
        yield f"retry {current.retry_count}"
    elif current.attempt > 1:
        yield f"attempt {current.attempt}"
    if current.is_judged:
        yield "judging"
    if current.since is not None:
        yield _clock(spoken(max(0.0, now - current.since) // 1))


def _agent_lines(size: Size) -> int:
    return min(16, max(3, size.lines // 5 + 1, size.lines // 2 - 8))


def _agent(board: Board, now: float, width: int, lines: int) -> list[Text]:
    rows = doing_rows(board.activity, width - 4, lines, now)
    if not rows and board.current and not board.current.is_judged:
        rows = [Text(f"waiting for {board.current.agent or 'the agent'}", style="dim")][:lines]
    rows += [Text()] * (lines - len(rows))
    return [Text.assemble("  ", ("│", "dim"), " ", row) for row in rows]


def _gates(board: Board) -> Text:
    text = Text("  gates ", style="dim")
    for name, state in board.gates.items():
        mark, style = GATE_MARKS[state]
        text.append(f" {one_line(name, 30)} ", style="not dim")
        text.append(mark, style=f"not dim {style}" if style != "dim" else style)
        if name in board.was_red:
            text.append(" (red before)", style="yellow")
        text.append(" ")
    return text


def _upcoming(board: Board, width: int, lines: int) -> list[Text]:
    titles = board.upcoming() if lines else []
    pending = max(board.counts.pending, len(titles))
    fits = pending <= lines and pending == len(titles)
    shown = titles if fits else titles[: lines - 1]
    rows = [Text.assemble(("○", "dim"), f" {one_line(title, width)}") for title in shown]
    if shown and pending > len(shown):
        rows.append(Text(f"  and {pending - len(shown)} more", style="dim"))
    return rows


def _log(board: Board, width: int) -> Text:
    path = board.current.log if board.current and board.current.log else board.logs
    root = board.run.checkout if board.run else ""
    whole = os.path.abspath(os.path.join(root, path))
    inside = bool(root) and whole.startswith(os.path.join(root, ""))
    shown = one_line(os.path.relpath(whole, root) if inside else whole)
    if len(shown) > width - 5:
        shown = "…" + shown[-(width - 6) :]
    return Text.assemble(("log  ", "dim"), (shown, Style(dim=True, link=link_to(whole))))


def _hints(board: Board, width: int) -> Text:
    words = next((hint for hint in HINTS if len(hint) <= width), "")
    if board.asked:
        words = f"{board.asked} asked for · {words}"
    return Text(words, style="dim")
