"""JavaScript by which the browser itself changes the buttons of the Decode form."""

from __future__ import annotations

from ui.decode.form import RESUME, RUN, Controls
from ui.shared import markup
from ui.shared.call_modules import call


def began(form: Controls) -> str:
    """JavaScript for the press of Run or Step. The browser sets the buttons by itself, so that no
    late answer can do so after the run has ended."""
    updates = form.going()
    buttons = markup.literal([updates[button] for button in form.buttons])
    return call("decode/form_changes", f"web.began({buttons})")


def anew(when: str) -> str:
    """JavaScript for the Run button: its label changes from Resume to Run `when` the form was
    changed since the paused run began."""
    label = f"({when} && label === {markup.literal(RESUME)} ? {markup.literal(RUN)} : label)"
    return call("decode/form_changes", label, "label")
