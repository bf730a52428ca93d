"""Planting what judges, or what git and agents would run outside."""

import contextlib
import os
import subprocess

from common import World, attempt, put


@attempt
def git_config(w: World) -> None:
    with open(f"{w['project']}/.git/config", "a") as file:
        file.write("[core]\n\tfsmonitor = ./appended\n")


@attempt
def git_config_by_git(w: World) -> None:
    subprocess.run(["git", "config", "core.hooksPath", "by-git"], cwd=w["project"], check=True)


@attempt
def git_config_by_rename(w: World) -> None:
    put(f"{w['project']}/.git/other", "[core]\n\tpager = by-rename\n")
    os.replace(f"{w['project']}/.git/other", f"{w['project']}/.git/config")


@attempt
def git_hook(w: World) -> None:
    path = f"{w['project']}/.git/hooks/post-checkout"
    put(path, "#!/bin/sh\n")
    os.chmod(path, 0o755)


@attempt
def git_attributes(w: World) -> None:
    put(f"{w['project']}/.git/info/attributes", "* filter=evil\n")


@attempt
def git_common_folder(w: World) -> None:
    os.makedirs(f"{w['project']}/fake", exist_ok=True)
    put(f"{w['project']}/.git/commondir", f"{w['project']}/fake\n")


@attempt
def git_worktree_config(w: World) -> None:
    put(f"{w['project']}/.git/config.worktree", "[core]\n\tfsmonitor = ./evil\n")


@attempt
def git_submodule_config(w: World) -> None:
    os.makedirs(f"{w['project']}/.git/modules/evil", exist_ok=True)
    put(f"{w['project']}/.git/modules/evil/config", "[core]\n\tfsmonitor = ./evil\n")


@attempt
def git_folder_renamed(w: World) -> None:
    os.rename(f"{w['project']}/.git", f"{w['project']}/.git-away")
    os.mkdir(f"{w['project']}/.git")
    put(f"{w['project']}/.git/config", "[core]\n\tfsmonitor = ./evil\n")


@attempt
def settings(w: World) -> None:
    put(f"{w['project']}/.ralph.toml", '[sandbox]\nmode = "off"\n')


@attempt
def settings_by_rename(w: World) -> None:
    put(f"{w['project']}/other.toml", '[sandbox]\nmode = "off"  # by rename\n')
    os.replace(f"{w['project']}/other.toml", f"{w['project']}/.ralph.toml")


@attempt
def gates(w: World) -> None:
    put(f"{w['project']}/.ralph/config.sh", "GATE_TEST=true\n")


@attempt
def templates(w: World) -> None:
    os.makedirs(f"{w['project']}/.agents/ralph", exist_ok=True)
    put(f"{w['project']}/.agents/ralph/agents.sh", "AGENT_CLAUDE_CMD=evil\n")


@attempt
def templates_by_rename(w: World) -> None:
    os.rename(f"{w['project']}/.agents", f"{w['project']}/.agents-away")
    os.makedirs(f"{w['project']}/.agents/ralph")
    put(f"{w['project']}/.agents/ralph/agents.sh", "AGENT_CLAUDE_CMD=evil\n")


@attempt
def database(w: World) -> None:
    with open(f"{w['project']}/.ralph/progress.db", "r+b") as file:
        file.write(b"planted")


@attempt
def database_journal(w: World) -> None:
    put(f"{w['project']}/.ralph/progress.db-journal")


@attempt
def logs(w: World) -> None:
    put(f"{w['project']}/.ralph/runs/run-1-iter-1.log")


@attempt
def state_renamed(w: World) -> None:
    os.rename(f"{w['project']}/.ralph", f"{w['project']}/.ralph-away")
    os.mkdir(f"{w['project']}/.ralph")


@attempt
def project_agent_settings(w: World) -> None:
    os.makedirs(f"{w['project']}/.claude", exist_ok=True)
    put(f"{w['project']}/.claude/settings.json", '{"hooks": {}}')


@attempt
def project_agent_servers(w: World) -> None:
    put(f"{w['project']}/.mcp.json", '{"mcpServers": {}}')


@attempt
def persons_agent_settings(w: World) -> None:
    for folder in (".claude", ".codex", ".factory"):
        with contextlib.suppress(OSError):
            put(f"{w['home']}/{folder}/settings.json", '{"hooks": {}}')


