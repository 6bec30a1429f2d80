"""The form of the Hardware view: its components, and their values as handlers receive them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.hardware.own_profile import FIELDS, GROUPS, NAME, START, BadField, Field, start_values
from ui.shared import saved_profiles
from ui.shared.acceptance_rates import Rates, rates_of
from ui.shared.events import FormData, Updates
from ui.shared.layout import busy_buttons, link_button, menu, said_at, start_button, stop_button
from ui.shared.saved_profiles import Entry, listed, shipped

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
            shipped = named(saved_profiles.listed(saved_profiles.shipped()))
            self.profile = menu(shipped, "Hardware profile", "hw-profile")
            self.against = menu([("nothing", NONE), *shipped], "Compare with", "hw-against")
        with gr.Group(elem_classes="pg-group"):
            self.rates = menu(rate_choices(rates_of(None)), "Acceptance", "hw-rates")
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


def known(key: Any, among: Mapping[str, Any], otherwise: Any) -> Any:
    """`key` if it is in `among`, else `otherwise`. A value from the browser can be anything."""
    return key if isinstance(key, str) and key in among else otherwise


def named(entries: Mapping[str, Entry]) -> list[tuple[str, str]]:
    """Menu entries of profiles: (text, key)."""
    return [(f"{entry.name} · {entry.profile.source}", key) for key, entry in entries.items()]


def rate_choices(vectors: dict[str, Rates]) -> list[tuple[str, str]]:
    """Menu entries of acceptance vectors: (text, key)."""
    return [(f"{rates.short} · {rates.label}", key) for key, rates in vectors.items()]


# -- the form of a visitor's own profile -----------------------------------------------------------


@dataclass(frozen=True)
class OwnForm:
    """The components of the form. start: the menu of profiles whose figures can be copied. fields:
    the text fields, each by the `name` of its Field. The text field for the profile's name has the
    key NAME."""

    start: gr.Dropdown
    fields: Mapping[str, gr.Textbox]
    make: gr.Button

    @property
    def parts(self) -> list[Any]:
        """The text fields."""
        return list(self.fields.values())

    def typed(self, data: FormData) -> dict[str, Any]:
        """The values of the fields, by name."""
        return {name: data[part] for name, part in self.fields.items()}

    def fill(self, key: Any) -> Updates:
        """Updates that copy the figures of the shipped profile `key` to the fields. No updates if
        `start_values` finds no figures. The field for the name of the visitor's profile does not
        change."""
        values = start_values(key)
        return {self.fields[name]: gr.update(value=value) for name, value in values.items()}

    def refused(self, problem: BadField | None) -> Updates:
        """Updates that show `problem` at its field, and no message at any other field. If `problem`
        is None, no field shows a message."""
        return said_at(self.fields, problem.field if problem else None, str(problem))


def own_form() -> OwnForm:
    """Lay the form out in the current column."""
    with gr.Accordion("Make your own profile", open=False, elem_id="hw-own"):
        start = menu(_rooflines(), "Start from the figures of", "hw-own-start", START)
        name = gr.Textbox(
            label="Name of the profile", max_lines=1, elem_id="hw-own-name", placeholder="a name"
        )
        values = start_values(START)
        fields = {NAME: name}
        for group in GROUPS:
            fields |= _group(group, values)
        make = gr.Button("Make this profile", elem_id="hw-make", size="sm")
    return OwnForm(start, fields, make)


def _group(group: Sequence[Field], values: Mapping[str, str]) -> dict[str, gr.Textbox]:
    """The fields of a device or model: its name on one line, then two figures per line."""
    named, *figures = group
    parts: dict[str, gr.Textbox] = {}
    with gr.Group(elem_classes="pg-group"):
        parts[named.name] = _field(named, values)
        for first in range(0, len(figures), 2):
            with gr.Row():
                for field in figures[first : first + 2]:
                    parts[field.name] = _field(field, values)
    return parts


def _field(field: Field, values: Mapping[str, str]) -> gr.Textbox:
    return gr.Textbox(
        value=values[field.name],
        label=field.label,
        max_lines=1,
        min_width=100,
        elem_id=f"hw-own-{field.name}",
    )


def _rooflines() -> list[tuple[str, str]]:
    """Menu entries of the shipped profiles that have figures to copy."""
    return [
        (entry.name, key)
        for key, entry in listed(shipped()).items()
        if len(start_values(key)) == len(FIELDS)
    ]
