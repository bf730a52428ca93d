"""Writing where one must not."""

import os

from common import World, attempt, put


@attempt
def home(w: World) -> None:
    put(f"{w['home']}/planted")


@attempt
def shell_profile(w: World) -> None:
    with open(f"{w['home']}/.bashrc", "a") as file:
        file.write("planted\n")


@attempt
def system(w: World) -> None:
    put(f"/etc/{w['tag']}")


@attempt
def programs(w: World) -> None:
    put(f"/usr/local/bin/{w['tag']}")


@attempt
def parent_repository(w: World) -> None:
    put(f"{w['parent']}/planted")


@attempt
def parent_repository_hook(w: World) -> None:
    put(f"{w['parent']}/.git/hooks/pre-commit")


@attempt
def neighbour(w: World) -> None:
    put(f"{w['base']}/planted")


@attempt
def by_symlink(w: World) -> None:
    os.symlink(w["home"], f"{w['project']}/way-out")
    put(f"{w['project']}/way-out/through-a-link")


@attempt
def by_hard_link(w: World) -> None:
    os.link(f"{w['home']}/.profile", f"{w['project']}/profile")
    with open(f"{w['project']}/profile", "a") as file:
        file.write("planted\n")


@attempt
def by_rename(w: World) -> None:
    put(f"{w['project']}/moved")
    os.rename(f"{w['project']}/moved", f"{w['home']}/moved")


@attempt
def by_proc_self_root(w: World) -> None:
    put(f"/proc/self/root{w['home']}/by-proc")


@attempt
def by_proc_one_root(w: World) -> None:
    put(f"/proc/1/root{w['home']}/by-init")


@attempt
def by_the_outside_process(w: World) -> None:
    put(f"/proc/{w['outside']}/root{w['home']}/by-outside")
    put(f"/proc/{w['outside']}/cwd/by-outside")


@attempt
def by_open_folder(w: World) -> None:
    top = os.open("/", os.O_RDONLY)
    try:
        path = f"{w['home'][1:]}/by-folder"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, dir_fd=top))
    finally:
        os.close(top)


@attempt
def permissions(w: World) -> None:
    os.chmod(f"{w['home']}/.bash_logout", 0o777)


@attempt
def times(w: World) -> None:
    os.utime(f"{w['home']}/.inputrc", (1, 1))


@attempt
def remove(w: World) -> None:
    os.unlink(f"{w['home']}/.vimrc")


@attempt
def truncate(w: World) -> None:
    os.truncate(f"{w['home']}/.gitconfig", 0)


@attempt
def kernel_settings(w: World) -> str:
    """Root's own by its number, whatever its powers: a pattern in there runs as the real root."""
    with open("/proc/sys/kernel/core_pattern", "r+") as file:
        before = file.read()
        file.seek(0)
        file.write(before)
    return "wrote"


@attempt
def control_groups(w: World) -> None:
    os.mkdir(f"/sys/fs/cgroup/{w['tag']}")
