"""What sessions of a run are told, and what they leave for later ones."""

from pathlib import Path

import pytest

from ralph.core import events
from ralph.core.gates import Gate
from ralph.core.ids import TaskId
from ralph.core.memory import MemoryKind
from ralph.core.run import AllTasks, OneFeature, RunOutcome, Subtree
from ralph.core.settings import ContextSection, MemorySection, SpecsSection
from ralph.core.task import TaskEdit
from ralph.engine.brief_inputs import feature_of
from tests.doubles import Play, says
from tests.engine.world import World

SPEC, PLAN = ".ralph/features/login/spec.md", ".ralph/features/login/plan.md"
SKILL = "---\nname: release\ndescription: Cutting a release\n---\n"
LEARNED = '<knowledge title="Pool" tags="db">the pool is small</knowledge>'


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def brief(world: World, iteration: int, run: int = 1) -> str:
    return (world.runs_dir / f"run-run-{run}-iter-{iteration}.prompt.md").read_text()


def warnings(world: World) -> list[str]:
    return [one.message for one in world.recorded(events.Warned) if isinstance(one, events.Warned)]


def gives_up() -> Play:
    return says("<task-failed>TASK</task-failed>")


def ends(world: World, words: str = "") -> Play:
    return says(
        f"{words}<task-done>TASK</task-done>", does=lambda: world.workspace.edit("work.txt", words)
    )


class TestDocuments:
    @pytest.fixture
    def login(self, world: World) -> TaskId:
        feature = world.store.features.add("login")
        world.project_files.pages |= {SPEC: "by mail", PLAN: "first the form"}
        return world.add("the form", feature_id=feature.id)

    @pytest.mark.usefixtures("login")
    def test_specification_and_plan_of_the_feature_are_in_the_brief(self, world: World) -> None:
        world.run(world.works())
        assert "by mail" in brief(world, 1)
        assert "first the form" in brief(world, 1)

    @pytest.mark.usefixtures("login")
    def test_they_are_read_anew_for_every_session(self, world: World) -> None:
        def edits() -> None:
            world.project_files.pages[SPEC] = "by phone"

        world.run(says("no claim", does=edits), world.works())
        assert "by mail" in brief(world, 1)
        assert "by phone" in brief(world, 2)
        assert "by mail" not in brief(world, 2)

    def test_a_task_of_no_feature_hears_of_none(self, world: World, login: TaskId) -> None:
        world.store.tasks.force_done(login)
        world.add("something else")
        world.run(world.works())
        assert "by mail" not in brief(world, 1)

    def test_documents_elsewhere_are_found_by_the_features_paths(self, world: World) -> None:
        feature = world.store.features.add("login")
        world.store.features.set_paths(feature.id, spec_path="docs/login.md", plan_path=None)
        world.project_files.pages["docs/login.md"] = "by carrier pigeon"
        world.add("the form", feature_id=feature.id)
        world.run(world.works())
        assert "From `docs/login.md`:\n\nby carrier pigeon" in brief(world, 1)

    def test_what_cannot_be_read_is_said_once_and_stops_nothing(
        self, world: World, login: TaskId
    ) -> None:
        world.project_files.troubles[SPEC] = "is larger than 1024 KiB"
        ended = world.run(says("no claim"), world.works())
        assert ended.exit_code == 0
        assert warnings(world).count(f"{SPEC} is larger than 1024 KiB") == 1
        assert "first the form" in brief(world, 2)

    @pytest.mark.usefixtures("login")
    def test_a_person_hears_once_that_their_words_are_cut(self, world: World) -> None:
        world.project_files.pages[SPEC] = "a long line of it\n" * 5000
        world.room = ContextSection(brief_tokens=2000)
        world.run(says("no claim"), world.works())
        (said,) = [one for one in warnings(world) if "brief_tokens" in one]
        assert SPEC in said

    def test_whose_documents_hold_for_a_task(self, world: World) -> None:
        own, above, asked = (world.store.features.add(name) for name in ("own", "above", "asked"))
        top = world.add("top", feature_id=above.id)
        part = world.add("part", parent_id=top)
        store = world.store

        def found(task: TaskId, target: object = AllTasks()) -> str:
            one = store.tasks.find(task)
            parent = store.tasks.find(one.parent_id) if one.parent_id else None
            feature = feature_of(store, one, parent, target)  # type: ignore[arg-type]
            return feature.name if feature else ""

        assert found(part) == "above"
        store.tasks.edit(part, TaskEdit(feature_id=own.id))
        assert found(part) == "own"
        store.tasks.edit(part, TaskEdit(feature_id=None))
        assert found(part) == "above", "that of what it is part of"
        lonely = world.add("lonely")
        assert found(lonely) == ""
        assert found(lonely, OneFeature(asked.id, "asked")) == "asked"
        assert found(lonely, Subtree(top)) == "above", "that of what the run is asked for"


