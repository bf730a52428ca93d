"""Which commands a shell text runs. The text is read as a shell would read it; nothing is run."""

import re
from collections.abc import Iterable, Sequence
from posixpath import dirname
from typing import Final

from msgspec.structs import replace

from ralph.core.policy.decision import Doubt, PolicyContext
from ralph.core.policy.git_rules import git_runs
from ralph.core.policy.output import printed_by_program
from ralph.core.policy.programs import ProgramRun, started_by
from ralph.core.policy.shell_state import DECLARES, ShellState, TooMuch, one_of
from ralph.core.policy.words import (
    BREAK,
    GLOB,
    NOTHING,
    SOME_FILE,
    UNKNOWN,
    CommandCall,
    Field,
    program_name,
)
from ralph.core.safe_text import one_line
from ralph.core.shell import tree
from ralph.core.shell.parser import read

STEPS: Final = 20_000
"""The number of commands that are read, plus one for each CHARS characters."""
CHARS: Final = 50
EXPANDED: Final = 1_000
"""Characters of expansions that count as one command."""
TILDE: Final = re.compile(r"([A-Za-z_]\w*=)?~([A-Za-z_][\w-]*)?(?=/|$)")
BRACE_LIST: Final = re.compile(r"\{(?![^{},.]*\.?[^{},.]*\}).*", re.DOTALL)
"""`{a,b}` and all that follows."""
ARGUMENT: Final = re.compile(r"[@*]|[1-9]\d*")

Redirects = tuple[tuple[str, Field], ...]


