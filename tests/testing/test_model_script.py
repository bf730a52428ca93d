"""Which turn a request gets."""

import pytest

from ralph.testing.model import Refused, ScriptedCall, Shell, Silent, Turn, Write, do, say
from ralph.testing.model.script import (
    ModelRequestLog,
    ModelScript,
    OffScript,
    Scripts,
    fault_of,
    fill,
)

ONE = do(Shell(command="ls"))
TWO = do(Shell(command="ls"), Shell(command="pwd"))


def test_the_number_of_tool_results_is_the_place_in_the_script() -> None:
    script = ModelScript(turns=(ONE, ONE, say("bye")))
    assert [script.place(results) for results in range(3)] == [0, 1, 2]


def test_two_calls_in_one_turn_lead_on_by_two() -> None:
    script = ModelScript(turns=(TWO, ONE, say("bye")))
    assert [script.place(results) for results in (0, 2, 3)] == [0, 1, 2]


def test_a_function_is_taken_to_make_one_call() -> None:
    script = ModelScript(turns=(lambda _: ONE, say("bye")))
    assert [script.place(results) for results in (0, 1)] == [0, 1]


def test_more_than_the_script_holds_is_off_script() -> None:
    with pytest.raises(OffScript, match=r"1 turns.* 1 tool results"):
        ModelScript(turns=(ONE,)).place(1)


def test_a_last_turn_may_repeat() -> None:
    script = ModelScript(turns=(say("hm"),), repeat=True)
    assert script.place(99) == 0


def test_a_turn_after_the_last_words_would_never_come() -> None:
    with pytest.raises(ValueError, match="ends at turn 0"):
        Scripts().add("x", ModelScript(turns=(say("bye"), ONE)))
    with pytest.raises(ValueError, match="no turns"):
        Scripts().add("x", ModelScript(turns=()))


def test_faults_come_first_each_as_often_as_it_says() -> None:
    refused, silent = Refused(status=429, times=2), Silent()
    turn = Turn(faults=(refused, silent))
    assert [fault_of(turn, before) for before in range(4)] == [refused, refused, silent, None]


def test_a_fault_may_be_there_for_good() -> None:
    refused = Refused(status=500, times=None)
    assert fault_of(Turn(faults=(refused,)), 1000) is refused


def test_a_new_script_begins_anew() -> None:
    scripts = Scripts()
    scripts.add("x", ModelScript(turns=(say("one"),)))
    assert (scripts.count("x", 0), scripts.count("x", 0)) == (0, 1)
    assert scripts.unplayed() == []
    scripts.add("x", ModelScript(turns=(say("two"),)))
    assert scripts.unplayed() == ["scenario x, turn 0"]
    assert scripts.count("x", 0) == 0


def test_a_script_that_is_to_end_early_is_not_missed() -> None:
    scripts = Scripts()
    scripts.add("x", ModelScript(turns=(ONE, say("never")), whole=False))
    assert scripts.unplayed() == []


def test_a_call_by_name_keeps_its_words() -> None:
    call = ScriptedCall(name="anything", input={"a": 1})
    assert do(call, text="so").actions == (call,)


def test_a_file_is_made_by_the_names_that_the_agents_tool_declares() -> None:
    turn = do(Write(path="a", text="b"))
    for names in (("file_path", "content"), ("path", "file_text"), ("filePath", "content")):
        asked = ModelRequestLog(inputs={"Write": frozenset(names)})
        (call,) = fill(turn, asked).calls
        assert call.input == dict(zip(names, ("a", "b"), strict=True))
