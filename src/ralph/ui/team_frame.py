"""The part of a frame that shows a team: a row for each seat, and below it what its agent does."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from ralph.core.duration import spoken
from ralph.ui.board import Board
from ralph.ui.doings import doing_rows
from ralph.ui.fitting import SPINNER, Room, spread
from ralph.ui.holding import held_rows
from ralph.ui.team import Hand, Seat, Stage, Team

MOST_DOINGS: Final = 6
"""Rows of one agent's doings: more is to be read in its log."""
QUIET_S: Final = 60.0


def team_rows(board: Board, now: float, width: int, room: Room, beat: int) -> list[Text]:
    """As many seats as there is room for, those at work first when there is too little."""
    held = held_rows(board.hold, now, width, room.grant(2)) if board.hold else []
    rows = board.team.rows()
    shown = room.grant(len(rows))
    queue = _queue(board.team)[: room.grant(1)]
    if shown < len(rows):
        rows = sorted(rows, key=lambda row: row[1] is None)
        rows, left_out = rows[: max(0, shown - 1)], len(rows) - max(0, shown - 1)
    else:
        left_out = 0
    # Rows that come and go with every task would make the whole screen jump.
    taken = sum(seat.worker is not None for seat, _ in rows)
    each = min(MOST_DOINGS, room.left // taken) if taken else 0
    room.grant(each * taken)
    lines = [*held, *queue]
    for row in rows:
        lines.append(_row(board, row, now, width, beat))
        if row[0].worker is not None:
            lines += _doings(row[1], now, width, each)
    if left_out and shown:
        lines.append(Text(f"  and {left_out} more workers", style="dim"))
    return lines


def _queue(team: Team) -> list[Text]:
    facts = [f"{team.merges} merged"]
    if team.conflicts:
        facts.append(f"{team.conflicts} in conflict")
    if team.merging is not None:
        facts.append(f"{team.merging.seat} merges")
    if waiting := [hand.seat for hand in team.queue]:
        facts.append(f"{', '.join(waiting)} next")
    if team.deaths:
        facts.append(f"{team.deaths} died")
    return [Text(" · ".join(facts), style="dim")]


def _row(board: Board, row: tuple[Seat, Hand | None], now: float, width: int, beat: int) -> Text:
    seat, hand = row
    widest = max(map(len, board.team.seats))
    name = seat.name.ljust(widest)
    if hand is None:
        return Text(f"  {name}  {_idle(seat)}", style="yellow" if seat.breaker else "dim")
    left = Text.assemble((SPINNER[beat % len(SPINNER)], "cyan"), " ", (name, "bold"), "  ")
    left.append(f"{hand.name} ", style="cyan")
    left.append(hand.title)
    return spread(left, _facts(hand, now), width)


def _idle(seat: Seat) -> str:
    if seat.breaker:
        return f"breaker open: {seat.breaker}"
    return f"has left: {seat.left}" if seat.worker is None else "waits for work"


def _facts(hand: Hand, now: float) -> Iterator[str]:
    activity = hand.activity
    quiet = now - activity.heard if activity.heard is not None else 0.0
    if quiet >= QUIET_S and hand.stage is Stage.WORKING and not activity.is_in_tool:
        yield f"quiet for {_whole(quiet)}"
    if hand.retry_count:
        yield f"retry {hand.retry_count}"
    elif hand.attempt > 1:
        yield f"attempt {hand.attempt}"
    yield hand.doing
    if hand.since is not None:
        yield _whole(max(0.0, now - hand.since))


def _whole(seconds: float) -> str:
    return spoken(seconds // 1).replace(".0s", "s")


def _doings(hand: Hand | None, now: float, width: int, lines: int) -> list[Text]:
    if hand is None:
        return [Text() for _ in range(lines)]
    rows = doing_rows(hand.activity, width - 6, lines, now)
    if not rows and hand.stage is Stage.WORKING:
        rows = [Text(f"waiting for {hand.agent or 'the agent'}", style="dim")][:lines]
    rows += [Text()] * (lines - len(rows))
    return [Text.assemble("    ", ("│", "dim"), " ", row) for row in rows]
