"""Calls a handler when a different option of a menu is chosen.

Gradio's event `input` alone would not do (gradio 6.31). It fires twice for one choice, and also
when a menu loses the focus although nothing was chosen. Some handlers fill other fields with
defaults, so merely opening and leaving a menu would overwrite what was typed there. So a script
recognises these extra events, and they are skipped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from ui.shared import markup
from ui.shared.call_modules import call


def on_choice(
    menu: gr.Dropdown, do: Callable[..., Any], inputs: Sequence[Any], outputs: Any, **options: Any
) -> None:
    """Call `do` once with the new option and the values of `inputs` when the visitor chooses
    another option of `menu`. The menu needs an `elem_id`. `options` are passed on to the event
    `input`."""

    @functools.wraps(do)
    def chosen(option: Any, *rest: Any) -> Any:
        return gr.skip() if option is None else do(option, *rest)

    name = markup.literal(menu.elem_id)
    found = f"web.chosen({name}, option)"
    given = call("shared/menus", f"[{found}, ...rest]" if inputs else found, "option, ...rest")
    menu.focus(
        None,
        menu,
        None,
        js=call("shared/menus", f"web.opened({name}, option)", "option"),
        api_visibility="private",
    )
    menu.input(chosen, [menu, *inputs], outputs, js=given, **options)
