"""The form beside the stage: native components, and what they show while a run goes
on. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sequoia.algorithm.verify import VERIFIERS
from ui.serving.sessions import Limits
from ui.shared import labels, markup
from ui.shared.prompts import TEMPERATURE, presets
from ui.shared.tree_menu import SHAPES, TEXTS

FORM = (
    "prompt",
    "chat",
    "temperature",
    "top_p",
    "max_new_tokens",
    "seed",
    "tree",
    "first",
    "second",
    "branching",
    "verifier",
    "compare",
)
RUN = "Run"
RESUME = "Resume"
LOADING = "loading models…"
STOP = "Stop"
ANEW = "Start over"
_DRAWS = {"sequoia": " (without replacement)", "specinfer": " (with replacement)"}


@dataclass(frozen=True)
class Controls:
    """The components by name; FORM are those whose values make an order."""

    prompt: gr.Textbox
    chat: gr.Checkbox
    run: gr.Button
    step: gr.Button
    stop: gr.Button
    tree: gr.Dropdown
    first: gr.Number
    second: gr.Number
    branching: gr.Textbox
    verifier: gr.Dropdown
    temperature: gr.Number
    top_p: gr.Number
    max_new_tokens: gr.Number
    seed: gr.Number
    compare: gr.Checkbox
    save: gr.DownloadButton
    open: gr.UploadButton
    example: gr.Button

    @property
    def form(self) -> set[Any]:
        return {getattr(self, name) for name in FORM}

    def values(self, data: Mapping[Any, Any]) -> dict[str, Any]:
        """What the form holds, by name."""
        return {name: data[getattr(self, name)] for name in FORM}

    @property
    def buttons(self) -> list[Any]:
        """What `going` and `resting` may change."""
        return [self.run, self.step, self.stop, self.save, self.open, self.example]

    @property
    def settings(self) -> list[Any]:
        """What any run has beside its prompt and its tree."""
        return [self.verifier, self.temperature, self.top_p, self.max_new_tokens, self.seed]

    @property
    def tree_fields(self) -> list[Any]:
        """What `shaped` may change."""
        return [self.tree, self.first, self.second, self.branching]

    def shaped(self, kind: Any, numbers: Sequence[Any] | None = None) -> dict[Any, Any]:
        """Updates for when the tree is to be of the shape `kind`: what it is, and the fields it
        has, with their names and `numbers` or their first values."""
        shape = SHAPES.get(kind) if isinstance(kind, str) else None
        updates = {
            field: gr.update(visible=False) for field in (self.first, self.second, self.branching)
        }
        if shape is None:
            return updates
        fields = [self.branching] if kind in TEXTS else [self.first, self.second]
        for field, name, value in zip(
            fields, shape.fields, numbers or shape.start, strict=False
        ):  # a chain has one number
            updates[field] = gr.update(visible=True, label=name, value=value)
        return {self.tree: gr.update(info=shape.about), **updates}

    def put(self, kind: str, numbers: Sequence[Any]) -> dict[Any, Any]:
        """Updates that put a tree into the form: the shape `kind` with its `numbers`."""
        return {
            **self.shaped(kind, numbers),
            self.tree: gr.update(value=kind, info=SHAPES[kind].about),
        }

    def going(self) -> dict[Any, Any]:
        """Updates for when a run begins: from then on the file on offer is of an earlier one."""
        updates = {button: gr.update(interactive=False) for button in self.buttons}
        return {**updates, self.stop: gr.update(interactive=True, value=STOP)}

    def resting(self, continues: bool) -> dict[Any, Any]:
        """Updates for when it is over, or paused and able to go on."""
        updates = {button: gr.update(interactive=True) for button in self.buttons}
        paused = {
            self.run: gr.update(interactive=True, value=RESUME),
            self.stop: gr.update(interactive=True, value=ANEW),
        }
        return {**updates, **(paused if continues else self.anew())}

    def anew(self) -> dict[Any, Any]:
        """Updates for when there is no run that Run could go on with."""
        return {
            self.run: gr.update(interactive=True, value=RUN),
            self.stop: gr.update(interactive=False, value=STOP),
        }

    @property
    def course(self) -> list[Any]:
        """What `anew` changes."""
        return [self.run, self.stop]


def controls(limits: Limits) -> Controls:
    """Lay out the form in the present column."""
    parts: dict[str, Any] = {}
    parts["prompt"] = prompt_box("pg", "Prompt · ctrl + enter runs it", 7)
    parts["chat"] = chat_box("pg")
    _buttons(parts)
    _tree(parts)
    _params(parts, limits)
    parts |= files("pg", "run")
    return Controls(**parts)


def prompt_box(form: str, label: str, lines: int) -> gr.Textbox:
    """The prompt, its elements' names beginning with `form`, and the examples, which the browser
    itself fills in; their texts are the program's own."""
    box = gr.Textbox(
        value=presets()[0].text,
        label=label,
        lines=lines,
        max_lines=lines,
        elem_id=f"{form}-prompt",
        elem_classes="pg-prompt",
        placeholder="Text for the models to continue",
    )
    with gr.Row(elem_classes="pg-chips"):
        for preset in presets():
            chip = gr.Button(preset.name, size="sm", min_width=30, elem_classes="pg-chip")
            chip.click(
                None, None, box, js=f"() => {markup.literal(preset.text)}", api_visibility="private"
            )
    return box


