"""What sessions need of a machine: its system and the programs on their PATH; and what Ralph itself
runs on, which it would run without any sandbox if a session changed it."""

import contextlib
import os
import pwd
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

import ralph
from ralph.adapters.sandbox.git_repair import copy_plain
from ralph.adapters.sandbox.resolved_paths import access_around
from ralph.core.sandbox_rules import Access, SandboxRules, is_inside
from ralph.files import open_regular, walk
from ralph.ports.executor import Command, CommandOutput, CommandRunner, Tick

NOWHERE: Final = "/nowhere"
"""An empty PATH would be the current folder."""


@lru_cache(maxsize=8)
def unwritable_path(path: str, rules: SandboxRules) -> str:
    """The folders of a PATH in which sessions cannot write."""
    access = {os.path.realpath(place.path): place.access for place in rules.paths if place.path}
    kept = [
        folder
        for folder in path.split(os.pathsep)
        if os.path.isabs(folder)
        and access_around(os.path.join(os.path.realpath(folder), "program"), access)
        is not Access.WRITE
    ]
    return os.pathsep.join(kept) or NOWHERE


class UnsandboxedRunner:
    """Runs Ralph's own short commands without a sandbox."""

    def __init__(self, executor: CommandRunner, path: str) -> None:
        self._executor = executor
        self._path = path

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        command = replace(command, env={**command.env, "PATH": self._path})
        return self._executor.capture(command, timeout_s=timeout_s, tick=tick)

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        self._executor.wait(why, seconds, is_over)


RequiredPaths = tuple[tuple[str, str], ...]
"""Paths, and why each is visible."""
HOMES: Final = ("/home", "/root", "/Users", "/var/root")
SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc", "/nix", "/gnu", "/snap", "/proc", "/sys"),
    *("/run/current-system", "/run/opengl-driver", "/run/wrappers"),
    *(f"/var/lib/{name}" for name in ("alternatives", "apt", "ca-certificates", "dpkg", "rpm")),
    *("/var/lib/gems", "/var/lib/pacman", "/var/cache/fontconfig"),
)
"""On NixOS every program is in /run; on SUSE certificates are in /var/lib."""
SYSTEM_BINS: Final = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")
BEHIND_A_LINK: Final = ("/etc/resolv.conf", "/etc/localtime", "/etc/ssl/certs")
PROGRAMS: Final = frozenset({"bin", "sbin", "shims", "libexec", ".bin"})
"""What holds programs, in a folder that holds the rest of an installation."""
SHARED: Final = (".local", ".local/share", ".config", ".cache", "Library", "snap")
"""Folders of a home in which everything is, not one installation."""
INSTALLED: Final = frozenset(
    {"lib", "lib32", "lib64", "libexec", "share", "include", "man", "jmods", "jars", "ssl", "pkg"}
    | {"conda-meta", "pkgs", "pkgs2", "envs", "versions", "packages", "platform", "plugins", "opt"}
    | {"boot", "init.d", "jre", "condabin", "compiler_compat", "shell", "install", "installs"}
    | {"tools", "toolchains", "store", "gems", "specifications", "extensions", "rubies", "scripts"}
    | {"environments", "wrappers", "hosted", "global_packages", "releases", "Cellar", "Homebrew"}
)
"""Beside programs in an installation. Whatever else is there may be a person's: conversations,
states of a cloud, other projects."""
FOR_A_MACHINE: Final = re.compile(
    r"(x86_64|i[3-6]86|aarch64|arm|riscv|xtensa|mips|powerpc|wasm|avr|erts)\w*-.+"
)
"""The same, by the name of what they are made for."""
ONLY_BESIDE: Final = {
    "src": ("bin/go", "pyvenv.cfg"),
    "conf": ("release", "conf/groovy-starter.conf"),
    "etc": ("conda-meta", "Cellar"),
}
"""The same, only beside one of these; elsewhere a person's own files are in them."""
NO_PART: Final = re.compile(
    r"\.|.*(key|secret|cred|token|auth|passw|session|histor|cert|private|config|wallet)", re.I
)
PACKAGES: Final = frozenset({"node_modules", "vendor"})
"""Nothing but what was installed, by any name."""
SETTINGS: Final = ("version", "VERSION", "release", "go.env", "pyvenv.cfg", "env", "nvm.sh")
"""Files at the top of an installation that hold no secret; others may."""
TOOLS: Final = (
    *(".rustup", ".cargo/registry", ".cargo/git", ".cargo/config.toml", ".nvm", ".local/lib"),
    *(".local/share/uv/python", ".local/share/uv/tools", ".local/share/pipx/venvs"),
    *(f".local/share/mise/{name}" for name in ("installs", "plugins", "shims")),
    *(
        ".config/mise/config.toml",
        ".m2/repository",
        ".tool-versions",
        ".config/git/ignore",
        ".config/git/attributes",
    ),
)
"""In a home, and not found by any PATH. uv and mise keep logins beside these."""
SECRET: Final = re.compile(rb"(token|secret|passw\w*|api_?key)[\"']?[ \t]*[=:]", re.I)
"""A file of settings with such a line is not shown."""
MOST_READ: Final = 1 << 16
NAMED_BY: Final = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOROOT", "RUSTUP_HOME", "PYENV_ROOT"),
    *("NVM_DIR", "ANDROID_HOME", "ANDROID_SDK_ROOT", "DOTNET_ROOT", "SDKMAN_DIR", "GEM_HOME"),
    *("GEM_PATH", "NODE_PATH", "PYTHONPATH", "LD_LIBRARY_PATH"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"),
    *("NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"),
)
"""Variables that name toolchains, libraries and certificates."""
SETTINGS_ENDS: Final = (".toml", ".cfg", ".conf", ".ini", ".json", ".yaml", ".yml", "env", ".env")
SCRIPTS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".sh", ".bash")
WINDOWS: Final = re.compile(r"/mnt/[a-z](/|$)")
"""In WSL: programs there run outside of everything."""
MOST_LINKS: Final = 40
HEAD: Final = 200


