"""The form of the Hardware view: its components, and their values as handlers receive them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.hardware import menu_entries
from ui.hardware.own_form import OwnForm, own_form
from ui.shared import saved_profiles
from ui.shared.acceptance_rates import rates_of
from ui.shared.events import FormData, Updates
from ui.shared.layout import busy_buttons, link_button, menu, start_button, stop_button

NONE = "none"


@dataclass(frozen=True)
class FormValues:
    """The values of the form, untrusted. A well-formed request has these:

    profile: the key of a profile. against: the key of the profile to compare with, or NONE. rates:
    the key of an acceptance vector. nodes: the maximum size of a tree, as text or as a number, or
    nothing. store: the profiles saved in the visitor's browser.
    """

    profile: Any
    against: Any
    rates: Any
    nodes: Any
    store: Any


class HardwareForm:
    """The components of the form, laid out in the current column. measures: whether visitors may
    measure the machine. store: the profiles saved in the visitor's browser."""

    def __init__(self, measures: bool, store: gr.BrowserState) -> None:
        self.store = store
        with gr.Row(elem_classes="pg-go", visible=measures):
            self.measure_it = start_button("Measure this machine", "hw-measure")
            self.stop_it = stop_button("hw-stop")
        self._choice()
        self._files()
        self.own: OwnForm = own_form()
        with gr.Row(elem_classes="pg-files"):
            link_button("hw", "hardware")

    def _choice(self) -> None:
        """The fields that choose what the view shows."""
        with gr.Group(elem_classes="pg-group"):
            shipped = menu_entries.named(saved_profiles.listed(saved_profiles.shipped()))
            self.profile = menu(shipped, "Hardware profile", "hw-profile")
            self.against = menu([("nothing", NONE), *shipped], "Compare with", "hw-against")
        with gr.Group(elem_classes="pg-group"):
            self.rates = menu(menu_entries.rate_choices(rates_of(None)), "Acceptance", "hw-rates")
            # not a gr.Number, because Gradio shows an empty one as 0
            self.nodes = gr.Textbox(
                label="Max nodes",
                placeholder="128, or the profile’s largest size",
                max_lines=1,
                max_length=8,
                elem_id="hw-nodes",
            )

    def _files(self) -> None:
        """The fields that save, remove and import profiles."""
        with gr.Group(elem_classes="pg-group"):
            self.name = gr.Textbox(
                label="Save this profile as", max_lines=1, elem_id="hw-name", placeholder="a name"
            )
            with gr.Row(elem_classes="pg-files"):
                self.save = gr.Button("Save", size="sm", min_width=50, elem_id="hw-save")
                self.remove = gr.Button("Remove", size="sm", min_width=50, elem_id="hw-remove")
                self.open = gr.UploadButton(
                    "Import", size="sm", min_width=50, file_types=[".json"], elem_id="hw-open"
                )

    @property
    def menus(self) -> list[Any]:
        return [self.profile, self.against, self.rates]

    @property
    def buttons(self) -> list[Any]:
        return [self.measure_it, self.stop_it]

    @property
    def inputs(self) -> set[Any]:
        """The components whose values `values` reads."""
        return {*self.menus, self.nodes, self.store}

    @property
    def linked(self) -> dict[str, Any]:
        """The components whose values are part of a link to the page, by name."""
        return {
            "profile": self.profile,
            "against": self.against,
            "rates": self.rates,
            "nodes": self.nodes,
        }

    def values(self, data: FormData) -> FormValues:
        return FormValues(
            data[self.profile],
            data[self.against],
            data[self.rates],
            data[self.nodes],
            data[self.store],
        )

    def measuring(self, going: bool) -> Updates:
        """Updates of the buttons. going: whether the machine is being measured."""
        return busy_buttons(self.measure_it, self.stop_it, going)
