"""Names of the page's handlers, as lists of them and logs show them: the tab, what the handler is
called in the code, and where that leaves two of them alike, what calls it. Gradio would number
them."""

from __future__ import annotations

from collections import Counter

import gradio as gr
from gradio.block_function import BlockFunction


class HandlerNames:
    """Names the handlers of `blocks`, once it is known to which tab each belongs."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self._blocks = blocks
        self._tabs: dict[int, str] = {}

    def belong_to(self, tab: str) -> None:
        """All handlers that were made since the last call belong to `tab`."""
        for number in self._blocks.fns:
            self._tabs.setdefault(number, tab.lower())

    def give(self) -> None:
        """Name all of them."""
        handlers = self._blocks.fns
        short = {number: self._short(number, one) for number, one in handlers.items()}
        count = Counter(short.values())
        for number, one in handlers.items():
            is_alike = count[short[number]] > 1
            one.api_name = f"{short[number]}_{self._caller(one)}" if is_alike else short[number]

    def _short(self, number: int, one: BlockFunction) -> str:
        """Without what calls it."""
        return f"{self._tabs[number]}_{_own_name(one)}"

    def _caller(self, one: BlockFunction) -> str:
        """The handler before it, or the component and its event."""
        if one.trigger_after is not None:
            return f"after_{_own_name(self._blocks.fns[one.trigger_after])}"
        number, event = one.targets[0]
        component = self._blocks.blocks.get(number) if number is not None else None
        places = (getattr(component, "elem_id", None), event)
        return "on_" + "_".join(place.replace("-", "_") for place in places if place)


def _own_name(one: BlockFunction) -> str:
    """What it is called in the code; one that runs in the browser has no name there."""
    return one.name if one.fn else "script"