def home_folders() -> tuple[str, ...]:
    """Where people's own files are, whatever HOME says."""
    try:
        account = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        account = ""
    return tuple(path for path in (*HOMES, account) if len(path) > 1 and os.path.isdir(path))


def required_paths(
    env: Mapping[str, str],
    home: str,
    *,
    written: Sequence[str] = (),
    hidden: Sequence[str] = (),
    checkouts: Sequence[str] = (),
) -> RequiredPaths:
    """All of it. `written`: where sessions write; `hidden`: what holds keys, so that only a folder
    of programs in it is shown; `checkouts`: where a link to a virtual environment may be."""
    seen = _Seen(home, written, hidden)
    for path in (*SYSTEM, *BEHIND_A_LINK):
        seen.show(path, "the system")
    for path in _folders("/opt"):
        seen.show(path, "programs of the system")
    for path in (sys.prefix, sys.base_prefix, os.path.realpath(sys.executable), *ralph.__path__):
        seen.show(path, "Ralph runs on it")
    for name in TOOLS:
        seen.show(os.path.join(home, name), "a known tool's")
    for name in NAMED_BY:
        for path in filter(os.path.isabs, env.get(name, "").split(os.pathsep)):
            seen.show(os.path.normpath(path), f"{name} names it")
    for path in env.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(path) and not WINDOWS.match(path):
            seen.programs(os.path.normpath(path))
    for folder in checkouts:
        for name in (".venv", "venv"):
            seen.environment(os.path.join(folder, name))
    return tuple(seen.found.items())


def with_its_folder(path: str, home: str, top: str) -> str:
    """A script finds what belongs to it beside it; any other file is shown alone."""
    folder = os.path.dirname(path)
    if is_inside(home, folder) or is_inside(top, folder):
        return path
    broad = {
        "/",
        home,
        "/tmp",
        "/var/tmp",
        *home_folders(),
        *(os.path.join(home, name) for name in SHARED),
    }
    is_broad = folder in broad or os.path.dirname(folder) in broad
    return path if is_broad or not path.endswith(SCRIPTS) else folder


