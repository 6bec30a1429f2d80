"""The form of the Race view: one or two prompts, one to four lanes (ways to decode a prompt), and
the settings that all lanes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS
from ui.decode.clocks import LABEL, clock_choices
from ui.decode.form import RUN, RunControls, chat_box, files, prompt_box, run_buttons, share_box
from ui.decode.form_tree import FormTrees, tree_picture
from ui.race.presets import PRESETS, START, FormLane, RacePreset
from ui.race.request import NO_LANE
from ui.shared import labels
from ui.shared.events import FormData, Updates
from ui.shared.layout import menu, sampling_fields
from ui.shared.tree_menu import SHAPES

PARAMS = tuple(labels.RACE)
_TOKENS = 96


@dataclass(frozen=True)
class LaneControls:
    """The components of one lane."""

    kind: gr.Dropdown
    verifier: gr.Dropdown
    numbers: gr.Textbox

    @property
    def details(self) -> list[Any]:
        """The components that `details_of` may change."""
        return [self.numbers, self.verifier]


@dataclass(frozen=True)
class RaceControls(RunControls):
    """The components of the form."""

    tab = "race"
    names = ("prompt", "second_prompt", "chat", "check", "clock", *PARAMS)

    second_prompt: gr.Textbox
    presets: tuple[gr.Button, ...]
    about: gr.Markdown
    lanes: tuple[LaneControls, ...]
    check: gr.Checkbox

    def values(self, data: FormData) -> dict[str, Any]:
        """The values of the form by name, as RaceRequest.parse expects them."""
        return {
            **super().values(data),
            "lanes": [
                (data[lane.kind], data[lane.numbers], data[lane.verifier]) for lane in self.lanes
            ],
        }

    @property
    def of_a_preset(self) -> list[Any]:
        """The components that `filled_with` may change."""
        parts = (part for lane in self.lanes for part in (lane.kind, *lane.details))
        prompts = [self.prompt, self.second_prompt]
        return [self.about, *prompts, self.temperature, self.clock, *parts]

    @property
    def changes_of_a_preset(self) -> list[Any]:
        """Events in which the visitor changes the clock or a detail of a lane, so that the form no
        longer matches a preset. For the choice of another kind of lane see RaceTab.details."""
        fields = (part for lane in self.lanes for part in lane.details)
        return [self.clock.input, *(field.input for field in fields)]

    def filled_with(self, preset: RacePreset) -> Updates:
        """Updates that fill the form with `preset`."""
        updates: Updates = {
            self.about: preset.about,
            self.clock: preset.clock,
            self.second_prompt: preset.second_prompt,
        }
        if preset.prompt:
            updates[self.prompt] = preset.prompt
        if preset.temperature is not None:
            updates[self.temperature] = preset.temperature
        for lane, (kind, numbers, verifier) in zip(self.lanes, preset.all_lanes, strict=True):
            shown, verifiers = details_of(kind)
            updates[lane.kind] = kind
            updates[lane.numbers] = {**shown, **({"value": numbers} if numbers else {})}
            updates[lane.verifier] = {**verifiers, "value": verifier}
        return updates

    @property
    def fields(self) -> dict[str, Any]:
        """As in RunControls. The names of a lane's components end in the lane's number: "kind1"."""
        lanes = {
            f"{name}{number}": getattr(lane, name)
            for number, lane in enumerate(self.lanes, start=1)
            for name in ("kind", "numbers", "verifier")
        }
        return {**super().fields, **lanes}

    def use(self, values: Mapping[str, Any]) -> Updates:
        """Updates that put `values` into the form. The values are named as in `fields`, and
        RaceRequest.parse has accepted them. Left out is what RaceRequest.parse ignores: the numbers
        of a kind of lane without numbers, and the verifier of "no lane"."""
        updates = {part: gr.update(value=values[name]) for name, part in self.fields.items()}
        for number, lane in enumerate(self.lanes, start=1):
            kind = values[f"kind{number}"]
            numbers, verifier = details_of(kind)
            if numbers["visible"]:
                numbers = {**numbers, "value": values[f"numbers{number}"]}
            if kind != NO_LANE:
                verifier = {**verifier, "value": values[f"verifier{number}"]}
            updates[lane.numbers] = numbers
            updates[lane.verifier] = verifier
        return updates


def race_controls(profiles: gr.BrowserState, trees: FormTrees) -> RaceControls:
    """Lay out the form in the current column. profiles: the hardware profiles saved in the
    visitor's browser. trees: finds the trees for the pictures below the lanes."""
    gr.Markdown("Set up the next race", elem_id="rc-setup")
    prompt = prompt_box("rc", "Prompt for all lanes (Ctrl+Enter to start)", 3)
    second = gr.Textbox(
        label="Second prompt (optional)",
        lines=1,
        max_lines=3,
        elem_id="rc-second-prompt",
        placeholder="The same lanes race on it too",
    )
    chat = chat_box("rc")
    buttons = run_buttons("rc", RUN)
    presets, about = _presets()
    lanes = tuple(
        _lane(number, lane, trees) for number, lane in enumerate(START.all_lanes, start=1)
    )
    with gr.Group(elem_classes="pg-group"):
        clock = menu(clock_choices(), LABEL, "rc-clock", START.clock)
        with gr.Row():
            fields = sampling_fields(
                "rc", labels.RACE, min(_TOKENS, trees.limits.tokens), min_width=50
            )
        check = gr.Checkbox(
            label="Verify losslessness after the race (if Temp. > 0)",
            value=False,
            elem_id="rc-check",
            container=False,
        )
    return RaceControls(
        prompt,
        chat,
        profiles=profiles,
        second_prompt=second,
        presets=presets,
        about=about,
        lanes=lanes,
        clock=clock,
        check=check,
        shared=share_box("rc", trees.limits),
        **buttons,
        **fields,
        **files("rc", "race", has_example=True),
    )