@attempt
def project_editor_settings(w: World) -> None:
    os.makedirs(f"{w['project']}/.vscode", exist_ok=True)
    put(f"{w['project']}/.vscode/tasks.json", '{"tasks": []}')


@attempt
def project_other_agent_settings(w: World) -> None:
    for folder in (".cursor", ".gemini"):
        with contextlib.suppress(OSError):
            os.makedirs(f"{w['project']}/{folder}", exist_ok=True)
            put(f"{w['project']}/{folder}/mcp.json", "{}")


@attempt
def project_git_of_an_editor(w: World) -> None:
    os.makedirs(f"{w['project']}/.idea", exist_ok=True)
    put(f"{w['project']}/.idea/workspace.xml", '<option name="PATH_TO_GIT" value="evil" />')


@attempt
def project_tool_settings(w: World) -> None:
    put(f"{w['project']}/mise.toml", "[hooks]\nenter = 'evil'\n")


@attempt
def project_shell_settings(w: World) -> None:
    put(f"{w['project']}/.envrc", "evil\n")


@attempt
def nested_agent_settings(w: World) -> None:
    os.makedirs(f"{w['project']}/a/b/.claude", exist_ok=True)
    put(f"{w['project']}/a/b/.claude/settings.json", '{"hooks": {}}')


@attempt
def nested_agent_settings_that_were_there(w: World) -> None:
    put(f"{w['project']}/part/.claude/settings.json", '{"hooks": "mine"}')


@attempt
def nested_agent_servers(w: World) -> None:
    os.makedirs(f"{w['project']}/a/c", exist_ok=True)
    put(f"{w['project']}/a/c/.mcp.json", "{}")


@attempt
def hook_in_the_checkout(w: World) -> None:
    """Where this person's git looks for hooks."""
    put(f"{w['project']}/.githooks/post-checkout", "#!/bin/sh\n")


@attempt
def git_settings_in_the_checkout(w: World) -> None:
    """Which this person's git reads as well."""
    put(f"{w['project']}/.gitextra", "[core]\n\tpager = evil\n")


@attempt
def filter_in_the_checkout(w: World) -> None:
    """Which this person's git runs."""
    with open(f"{w['project']}/tools/clean.sh", "a") as file:
        file.write("planted\n")


@attempt
def nested_repository(w: World) -> None:
    subprocess.run(["git", "init", "-q", "nested"], cwd=w["project"], check=True)
    with open(f"{w['project']}/nested/.git/config", "a") as file:
        file.write("[core]fsmonitor=./evil\n")


@attempt
def nested_repository_with_a_hook(w: World) -> None:
    subprocess.run(["git", "init", "-q", "hooked"], cwd=w["project"], check=True)
    os.makedirs(f"{w['project']}/hooked/.git/hooks", exist_ok=True)
    put(f"{w['project']}/hooked/.git/hooks/post-checkout", "#!/bin/sh\n")


@attempt
def folder_that_is_a_repository(w: World) -> None:
    """Git takes it for one, without any `.git`: whoever goes there and asks for the status."""
    folder = f"{w['project']}/innocent-folder"
    for name in ("objects", "refs"):
        os.makedirs(f"{folder}/{name}", exist_ok=True)
    put(f"{folder}/HEAD", "ref: refs/heads/main\n")
    put(f"{folder}/config", "[core]\n\tworktree = .\n\tfsmonitor = evil\n")


@attempt
def folder_with_settings_elsewhere(w: World) -> None:
    folder = f"{w['project']}/led-away"
    os.makedirs(folder, exist_ok=True)
    put(f"{folder}/HEAD", "ref: refs/heads/main\n")
    put(f"{folder}/commondir", "../elsewhere\n")


@attempt
def repository_that_was_there(w: World) -> None:
    """Harmless until now."""
    with open(f"{w['project']}/vendored/.git/config", "a") as file:
        file.write("[include]\n\tpath = ../evil\n")


@attempt
def program_with_my_powers(w: World) -> None:
    """For whoever else has an account here."""
    path = f"{w['project']}/powers"
    put(path, "#!/bin/sh\n")
    os.chmod(path, 0o4755)


@attempt
def program_made_with_my_powers(w: World) -> None:
    before = os.umask(0)
    try:
        os.close(os.open(f"{w['project']}/made", os.O_CREAT | os.O_WRONLY, 0o4755))
    finally:
        os.umask(before)