class _Seen:
    def __init__(self, home: str, written: Iterable[str], hidden: Iterable[str]) -> None:
        self.found: dict[str, str] = {}
        self._visited: set[str] = set()
        self._written = [*written, *map(os.path.realpath, written)]
        self._hidden = tuple(hidden)
        self._whole = {"/", home, os.path.realpath(home), *home_folders()}
        """Never shown as a whole, whatever leads there."""
        for name in SHARED:
            self._whole.add(os.path.join(home, name))

    def show(self, path: str, why: str) -> None:
        """A file or folder, unless it can be seen already, or must not be as a whole."""
        real = os.path.realpath(path)
        if path in self._whole or real in self._whole or not os.path.exists(real):
            return
        if self._can_be_written(path) or _holds_secret(real):
            return
        if not (self._is_shown(path) and self._is_shown(real)):
            self.found[path] = why

    def _is_shown(self, path: str) -> bool:
        return any(is_inside(path, folder) for folder in self.found)

    def programs(self, folder: str) -> None:
        """A folder of the PATH, what its programs were installed with, and what links in it lead
        to."""
        why = "on your PATH"
        entries = _entries(folder)
        shown = [entry.path for entry in entries if not _is_likely_secret(entry)]
        for path in shown if len(shown) < len(entries) else (folder,):
            self.show(path, why)
        if os.path.basename(folder) in PROGRAMS:
            self.installation(os.path.dirname(folder), f"programs in {folder}, {why}")
        if folder not in SYSTEM_BINS and not self._can_be_written(folder):
            for entry in entries:
                if entry.is_symlink():
                    self.follow(entry.path)
                elif entry.is_file():
                    self._interpreter(entry.path)

    def _can_be_written(self, path: str) -> bool:
        return any(
            is_inside(one, w) for one in (path, os.path.realpath(path)) for w in self._written
        )

    def installation(self, folder: str, why: str) -> None:
        """Programs with their libraries: only known folders, since what is beside them may be
        credentials."""
        if folder in self._whole or any(is_inside(folder, path) for path in self._hidden):
            return
        if folder in self._visited:
            return
        self._visited.add(folder)
        if os.path.basename(folder) in PACKAGES:
            self.show(folder, why)
            return
        for path in _folders(folder):
            name = os.path.basename(path)
            signs = (os.path.join(folder, sign) for sign in ONLY_BESIDE.get(name, ()))
            is_known = name in PROGRAMS or name in INSTALLED or FOR_A_MACHINE.match(name)
            if is_known or any(map(os.path.exists, signs)):
                self.show(path, why)
        for name in SETTINGS:
            self.show(os.path.join(folder, name), why)
        for name in ("python", "python3"):
            self.follow(os.path.join(folder, "bin", name))

    def follow(self, link: str) -> None:
        """Where a link leads, one by one: each step must be there."""
        for path in _steps(link):
            if self._is_shown(path) and self._is_shown(os.path.realpath(path)):
                continue
            folder = os.path.dirname(path)
            why = f"{link} leads there"
            if os.path.basename(folder) in PROGRAMS:
                self.installation(os.path.dirname(folder), why)
            if folder not in self._whole and os.path.dirname(folder) not in self._whole:
                self.show(folder, why)
            self.show(path, why)

    def _interpreter(self, path: str) -> None:
        """What a script is run by."""
        try:
            with open_regular(path) as file:
                line = file.read(HEAD).partition(b"\n")[0]
        except OSError:
            return
        if line.startswith(b"#!"):
            program = os.fsdecode(line[2:].strip().partition(b" ")[0])
            if os.path.isabs(program) and not self._is_shown(program):
                folder = os.path.dirname(program)
                if os.path.basename(folder) in PROGRAMS:
                    self.installation(os.path.dirname(folder), f"{path} is run by it")
                self.follow(program)

    def environment(self, folder: str) -> None:
        """A virtual environment of a checkout, and the Python behind it. Sessions may have put a
        link there, so it counts only if it leads to one."""
        real = os.path.realpath(folder)
        if not os.path.isfile(os.path.join(real, "pyvenv.cfg")):
            return
        if not self._can_be_written(real):
            self.installation(real, "a virtual environment of the checkout")
        for step in _steps(os.path.join(real, "bin", "python")):
            prefix = os.path.dirname(os.path.dirname(step))
            if _is_python(prefix):
                self.installation(prefix, "the Python of a virtual environment")


