"""JavaScript that Python writes to call the page's modules, and the handlers of menus."""

from __future__ import annotations

import gradio as gr
import pytest

from ui.shared.layout import on_choice
from ui.shared.serve_modules import call


def test_an_unknown_module_is_named_when_the_page_is_built() -> None:
    with pytest.raises(ValueError, match=r"is called shared/tabs; known: .*shared/toasts"):
        call("shared/tabs", "web.openView()")


def test_a_menu_left_without_a_choice_changes_nothing() -> None:
    def described(option: str, other: str) -> str:
        return f"{option} and {other}"

    with gr.Blocks() as blocks:
        menu = gr.Dropdown(["a", "b"], elem_id="menu")
        text = gr.Textbox()
        on_choice(menu, described, [text], text)
    (handler,) = [one.fn for one in blocks.fns.values() if one.name == "described"]
    assert handler("a", "b") == "a and b"
    assert handler(None, "b") == gr.skip()
