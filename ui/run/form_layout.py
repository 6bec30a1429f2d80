"""The form of the Run view: a prompt, one to four lanes (ways to decode it), the machine whose
times count, and under "More" the verifiers of the lanes and the settings that all lanes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.saved_files.race_file import MOST_LANES
from ui.run import recordings
from ui.run.clocks import HERE, LABEL, clock_choices
from ui.run.form import (
    EMPTY_LANE,
    EXAMPLES_ABOUT,
    FIRST_LANES,
    LOADING,
    TAB,
    LaneFields,
    RunForm,
)
from ui.run.form_tree import FormTrees, tree_picture
from ui.run.messages import StoredRun
from ui.run.presets import PRESETS, FormLane
from ui.run.request import NO_LANE
from ui.serving.limits import Limits
from ui.shared import labels, markup
from ui.shared.events import QUIET
from ui.shared.layout import link_button, menu, on_choice, start_button, stop_button
from ui.shared.prompts import TEMPERATURE, Preset, chat_presets, is_known, presets
from ui.shared.serve_modules import call
from ui.shared.tree_menu import SHAPES

_TOKENS = 128
_OWN = "own"  # in the menu of example prompts: none of them


def run_form(
    trees: FormTrees, profiles: gr.BrowserState, first: StoredRun | None = None
) -> RunForm:
    """Lay out the form in the current column. trees: finds the trees for the pictures below the
    lanes. profiles: see RunForm. first: the run that the view opens with. The initial prompt,
    temperature and number of tokens are its own."""
    meta = first.meta if first else {}
    parts: dict[str, Any] = {
        "profiles": profiles,
        **_prompt_box(meta.get("prompt", ""), meta.get("chat") is True),
        "chat": gr.Checkbox(
            label="As a chat message",
            value=True,
            visible=False,  # until models with a chat template are loaded
            container=False,
            elem_id="pg-chat",
        ),
        **_run_buttons(),
    }
    shapes = [_lane(number, lane, trees) for number, lane in enumerate(_start(), start=1)]
    parts["add"] = gr.Button("Add lane", size="sm", min_width=60, elem_id="pg-add-lane")
    parts["clock"] = menu(clock_choices(), LABEL, "pg-clock", HERE)
    with gr.Accordion("More", open=False, elem_id="pg-more"):
        with gr.Group(elem_classes="pg-group"), gr.Row():
            verifiers = [_verifier(number, lane) for number, lane in enumerate(_start(), start=1)]
        parts["lanes"] = tuple(
            LaneFields(group, kind, verifier, numbers)
            for (group, kind, numbers), verifier in zip(shapes, verifiers, strict=True)
        )
        return RunForm(**parts, **_more(trees.limits, first))


def _start() -> list[FormLane]:
    return [*FIRST_LANES, *[EMPTY_LANE] * (MOST_LANES - len(FIRST_LANES))]


def _examples_for(chat: bool) -> tuple[Preset, ...]:
    return chat_presets() if chat else presets()


def prompt_choices(chat: bool) -> list[tuple[str, str]]:
    """The choices of the menu of example prompts. chat: whether they are chat messages."""
    examples = [(f"Example: {one.name}", one.name) for one in _examples_for(chat)]
    return [("Try an example", _OWN), *examples]


def prompt_instead(prompt: Any, chat: bool) -> str | None:
    """The first example prompt, if `prompt` is one that comes with the program, but for the other
    kind of models."""
    return _examples_for(chat)[0].text if is_known(prompt, not chat) else None


def _prompt_box(prompt: str, chat: bool) -> dict[str, Any]:
    """The text box of the prompt, and below it the menu of examples, by name. A choice in the menu
    copies the example into the box. chat: whether the examples are chat messages."""
    text = prompt or _examples_for(chat)[0].text
    box = gr.Textbox(
        value=text,
        label="Prompt",
        lines=5,
        max_lines=5,
        elem_id="pg-prompt",
        elem_classes="pg-prompt",
        placeholder="Text for the models to continue",
    )
    texts = {one.name: one.text for one in [*presets(), *chat_presets()]}
    shown = next((one.name for one in _examples_for(chat) if one.text == text), _OWN)
    choices = prompt_choices(chat)
    examples = menu(choices, "Example prompt", "pg-prompts", shown, show_label=False)
    on_choice(examples, lambda name: texts.get(name, gr.skip()), [], box, **QUIET)
    own = f"() => {markup.literal(_OWN)}"
    box.input(None, None, examples, js=own, api_visibility="private")
    return {"prompt": box, "example_prompt": examples}


def _run_buttons() -> dict[str, Any]:
    """The buttons that run and stop, by name."""
    with gr.Row(elem_classes="pg-go"):
        return {
            "run": start_button(LOADING, "pg-run"),
            "step": gr.Button("Step", elem_id="pg-step", scale=1, min_width=50),
            "stop": stop_button("pg-stop"),
        }


def _lane(
    number: int, lane: FormLane, trees: FormTrees
) -> tuple[gr.Group, gr.Dropdown, gr.Textbox]:
    """The group of a lane, and in it the menu of its kind and the field of its numbers."""
    kind, _, _ = lane
    choices = [*((shape.name, kind) for kind, shape in SHAPES.items()), ("no lane", NO_LANE)]
    shown = True if kind != NO_LANE else "hidden"
    with gr.Group(visible=shown, elem_classes="pg-group pg-lane") as group:
        kinds = menu(choices, f"Lane {number}", f"pg-kind-{number}", kind, min_width=60)
        numbers = gr.Textbox(
            max_lines=1,
            min_width=60,
            elem_id=f"pg-numbers-{number}",
            elem_classes="pg-numbers",
            visible=False,
        )
        tree_picture(trees, number)
    return group, kinds, numbers


def _verifier(number: int, lane: FormLane) -> gr.Dropdown:
    """The menu of a lane's verifier."""
    kind, _, verifier = lane
    return menu(
        [(one.label, key) for key, one in VERIFIERS.items()],
        f"Verifier of lane {number}",
        f"pg-verifier-{number}",
        verifier,
        min_width=100,
        visible=kind not in (NO_LANE, "plain"),
    )


