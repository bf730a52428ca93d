"""What sessions have learned, as a person looks at it."""

from typing import Any

from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.transitions import Rejected
from tests.cli.conftest import Cli, assert_one_line
from tests.cli.running import a_run


def learn(ralph: Cli, *texts: str, **fields: Any) -> None:
    """Let an attempt at the next task leave these."""
    with a_run(ralph, name=f"run-{texts[0]}") as running:
        claim = running.claim()
        about: dict[str, Any] = {"kind": MemoryKind.KNOWLEDGE, "task_id": claim.task.id}
        memories = [Memory(text=text, attempt=claim.attempt, **(about | fields)) for text in texts]
        running.store.claims.settle(
            claim, Rejected("red"), message="red", fail_fast=False, memories=memories
        )


def test_before_anything_was_learned(ralph: Cli) -> None:
    assert ralph("memory", "list").out == "nothing is remembered yet\n"
    assert ralph.json("memory", "list") == []


def test_the_newest_come_first(ralph: Cli) -> None:
    task = ralph.add("work")
    learn(ralph, "the pool is small", "quote every name", title="Odd \x1b[31m")
    shown = ralph("memory", "list").out.splitlines()
    assert shown[1].startswith("m-2  knowledge  ")
    assert shown[1].endswith("Odd ␛[31m  quote every name")
    assert f"{task}:1" in shown[2]
    assert [one["text"] for one in ralph.json("memory", "list", "-n", "1")] == ["quote every name"]


def test_words_find_what_has_to_do_with_them(ralph: Cli) -> None:
    ralph.add("work")
    learn(ralph, "the pool is small", "quote every name")
    found = ralph.json("memory", "list", "pool", 'of "connections')
    assert [one["text"] for one in found] == ["the pool is small"]
    assert ralph("memory", "list", "nowhere").out == "nothing is remembered of that\n"


def test_memories_of_one_task(ralph: Cli) -> None:
    task = ralph.add("work")
    other = ralph.add("other")
    learn(ralph, "of the first")
    learn(ralph, "of another", task_id=TaskId(other))
    assert [one["text"] for one in ralph.json("memory", "list", "--task", task)] == ["of the first"]
    assert_one_line(ralph("memory", "list", "--task", "t-nope", code=66))
    assert_one_line(ralph("memory", "list", "x", "--task", task, code=64))


def test_what_is_wrong_can_be_forgotten(ralph: Cli) -> None:
    ralph.add("work")
    learn(ralph, "the pool is small", "quote every name")
    assert_one_line(ralph("memory", "remove", "m-1", code=64, stdin=b""), hint=True)
    assert ralph("memory", "remove", "m-1", "--yes").out == "forgot m-1  the pool is small\n"
    assert [one["id"] for one in ralph.json("memory", "list")] == [2]
    for name in ("m-1", "1", "m-", "x", "m-" + "9" * 30, "m-²"):
        assert_one_line(ralph("memory", "remove", name, "--yes", code=66), hint=True)
