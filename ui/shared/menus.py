"""What is done when another option of a menu is chosen.

A menu's own event, `input`, comes twice for an option that is pressed, and also whenever a menu is
left with nothing chosen (gradio 6.31): whoever only looks into it would find the first values of a
form over what he had typed there.
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
    """Call `do` with the option and the values of `inputs`, once, when another option of `menu` is
    chosen than it had. The menu needs an `elem_id`; `options` are those of gradio's events."""

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
