"""A person talks with a real agent about a spec: its own screen, in their terminal."""

import json
import os
from pathlib import Path

import pytest

from ralph.testing.model import RefusingProxy, ScriptedCall, Shell, Write, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import RealProject
from tests.e2e.agents.setups import KEY
from tests.e2e.terminal import Terminal

SPEC = ".ralph/features/login/spec.md"


def known_here(project: Path) -> None:
    """What a person's own configuration says who has used it here before: no greeting, no doubts
    about the key, nor about the folder."""
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    home = Path(os.environ["HOME"])
    (home / ".claude.json").write_text(json.dumps(settings))
    quiet = {"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1"}
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(json.dumps({"env": quiet}))


def test_claude_asks_for_permission_and_writes_the_spec(real: Real) -> None:
    project = real("claude")
    known_here(project.path)
    project.server.script(
        "spec",
        do(Write(path=f"{{cwd}}/{SPEC}", text="# Login\n"), text="I write it."),
        say("It-is-written."),
    )
    request = "sign in by mail [[scenario:spec]]"
    terminal = Terminal(project, "feature", "spec", "login", "--request", request)
    terminal.until(lambda: "Yes, allow all edits" in terminal.words, "it asks", 60)
    assert not (project.path / SPEC).exists()
    terminal.type(b"\r")
    # Not by its words: it sends only those letters that are not on the screen yet.
    terminal.until(lambda: len(project.server.asked_in("spec")) == 2, "it was permitted")
    terminal.type(b"/exit")
    terminal.until(lambda: "/exit" in terminal.words, "it was typed")
    terminal.type(b"\r")
    assert terminal.ended() == 0
    assert terminal.is_sane()
    assert (project.path / SPEC).read_text() == "# Login\n"
    assert f"spec: {SPEC}" in terminal.words


def trusted_codex(real: Real) -> RealProject:
    # A model that it does not know: of one that it knows it recommends a newer one first.
    project = real("codex", models={"model": "scripted"})
    settings = Path(os.environ["HOME"]) / ".codex/config.toml"
    trusted = f'[projects."{project.path}"]\ntrust_level = "trusted"\n'
    settings.write_text(settings.read_text() + trusted)
    return project


@pytest.mark.soak
def test_codex_writes_the_prd_of_a_fresh_project(real: Real, refusing_proxy: RefusingProxy) -> None:
    project = trusted_codex(real)
    added = "*** Add File: .agents/tasks/prd.md\n+### [ ] US-001: Tea\n+- [ ] it is sold\n"
    patch = f"apply_patch <<'E'\n*** Begin Patch\n{added}*** End Patch\nE\n"
    writes = do(ScriptedCall(name="exec_command", input={"cmd": patch}))
    project.server.script("prd", writes, say("It-is-written."))
    terminal = Terminal(project, "story", "write", "a shop [[scenario:prd]]")
    terminal.until(lambda: len(project.server.asked_in("prd")) == 2, "it was written", 60)
    terminal.type(b"/quit")
    terminal.until(lambda: "/quit" in terminal.words, "it was typed")
    terminal.type(b"\r")
    assert terminal.ended() == 0
    assert "1 story" in terminal.words
    # Its own screen looks for news, whoever has started it.
    refusing_proxy.wanted.clear()


@pytest.mark.soak
def test_codex_keeps_to_the_phase_in_the_persons_own_folder(
    real: Real, refusing_proxy: RefusingProxy
) -> None:
    project = trusted_codex(real)
    project.server.script("spec", do(Shell(command="touch evil.txt")), say("I-only-look."))
    request = "sign in by mail [[scenario:spec]]"
    terminal = Terminal(project, "feature", "spec", "login", "--request", request)
    terminal.until(lambda: len(project.server.asked_in("spec")) == 2, "it was denied", 60)
    terminal.type(b"/quit")
    terminal.until(lambda: "/quit" in terminal.words, "it was typed")
    terminal.type(b"\r")
    assert terminal.ended() == 1, "no spec was written"
    (text,) = project.server.asked_in("spec")[-1].results
    assert "this phase only looks" in text
    assert not (project.path / "evil.txt").exists()
    # Its own screen looks for news, whoever has started it.
    refusing_proxy.wanted.clear()
