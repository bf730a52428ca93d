"""A person's machine in small: a home with secrets, repositories, services, a process. And ways to
run a command there, in a sandbox or not, as root or as anybody."""

import contextlib
import ctypes
import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from ralph.files import remove_tree
from tests.e2e.ralph_process import RALPH

HERE = Path(__file__).parent
NOBODY = 65534
USERS = ("root", "user") if os.geteuid() == 0 else ("user",)
PYTHON = os.path.realpath(sys.executable)

SECRETS = {
    "ssh": ".ssh/id_ed25519",
    "aws": ".aws/credentials",
    "kube": ".kube/config",
    "gcloud": ".config/gcloud/credentials.db",
    "netrc": ".netrc",
    "claude": ".claude/.credentials.json",
    "codex": ".codex/auth.json",
    "factory": ".factory/auth.json",
    "docker": ".docker/config.json",
    "npm": ".npmrc",
    "gh": ".config/gh/hosts.yml",
}
OTHERS = (".bashrc", ".profile", ".bash_logout", ".inputrc", ".vimrc", ".gitconfig")
SECRET = "a-secret-of-mine"

SETTINGS = """\
[agent]
command = "true"

[sandbox]
use = "{use}"
network = "{network}"
domains = {domains}

[sandbox.rules.deploy]
read = ["~/.deploy"]
bins = ["deploy-tool"]
env = ["DEPLOY_*"]
"""


SETTINGS_OF_GIT = {
    "core.hooksPath": ".githooks",
    "include.path": "../.gitextra",
    "filter.tidy.clean": "sh tools/clean.sh %f",
}
"""Of a person: they lead into the checkout."""


