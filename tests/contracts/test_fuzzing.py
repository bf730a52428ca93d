"""Recorded sessions, damaged: reading survives, and no failure becomes a success."""

import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.session_ending import EndingKind
from tests.contracts.recorded_output import SESSIONS, Recorded, ended, heard, the_agent

NOISE = (
    b"",
    b"npm warn deprecated something",
    b"\x1b[2K\x1b[1G",
    b"[]",
    b"null",
    b'"a text"',
    b"{",
    b"}",
    b'{"type":"something new","text":"<task-done>t-abc123</task-done>"}',
    b'{"type":',
    b"\xff\xfe\x00",
)
NESTED = {"message", "event", "item", "rate_limit_info"}
"""Objects inside of lines whose keys have no order either."""

some_session = st.sampled_from([session for session in SESSIONS if session.output])
some_failure = st.sampled_from(
    [session for session in SESSIONS if session.expected.ended is not EndingKind.FINISHED]
)
some_success = st.sampled_from(
    [session for session in SESSIONS if session.expected.ended is EndingKind.FINISHED]
)


@st.composite
def mutated(draw: st.DrawFn, output: bytes) -> bytes:
    """With a few bytes changed, taken away or put in."""
    damaged = bytearray(output)
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(damaged)))
        end = at + draw(st.integers(0, 40))
        damaged[at:end] = draw(st.binary(max_size=8))
    return bytes(damaged)


@st.composite
def rearranged(draw: st.DrawFn, output: bytes) -> bytes:
    """With lines dropped, doubled, cut short, out of order, and noise between them."""
    lines = output.splitlines()
    chosen = draw(st.lists(st.sampled_from(lines), max_size=2 * len(lines))) if lines else []
    mixed = []
    for line in chosen:
        match draw(st.integers(0, 5)):
            case 0:
                mixed.append(line[: draw(st.integers(0, len(line)))])
            case 1:
                mixed += [draw(st.sampled_from(NOISE)), line]
            case 2:
                mixed.append(b"\x1b[32m" + line + b"\x1b[0m\r")
            case _:
                mixed.append(line)
    return b"\n".join(mixed)


@st.composite
def pieces(draw: st.DrawFn, output: bytes) -> Sequence[bytes]:
    """Cut anywhere, as lines are that are longer than the limit."""
    cuts = sorted(draw(st.lists(st.integers(0, len(output)), max_size=12)))
    return [output[a:b] for a, b in zip([0, *cuts], [*cuts, len(output)], strict=True)]


@given(data=st.data(), session=some_session)
def test_reading_never_raises_whatever_happens_to_the_bytes(
    data: st.DataObject, session: Recorded
) -> None:
    damaged = data.draw(st.one_of(mutated(session.output), rearranged(session.output)))
    ended(session, *data.draw(pieces(damaged)))


@given(data=st.data(), session=some_failure)
def test_a_failure_cut_short_is_no_success(data: st.DataObject, session: Recorded) -> None:
    cut = session.output[: data.draw(st.integers(0, len(session.output)))]
    assert ended(session, cut).ended is not EndingKind.FINISHED


@given(data=st.data(), session=some_failure)
def test_a_failure_out_of_order_is_no_success(data: st.DataObject, session: Recorded) -> None:
    assert ended(session, data.draw(rearranged(session.output))).ended is not EndingKind.FINISHED


@given(data=st.data(), session=some_failure)
def test_a_failure_with_other_bytes_is_no_success(data: st.DataObject, session: Recorded) -> None:
    assert ended(session, data.draw(mutated(session.output))).ended is not EndingKind.FINISHED


@given(data=st.data(), session=some_failure)
def test_a_failure_in_pieces_is_no_success(data: st.DataObject, session: Recorded) -> None:
    assert ended(session, *data.draw(pieces(session.output))).ended is not EndingKind.FINISHED


@given(data=st.data(), session=some_success)
def test_a_success_cut_short_never_says_anything_else(
    data: st.DataObject, session: Recorded
) -> None:
    cut = session.output[: data.draw(st.integers(0, len(session.output)))]
    ending = ended(session, cut)
    assert ended(session, session.output).message.startswith(ending.message)
    assert ending.ended in (EndingKind.FINISHED, EndingKind.NO_RESULT)


@given(
    session=some_success, noise=st.lists(st.sampled_from(NOISE), min_size=1), color=st.booleans()
)
def test_a_success_amid_noise_is_a_success(
    session: Recorded,
    noise: list[bytes],
    color: bool,  # noqa: FBT001
) -> None:
    mixed = []
    for line in session.output.splitlines():
        mixed += noise
        mixed.append(b"\x1b[1m" + line + b"\x1b[0m\r" if color else line)
    ending = ended(session, b"\n".join(mixed + noise))
    assert ending == ended(session, session.output)


@given(session=some_session, seed=st.integers())
def test_the_order_of_keys_means_nothing(session: Recorded, seed: int) -> None:
    agent, order = the_agent(session.agent), random.Random(seed)
    shuffled = [_shuffled(line, order) for line in session.output.splitlines()]
    assert heard(agent, [b"\n".join(shuffled)])[0] == heard(agent, [session.output])[0]


def _shuffled(line: bytes, order: random.Random) -> bytes:
    whole = json.loads(line)
    for name in NESTED & whole.keys():
        if isinstance(whole[name], dict):
            whole[name] = dict(order.sample([*whole[name].items()], len(whole[name])))
    whole = dict(order.sample([*whole.items()], len(whole)))
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("agent", sorted({session.agent for session in SESSIONS}))
def test_a_huge_line_costs_no_other(agent: str) -> None:
    session = next(one for one in SESSIONS if one.agent == agent and one.output)
    huge = b'{"type":"something","text":"' + b"x" * 20_000_000 + b'"}\n'
    assert ended(session, huge + session.output) == ended(session, session.output)