def _presets() -> tuple[tuple[gr.Button, ...], gr.Markdown]:
    """The buttons that fill the form with a preset, and the text about the chosen preset. The form
    starts with START."""
    gr.Markdown("Ready-made races", elem_id="rc-start")
    with gr.Row(elem_classes="pg-chips rc-presets"):
        buttons = tuple(
            gr.Button(
                preset.name,
                size="sm",
                min_width=30,
                elem_classes="pg-chip",
                elem_id=f"rc-preset-{preset.key}",
            )
            for preset in PRESETS
        )
    return buttons, gr.Markdown(START.about, elem_id="rc-about")


def _lane(number: int, lane: FormLane, trees: FormTrees) -> LaneControls:
    kind, _, _ = lane
    numbers, verifier = details_of(kind)
    choices = [*((shape.name, kind) for kind, shape in SHAPES.items()), ("no lane", NO_LANE)]
    with gr.Group(elem_classes="pg-group rc-lane"):
        with gr.Row():
            kinds = menu(
                choices, f"Lane {number}", f"rc-kind-{number}", kind, scale=4, min_width=60
            )
            verifiers = menu(
                [(one.label, key) for key, one in VERIFIERS.items()],
                "Verifier",
                f"rc-verifier-{number}",
                DEFAULT_VERIFIER,
                scale=3,
                min_width=60,
                visible=verifier["visible"],
            )
        text = gr.Textbox(
            numbers.get("value", ""),
            label=numbers.get("label"),
            max_lines=1,
            min_width=60,
            elem_id=f"rc-numbers-{number}",
            elem_classes="rc-numbers",
            visible=numbers["visible"],
        )
        tree_picture("race", trees, str(number))
    return LaneControls(kinds, verifiers, text)


def details_of(kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Updates of a lane's numbers and verifier for the shape `kind`. The numbers get their labels
    and defaults. Fields that the shape does not use are hidden."""
    shape = SHAPES.get(kind) if isinstance(kind, str) else None
    verifier = gr.update(visible=shape is not None and kind != "plain")
    if shape is None or not shape.fields:
        return gr.update(visible=False), verifier
    return gr.update(
        visible=True, label=", ".join(shape.fields), value=", ".join(map(str, shape.start))
    ), verifier
