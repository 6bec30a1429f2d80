"""The form beside the race: the prompt, two to four lanes, the settings they share. Runs
nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sequoia.algorithm.verify import VERIFIERS
from sequoia.saved_files.race_file import MOST_LANES
from ui.decode.form import RUN, chat_box, files, prompt_box
from ui.race.request import NO_LANE
from ui.serving.sessions import Limits
from ui.shared import labels
from ui.shared.prompts import TEMPERATURE
from ui.shared.tree_menu import SHAPES

START = ("plain", "chain", "planned", "dynamic")
PARAMS = ("temperature", "top_p", "max_new_tokens", "seed")
_TOKENS = 96


@dataclass(frozen=True)
class LaneControls:
    """The components of one lane."""

    kind: gr.Dropdown
    verifier: gr.Dropdown
    numbers: gr.Textbox

    @property
    def details(self) -> list[Any]:
        """What `details_of` may change."""
        return [self.numbers, self.verifier]


@dataclass(frozen=True)
class RaceControls:
    """The components by name."""

    prompt: gr.Textbox
    chat: gr.Checkbox
    run: gr.Button
    stop: gr.Button
    lanes: tuple[LaneControls, ...]
    temperature: gr.Number
    top_p: gr.Number
    max_new_tokens: gr.Number
    seed: gr.Number
    check: gr.Checkbox
    save: gr.DownloadButton
    open: gr.UploadButton
    example: gr.Button

    @property
    def form(self) -> set[Any]:
        """The components whose values make an order."""
        return {
            self.prompt,
            self.chat,
            self.check,
            *(getattr(self, name) for name in PARAMS),
            *(part for lane in self.lanes for part in (lane.kind, lane.verifier, lane.numbers)),
        }

    def values(self, data: Mapping[Any, Any]) -> dict[str, Any]:
        """What the form holds, as RaceRequest takes it."""
        return {
            "prompt": data[self.prompt],
            "chat": data[self.chat],
            "check": data[self.check],
            **{name: data[getattr(self, name)] for name in PARAMS},
            "lanes": [
                (data[lane.kind], data[lane.numbers], data[lane.verifier]) for lane in self.lanes
            ],
        }

    @property
    def buttons(self) -> list[Any]:
        """What `resting` may change."""
        return [self.run, self.stop, self.save, self.open, self.example]

    def resting(self, rests: bool = True) -> dict[Any, Any]:
        """Updates for when a race is over; with False, for when it begins: the file on offer is of
        an earlier one by then."""
        return {
            button: gr.update(interactive=(button is not self.stop) == rests)
            for button in self.buttons
        }


def race_controls(limits: Limits) -> RaceControls:
    """Lay out the form in the present column."""
    parts: dict[str, Any] = {}
    parts["prompt"] = prompt_box("rc", "Prompt of all lanes · ctrl + enter races", 3)
    parts["chat"] = chat_box("rc")
    with gr.Row(elem_classes="pg-go"):
        parts["run"] = gr.Button(RUN, variant="primary", elem_id="rc-run", scale=3, min_width=60)
        parts["stop"] = gr.Button(
            "Stop", elem_id="rc-stop", scale=1, min_width=50, interactive=False
        )
    parts["lanes"] = tuple(_lane(place) for place in range(1, MOST_LANES + 1))
    _params(parts, limits)
    return RaceControls(**parts, **files("rc", "race"))


def _lane(place: int) -> LaneControls:
    kind = START[place - 1]
    numbers, verifier = details_of(kind)
    choices = [*((shape.name, kind) for kind, shape in SHAPES.items()), ("no lane", NO_LANE)]
    with gr.Group(elem_classes="pg-group rc-lane"):
        with gr.Row():
            menu = gr.Dropdown(
                choices,
                value=kind,
                label=f"Lane {place}",
                filterable=False,
                scale=3,
                min_width=60,
                elem_id=f"rc-kind-{place}",
            )
            verifiers = gr.Dropdown(
                [(labels.VERIFIER[name], name) for name in VERIFIERS],
                value="sequoia",
                label="Verifier",
                filterable=False,
                scale=2,
                min_width=60,
                elem_id=f"rc-verifier-{place}",
                visible=verifier["visible"],
            )
        text = gr.Textbox(
            numbers.get("value", ""),
            label=numbers.get("label"),
            max_lines=1,
            min_width=60,
            elem_id=f"rc-numbers-{place}",
            elem_classes="rc-numbers",
            visible=numbers["visible"],
        )
    return LaneControls(menu, verifiers, text)


def _params(parts: dict[str, Any], limits: Limits) -> None:
    # No bounds on the components: values out of bounds are refused in the program's own words.
    with gr.Group(elem_classes="pg-group"):
        with gr.Row():
            for name, (value, step, place) in {
                "temperature": (TEMPERATURE, 0.1, "temperature"),
                "top_p": (1.0, 0.05, "top-p"),
                "max_new_tokens": (min(_TOKENS, limits.tokens), 16, "tokens"),
                "seed": (0, 1, "seed"),
            }.items():
                parts[name] = gr.Number(
                    label=labels.RACE[name],
                    value=value,
                    step=step,
                    min_width=50,
                    elem_id=f"rc-{place}",
                )
        parts["check"] = gr.Checkbox(
            label="Check the law afterwards (T > 0)",
            value=True,
            elem_id="rc-check",
            container=False,
        )


def details_of(kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Updates of a lane's numbers and verifier for the shape `kind`: those it has, with their names
    and first values."""
    shape = SHAPES.get(kind) if isinstance(kind, str) else None
    verifier = gr.update(visible=shape is not None and kind != "plain")
    if shape is None or not shape.fields:
        return gr.update(visible=False), verifier
    return gr.update(
        visible=True, label=", ".join(shape.fields), value=", ".join(map(str, shape.start))
    ), verifier