class TestSkillsOfAProject:
    def test_skills_are_told_and_bad_ones_reported_once(self, world: World) -> None:
        world.project_files.pages |= {
            ".ralph/skills/release/SKILL.md": SKILL,
            ".ralph/skills/bad/SKILL.md": "no front matter",
            ".ralph/skills/empty/notes.md": "not a skill",
        }
        world.add("one")
        world.add("two")
        world.run(world.works(text="1"), world.works(text="2"))
        for iteration in (1, 2):
            assert "**release**: Cutting a release" in brief(world, iteration)
        assert [one for one in warnings(world) if "skill" in one] == [
            "skill .ralph/skills/bad/SKILL.md is skipped:"
            " it does not begin with --- and lines such as `description: …`, then ---"
        ]

    def test_skills_without_end_are_said(self, world: World) -> None:
        for number in range(120):
            world.project_files.pages[f".ralph/skills/{number:03}/SKILL.md"] = SKILL
        world.add("one")
        world.run(world.works())
        assert ".ralph/skills has 120 skills; 100 are looked at" in warnings(world)

    def test_reference_documents_are_those_directly_in_their_folders(self, world: World) -> None:
        world.specs = SpecsSection(dirs=("docs/", ".ralph/specs"))
        for path in ("docs/a.md", "docs/a.txt", ".ralph/specs/b.md", ".ralph/specs/goal/c.md"):
            world.project_files.pages[path] = "x"
        world.add("one")
        world.run(world.works())
        assert "- `docs/a.md`\n- `.ralph/specs/b.md`\n" in brief(world, 1)
        assert "c.md" not in brief(world, 1)

    def test_guardrails_are_told(self, world: World) -> None:
        world.project_files.pages[".ralph/guardrails.md"] = "## Fixes\n\n- use port 0\n"
        world.add("one")
        world.run(world.works())
        assert "- Fix: use port 0" in brief(world, 1)

    def test_guardrails_that_cannot_be_read_stay_as_they_were(self, world: World) -> None:
        path = ".ralph/guardrails.md"
        world.project_files.pages[path] = "## Fixes\n\n- use port 0\n"

        def spoils() -> None:
            world.project_files.troubles[path] = "is not text"

        world.add("one")
        world.run(says("no claim", does=spoils), world.works())
        assert "- Fix: use port 0" in brief(world, 2)
        assert f"{path} is not text" in warnings(world)

    def test_gates_and_guidance_are_told(self, world: World) -> None:
        world.gates = (Gate(name="test", command="make test"),)
        world.executor.gates["make test"] = [0]
        task = world.add("one")
        world.store.messages.add_guidance("be quick", task)
        world.run(world.works())
        assert "- `make test`" in brief(world, 1)
        assert "- be quick" in brief(world, 1)

    def test_what_a_session_was_told_is_recorded_with_it(self, world: World) -> None:
        feature = world.store.features.add("login")
        world.project_files.pages |= {
            SPEC: "by mail",
            ".ralph/skills/release/SKILL.md": SKILL,
            ".ralph/guardrails.md": "## Fixes\n\n### fix-1-0001\n> use port 0\n",
        }
        task = world.add("one", feature_id=feature.id)
        world.run(world.works())
        session = world.store.sessions.get(task, 1)
        assert session is not None
        given = {one.name: one for one in session.given}
        assert given.keys() == {"task", "spec", "skills", "guardrails"}
        assert given["spec"].source == f"`{SPEC}`"
        assert given["skills"].items == ("release",)
        assert given["guardrails"].items == ("fix-1-0001",)
        assert all(one.tokens == one.of > 0 for one in session.given)


