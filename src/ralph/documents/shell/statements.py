"""How statements may end: lists, pipes, conditions and loops. The way into this folder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ralph.documents.shell import commands
from ralph.documents.shell.interpreter import Shell, Table
from ralph.documents.shell.ways import (
    ANY,
    FAIL,
    NONE,
    OK,
    Ways,
    caught,
    ends,
    leaving,
    negated,
    with_status,
)
from ralph.documents.shell.words import constant, literal, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def can_fail(statements: Sequence["Node"]) -> bool:
    """Whether a shell that runs these statements may end with a failure."""
    return False in Shell(STATEMENTS).leaves(statements)


def _command(shell: Shell, node: "Node") -> Ways:
    words = node.children_by_field_name("name") + node.children_by_field_name("argument")
    return shell.settled(commands.run(shell, words))


def _list(shell: Shell, node: "Node") -> Ways:
    return shell.chain(_steps(_flat("", node)))


def _flat(operator: str, node: "Node") -> list[tuple[str, "Node"]]:
    """Lists and pipes taken apart: every part, with the operator before it."""
    if node.type not in ("list", "pipeline"):
        return [(operator, node)]
    parts = []
    for child in node.children:
        if not child.is_named:
            operator = child.type
        elif child.type != "comment":
            parts += _flat(operator, child)
    return parts


def _steps(parts: list[tuple[str, "Node"]]) -> list[tuple[str, list["Node"]]]:
    """What stands between `&&` and `||`; the parts of a pipe together."""
    steps: list[tuple[str, list[Node]]] = []
    for operator, part in parts:
        if operator in ("|", "|&") and steps:
            steps[-1][1].append(part)
        else:
            steps.append((operator, [part]))
    return steps


def _negated(shell: Shell, node: "Node") -> Ways:
    return negated(shell.unwatched(node.named_children))


def _redirected(shell: Shell, node: "Node") -> Ways:
    body = node.child_by_field_name("body")
    redirects = node.children_by_field_name("redirect")
    parts = _flat("", body) if body else []
    for here in (each for each in redirects if each.type == "heredoc_redirect"):
        for child in here.children:
            if child.type == "heredoc_body":
                shell.heredoc = text_of(child)
            elif child.type == "pipeline":
                # The grammar puts what follows `<<EOF` on its line into the redirection.
                parts += _flat("|", child)
        operator, right = here.child_by_field_name("operator"), here.child_by_field_name("right")
        if operator and right:
            parts += _flat(operator.type, right)
    ways = shell.chain(_steps(parts))
    shell.heredoc = None
    # A file that is read may be missing; one that is written says nothing about the work.
    reads = any(child.type == "<" for each in redirects for child in each.children)
    return shell.settled(ways | FAIL) if reads else ways


def _group(shell: Shell, node: "Node") -> Ways:
    if node.children[0].type != "((":
        return shell.block(node.children)
    number = literal(node.children[1])
    return shell.settled(ANY if number is None else with_status({number.strip("0") != ""}))


def _subshell(shell: Shell, node: "Node") -> Ways:
    return shell.settled(shell.subshell(node.children))


def _if(shell: Shell, node: "Node") -> Ways:
    parts: list[tuple[str, list[Node]]] = []
    for child in node.children:
        for token in child.children if child.type in ("elif_clause", "else_clause") else [child]:
            if token.type in ("if", "elif", "then", "else", "fi"):
                parts.append((token.type, []))
            else:
                parts[-1][1].append(token)
    ways, asked = NONE, OK
    for word, statements in parts:
        if word in ("if", "elif"):
            asked = shell.unwatched(statements)
            ways |= leaving(asked)
        elif word == "then":
            if ("end", True) in asked:
                shell.last = frozenset({True})
                ways |= shell.block(statements)
            if ("end", False) not in asked:
                return ways
            shell.last = frozenset({False})
        elif word == "else":
            return ways | shell.block(statements)
    return ways | OK


def _while(shell: Shell, node: "Node") -> Ways:
    asked = shell.unwatched(node.children_by_field_name("condition"))
    goes_on = node.children[0].type == "while"
    shell.last = frozenset({goes_on})
    body = shell.block(node.children_by_field_name("body")) if goes_on in ends(asked) else NONE
    # A loop whose condition never changes its mind is left by `break` and `exit` alone.
    stops = OK | body if (not goes_on) in ends(asked) else leaving(body)
    return caught(leaving(asked) | stops, "loop")


def _for(shell: Shell, node: "Node") -> Ways:
    body = shell.block(node.children_by_field_name("body"))
    runs = any(literal(value) is not None for value in node.children_by_field_name("value"))
    return caught(body if runs else OK | body, "loop")


def _case(shell: Shell, node: "Node") -> Ways:
    word = node.child_by_field_name("value")
    before = ends(_substituted(shell, word) if word else NONE) or shell.last
    ways, default = NONE, False
    for item in (child for child in node.named_children if child.type == "case_item"):
        start = next(i for i, child in enumerate(item.children) if child.type == ")")
        shell.last = before
        ways |= shell.block(item.children[start + 1 :])
        default = default or any(
            text_of(value) == "*" for value in item.children_by_field_name("value")
        )
    return ways if default else ways | OK


def _function(shell: Shell, node: "Node") -> Ways:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name and body:
        shell.functions[text_of(name)] = body
    return OK


def _assignment(shell: Shell, node: "Node") -> Ways:
    return shell.settled(_substituted(shell, node) or OK)


def _substituted(shell: Shell, node: "Node") -> Ways:
    """The status of the last `$(…)` in a word, which is also that of `a=$(…)`."""
    last: Node | None = None
    for each in nodes(node):
        inside = last is not None and each.start_byte < last.end_byte
        if each.type == "command_substitution" and not inside:
            last = each
    return shell.subshell(last.children) if last else NONE


def _test(shell: Shell, node: "Node") -> Ways:
    text = text_of(node).strip("[]")
    changing = any(sign in text for sign in "$`*?<>()'\"\\")
    answer = None if changing else constant(text.split())
    return shell.settled(ANY if answer is None else with_status({answer}))


def _declaration(_shell: Shell, _node: "Node") -> Ways:
    """`export A=$(b)` succeeds whatever b does."""
    return OK


STATEMENTS: Final[Table] = {
    "command": _command,
    "list": _list,
    "pipeline": _list,
    "negated_command": _negated,
    "redirected_statement": _redirected,
    "compound_statement": _group,
    "do_group": _group,
    "subshell": _subshell,
    "if_statement": _if,
    "while_statement": _while,
    "for_statement": _for,
    "c_style_for_statement": _for,
    "case_statement": _case,
    "function_definition": _function,
    "variable_assignment": _assignment,
    "variable_assignments": _assignment,
    "test_command": _test,
    "declaration_command": _declaration,
    "unset_command": _declaration,
}
