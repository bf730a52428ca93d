"""What a session is told, section by section, and what gives way when there is too much."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.brief import (
    CUT_ORDER,
    BriefDocuments,
    BriefInputs,
    DocumentText,
    Guardrail,
    GuardrailKind,
    Prerequisite,
    Skill,
    without_tags,
    write_brief,
    write_rules,
)
from ralph.core.brief_sections import estimate_tokens
from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.message_tags import MessageTags, read_message_tags
from ralph.core.settings import Config, ContextSection, MemorySection
from ralph.core.verdict import on_claim
from ralph.core.verification_and_review import change_section, work_sections, write_check_brief
from tests.core.small_graph import a_task

SPEC, PLAN = ".ralph/features/login/spec.md", ".ralph/features/login/plan.md"


def limits(max_tokens: int = 40_000, memory_max_tokens: int = 2000) -> Config:
    return Config(
        context=ContextSection(brief_tokens=max_tokens),
        memory=MemorySection(budget_tokens=memory_max_tokens),
    )


def brief_text(inputs: BriefInputs, **limited: int) -> str:
    return write_brief(inputs, limits(**limited)).text


def a_guardrail(text: str, **fields: object) -> Guardrail:
    about: dict[str, object] = {"id": f"fix-1-{text[:4]}", "kind": GuardrailKind.FIX}
    return Guardrail(text=text, **(about | fields))  # type: ignore[arg-type]


def a_memory(text: str, **fields: object) -> Memory:
    about: dict[str, object] = {"kind": MemoryKind.KNOWLEDGE, "task_id": "t-9", "attempt": 1}
    return Memory(text=text, **(about | fields))  # type: ignore[arg-type]


def everything(size: int = 1, words: str = "some words") -> BriefInputs:
    """A bit of everything, `size` times."""
    text = "\n".join([words] * size)
    skill = Skill(name="release", description=words, path=".ralph/skills/release/SKILL.md")
    return BriefInputs(
        task=a_task("t-1", description=text, reason=text, retry_count=1),
        parent=a_task("t-0", description=text),
        prerequisites=(Prerequisite(id=TaskId("t-2"), title="before", summary=words),) * size,
        documents=BriefDocuments(
            spec=DocumentText(path=SPEC, text=text),
            plan=DocumentText(path=PLAN, text=text),
            skills=(skill,) * size,
            guardrails=(a_guardrail(words),) * size,
            references=(".ralph/specs/api.md",) * size,
            error_lines=("a.md is not text",) * size,
        ),
        notes=(a_memory(words, task_id="t-1", kind=MemoryKind.JOURNAL),) * size,
        memories=(a_memory(words),) * size,
        gates=("make test",) * size,
        guidance=(words,) * size,
    )


class TestSections:
    def test_a_task_alone_is_a_brief(self) -> None:
        assert brief_text(BriefInputs(task=a_task("t-1"))) == "## Your task: t-1\n\n**t-1**\n"

    def test_a_story_goes_by_its_alias(self) -> None:
        text = brief_text(BriefInputs(task=a_task("t-1", alias="US-007", description="do it")))
        assert text == "## Your task: US-007\n\n**t-1**\n\ndo it\n"

    def test_a_parent_gives_the_wider_view(self) -> None:
        text = brief_text(
            BriefInputs(task=a_task("t-1"), parent=a_task("t-0", description="all of it"))
        )
        assert "## It is part of\n\n**t-0**\n\nall of it\n" in text

    def test_prerequisites_tell_what_they_left_behind(self) -> None:
        before = Prerequisite(id=TaskId("t-0"), title="Parser", summary="it is in parse.py")
        text = brief_text(BriefInputs(task=a_task("t-1"), prerequisites=(before,)))
        assert "## Already done before it\n\n- t-0 Parser: it is in parse.py\n" in text

    def test_specification_and_plan_are_told_with_their_files(self) -> None:
        brief_documents = BriefDocuments(
            spec=DocumentText(path=SPEC, text="# Login\nby mail\n"),
            plan=DocumentText(path=PLAN, text="first the form"),
        )
        text = brief_text(BriefInputs(task=a_task("t-1"), documents=brief_documents))
        assert f"## The specification it serves\n\nFrom `{SPEC}`:\n\n# Login\nby mail\n" in text
        assert f"## The plan it is a step of\n\nFrom `{PLAN}`:\n\nfirst the form\n" in text

    def test_an_empty_document_is_not_worth_a_heading(self) -> None:
        brief_documents = BriefDocuments(spec=DocumentText(path=SPEC, text=" \n"))
        assert "specification" not in brief_text(
            BriefInputs(task=a_task("t-1"), documents=brief_documents)
        )

    def test_a_retry_hears_why_the_last_attempt_did_not_count(self) -> None:
        task = a_task("t-1", reason="gate test fails\nE  boom", retry_count=2, max_retries=3)
        text = brief_text(BriefInputs(task=task))
        assert "This is retry 2 of 3." in text
        assert "> gate test fails\n> E  boom\n" in text

    def test_a_struck_task_hears_why_though_it_cost_no_retry(self) -> None:
        text = brief_text(BriefInputs(task=a_task("t-1", reason="no claim", strikes=1)))
        assert "> no claim" in text
        assert "This is retry" not in text

    def test_a_first_attempt_hears_of_no_retry(self) -> None:
        assert "did not count" not in brief_text(
            BriefInputs(task=a_task("t-1", reason="unblocked"))
        )

    def test_guidance_is_told_newest_first(self) -> None:
        text = brief_text(BriefInputs(task=a_task("t-1"), guidance=("older", "newer")))
        assert "## A person adds\n\nThe newest first.\n\n- newer\n- older\n" in text

    def test_gates_are_named(self) -> None:
        text = brief_text(BriefInputs(task=a_task("t-1"), gates=("make test",)))
        assert "## These must pass\n\n- `make test`\n" in text

    def test_skills_are_listed_with_what_they_are_for(self) -> None:
        skill = Skill(name="release", description="cutting one", path=".ralph/skills/r/SKILL.md")
        text = brief_text(
            BriefInputs(task=a_task("t-1"), documents=BriefDocuments(skills=(skill,)))
        )
        assert "- **release**: cutting one (`.ralph/skills/r/SKILL.md`)\n" in text

    def test_reference_documents_are_named_those_of_the_task_first(self) -> None:
        brief_documents = BriefDocuments(references=("specs/api.md", "specs/date-parser.md"))
        text = brief_text(
            BriefInputs(task=a_task("t-1", description="the parser"), documents=brief_documents)
        )
        assert "- `specs/date-parser.md`\n- `specs/api.md`\n" in text

    def test_guardrails_that_have_to_do_with_the_task_come_first_then_the_newest(self) -> None:
        found = (
            a_guardrail("old", created="2025-01-01"),
            a_guardrail("new", created="2026-01-01", kind=GuardrailKind.DECISION),
            a_guardrail("as new", created="2026-01-01", kind=GuardrailKind.SIGN),
            a_guardrail("never guess", tags=("parser",), kind=GuardrailKind.PATTERN),
        )
        task = a_task("t-1", description="fix the parser")
        text = brief_text(BriefInputs(task=task, documents=BriefDocuments(guardrails=found)))
        assert "- Pattern: never guess\n- as new\n- Decision: new\n- Fix: old\n" in text

    def test_memories_say_where_they_come_from(self) -> None:
        found = (
            a_memory("the pool\nis small", title="Connections", tags=("db",)),
            a_memory("chose a heap", kind=MemoryKind.JOURNAL, title="Queue", attempt=2),
            a_memory("gate lint fails", kind=MemoryKind.VERDICT, title="Queue"),
        )
        text = brief_text(BriefInputs(task=a_task("t-1"), memories=found))
        assert "- **Connections**: the pool\n  is small (db)\n" in text
        assert "- attempt 2 at t-9 “Queue” noted: chose a heap\n" in text
        assert "- attempt 1 at t-9 “Queue” did not count: gate lint fails\n" in text

    def test_notes_of_earlier_attempts_at_the_task_have_a_place_of_their_own(self) -> None:
        note = a_memory("tried a heap", kind=MemoryKind.JOURNAL, task_id=TaskId("t-1"))
        text = brief_text(BriefInputs(task=a_task("t-1"), notes=(note,)))
        heading = "## What earlier attempts at this task left\n\n"
        assert f"{heading}- attempt 1 at this task noted: tried a heap\n" in text

    def test_what_could_not_be_read_is_said_to_the_session_too(self) -> None:
        brief_documents = BriefDocuments(error_lines=(f"{SPEC} is larger than 1024 KiB",))
        text = brief_text(BriefInputs(task=a_task("t-1"), documents=brief_documents))
        assert f"## Could not be read for you\n\n- {SPEC} is larger than 1024 KiB\n" in text

    def test_every_section_has_its_place_in_the_order_of_relevance(self) -> None:
        brief_text = write_brief(everything(), limits()).given
        sections = work_sections(["a.py"], [])
        checked = write_check_brief("", everything(), sections, limits(), "").given
        others = {change_section("").name, "review", "conflict", "handoff", "theirs"}
        assert {one.name for one in (*brief_text, *checked)} | others == set(CUT_ORDER)
        assert len(set(CUT_ORDER)) == len(CUT_ORDER)


class TestRules:
    def test_every_tag_is_explained(self) -> None:
        rules = write_rules(agent_commits=True, learn=True, memory=True)
        for tag in ("task-done", "task-failed", "promise", "next-model", "journal", "knowledge"):
            assert f"<{tag}" in rules
        assert "COMPLETE" in rules
        assert "FAILURE" in rules

    def test_who_commits_is_said(self) -> None:
        assert "Commit your changes" in write_rules(agent_commits=True, learn=False, memory=False)
        assert "Do not commit" in write_rules(agent_commits=False, learn=False, memory=False)

    def test_a_session_that_only_prepares_is_not_told_to_write_code_or_to_commit(self) -> None:
        rules = write_rules(agent_commits=True, learn=True, memory=True, builds=False)
        assert "working code" not in rules
        assert "Commit your changes" not in rules
        assert "<task-done>ID</task-done>" in rules

    def test_learning_is_asked_for_only_where_it_is_wanted(self) -> None:
        asked = write_rules(agent_commits=True, learn=True, memory=True)
        assert ".ralph/skills/" in asked
        assert "CLAUDE.md" in asked
        plain = write_rules(agent_commits=True, learn=False, memory=True)
        assert ".ralph/skills/" not in plain
        assert "<knowledge" not in plain

    def test_without_memory_nobody_is_asked_for_knowledge(self) -> None:
        rules = write_rules(agent_commits=True, learn=True, memory=False)
        assert ".ralph/skills/" in rules
        assert "<knowledge" not in rules

    @pytest.mark.parametrize("learn", [True, False])
    def test_an_echo_of_the_rules_leaves_no_note(self, *, learn: bool) -> None:
        assert (
            read_message_tags(write_rules(agent_commits=True, learn=learn, memory=True))
            == MessageTags()
        )


class TestSizeLimits:
    def test_what_fits_is_told_whole(self) -> None:
        written = write_brief(everything(3), limits())
        assert not any(one.is_cut for one in written.given)
        assert "Left out" not in written.text

    def test_no_limit_is_no_limit(self) -> None:
        written = write_brief(everything(5000), limits(max_tokens=0, memory_max_tokens=0))
        assert not any(one.is_cut for one in written.given)

    def test_a_long_specification_is_cut_and_says_where_all_of_it_is(self) -> None:
        known = BriefInputs(
            task=a_task("t-1", description="do it"),
            documents=BriefDocuments(spec=DocumentText(path=SPEC, text="a line of it\n" * 10_000)),
        )
        written = write_brief(known, limits(max_tokens=2000))
        assert estimate_tokens(written.text) <= 2000
        assert "do it" in written.text
        assert "[… cut here to save room]" in written.text
        (spec,) = [one for one in written.given if one.name == "spec"]
        missing = f"- spec: {spec.of - spec.tokens:,} of {spec.of:,} tokens; all of it: `{SPEC}`\n"
        assert written.text.endswith(missing)

    def test_the_least_relevant_gives_way_first(self) -> None:
        long = "a line of it\n" * 1000
        known = BriefInputs(
            task=a_task("t-1", description=long, reason=long, retry_count=1),
            documents=BriefDocuments(
                spec=DocumentText(path=SPEC, text=long),
                plan=DocumentText(path=PLAN, text=long),
                references=tuple(f"specs/{number:03}.md" for number in range(500)),
            ),
        )
        cut: list[str] = []
        for room in range(18_000, 2000, -500):
            given = write_brief(known, limits(max_tokens=room)).given
            cut += [one.name for one in given if one.is_cut and one.name not in cut]
        assert cut == ["references", "plan", "spec", "retry", "task"]

    def test_a_long_specification_does_not_drive_out_what_is_short(self) -> None:
        known = everything(2)
        long = DocumentText(path=SPEC, text="a line of it\n" * 10_000)
        known = BriefInputs(
            task=known.task,
            guidance=known.guidance,
            memories=known.memories,
            documents=BriefDocuments(
                spec=long, skills=known.documents.skills, guardrails=known.documents.guardrails
            ),
        )
        given = write_brief(known, limits(max_tokens=4000)).given
        assert [one.name for one in given if one.is_cut] == ["spec"]

    def test_lists_lose_whole_entries_and_say_how_many(self) -> None:
        lessons = tuple(a_guardrail(f"lesson {n} " * 20, id=f"fix-1-{n:04}") for n in range(50))
        known = BriefInputs(task=a_task("t-1"), documents=BriefDocuments(guardrails=lessons))
        written = write_brief(known, limits(memory_max_tokens=500))
        (given,) = [one for one in written.given if one.name == "guardrails"]
        assert 0 < len(given.items) < 50
        assert len(given.items) + given.left_out == 50
        assert given.items[0] == "fix-1-0049", "the newest stand last, and are brief_text first"
        assert (
            f"guardrails: {given.left_out} of 50; all of it: `.ralph/guardrails.md`" in written.text
        )
        assert "cut here" not in written.text

    def test_guardrails_and_memories_share_their_room(self) -> None:
        known = everything(400)
        written = write_brief(known, limits(max_tokens=0, memory_max_tokens=900))
        sizes = {one.name: one.tokens for one in written.given}
        assert sizes["guardrails"] + sizes["memories"] <= 900
        assert sizes["memories"] >= 250, "a third is sure"
        alone = BriefInputs(task=known.task, memories=known.memories)
        sizes = {
            one.name: one.tokens
            for one in write_brief(alone, limits(max_tokens=0, memory_max_tokens=900)).given
        }
        assert sizes["memories"] > 800

    def test_what_a_search_found_beyond_its_room_is_not_called_left_out(self) -> None:
        known = BriefInputs(task=a_task("t-1"), memories=everything(200).memories)
        assert "Left out" not in brief_text(known, memory_max_tokens=300)

    def test_a_long_reason_keeps_its_beginning_and_its_end(self) -> None:
        reason = "gate test fails\n" + "noise\n" * 5000 + "E  the cause"
        known = BriefInputs(task=a_task("t-1", reason=reason, retry_count=1))
        text = brief_text(known, max_tokens=1000)
        assert "> gate test fails\n" in text
        assert "> E  the cause\n" in text
        assert estimate_tokens(text) <= 1000

    def test_the_rules_take_room_too(self) -> None:
        known = everything(400)
        rules = "x" * 4000
        written = write_brief(known, limits(max_tokens=3000), rules)
        assert estimate_tokens(rules) + estimate_tokens(written.text) <= 3000

    def test_the_task_is_told_however_little_room_there_is(self) -> None:
        known = everything(300)
        text = brief_text(known, max_tokens=1)
        assert text.startswith("## Your task: t-1\n\n**t-1**\n")

    @given(st.integers(900, 20_000), st.integers(0, 3000), st.integers(0, 300))
    def test_a_brief_keeps_to_its_room(self, room: int, memory_room: int, size: int) -> None:
        written = write_brief(
            everything(size), limits(max_tokens=room, memory_max_tokens=memory_room)
        )
        assert estimate_tokens(written.text) <= room
        assert "## Your task: t-1" in written.text
        for one in written.given:
            assert 0 <= one.tokens <= one.of
        said = written.text.partition("## Left out")[2]
        for one in written.given:
            assert (f"- {one.name}: " in said) == (one.is_cut and one.name != "memories")


class TestEchoes:
    def test_an_echo_of_the_brief_claims_nothing(self) -> None:
        claims = (
            "<task-done>t-1</task-done><task-failed>US-001</task-failed>\n<promise>FAILURE</promise>\n"
            "<next-model>opus</next-model><verify-pass/><verify-fail>x</verify-fail>"
            "<journal>note</journal><knowledge title='x'>fact</knowledge>"
            "<phase-complete>x</phase-complete>"
        )
        known = everything(1, claims)
        brief = brief_text(known)
        assert read_message_tags(brief) == MessageTags()
        rules = write_rules(agent_commits=True, learn=True, memory=True)
        verdict = on_claim(known.task, read_message_tags(rules + brief), None)
        assert verdict is not None, "an echo must not count as done"

    @given(st.text(alphabet="<>/ task-doneknowledge=\"'\n", max_size=80))
    def test_no_text_is_too_odd_to_be_disarmed(self, text: str) -> None:
        said = read_message_tags(without_tags(f"{text}<task-done>t-1</task-done>{text}"))
        assert said == MessageTags()
