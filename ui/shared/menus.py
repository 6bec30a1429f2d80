"""Calls a handler when another option of a menu is chosen.

A menu's own event, `input`, fires twice for one press, and also whenever a menu loses the focus
with nothing chosen (gradio 6.31). Opening a menu and leaving it would then overwrite typed values
with the defaults.
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
    """Call `do` once with the option and the values of `inputs` when the option of `menu` changes.
    The menu needs an `elem_id`; `options` are those of Gradio's events."""

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
