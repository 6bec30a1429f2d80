"""Parts of the page that several views share, and its header."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import gradio as gr

from sequoia.assets_folder import ASSETS
from sequoia.text_files import load_json
from ui.shared import markup
from ui.shared.events import Updates
from ui.shared.join_modules import UI
from ui.shared.markup import Markup, element
from ui.shared.serve_modules import call, connect

HEADER = UI / "shared" / "web" / "header.html"
# the names of the places, of the views in each, and the views' keys
PLACES: dict[str, dict[str, str]] = load_json(ASSETS / "places.json")
FIRST = "film"  # the view that the page opens with


def side_and_main(view: str, form: str = "") -> tuple[gr.Column, gr.Column]:
    """The left column for a form and the right one for its results. The ids of their elements begin
    with `view`. form: what the form has, for the button that opens it in a narrow window."""
    with gr.Row(elem_id=f"{view}-page", elem_classes="pg-page", equal_height=False):
        side = gr.Column(elem_id=f"{view}-side", elem_classes="pg-side", scale=0, min_width=276)
        main = gr.Column(elem_id=f"{view}-main", elem_classes="pg-main", min_width=480)
    if form:
        with main:
            opens = gr.Button(form, size="sm", elem_classes="pg-show-form")
        toggle = call("shared/form_side", "web.toggleForm()")
        opens.click(None, None, None, js=toggle, api_visibility="private")
    return side, main


def drawn(
    view: str,
    script: str,
    events: Sequence[str],
    template: str = '<div class="sq-stage"></div>',
    asked: Callable[[Any], str] | None = None,
) -> gr.HTML:
    """The component that `script`, a module of the page, draws into. The component's value is the
    latest message to `script`. Its id begins with `view`.

    asked: a method that the browser may call by its own name. It returns what the script requests,
    such as a recorded run.
    """
    functions = [server_function(asked)] if asked else []
    return gr.HTML(
        html_template=template,
        apply_default_css=False,
        elem_id=f"{view}-view",
        elem_classes="pg-view",
        server_functions=functions,
        js_on_load=connect(script, events, server=bool(functions)),
    )


def server_function(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """`method` as a function that the browser may call by the method's name."""

    @wraps(method)
    def function(asked: Any) -> str:  # Gradio sets attributes on it, which a method does not allow
        return method(asked)

    return function


def start_button(label: str, elem_id: str) -> gr.Button:
    """The main button of a form."""
    return gr.Button(label, variant="primary", elem_id=elem_id, scale=3, min_width=60)


def stop_button(elem_id: str) -> gr.Button:
    """The button beside the start button. It is disabled at first."""
    return gr.Button("Stop", elem_id=elem_id, scale=1, min_width=50, interactive=False)


def busy_buttons(start: gr.Button, stop: gr.Button, busy: bool) -> Updates:
    """Updates that enable one of the buttons: `stop` if `busy`, else `start`."""
    return {start: gr.update(interactive=not busy), stop: gr.update(interactive=busy)}


def link_button(form: str, tab: str) -> None:
    """The button that copies a link to what `tab` shows. Its id begins with `form`."""
    link = gr.Button("Copy link", size="sm", min_width=60, elem_id=f"{form}-link")
    script = call("shared/page_link", f"web.copyLink({markup.literal(tab)})")
    link.click(None, None, None, js=script, api_visibility="private")


def menu(
    choices: Sequence[Any], label: str, elem_id: str, value: Any = None, **options: Any
) -> gr.Dropdown:
    """A menu of `choices`: each is a value, or a pair of the text that is shown and the value."""
    return gr.Dropdown(
        choices, label=label, elem_id=elem_id, value=value, filterable=False, **options
    )


def said_at(fields: Mapping[str, Any], wrong: str | None, words: str) -> Updates:
    """Updates that show `words` at the field called `wrong`, and none at the others. No value
    changes."""
    return {
        part: gr.update(
            info=words if name == wrong else "",
            elem_classes=["is-wrong"] if name == wrong else [],
        )
        for name, part in fields.items()
    }


# -- menus -----------------------------------------------------------------------------------------


def on_choice(
    menu: gr.Dropdown, do: Callable[..., Any], inputs: Sequence[Any], outputs: Any, **options: Any
) -> None:
    """Call `do` once with the new option and the values of `inputs` when the visitor chooses
    another option of `menu`. The menu needs an `elem_id`. `options` are passed on to the event
    `input`.

    Gradio's event `input` alone would not do (gradio 6.31). It fires twice for one choice, and also
    when a menu loses the focus although nothing was chosen. Some handlers fill other fields with
    defaults, so merely opening and leaving a menu would overwrite what was typed there. So a script
    recognises these extra events, and they are skipped."""

    @wraps(do)
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


def header(status: Callable[[], str] | None = None) -> gr.HTML:
    """The strip at the top of the page, with the navigation. Its value is JSON: {"stage", "words",
    "version"}, the state of loading the models.

    status: returns the current value; None if no visitor can load models. The browser calls it
    every few seconds, because another visitor may load other models. The component triggers
    `select` when other models have been loaded, and `models` when the drawer with the models is to
    be built."""

    def get_status(_asked: Any) -> str:  # Gradio passes one value
        return status() if status else ""

    text = HEADER.read_text(encoding="utf-8").replace("<!-- places -->", _places())
    return gr.HTML(
        html_template=text.replace(
            "<!-- views -->", "".join(_views(place) for place in PLACES if len(PLACES[place]) > 1)
        ),
        apply_default_css=False,
        elem_id="pg-top",
        server_functions=[get_status] if status else [],
        js_on_load=connect("shared/page_header", ["select", "models"], server=status is not None),
    )


def _places() -> Markup:
    """The row with the places. A place with several views has a row of them; any other opens its
    only view."""
    tabs = (
        _tab(place, FIRST in views, **_opens(place, [*views])) for place, views in PLACES.items()
    )
    return element("div", *tabs, role="tablist", aria_label="Places", class_="pg-places")


def _opens(place: str, views: Sequence[str]) -> dict[str, str]:
    return {"aria_controls": _row(place)} if len(views) > 1 else {"data_view": views[0]}


def _views(place: str) -> Markup:
    """The row with the views of `place`. It is hidden unless the page opens with one of them."""
    views = PLACES[place]
    opened = FIRST if FIRST in views else next(iter(views))
    tabs = (_tab(name, view == opened, data_view=view) for view, name in views.items())
    about = {"role": "tablist", "aria_label": f"Views of {place}", "class_": "pg-views"}
    return element("div", *tabs, id=_row(place), hidden=FIRST not in views, **about)


def _tab(name: str, is_selected: bool, **attributes: object) -> Markup:
    about = {"type": "button", "role": "tab", "tabindex": 0 if is_selected else -1}
    selected = "true" if is_selected else "false"
    return element("button", name, aria_selected=selected, **about, **attributes)


def _row(place: str) -> str:
    return f"pg-views-{place.lower()}"
