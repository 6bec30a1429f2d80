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


def on_choice(
    menu: gr.Dropdown, do: Callable[..., Any], inputs: Sequence[Any], outputs: Any, **options: Any
) -> None:
    """Call `do` with the option and the values of `inputs`, once, when another option of `menu` is
    chosen than it had. The menu needs an `elem_id`; `options` are those of gradio's events."""

    @functools.wraps(do)
    def chosen(option: Any, *rest: Any) -> Any:
        return gr.skip() if option is None else do(option, *rest)

    name = markup.literal(menu.elem_id)
    found = f"SequoiaPage.chosen({name}, option)"
    given = f"(option, ...rest) => [{found}, ...rest]" if inputs else f"option => {found}"
    menu.focus(
        None,
        menu,
        None,
        js=f"option => SequoiaPage.opened({name}, option)",
        api_visibility="private",
    )
    menu.input(chosen, [menu, *inputs], outputs, js=given, **options)
