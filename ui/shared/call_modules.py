"""The JavaScript that Gradio's components and events run to call the page's modules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ui.shared import markup
from ui.shared.join_modules import modules, name_of
from ui.shared.serve_modules import PATH, joined


@cache
def _names() -> frozenset[str]:
    return frozenset(map(name_of, modules()))


def _module(name: str) -> str:
    """A JavaScript expression: the promise of a module's exports. The path comes from Gradio's
    config, because the page may be served from a path other than "/". Host and scheme come from the
    page's own address, because Gradio may not know them behind a proxy."""
    if name not in _names():
        raise ValueError(f"no module is called {name}; known: {', '.join(sorted(_names()))}")
    below = 'new URL(window.gradio_config.root || "/", location.href).pathname.replace(/\\/$/, "")'
    address = f'location.origin + {below} + "{PATH}/{joined().version}/modules.js"'
    return f"import({address}).then((all) => all.modules[{markup.literal(name)}])"


def call(module: str, code: str, parameters: str = "") -> str:
    """JavaScript for the `js` of a Gradio event: a function of `parameters` that returns the value
    of the expression `code`. In this expression, `web` is the exports of `module`."""
    return f"async ({parameters}) => {_module(module)}.then((web) => {code})"


def connect(module: str, events: Iterable[str] = (), server: bool = False) -> str:
    """JavaScript for the `js_on_load` of a gr.HTML component: calls `connect(element, props, watch,
    trigger, server)` of `module`. Gradio only offers events whose quoted names it finds in this
    code, so the code lists the `events` that the module may trigger. server: whether the component
    has server functions that the module may call."""
    names = markup.literal(list(events))
    failed = "This part of the page could not be started. Reload the page."
    return (
        f"const events = {names};"
        "const send = (name, data) => events.includes(name) && trigger(name, data);"
        f"{_module(module)}"
        f".then((web) => web.connect(element, props, watch, send, {'server' if server else '{}'}))"
        f".catch((problem) => {{ console.error(problem); "
        f"element.textContent = {markup.literal(failed)}; }});"
    )
