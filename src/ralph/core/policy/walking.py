"""Going through a shell text as a shell would, without running anything."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from ralph.core.policy import output
from ralph.core.policy.decision import Doubt
from ralph.core.policy.expanding import About, fields, texts
from ralph.core.policy.known import UNKNOWN, Field, Frame, Known
from ralph.core.policy.places import some_of
from ralph.core.policy.shells import Shelled, evaluated
from ralph.core.policy.wrappers import inner, wrapper_of
from ralph.core.safe_text import one_line
from ralph.core.shell.insides import is_bomb, literal, place, prompted, substitutions
from ralph.core.shell.reading import read
from ralph.core.shell.tree import (
    Assignment,
    Command,
    Compound,
    Function,
    Pipeline,
    Process,
    Redirect,
    Script,
    Simple,
    Word,
)

PROMPTS: Final = ("PS0", "PS1", "PS2", "PS4")
RUNS: Final = re.compile(r"\$\(|`")
GNU: Final = frozenset(
    {"env", "nice", "stdbuf", "nohup", "chroot", "timeout", "time", "xargs", "find", "rm", "mv"}
    | {
        "cp",
        "dd",
        "tee",
        "chmod",
        "chown",
        "shred",
        "truncate",
        "install",
        "sed",
        "awk",
        "grep",
        "tar",
    }
)
"""What is called `genv`, `gnice`, … where another program has the plain name."""
DEEPEST: Final = 20
"""Texts in texts, wrappers in wrappers, functions in functions."""


class TooMuch(Exception):
    """More than anybody can follow."""


class Call(NamedTuple):
    """A command that the text runs."""

    name: str
    """Without its folder, in small letters; empty where there are only redirections."""
    words: tuple[Field, ...]
    variables: tuple[tuple[str, str], ...] = ()
    """Set for this command alone."""
    redirects: tuple[tuple[str, Field], ...] = ()
    cwd: str | None = None
    stdin: str | None = None
    is_sure: bool = True
    """False for one way among several to see it."""


class Bomb(NamedTuple):
    """A function that starts itself twice over."""

    name: str


Found = Call | Doubt | Bomb


class Walker:
    """Goes through a text as a shell would, without running anything."""

    def __init__(self, known: Known, steps: int) -> None:
        self.known = known
        self.found: list[Found] = []
        self.steps = steps
        self.left = steps
        self.trees: dict[tuple[str, int], Script] = {}
        self.called: set[tuple[object, ...]] = set()
        self.places: dict[str, int] = {}
        """Where in the source here-documents stand, by their text."""

    def call(
        self,
        words: tuple[Field, ...],
        frame: Frame,
        variables: tuple[tuple[str, str], ...] = (),
        redirects: tuple[tuple[str, Field], ...] = (),
    ) -> None:
        """A command with all its words."""
        raise NotImplementedError

    def start(self) -> None:
        """Another round, with what is known by now."""
        self.known.has_changed = False
        self.found.clear()
        self.called.clear()
        self.left = self.steps

    def text(self, shelled: Shelled, frame: Frame) -> None:
        """What a shell does with a text."""
        text, base = shelled.text.text, shelled.text.inner
        if shelled.is_stdin:
            base = self.places.get(text, -1)
        if (text, frame.arguments) in frame.calls:
            # It runs itself, as far as anybody can tell.
            return
        frame.calls = (*frame.calls, (text, frame.arguments))
        self.deeper(frame)
        if UNKNOWN in text:
            self.doubt("a text is run that only the running shell knows", text, frame)
        if (text, base) not in self.trees:
            self.trees[text, base] = read(text, base)
        script = self.trees[text, base]
        if script.error:
            self.doubt(f"it is no valid shell: {script.error}", text, frame)
        self.script(script, frame)

    def deeper(self, frame: Frame) -> None:
        """One more level around what follows."""
        if frame.level > DEEPEST:
            raise TooMuch

    def doubt(self, why: str, text: str, frame: Frame) -> None:
        """Note what cannot be decided."""
        if frame.is_sure:
            shown = one_line(text.replace(UNKNOWN, "…"), 60)
            self.found.append(Doubt(reason=f"{why}: `{shown}`"))

    def script(self, script: Script, frame: Frame) -> None:
        """Its pipelines, in order."""
        certain: set[str] | None = None
        for pipeline in script.pipelines:
            if not pipeline.after and certain is not None:
                frame.assigned, certain = certain, None
            elif pipeline.after and certain is None:
                certain = set(frame.assigned)
            if pipeline.after == "||":
                frame.assigned = set(certain or ())
            self.pipeline(pipeline, frame)
            if pipeline.after == "||":
                frame.assigned = set(certain or ())
        frame.assigned = frame.assigned if certain is None else certain

    def pipeline(self, pipeline: Pipeline, frame: Frame) -> None:
        """Each command reads what the one before it prints."""
        commands = pipeline.commands
        if len(commands) == 1 and not pipeline.background:
            self.command(commands[0], frame)
            return
        stdin = frame.stdin
        for number, command in enumerate(commands):
            part = frame.copy(stdin=stdin)
            self.command(command, part)
            if number < len(commands) - 1:
                stdin = self.printed_by(command, frame.copy(stdin=stdin))

    def command(self, command: Command, frame: Frame) -> None:
        """One command of whatever kind."""
        self.left -= 1
        if self.left < 0:
            raise TooMuch
        match command:
            case Simple():
                self.simple(command, frame)
            case Compound():
                self.compound(command, frame)
            case Function():
                self.known.define(command.name, command.body)
                if is_bomb(command):
                    self.found.append(Bomb(command.name))

    def compound(self, command: Compound, frame: Frame) -> None:
        """Groups, conditions and loops: all their scripts, whichever of them will run."""
        redirects = self.redirects(command.redirects, frame)
        if redirects:
            self.found.append(Call("", (), (), redirects, frame.cwd))
        self.words(command.words, frame)
        if command.kind == "[[":
            for word in command.words:
                if (found := evaluated(literal(word) or "")) is not None:
                    self.text(found, frame.copy(level=frame.level + 1))
        if command.kind in ("for", "select") and command.name:
            for way in fields(command.words, self.about(frame)):
                for field in way:
                    self.known.assign(command.name, (some_of(field),))
        inside = frame.copy(**self.inputs(command.redirects, frame))
        if command.name:
            inside.assigned.add(command.name)
        for number, script in enumerate(command.scripts):
            before = set(inside.assigned)
            self.script(script, inside)
            if number or command.kind not in ("{", "if", "while", "until"):
                # Whether it runs at all is not certain.
                inside.assigned = before
        if command.kind not in ("(", "coproc"):
            frame.take_over(inside)

    def simple(self, command: Simple, frame: Frame) -> None:
        """Words, assignments and redirections, all of which may hold scripts."""
        self.words(command.words, frame)
        variables = [pair for each in command.assignments for pair in self.assign(each, frame)]
        redirects = self.redirects(command.redirects, frame)
        if not command.words:
            frame.assigned.update(each.name for each in command.assignments)
            if redirects:
                self.found.append(Call("", (), (), redirects, frame.cwd))
            return
        inside = frame
        if command.redirects:
            inside = frame.copy(**self.inputs(command.redirects, frame))
        for way in fields(command.words, self.about(frame)):
            self.call(way, inside, tuple(variables), redirects)
        if inside is not frame:
            frame.take_over(inside)
            if len(command.words) == 1 and literal(command.words[0]) == "exec":
                # From here on the shell itself reads from there.
                frame.stdin, frame.inputs = inside.stdin, inside.inputs

    def words(self, words: Sequence[Word], frame: Frame) -> None:
        """The scripts in words, and in the values that they make prompts of."""
        for word in words:
            for name in prompted(word):
                for value in list(self.known.variables.get(name, ())):
                    self.prompts("PS1", value, frame)
            for part in substitutions(word):
                feeds = isinstance(part, Process) and not part.reads
                self.script(part.script, frame.copy(stdin=UNKNOWN if feeds else frame.stdin))

    def assign(self, assignment: Assignment, frame: Frame) -> Iterator[tuple[str, str]]:
        """Remember a variable's value; it is also passed on to the command."""
        self.words(assignment.words, frame)
        about = self.about(frame)
        if assignment.array:
            values = [
                tuple(_element(each) for each in way) for way in fields(assignment.words, about)
            ]
        else:
            # `x[i]=value` is read as one word: the index may hold substitutions.
            values = [
                (text.partition("]=")[2] if assignment.indexed else text,)
                for text in texts(assignment.words[0], about)
            ]
        is_list = assignment.array or assignment.indexed
        for value in values:
            self.prompts(assignment.name, value, frame)
            if assignment.adds:
                self.known.extend(assignment.name, value, array=is_list)
            else:
                self.known.assign(assignment.name, value)
            yield assignment.name, " ".join(value)

    def prompts(self, name: str, value: tuple[str, ...], frame: Frame) -> None:
        """Values that are run by and by: at a prompt, in a trace, where a sum is made of them."""
        for text in value:
            found = evaluated(text)
            if name == "PROMPT_COMMAND":
                found = Shelled(Field(text))
            elif name in PROMPTS and RUNS.search(text):
                found = Shelled(Field(f": {text}"))
            if found is not None:
                self.text(found, frame.copy(level=frame.level + 1, stdin=None))

    def redirects(
        self, redirects: Sequence[Redirect], frame: Frame
    ) -> tuple[tuple[str, Field], ...]:
        """Where output goes and input comes from."""
        for redirect in redirects:
            self.words(redirect.words, frame)
        found = tuple(
            (redirect.operator, field)
            for redirect in redirects
            if redirect.operator not in ("<<", "<<<")
            for way in fields(redirect.words, self.about(frame))
            for field in way
        )
        for operator, field in found:
            if operator == ">&" and ("$" in field.text or "`" in field.text):
                # bash expands this one twice, whatever quotes stand around it.
                self.text(Shelled(Field(f": {field.text}")), frame.copy(level=frame.level + 1))
        return found

    def inputs(self, redirects: Sequence[Redirect], frame: Frame) -> dict[str, Any]:
        """What is read from where, if redirections say so; otherwise what was read before."""
        found = {**frame.inputs, "0": frame.stdin}
        for redirect in redirects:
            number = redirect.number or "0"
            if redirect.operator in ("<<", "<<<"):
                bodies = [
                    text for word in redirect.words for text in texts(word, self.about(frame))
                ]
                self.places.update(
                    (text, place(word)) for word in redirect.words for text in bodies
                )
                found[number] = bodies[0] if len(bodies) == 1 else UNKNOWN if bodies else ""
            elif redirect.operator in ("<", "<>", "<&"):
                (first, *_), *_ = fields(redirect.words, self.about(frame)) or [(Field(""),)]
                is_number = redirect.operator == "<&"
                found[number] = found.get(first.text.rstrip("-")) if is_number else first.printed
        return {"stdin": found.pop("0"), "inputs": found}

    def about(self, frame: Frame) -> About:
        """What expansion has to know."""
        return About(self.known, frame, self.printed)

    def printed(self, script: Script, frame: Frame) -> str:
        """What a script prints, as far as its text says so."""
        parts = [self.printed_by_pipe(pipeline, frame) for pipeline in script.pipelines]
        return "".join(parts)

    def printed_by_pipe(self, pipeline: Pipeline, frame: Frame) -> str:
        """What its last command prints."""
        stdin = frame.stdin
        for command in pipeline.commands:
            stdin = self.printed_by(command, frame.copy(stdin=stdin))
        return stdin or ""

    def printed_by(self, command: Command, frame: Frame) -> str:
        """What one command prints; UNKNOWN for all that is not plain to see."""
        if isinstance(command, Function) or not isinstance(command, Simple):
            if isinstance(command, Compound) and command.kind in ("(", "{"):
                return "".join(self.printed(script, frame) for script in command.scripts)
            return UNKNOWN
        ways = fields(command.words, self.about(frame))
        if len(ways) != 1 or not ways[0]:
            return UNKNOWN if command.words else ""
        words = ways[0]
        while (wrapped := wrapper_of(name_of(words[0]), words)) and (
            commands := inner(words, *wrapped)
        ):
            words = tuple(commands[0])
        name, first = name_of(words[0]), words[0].text
        is_other = "/" in first and not first.startswith(("/bin/", "/usr/bin/"))
        if is_other or name in self.known.functions or name in self.known.aliases:
            return UNKNOWN
        stdin = self.inputs(command.redirects, frame)["stdin"]
        return output.printed(name, words, stdin, frame.cwd, self.known.checkout)


def _element(field: Field) -> str:
    """`[key]=value` in an array's brackets is the value."""
    text = field.text
    return text.partition("]=")[2] if text[:1] == "[" and "]=" in text else some_of(field)


def name_of(field: Field) -> str:
    """What a command is called, wherever it lies; some file systems ignore capitals, some have
    another sign between folders, and some systems put a letter before GNU's names."""
    name = re.split(r"[/\\]", field.text)[-1].lower().removesuffix(".exe")
    return name[1:] if name[:1] == "g" and name[1:] in GNU else name