class Services:
    """Who listens outside, and what was said to them."""

    def __init__(self) -> None:
        self.heard: set[str] = set()
        self._open: list[socket.socket] = []

    def listen(self, address: "str | bytes | tuple[str, int]") -> socket.socket:
        family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
        server = socket.socket(family, socket.SOCK_STREAM)
        server.bind(address)
        server.listen(16)
        if isinstance(address, str):
            os.chmod(address, 0o777)
        self._open.append(server)
        threading.Thread(target=self._serve, args=(server,), daemon=True).start()
        return server

    def _serve(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                with client:
                    client.settimeout(10)
                    self.heard.add(client.recv(1000).decode("latin-1"))
                    client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    def close(self) -> None:
        for server in self._open:
            # A thread in accept() is only woken by this.
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()


class World:
    """One machine, and one user on it."""

    def __init__(self, user: str, **settings: str) -> None:
        self.uid = 0 if user == "root" else NOBODY if os.geteuid() == 0 else os.geteuid()
        self.tag = f"ralph-escape-{secrets.token_hex(4)}"
        # Not below /tmp: there everything is out of sight anyway.
        parent = "/srv" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_dir
        self.base = Path(tempfile.mkdtemp(prefix=f"{self.tag}-", dir=parent))
        self.base.chmod(0o755)
        self.home = self.base / "home"
        self.parent = self.base / "parent"
        self.project = self.parent / "project"
        self.bin = self.base / "bin"
        self.opt = self.base / "opt"
        self.services = Services()
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "KUBECONFIG": SECRET,
            "DEPLOY_KEY": SECRET,
            "SSH_AUTH_SOCK": SECRET,
            "MY_API_KEY": SECRET,
        }
        self._furnish(settings)
        self.outside = self._start_outside()

    def _furnish(self, settings: dict[str, str]) -> None:
        for path in (*SECRETS.values(), ".deploy/key"):
            self.write(self.home / path, f"{SECRET} {path}\n").chmod(0o600)
        for path in OTHERS:
            self.write(self.home / path, "# mine\n")
        self.write(self.opt / "kubectl-1.30", "#!/bin/sh\necho ran, though it is blocked\n")
        self.write(self.bin / "deploy-tool", "#!/bin/sh\necho ran, though it is blocked\n")
        for program in (self.opt / "kubectl-1.30", self.bin / "deploy-tool"):
            program.chmod(0o755)
        (self.bin / "kubectl").symlink_to(self.opt / "kubectl-1.30")
        for folder in (self.parent, self.project):
            self.write(folder / "README.md", "a project\n")
        for path in (".githooks/pre-push", "tools/clean.sh", "part/.claude/settings.json"):
            self.write(self.project / path, "# mine\n")
        wanted = {"use": "auto", "network": "on", "domains": "[]", **settings}
        self.write(self.project / ".ralph.toml", SETTINGS.format(**wanted))
        self.give()
        for folder in (self.parent, self.project):
            self.git(folder, "init", "-q", "-b", "main")
            self.git(folder, "config", "user.name", "A Person")
            self.git(folder, "config", "user.email", "person@example.com")
        for key, value in SETTINGS_OF_GIT.items():
            self.git(self.project, "config", key, value)
        self.write(self.project / ".gitignore", "vendored/\n")
        self.git(self.project, "init", "-q", "vendored")
        self.give()
        self.ralph("init")
        self.git(self.project, "add", "-A")
        self.git(self.project, "commit", "-q", "-m", "first")
        (self.home / ".docker" / "run").mkdir()
        for path in (".docker/run/docker.sock", "service.sock"):
            self.services.listen(str(self.home / path))
        self.services.listen(str(self.project / "dev.sock"))
        self.services.listen(f"/tmp/{self.tag}.sock")
        if os.geteuid() == 0:
            self.services.listen(f"/run/{self.tag}.sock")
        self.services.listen(b"\0" + self.tag.encode())
        self._listen_by_a_short_name()
        self._keep_a_key()
        self.give()
        self.config = self.write(self.base / "world.json", json.dumps(self._facts()))
        self.config.chmod(0o644)

    def _listen_by_a_short_name(self) -> None:
        here = os.getcwd()
        os.chdir(self.home)
        try:
            self.services.listen("short.sock")
        finally:
            os.chdir(here)

    def _keep_a_key(self) -> None:
        """In the key ring that everything which is started from here inherits."""
        call = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
        words = (b"user", self.tag.encode(), SECRET.encode(), len(SECRET), -3)
        assert ctypes.CDLL(None).syscall(call, *words) > 0

    def _facts(self) -> dict[str, object]:
        return {
            "tag": self.tag,
            "base": str(self.base),
            "home": str(self.home),
            "parent": str(self.parent),
            "project": str(self.project),
            "bin": str(self.bin),
            "opt": str(self.opt),
            "secrets": SECRETS,
            "outside": 0,
        }

    def write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def give(self) -> None:
        """Everything in here belongs to the user."""
        if self.uid != os.geteuid():
            subprocess.run(["chown", "-hR", f"{self.uid}:{self.uid}", str(self.base)], check=True)

    def _start_outside(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            self.as_user(["sleep", "1000"]),
            env={"PATH": "/usr/bin:/bin", "SECRET": SECRET},
            cwd=self.home,
            start_new_session=True,
        )
        facts = {**self._facts(), "outside": process.pid}
        self.config.write_text(json.dumps(facts))
        return process

    def as_user(self, argv: Sequence[str]) -> list[str]:
        if self.uid == os.geteuid():
            return list(argv)
        ids = (f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups")
        return [*_reachable(), "setpriv", *ids, "--", *argv]

    def git(self, folder: Path, *args: str) -> str:
        return self.do("git", *args, cwd=folder).stdout

    def ralph(
        self, *args: str, check: bool = True, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        return self.do(RALPH, *args, cwd=self.project, check=check, **env)

    def do(
        self, *argv: str, cwd: Path, check: bool = True, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            self.as_user(argv),
            cwd=cwd,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=100,
        )
        assert done.returncode == 0 or not check, f"{argv}: {done.stdout}\n{done.stderr}"
        return done

    def sandboxed(self, *argv: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return self.ralph("sandbox", "run", "--", *argv, check=False, **env)

    def attempts(self, *names: str) -> list[str]:
        # A copy: the original may lie below /tmp, and so be out of sight.
        script = shutil.copytree(HERE / "attempts", self.base / "attempts", dirs_exist_ok=True)
        return [PYTHON, "-I", "-S", str(script / "__main__.py"), str(self.config), *names]

    def close(self) -> None:
        self.outside.kill()
        self.outside.wait()
        self.services.close()
        for path in (f"/tmp/{self.tag}.sock", f"/run/{self.tag}.sock"):
            Path(path).unlink(missing_ok=True)
        for folder in ("/etc", "/usr/local/bin"):
            Path(folder, self.tag).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.rmdir(f"/sys/fs/cgroup/{self.tag}")
        for left in Path("/tmp").glob(f"{self.tag}*"):
            shutil.rmtree(left, ignore_errors=True)
            left.unlink(missing_ok=True)
        for left in Path("/var/tmp").glob(f"{self.tag}*"):
            left.unlink(missing_ok=True)
        remove_tree(str(self.base))


def _reachable() -> list[str]:
    """Where only root may enter the folder in which Python is, anybody may enter another one in its
    place: seen by that command alone."""
    shut = [folder for folder in Path(PYTHON).parents if not folder.stat().st_mode & 0o001]
    if not shut:
        return []
    script = """set -e
        hold=$(mktemp -d)
        mount --bind "$1" "$hold"
        mount -t tmpfs -o mode=0755 none "$2"
        mkdir -p "$1"
        mount --bind "$hold" "$1"
        umount "$hold"
        rmdir "$hold"
        shift 2
        exec "$@" """
    unshared = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    return [*unshared, sys.base_prefix, str(shut[-1])]


@contextlib.contextmanager
def a_world(user: str, **settings: str) -> Iterator[World]:
    world = World(user, **settings)
    try:
        yield world
    finally:
        world.close()
