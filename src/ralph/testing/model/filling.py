"""From a turn of a script to a reply for one request: places filled in, tools chosen."""

from ralph.testing.model.asked import Asked
from ralph.testing.model.dialect import Reply
from ralph.testing.model.hands import by_hand
from ralph.testing.model.script import OffScript
from ralph.testing.model.turn import Call, Turn


def fill(turn: Turn, asked: Asked, *, free_text: bool) -> Reply:
    """The reply, or OffScript where the request lacks what the script needs."""
    try:
        deeds = tuple(by_hand(deed, asked.tools) for deed in turn.deeds)
    except LookupError as error:
        raise OffScript(str(error.args[0])) from None
    for deed in deeds:
        if isinstance(deed.input, str) and not free_text:
            raise OffScript(f"{deed.name}: this API has no tools that take free text")
    return Reply(
        model=asked.model,
        text=_filled(turn.text, asked),
        thinking=_filled(turn.thinking, asked),
        calls=tuple(_call(deed, asked) for deed in deeds),
        tokens=turn.tokens,
        stop=turn.stop,
    )


def _call(call: Call, asked: Asked) -> Call:
    filled = _deep(call.input, asked)
    assert isinstance(filled, dict | str)
    return Call(name=call.name, input=filled, namespace=call.namespace)


def _deep(value: object, asked: Asked) -> object:
    match value:
        case str():
            return _filled(value, asked)
        case dict():
            return {key: _deep(inner, asked) for key, inner in value.items()}
        case list() | tuple():
            return [_deep(inner, asked) for inner in value]
        case _:
            return value


def _filled(text: str, asked: Asked) -> str:
    for place, found in (("{cwd}", asked.cwd), ("{task}", asked.task)):
        if place in text:
            if found is None:
                raise OffScript(f"the script says {place}, and the request does not tell it")
            text = text.replace(place, found)
    return text