class TestMemory:
    def test_what_a_session_learned_is_told_to_a_later_one_on_the_same_matter(
        self, world: World
    ) -> None:
        world.add("read the config")
        world.add("tune the connection pool", priority=1)
        world.add("draw the logo", priority=2)
        world.run(ends(world, LEARNED), ends(world, "x"), ends(world, "y"))
        assert "**Pool**: the pool is small (db)" in brief(world, 2)
        assert "the pool is small" not in brief(world, 3)
        second = world.store.sessions.select()[1]
        (memories,) = [one for one in second.given if one.name == "memories"]
        assert memories.items == (f"m-{world.store.memories.select()[0].id}",)

    def test_a_retry_hears_what_earlier_attempts_noted(self, world: World) -> None:
        world.add("one")
        world.run(says("<journal>tried a heap</journal>"), world.works())
        assert "attempt 1 at this task noted: tried a heap" in brief(world, 2)

    def test_why_a_task_failed_is_told_to_a_related_one(self, world: World) -> None:
        first = world.add("parse the header")
        world.add("print the header", priority=1)
        world.run(
            says("<task-failed>TASK</task-failed> <journal>no sample header</journal>"),
            world.works(),
        )
        assert f"attempt 1 at {first} “parse the header” noted: no sample header" in brief(world, 2)

    def test_a_prerequisites_journal_is_told_once(self, world: World) -> None:
        first = world.add("parse the header")
        world.add("print the header", blocked_by=(first,))
        world.run(ends(world, "<journal>header is in parse.py</journal>"), ends(world, "x"))
        assert brief(world, 2).count("header is in parse.py") == 1

    def test_memories_of_an_earlier_run_are_told(self, world: World) -> None:
        world.add("read the pool size")
        world.run(ends(world, LEARNED))
        world.add("tune the connection pool")
        world.run(ends(world, "x"))
        assert "the pool is small" in brief(world, 1, run=2)

    def test_a_session_that_was_cut_short_teaches_nothing(self, world: World) -> None:
        world.add("one")
        world.run(says(LEARNED, code=1), world.works())
        assert [one.kind for one in world.store.memories.select()] == []

    def test_memory_can_be_switched_off(self, world: World) -> None:
        world.memory = MemorySection(enabled=False)
        world.project_files.pages[".ralph/guardrails.md"] = "## Fixes\n\n- the pool is small\n"
        world.add("read the pool size")
        world.add("tune the pool")
        world.run(ends(world, LEARNED), ends(world, "x"))
        assert world.store.memories.select() == []
        assert "the pool is small" not in brief(world, 2)
        assert "<knowledge" not in brief(world, 1)

    def test_what_fails_for_good_is_a_lesson_and_a_blocker(self, world: World) -> None:
        first = world.add("parse the header")
        world.project_files.pages[".ralph/guardrails.md"] = ""
        world.run(says("<task-failed>TASK</task-failed> there is no sample"))
        lessons = world.project_files.pages[".ralph/guardrails.md"]
        assert lessons.count(f"> parse the header ({first}) failed: ") == 1
        assert "there is no sample" in lessons
        assert lessons.count("## Fixes") == 1
        assert (
            f"## {first}: parse the header (attempt 1)"
            in world.project_files.pages[".ralph/blockers.md"]
        )

    def test_a_reason_is_a_lesson_once(self, world: World) -> None:
        world.add("parse the header")
        world.add("print the header")
        world.project_files.pages[".ralph/guardrails.md"] = ""
        gave_up = says("<task-failed>TASK</task-failed> there is no sample")
        world.run(gave_up, gave_up)
        lessons = world.project_files.pages[".ralph/guardrails.md"]
        assert lessons.count("there is no sample") == 1

    def test_a_session_that_removes_the_lessons_of_others_leaves_them(self, world: World) -> None:
        world.add("one")
        pages = world.project_files.pages
        pages[".ralph/guardrails.md"] = before = "## Fixes\n\n- use port 0\n"

        def forget() -> None:
            del pages[".ralph/guardrails.md"]
            world.workspace.edit("work.txt")

        ended = world.run(says("<task-done>TASK</task-done>", does=forget))
        assert ended.outcome is RunOutcome.COMPLETE
        assert pages[".ralph/guardrails.md"] == before

    def test_what_is_learned_is_an_event(self, world: World) -> None:
        task = world.add("one")
        world.run(ends(world, LEARNED))
        (kept,) = world.recorded(events.MemoryKept)
        assert isinstance(kept, events.MemoryKept)
        assert (kept.task_id, kept.kind, kept.title) == (task, MemoryKind.KNOWLEDGE, "Pool")

    def test_sessions_are_asked_to_learn_unless_nobody_wants_it(self, world: World) -> None:
        world.add("one")
        world.add("two")
        world.run(ends(world, "1"), ends(world, "2"))
        assert ".ralph/skills/NAME/SKILL.md" in brief(world, 1)
        world.learn = False
        world.add("three")
        world.run(ends(world, "3"))
        assert ".ralph/skills/NAME/SKILL.md" not in brief(world, 1, run=2)