def read_commands(text: str, context: PolicyContext) -> "CommandReader":
    """Find all commands in the text, and what cannot be resolved. Raises TooDeep and TooMuch."""
    # A command cannot contain a zero; a shell that meets one in a file leaves it out.
    text = text.replace("\0", "")
    cwd = context.cwd or context.checkout
    variables = {"HOME": context.home, "PWD": cwd, "IFS": " \t\n", "TMPDIR": "/tmp"}
    variables |= dict.fromkeys(("SHELL", "BASH"), "/bin/bash")
    variables |= {"ZDOTDIR": context.home, "XDG_CONFIG_HOME": f"{context.home}/.config"}
    reader = CommandReader(text, context.checkout, STEPS + len(text) // CHARS)
    reader.read_text(Field(text, start=0), ShellState(cwd=cwd, variables=variables))
    return reader


class CommandReader:
    def __init__(self, source: str, checkout: str, steps: int) -> None:
        self.source = source
        self.checkout = checkout
        self.left = steps
        self.calls: list[CommandCall] = []
        self.doubts: list[Doubt] = []
        self.functions: set[str] = set()

    def read_text(self, text: Field, state: ShellState) -> Field:
        """Read a text as a shell does, and return what it prints."""
        if not text.known:
            self._doubt("a text is run that only the running shell knows", text.shown)
        # A quotation mark or two may be before it, if it is there unchanged.
        places = range(text.start, text.start + 3) if text.start >= 0 else ()
        base = next((at for at in places if self.source.startswith(text.text, at)), -1)
        script = read(text.text, base)
        if script.error:
            self._doubt(f"it is not valid shell: {script.error}", text.shown)
        return self._script(script, state)

    def _spend(self, chars: int) -> None:
        """Count the characters of an expansion."""
        self.left -= chars // EXPANDED
        if self.left < 0:
            raise TooMuch

    def _doubt(self, why: str, shown: str) -> None:
        self.doubts.append(Doubt(reason=f"{why}: `{one_line(shown, 60)}`"))

    # Scripts. Each function returns what is printed, as far as the text says so.

    def _script(self, script: tree.ShellScript, state: ShellState) -> Field:
        printed = [self._pipeline(pipeline, state) for pipeline in script.pipelines]
        return _joined(printed)

    def _pipeline(self, pipeline: tree.Pipeline, state: ShellState) -> Field:
        """Each command reads what the one before it prints."""
        if len(pipeline.commands) == 1 and not pipeline.background:
            return self._command(pipeline.commands[0], state)
        printed, stdin = NOTHING, state.stdin
        for command in pipeline.commands:
            printed = stdin = self._command(command, replace(state, stdin=stdin))
        return printed

    def _command(self, command: tree.Command, state: ShellState) -> Field:
        self._spend(EXPANDED)
        match command:
            case tree.Simple():
                return self._simple(command, state)
            case tree.Compound():
                return self._compound(command, state)
            case tree.Function():
                return self._function(command, state)

    def _function(self, function: tree.Function, state: ShellState) -> Field:
        """The body is read where it is defined; its arguments are unknown."""
        self.functions.add(function.name)
        self._command(function.body, replace(state, arguments=SOME_FILE))
        return NOTHING

    def _compound(self, command: tree.Compound, state: ShellState) -> Field:
        """Groups, conditions and loops: all their scripts, whichever of them will run."""
        files, stdin = self._redirects(command.redirects, state)
        if files:
            self.calls.append(CommandCall("", (), files, state.cwd))
        values = [field.one_match for field in self._fields(command.words, state)]
        if command.name:
            state.assign(command.name, one_of(values))
        inside = replace(state, stdin=stdin)
        printed = [self._script(script, inside) for script in command.scripts]
        if command.kind != "(":
            state.cwd = inside.cwd
        return _joined(printed) if command.kind in ("(", "{") else Field(UNKNOWN)

    def _simple(self, command: tree.Simple, state: ShellState) -> Field:
        words = self._fields(command.words, state)
        files, stdin = self._redirects(command.redirects, state)
        before = {each.name: state.value(each.name) for each in command.assignments}
        for each in command.assignments:
            texts = [self._text(word, state) for word in each.words]
            old = state.value(each.name) if each.adds else ""
            # Which element of an array is used later is unknown.
            state.assign(each.name, UNKNOWN if each.array else old + texts[0])
        if not command.words:
            self.calls += [CommandCall("", (), files, state.cwd)] if files else []
            return Field(UNKNOWN) if files else NOTHING
        inside = replace(state, stdin=stdin)
        printed = self._call(words, inside, files)
        state.cwd, state.arguments = inside.cwd, inside.arguments
        if command.words[0].literal not in DECLARES:
            # What precedes a command is set for that command alone.
            state.variables |= before
        return printed

    def _redirects(
        self, redirects: Sequence[tree.Redirect], state: ShellState
    ) -> tuple[Redirects, Field | None]:
        """The files that a command reads and writes, and the text in its standard input."""
        stdin = state.stdin
        files: list[tuple[str, Field]] = []
        for redirect in redirects:
            match redirect.operator, redirect.words:
                case "<<" | "<<<", [word]:
                    stdin = Field(self._text(word, state), start=word.start)
                case "<", [tree.Word(parts=(tree.Substitution(script=script, kind="<"),))]:
                    stdin = self._script(script, replace(state))
                case operator, words:
                    files += [(operator, field) for field in self._fields(words, state)]
                    if operator in ("<", "<>", "<&"):
                        stdin = Field(UNKNOWN) if operator == "<&" else None
        return tuple(files), stdin

    # Commands

    def _call(
        self, words: tuple[Field, ...], state: ShellState, redirects: Redirects = ()
    ) -> Field:
        first = words[0] if words else NOTHING
        is_clear = first.known and (not first.glob or first.text in ("[", "[["))
        if not words or first.text in self.functions:
            self.calls.append(CommandCall("", (), redirects, state.cwd))
            return Field(UNKNOWN) if words else NOTHING
        name = program_name(first) if is_clear else ""
        self.calls.append(CommandCall(name, words, redirects, state.cwd))
        if is_clear:
            return self._run_program(name, words, state)
        text = " ".join(word.shown for word in words[:4])
        self._doubt("which command runs is known only as the shell runs", text)
        return Field(UNKNOWN)

    def _run_program(self, name: str, words: tuple[Field, ...], state: ShellState) -> Field:
        state.run_builtin(name, words)
        all_runs = [*started_by(name, words, state.stdin), *git_runs(name, words)]
        printed = [self._run(run, state) for run in all_runs]
        folder = words[0].text.rpartition("/")[0]
        if printed or folder not in ("", "/bin", "/usr/bin"):
            return printed[0] if printed else Field(UNKNOWN)
        return printed_by_program(name, words, state.stdin, state.cwd, self.checkout)

    def _run(self, run: ProgramRun, state: ShellState) -> Field:
        """A command or a text that another command starts."""
        inside = replace(state)
        if run.arguments is not None:
            inside.arguments = one_of(run.arguments) if run.arguments else ""
        if run.text is None:
            return self._call(run.words, inside)
        return self.read_text(run.text, inside)

    # Words, expanded with what is known at one place of the text

    def _fields(self, words: Iterable[tree.Word], state: ShellState) -> tuple[Field, ...]:
        return tuple(field for word in words for field in self._word(word, state))

    def _word(self, word: tree.Word, state: ShellState) -> Iterable[Field]:
        is_quoted = any(part.quoted for part in word.parts)
        may_match = any(
            not part.quoted and (not isinstance(part, tree.LiteralText) or GLOB.search(part.text))
            for part in word.parts
        )
        start = word.start if word.literal is not None else -1
        pieces = self._text(word, state, splits=True).split(BREAK)
        for piece in pieces:
            if piece or (is_quoted and len(pieces) == 1):
                yield Field(piece, start, may_match and GLOB.search(piece) is not None)

    def _text(self, word: tree.Word, state: ShellState, *, splits: bool = False) -> str:
        """What a word is; it is not split in assignments and here-documents."""
        texts = [self._part(part, state, splits=splits) for part in word.parts]
        first = word.parts[0] if word.parts else None
        is_plain = isinstance(first, tree.LiteralText) and not first.quoted
        if is_plain and (found := TILDE.match(texts[0])):
            home = f"/home/{found[2]}" if found[2] else state.value("HOME")
            texts[0] = (found[1] or "") + home + texts[0][found.end() :]
        text = "".join(texts)
        return text if splits else text.replace(BREAK, " ")

    def _part(self, part: tree.Part, state: ShellState, *, splits: bool) -> str:
        """The text that replaces a part of a word."""
        match part:
            case tree.LiteralText(text=text, quoted=quoted):
                return text if quoted or not splits else BRACE_LIST.sub(_brace_list, text)
            case tree.Substitution(script=script, kind="<" | ">"):
                self._script(script, replace(state, stdin=Field(UNKNOWN)))
                return f"/dev/fd/{UNKNOWN}"
            case tree.Substitution(script=script):
                text = self._script(script, replace(state)).text.rstrip("\n")
            case _:
                text = self._variable(part, state)
        self._spend(len(text))
        if part.quoted or not splits:
            return text
        return re.sub(r"[ \t\n]+", BREAK, text)

    def _variable(self, part: tree.VariableUse, state: ShellState) -> str:
        given = self._text(part.word, state) if part.word else ""
        value = state.arguments if ARGUMENT.fullmatch(part.name) else state.value(part.name)
        match part.operator.lstrip(":"):
            case "!":
                is_folder = given == "%/*" and "/" in value and UNKNOWN not in value
                return dirname(value) if is_folder else UNKNOWN
            case "+":
                return given
            case "?":
                return SOME_FILE if value == UNKNOWN else value
            case "-" | "=" as operator if value in ("", UNKNOWN):
                if operator == "=":
                    state.assign(part.name, given)
                return given
            case _:
                return value


def _brace_list(found: re.Match[str]) -> str:
    """`{/,/etc}` may begin at the root."""
    return f"/{UNKNOWN}" if re.search("[{,][/~]", found[0]) else UNKNOWN


def _joined(printed: Iterable[Field]) -> Field:
    found = [field for field in printed if field.text]
    return found[0] if len(found) == 1 else Field("".join(field.text for field in found))