def _is_likely_secret(entry: "os.DirEntry[str]") -> bool:
    """Is it named like one, and no program?"""
    is_file = entry.is_file(follow_symlinks=False)
    return is_file and NO_PART.match(entry.name) is not None and not os.access(entry.path, os.X_OK)


def _holds_secret(path: str) -> bool:
    if not path.endswith(SETTINGS_ENDS):
        return False
    with contextlib.suppress(OSError), open_regular(path) as file:
        return SECRET.search(file.read(MOST_READ)) is not None
    return False


@lru_cache
def unreadable_for_others(folder: str) -> tuple[str, ...]:
    """What not every user of this machine may read, in a folder of the system."""
    found, left = [], [folder]
    while left:
        for entry in _entries(left.pop()):
            with contextlib.suppress(OSError):
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISLNK(mode):
                    continue
                if not mode & stat.S_IROTH:
                    found.append(entry.path)
                elif stat.S_ISDIR(mode):
                    left.append(entry.path)
    return tuple(sorted(found))


def _is_python(prefix: str) -> bool:
    return any(
        os.path.basename(path).startswith("python3") and os.path.isfile(os.path.join(path, "os.py"))
        for path in _folders(os.path.join(prefix, "lib"))
    )


def _steps(path: str) -> Iterator[str]:
    for _ in range(MOST_LINKS):
        try:
            target = os.readlink(path)
        except OSError:
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), target))
        yield path


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _folders(folder: str) -> list[str]:
    return sorted(entry.path for entry in _entries(folder) if entry.is_dir())


MOST_COPIED: Final = 1 << 30
"""Bytes of a module."""


def ralph_code_in(top: str) -> tuple[str, ...]:
    """The part that lies in a checkout."""
    found: list[str] = []
    modules = (path for path in module_folders() if path != top)
    for path in (*map(os.path.realpath, (sys.prefix, sys.base_prefix, *ralph.__path__)), *modules):
        if path == top:
            found += (os.path.join(top, name) for name in ("bin", "lib", "lib64", "pyvenv.cfg"))
        elif is_inside(path, top) and not any(is_inside(path, other) for other in found):
            found.append(path)
    return tuple(found)


def module_folders() -> list[str]:
    """The folders in which Python looks for Ralph's modules, also for those that are not there: of
    a plugin, or one that runs at every start."""
    return [os.path.realpath(path) for path in sys.path if os.path.isabs(path)]


def separate_modules(python: str = os.__file__, installed: str = msgspec.__file__) -> None:
    """Give modules files of their own where an installer has linked them to its cache, as uv and
    conda do: the environment of a project has the same files then, and sessions write there. One
    module of Python's and one of those beside Ralph tell whether that is so."""
    for module, folder in (
        (python, os.path.dirname(python)),
        (installed, os.path.dirname(os.path.dirname(installed))),
    ):
        if os.stat(module).st_nlink > 1:
            names = (os.path.join(at, name) for at, _, names in walk(folder) for name in names)
            for path in (*(name for name in names if name != module), module):
                _separate(path)


def _separate(path: str) -> None:
    draft = f"{path}.{os.urandom(6).hex()}"
    with contextlib.suppress(OSError):
        if os.lstat(path).st_nlink > 1 and copy_plain(path, draft, MOST_COPIED):
            os.replace(draft, path)
