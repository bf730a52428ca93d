"""Tearing down the sandbox itself: mounts, namespaces, devices."""

import contextlib
import os
import stat
from typing import Any

from common import World, attempt, check, in_a_child, libc, put

MS_REMOUNT, MS_BIND, MS_REC = 32, 4096, 16384
NEWNS, NEWUSER = 0x00020000, 0x10000000


@attempt
def remount(w: World) -> None:
    """The sandbox that root would find standing open: everything is writable after it."""
    for path in ("/", w["home"], "/etc"):
        with contextlib.suppress(OSError):
            check(libc.mount(None, path.encode(), None, MS_REMOUNT | MS_BIND, None))
    put(f"{w['home']}/after-remount")


@attempt
def mount(w: World) -> None:
    os.makedirs(f"{w['project']}/mnt", exist_ok=True)
    source, target = w["home"].encode(), f"{w['project']}/mnt".encode()
    check(libc.mount(source, target, None, MS_BIND | MS_REC, None))
    put(f"{w['project']}/mnt/after-mount")


@attempt
def unmount(w: World) -> str:
    for path in (f"{w['home']}/.ssh", f"{w['project']}/.git/config", f"{w['project']}/.ralph.toml"):
        with contextlib.suppress(OSError):
            check(libc.umount2(path.encode(), 2))
    put(f"{w['project']}/.ralph.toml", "# after umount\n")
    return "unmounted"


@attempt
def user_namespace(w: World) -> Any:
    def inside() -> str:
        check(libc.unshare(NEWUSER | NEWNS))
        for path in ("/", w["home"], f"{w['project']}/.git/config"):
            with contextlib.suppress(OSError):
                check(libc.mount(None, path.encode(), None, MS_REMOUNT | MS_BIND, None))
            with contextlib.suppress(OSError):
                check(libc.umount2(path.encode(), 2))
        put(f"{w['home']}/from-a-namespace")
        return "through"

    return in_a_child(inside)


@attempt
def enter_namespaces(w: World) -> Any:
    def inside() -> str:
        for pid in (w["outside"], 1, os.getppid()):
            with contextlib.suppress(OSError):
                fd = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
                check(libc.setns(fd, 0))
        put(f"{w['home']}/from-their-namespace")
        return "through"

    return in_a_child(inside)


@attempt
def change_root(w: World) -> Any:
    def inside() -> str:
        os.makedirs(f"{w['project']}/cage", exist_ok=True)
        top = os.open("/", os.O_RDONLY)
        os.chroot(f"{w['project']}/cage")
        os.fchdir(top)
        for _ in range(64):
            os.chdir("..")
        os.chroot(".")
        put(f"{w['home']}/from-a-cage")
        return "through"

    return in_a_child(inside)


@attempt
def device_node(w: World) -> str:
    disk = os.stat(w["home"]).st_dev
    path = f"{w['project']}/disk"
    os.mknod(path, 0o600 | stat.S_IFBLK, disk)
    with open(path, "rb") as file:
        return f"read {len(file.read(16))} bytes of the disk"
