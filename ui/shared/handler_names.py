"""Names of the page's handlers in Gradio's list of endpoints and in logs: the tab, then the name of
the function in the code. If several handlers would have the same name, each name also says what
calls the handler: an event or another handler. By default, Gradio would only add numbers."""

from __future__ import annotations

import re
from collections import Counter

import gradio as gr
from gradio.block_function import BlockFunction


class HandlerNames:
    """Gives the handlers of `blocks` their names, once `belong_to` has assigned each to a tab."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self._blocks = blocks
        self._tabs: dict[int, str] = {}

    def belong_to(self, tab: str) -> None:
        """Assign to `tab` all handlers that were made since the last call."""
        for number in self._blocks.fns:
            self._tabs.setdefault(number, tab.lower())

    def give(self) -> None:
        """Set the `api_name` of every handler."""
        handlers = self._blocks.fns
        short = {number: self._short(number, one) for number, one in handlers.items()}
        count = Counter(short.values())
        for number, one in handlers.items():
            is_alike = count[short[number]] > 1
            one.api_name = f"{short[number]}_{self._caller(one)}" if is_alike else short[number]

    def _short(self, number: int, one: BlockFunction) -> str:
        """The tab and the handler's own name."""
        return f"{self._tabs[number]}_{_own_name(one)}"

    def _caller(self, one: BlockFunction) -> str:
        """What calls the handler: "on_load", "on_" with a component and its event, or "after_" with
        the previous handler of a chain. All earlier handlers of the chain are named, the nearest
        first: "after_second_after_first"."""
        if one.trigger_after is not None:
            before = self._blocks.fns[one.trigger_after]
            further = "" if before.trigger_after is None else f"_{self._caller(before)}"
            return f"after_{_own_name(before)}{further}"
        places = [self._place(number, event) for number, event in one.targets]
        return "on_" + ("load" if "load" in places else min(places))

    def _place(self, number: int | None, event: str) -> str:
        component = self._blocks.blocks.get(number) if number is not None else None
        name = getattr(component, "elem_id", None) or getattr(component, "value", None)
        parts = [part for part in (name, event) if isinstance(part, str)]
        return re.sub(r"\W+", "_", "_".join(parts)).lower()


def _own_name(one: BlockFunction) -> str:
    """The name of the function; "script" for a handler that runs in the browser."""
    return str(one.name) if one.fn else "script"
