"""The form for a visitor's own hardware profile: its components and their updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.hardware.own_profile import FIELDS, GROUPS, NAME, START, BadField, Field, start_values
from ui.shared.events import FormData, Updates
from ui.shared.layout import menu
from ui.shared.saved_profiles import listed, shipped


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
        wrong = problem.field if problem else None
        return {
            part: gr.update(
                info=str(problem) if name == wrong else "",
                elem_classes=["is-wrong"] if name == wrong else [],
            )
            for name, part in self.fields.items()
        }


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
