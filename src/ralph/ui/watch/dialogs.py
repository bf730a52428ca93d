"""Dialogs: ask for a text, choose a command, show the keys."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from ralph.core.safe_text import multi_line, one_line


class _Words(TextArea):
    """Enter sends the text."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            event.stop()
            self.screen.dismiss(self.text.strip())
        elif event.key == "ctrl+j":
            event.prevent_default()
            event.stop()
            self.insert("\n")
        else:
            await super()._on_key(event)


class AskText(ModalScreen[str | None]):
    """Asks for a text; None if the person leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, title: str, about: str = "", *, keys: str = "enter sends") -> None:
        super().__init__()
        self._title, self._about, self._keys = title, about, keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(one_line(self._title, 500), "bold"))
            if self._about:
                yield Static(Text(one_line(self._about, 500), "dim"))
            yield _Words(soft_wrap=True, show_line_numbers=False, compact=True)
            yield Static(Text(f"{self._keys} · ctrl+j new line · esc cancels", "dim"))

    def on_key(self, event: events.Key) -> None:
        """What was typed before the field was there."""
        if event.is_printable and event.character:
            self.query_one(_Words).insert(event.character)


class Choose(ModalScreen[int | None]):
    """Asks which of some commands to run: its number, None for none of them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "cancel")]

    def __init__(self, title: str, about: str, options: Sequence[str]) -> None:
        super().__init__()
        self._title, self._about = title, about
        self._options = options

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(one_line(self._title, 500), "bold"))
            yield Static(Text(multi_line(self._about)))
            options = (Text(one_line(one), "cyan") for one in self._options)
            yield OptionList(*(Option(one, id=str(at)) for at, one in enumerate(options)))
            yield Static(Text("enter runs it · esc cancels", "dim"))

    @on(OptionList.OptionSelected)
    def chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)


class Help(ModalScreen[None]):
    """The keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss(None)", "close")
    ]

    def __init__(self, text: Text) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog help"):
            yield Static(self._text)
