"""The form for a visitor's own hardware profile: its fields, and the profile made from their
values. The profile's times are computed from these values (see sequoia/planning/roofline.py).
Independent of Gradio."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sequoia import HardwareProfile
from sequoia.errors import BadProfile
from sequoia.planning.named_profiles import roofline_figures
from sequoia.validate_input import shown
from ui.shared import saved_profiles
from ui.shared.saved_profiles import Entry
from ui.words.hardware import roofline_words

START = "rtx-4090-qwen3-8b"  # the form starts with the figures of this shipped profile
NAME = "name"
_PARTS = ("target", "draft")
_SUFFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
_NUMBER = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([kmb]?)", re.IGNORECASE)
_PROBLEM = re.compile(r"(device|target|draft)\.(\w+): (.*)", re.DOTALL)


class BadField(BadProfile):
    """The value of the field `field` is refused."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Field:
    """One field of the form, for one value: a figure, or the name of the device or of a model.

    part: the argument of HardwareProfile.roofline that contains the value: "device", "target" or
    "draft". key: the value's key in that argument. what: the field's name in messages. is_text:
    whether the value is a name. needed: whether the field must be filled in.
    """

    part: str
    key: str
    label: str
    what: str
    is_text: bool = False
    needed: bool = True

    @property
    def name(self) -> str:
        return f"{self.part}-{self.key}".replace("_", "-")


def _model(part: str) -> tuple[Field, ...]:
    title = part.capitalize()
    return (
        Field(part, "name", title, f"{title} model", is_text=True),
        Field(part, "parameters", "Parameters", f"Parameters of the {part}"),
        Field(part, "bytes_per_weight", "Bytes per weight", f"Bytes per weight of the {part}"),
        Field(part, "layers", "Layers", f"Layers of the {part}"),
        Field(part, "launch_us_per_layer", "Launch, µs/layer", f"Launch overhead of the {part}"),
        Field(part, "offloaded", "Offloaded, 0–1", f"Offloaded share of the {part}", needed=False),
    )


DEVICE = (
    Field("device", "name", "Device", "Device", is_text=True),
    Field("device", "memory_gb_per_s", "Memory, GB/s", "Memory bandwidth"),
    Field("device", "tflops", "Peak, TFLOP/s", "Peak compute"),
    Field("device", "efficiency", "Efficiency, 0–1", "Efficiency", needed=False),
    Field("device", "link_gb_per_s", "Link, GB/s", "Link bandwidth", needed=False),
)
GROUPS = (DEVICE, *map(_model, _PARTS))
FIELDS = {field.name: field for group in GROUPS for field in group}


def start_values(key: str) -> dict[str, str]:
    """The figures of the shipped profile `key` as texts, by the name of their field. Empty if there
    is no such profile, or if its times were not computed from figures."""
    figures = roofline_figures(key)
    return {name: _written(figures, field) for name, field in FIELDS.items()} if figures else {}


def own_profile(typed: Mapping[str, Any]) -> Entry:
    """The profile made from `typed`, the values in the form by the name of their field. Raises
    BadField if the value of a field is refused, and BadProfile for a problem that is not about one
    field."""
    try:
        name = saved_profiles.clean_name(typed.get(NAME))
    except BadProfile as problem:
        raise BadField(NAME, str(problem)) from None
    device, target, draft = (dict[str, Any]() for _ in range(3))
    parts = {"device": device, "target": target, "draft": draft}
    for key, field in FIELDS.items():
        value = _value(typed.get(key), field)
        if value is not None:
            parts[field.part][field.key] = value
    try:
        profile = HardwareProfile.roofline(device, target, draft)
    except BadProfile as problem:
        raise _at_its_field(problem) from None
    return Entry(name, profile, roofline_words(parts))


def _value(text: Any, field: Field) -> Any:
    """The text or number typed into `field`. None if the field is optional and empty. Raises
    BadField if the value is refused."""
    text = text.strip() if isinstance(text, str) else text
    if text is None or text == "":
        if not field.needed:
            return None
        raise BadField(field.name, f"{field.what}: enter a {'name' if field.is_text else 'number'}")
    if field.is_text:
        return text
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    scale = _SUFFIXES[match[2].lower()] if match else 0
    try:
        value = float(match[1]) * scale if match else None
    except ValueError:
        value = None
    if value is None or (scale != 1 and field.key != "parameters"):
        example = "8B or 600M" if field.key == "parameters" else "0.55 or 1935"
        raise BadField(
            field.name, f"{field.what}: {shown(text)} is not a number; enter one such as {example}"
        )
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _at_its_field(problem: BadProfile) -> BadProfile:
    """The problem as a BadField, in the words of the form. Unchanged if it is not about a field."""
    match = _PROBLEM.fullmatch(str(problem))
    field = FIELDS.get(f"{match[1]}-{match[2]}".replace("_", "-")) if match else None
    return BadField(field.name, f"{field.what}: {match[3]}") if match and field else problem


def _written(figures: Mapping[str, Any], field: Field) -> str:
    """A figure as the text of its field."""
    value = figures.get(field.part, {}).get(field.key)
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.10g}"