def _more(limits: Limits, first: StoredRun | None) -> dict[str, Any]:
    """The components under "More", by name. first: see `run_form`."""
    with gr.Group(elem_classes="pg-group"), gr.Row():
        fields = _sampling_fields(limits, first.meta.get("params", {}) if first else {})
    gr.Markdown("Ready-made comparisons", elem_id="pg-ready")
    with gr.Row(elem_classes="pg-chips pg-presets"):
        buttons = tuple(
            gr.Button(
                preset.name,
                size="sm",
                min_width=30,
                elem_classes="pg-chip",
                elem_id=f"pg-preset-{preset.key}",
            )
            for preset in PRESETS
        )
    about = gr.Markdown("", elem_id="pg-about")
    second = gr.Textbox(
        label="Second prompt (optional)",
        lines=1,
        max_lines=3,
        elem_id="pg-second-prompt",
        placeholder="The same lanes run on it too",
    )
    check = gr.Checkbox(
        label="Verify losslessness after the run (if the temperature is above 0)",
        value=False,
        elem_id="pg-check",
        container=False,
    )
    return {
        **fields,
        "presets": buttons,
        "about": about,
        "second_prompt": second,
        "check": check,
        "example": _examples(first),
        **_files(),
        "shared": gr.Checkbox(
            label="Others may watch my runs",
            value=limits.shares,
            visible=not limits.shares,  # else all runs are shared anyway
            container=False,
            elem_id="pg-shared",
        ),
    }


def _examples(first: StoredRun | None) -> gr.Dropdown:
    """The menu of recorded runs. `first` is selected, because the view opens with it."""
    found = recordings.examples()
    shown = first.name.partition(".")[0] if first else ""
    about = {one.name: one.about for one in found}
    return menu(
        [(one.title, one.name) for one in found],
        "Examples",
        "pg-example",
        shown if shown in about else None,
        info=about.get(shown, EXAMPLES_ABOUT),
    )


def _sampling_fields(limits: Limits, params: Mapping[str, Any]) -> dict[str, gr.Number]:
    """The fields of the sampling parameters, by name, with the values in `params`, so that a first
    run is made like the one on screen. They have no bounds of their own, because SamplingParams
    refuses values out of bounds with a message."""
    tokens = min(params.get("max_new_tokens", _TOKENS), limits.tokens)
    fields = {
        "temperature": ("pg-temperature", params.get("temperature", TEMPERATURE), 0.1),
        "top_p": ("pg-top-p", 1.0, 0.05),
        "max_new_tokens": ("pg-tokens", tokens, 16),
        "seed": ("pg-seed", 0, 1),
    }
    return {
        name: gr.Number(value, label=labels.RUN[name], step=step, min_width=100, elem_id=elem_id)
        for name, (elem_id, value, step) in fields.items()
    }


def _files() -> dict[str, Any]:
    """The buttons that save and open a run, by name. Two further buttons call no Python function:
    one saves what is on screen as one HTML file, the other copies a link to this view with the
    values of its form."""
    with gr.Row(elem_classes="pg-files"):
        save = gr.DownloadButton(
            "Save run", size="sm", min_width=60, interactive=False, elem_id="pg-save"
        )
        opens = gr.UploadButton(
            "Open run", size="sm", min_width=60, file_types=[".json"], elem_id="pg-open"
        )
    with gr.Row(elem_classes="pg-files"):
        page = gr.Button("Save as web page", size="sm", min_width=60, elem_id="pg-html")
        script = call("run/save_run", "web.saveShown()")
        page.click(None, None, None, js=script, api_visibility="private")
        link_button("pg", TAB)
    return {"save": save, "open": opens}