def chat_box(form: str) -> gr.Checkbox:
    """Whether the prompt is a chat message. Out of sight until models are there that know chats,
    which other models ignore."""
    return gr.Checkbox(
        label="As a chat message",
        value=True,
        visible=False,
        container=False,
        elem_id=f"{form}-chat",
    )


def files(form: str, what: str) -> dict[str, Any]:
    """The buttons that save and open a `what` and show the recorded one, by name."""
    with gr.Row(elem_classes="pg-files"):
        save = gr.DownloadButton(
            f"Save {what}", size="sm", min_width=60, interactive=False, elem_id=f"{form}-save"
        )
        opens = gr.UploadButton(
            f"Open {what}", size="sm", min_width=60, file_types=[".json"], elem_id=f"{form}-open"
        )
        return {
            "save": save,
            "open": opens,
            "example": gr.Button("Example", size="sm", min_width=60, elem_id=f"{form}-example"),
        }


def _buttons(parts: dict[str, Any]) -> None:
    with gr.Row(elem_classes="pg-go"):
        parts["run"] = gr.Button(
            LOADING, variant="primary", elem_id="pg-run", scale=3, min_width=60
        )
        parts["step"] = gr.Button("Step", elem_id="pg-step", scale=1, min_width=50)
        parts["stop"] = gr.Button(STOP, elem_id="pg-stop", scale=1, min_width=50, interactive=False)


def _tree(parts: dict[str, Any]) -> None:
    with gr.Group(elem_classes="pg-group"):
        parts["tree"] = gr.Dropdown(
            [(shape.label, kind) for kind, shape in SHAPES.items()],
            value="planned",
            label="Tree",
            info=SHAPES["planned"].about,
            elem_id="pg-tree",
            filterable=False,
        )
        with gr.Row():
            parts["first"] = gr.Number(
                label="Nodes", value=64, visible=False, min_width=60, elem_id="pg-first"
            )
            parts["second"] = gr.Number(
                label="Levels at most", value=8, visible=False, min_width=60, elem_id="pg-second"
            )
            parts["branching"] = gr.Textbox(
                label="Children, level by level",
                value="4, 2, 2, 1",
                visible=False,
                min_width=60,
                max_lines=1,
                elem_id="pg-branching",
            )
        parts["verifier"] = gr.Dropdown(
            [(labels.VERIFIER[name] + _DRAWS.get(name, ""), name) for name in VERIFIERS],
            value="sequoia",
            label="Verifier",
            elem_id="pg-verifier",
            filterable=False,
        )


def _params(parts: dict[str, Any], limits: Limits) -> None:
    # No bounds on the components: values out of bounds are refused in the program's own words.
    with gr.Group(elem_classes="pg-group"):
        with gr.Row():
            parts["temperature"] = gr.Number(
                label=labels.RUN["temperature"],
                value=TEMPERATURE,
                step=0.1,
                min_width=60,
                elem_id="pg-temperature",
            )
            parts["top_p"] = gr.Number(
                label=labels.RUN["top_p"], value=1.0, step=0.05, min_width=60, elem_id="pg-top-p"
            )
        with gr.Row():
            parts["max_new_tokens"] = gr.Number(
                label=labels.RUN["max_new_tokens"],
                value=min(160, limits.tokens),
                step=16,
                min_width=60,
                elem_id="pg-tokens",
            )
            parts["seed"] = gr.Number(
                label=labels.RUN["seed"], value=0, min_width=60, elem_id="pg-seed"
            )
        parts["compare"] = gr.Checkbox(
            label="Compare with plain decoding", value=True, elem_id="pg-compare", container=False
        )
