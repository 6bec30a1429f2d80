"""JavaScript with which the browser changes the buttons of the Decode form without the server."""

from __future__ import annotations

from ui.decode.form import RESUME, RUN, Controls
from ui.shared import markup
from ui.shared.serve_modules import call


def began(form: Controls) -> str:
    """JavaScript for a press that starts a run: shows the buttons of a run in progress. It does not
    ask the server, because the answer could arrive after the run has ended."""
    updates = form.going()
    buttons = markup.literal([updates[button] for button in form.buttons])
    return call("decode/form_changes", f"web.began({buttons})")


def anew(when: str, parameters: str = "label") -> str:
    """JavaScript that changes the label of the Run button from Resume to Run if `when`, an
    expression of JavaScript, is true. parameters: the names of the inputs; the first is
    `label`, the button's label."""
    label = f"({when} && label === {markup.literal(RESUME)} ? {markup.literal(RUN)} : label)"
    return call("decode/form_changes", label, parameters)
