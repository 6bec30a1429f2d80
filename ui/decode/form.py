"""The form of the Decode view: its Gradio components, and the updates that change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gradio as gr

from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS
from sequoia.algorithm.verifiers.verifier import Verifier
from ui.decode import recordings
from ui.decode.clocks import HERE, LABEL, clock_choices, clock_name
from ui.decode.form_tree import FormTrees, tree_picture
from ui.serving.limits import Limits
from ui.shared import labels, markup
from ui.shared.events import FormData, Updates
from ui.shared.layout import link_button, menu, sampling_fields, start_button, stop_button
from ui.shared.prompts import presets
from ui.shared.serve_modules import call
from ui.shared.tree_menu import SHAPES, TEXTS, tree_choices

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
    "clock",
)
# for a run or a race: the JavaScript module that saves it as one HTML file, and its tab
SHARED = {"run": ("decode/save_run", "decode"), "race": ("race/save_race", "race")}
RUN = "Run"
RESUME = "Resume"
LOADING = "loading models…"
STOP = "Stop"
START_OVER = "Start over"
EXAMPLES_ABOUT = (
    "Recorded runs of the bundled models. Some are slower than plain decoding; one has a useless "
    "draft (its weights were shuffled)."
)


@dataclass(frozen=True)
class RunControls:
    """The components that the forms of a run and of a race have in common, by name. A subclass
    sets `tab`, and `names`, the names of the components whose values make up a request. `values`
    adds what else a request contains: the profiles and, in a race, the lanes."""

    tab: ClassVar[str]
    names: ClassVar[tuple[str, ...]]

    prompt: gr.Textbox
    chat: gr.Checkbox
    run: gr.Button
    step: gr.Button
    stop: gr.Button
    temperature: gr.Number
    top_p: gr.Number
    max_new_tokens: gr.Number
    seed: gr.Number
    clock: gr.Dropdown
    profiles: gr.BrowserState
    save: gr.DownloadButton
    open: gr.UploadButton
    shared: gr.Checkbox
    example: Any

    @property
    def fields(self) -> dict[str, Any]:
        """The components whose values are in a link to the page, by name."""
        return {name: getattr(self, name) for name in self.names}

    @property
    def form(self) -> set[Any]:
        """The components of a request, and the box that lets other visitors follow its run."""
        return {self.shared, self.profiles, *self.fields.values()}

    def is_shared(self, data: FormData) -> bool:
        """Whether other visitors may follow the run."""
        return data.get(self.shared) is True

    def noted(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The components whose values the browser records, by name. fields: the components whose
        values are in a link to the page. The profiles are added, because the tree picture may
        depend on them."""
        return {**fields, "profiles": self.profiles}

    def values(self, data: FormData) -> dict[str, Any]:
        """The values of a request, by name."""
        return {name: data[getattr(self, name)] for name in (*self.names, "profiles")}

    @property
    def buttons(self) -> list[Any]:
        """The components that `going` and `resting` change."""
        return [self.run, self.step, self.stop, self.save, self.open, self.example]

    def going(self) -> Updates:
        """Updates for the start of a run. They also disable Save, because its file lacks the steps
        of this run."""
        updates = {button: gr.update(interactive=False) for button in self.buttons}
        return {**updates, self.stop: gr.update(interactive=True, value=STOP)}

    def interruptible(self) -> Updates:
        """Updates while work goes on that the next run may end. Run and Step stay enabled: they
        start that run."""
        new = gr.update(interactive=True, value=RUN)
        return {**self.going(), self.run: new, self.step: gr.update(interactive=True)}

    def resting(self, continues: bool) -> Updates:
        """Updates for the end or a pause of a run. continues: whether Resume can continue it."""
        updates = {button: gr.update(interactive=True) for button in self.buttons}
        paused = {
            self.run: gr.update(interactive=True, value=RESUME),
            self.stop: gr.update(interactive=True, value=START_OVER),
        }
        return {**updates, **(paused if continues else self.anew())}

    def anew(self) -> Updates:
        """Updates of the Run and Stop buttons if there is no run to resume."""
        return {
            self.run: gr.update(interactive=True, value=RUN),
            self.stop: gr.update(interactive=False, value=STOP),
        }

    @property
    def course(self) -> list[Any]:
        """The components that `anew` changes."""
        return [self.run, self.stop]

    def offer_clocks(self, profiles: Any, clock: Any) -> Updates:
        """Updates of the clock menu for the `profiles` saved in the browser. If the clock with the
        key `clock` no longer exists, this machine's own is chosen."""
        choices = clock_choices(profiles)
        if clock in [key for _, key in choices]:
            return {self.clock: gr.update(choices=choices)}  # no value: a link may be setting it
        return {self.clock: gr.update(choices=choices, value=HERE)}


@dataclass(frozen=True)
class Controls(RunControls):
    """The components of the Decode form, by name."""

    tab = "decode"
    names = FORM

    tree: gr.Dropdown
    first: gr.Number
    second: gr.Number
    branching: gr.Textbox
    verifier: gr.Dropdown
    compare: gr.Checkbox

    @property
    def settings(self) -> list[Any]:
        """The fields of the verifier, the clock and the sampling parameters."""
        sampling = [self.temperature, self.top_p, self.max_new_tokens, self.seed]
        return [self.verifier, self.clock, *sampling]

    @property
    def tree_fields(self) -> list[Any]:
        """The components that `shaped` may change."""
        return [self.tree, self.first, self.second, self.branching]

    def shaped(self, kind: Any, numbers: Sequence[Any] | None = None) -> Updates:
        """Updates that show the shape `kind`: its description and its fields. numbers: the values
        of the fields; by default the shape's `start`. All fields are hidden if `kind` is
        unknown."""
        shape = SHAPES.get(kind) if isinstance(kind, str) else None
        updates = {
            field: gr.update(visible=False) for field in (self.first, self.second, self.branching)
        }
        if shape is None:
            return updates
        fields = [self.branching] if kind in TEXTS else [self.first, self.second]
        for field, label, value in zip(
            fields, shape.fields, numbers or shape.start, strict=False
        ):  # not strict: a chain has only one number
            updates[field] = gr.update(visible=True, label=label, value=value)
        return {self.tree: gr.update(info=shape.about), **updates}

    def timed_on(self, profiles: Any, clock: Any) -> Updates:
        """Updates after the clock with the key `clock` was chosen: the menu of trees names the
        machine that trees are planned for. profiles: those saved in the browser."""
        return {self.tree: gr.update(choices=tree_choices(clock_name(clock, profiles)))}

    def use(self, values: Mapping[str, Any]) -> Updates:
        """Updates that put `values`, by name and already validated, into the form."""
        kind = values["tree"]
        numbers = ["branching"] if kind in TEXTS else ["first", "second"]
        named = [name for name in FORM if name not in ("tree", "first", "second", "branching")]
        return {
            **{getattr(self, name): gr.update(value=values[name]) for name in named},
            **self.put(kind, [values[name] for name in numbers]),
        }

    def put(self, kind: str, numbers: Sequence[Any]) -> Updates:
        """Updates that copy a tree to the form: the shape `kind` with its `numbers`."""
        return {
            **self.shaped(kind, numbers),
            self.tree: gr.update(value=kind, info=SHAPES[kind].about),
        }

    def going(self) -> Updates:
        # the run on screen is no longer an example
        cleared = gr.update(interactive=False, value=None, info=EXAMPLES_ABOUT)
        return {**super().going(), self.example: cleared}


def controls(trees: FormTrees, profiles: gr.BrowserState, prompt: str = "") -> Controls:
    """Lay out the form in the current column. trees: computes the tree that the fields ask for.
    profiles: those saved in the visitor's browser. prompt: the initial text of the prompt box; see
    `prompt_box`."""
    return Controls(
        profiles=profiles,
        prompt=prompt_box("pg", "Prompt (Ctrl+Enter to run)", 7, prompt),
        chat=chat_box("pg"),
        **run_buttons("pg", LOADING),
        **_tree(trees),
        **_settings(trees.limits),
        shared=share_box("pg", trees.limits),
        **files("pg", "run"),
        example=_examples(),
    )


def _examples() -> gr.Dropdown:
    """The menu of recorded runs. The first is selected, because the page opens with it."""
    found = recordings.examples()
    first = found[0] if found else None
    return menu(
        [(one.title, one.name) for one in found],
        "Examples",
        "pg-example",
        first and first.name,
        info=first.about if first else EXAMPLES_ABOUT,
    )


def prompt_box(form: str, label: str, lines: int, prompt: str = "") -> gr.Textbox:
    """The text box of the prompt, and below it one button for each example. A button copies its
    example into the box. form: the start of the box's id. prompt: the initial text; if empty, the
    first example."""
    box = gr.Textbox(
        value=prompt or presets()[0].text,
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
    """The box that makes the prompt a chat message. It is hidden until models with a chat template
    are loaded."""
    return gr.Checkbox(
        label="As a chat message",
        value=True,
        visible=False,
        container=False,
        elem_id=f"{form}-chat",
    )


def share_box(form: str, limits: Limits) -> gr.Checkbox:
    """The box that lets other visitors follow a run. It is hidden if all runs are shared anyway."""
    return gr.Checkbox(
        label="Others may watch my runs",
        value=limits.shares,
        visible=not limits.shares,
        container=False,
        elem_id=f"{form}-shared",
    )


def files(form: str, what: str, has_example: bool = False) -> dict[str, Any]:
    """The buttons that save and open a run or a race (`what`), by name. has_example: whether to add
    a button that shows a recorded example."""
    with gr.Row(elem_classes="pg-files"):
        save = gr.DownloadButton(
            f"Save {what}", size="sm", min_width=60, interactive=False, elem_id=f"{form}-save"
        )
        opens = gr.UploadButton(
            f"Open {what}", size="sm", min_width=60, file_types=[".json"], elem_id=f"{form}-open"
        )
        found: dict[str, Any] = {"save": save, "open": opens}
        if has_example:
            found["example"] = gr.Button(
                "Example", size="sm", min_width=60, elem_id=f"{form}-example"
            )
    _sharing(form, what)
    return found


def _sharing(form: str, what: str) -> None:
    """Two buttons: one saves what is on screen as one HTML file, the other copies a link to this
    tab with the values of its form. Neither calls a Python function."""
    saver, tab = SHARED[what]
    with gr.Row(elem_classes="pg-files"):
        page = gr.Button("Save as web page", size="sm", min_width=60, elem_id=f"{form}-html")
        script = call(saver, "web.saveShown()")
        page.click(None, None, None, js=script, api_visibility="private")
        link_button(form, tab)


def run_buttons(form: str, label: str) -> dict[str, Any]:
    """The buttons that run and stop, by name. form: the start of their ids. label: of the first."""
    with gr.Row(elem_classes="pg-go"):
        return {
            "run": start_button(label, f"{form}-run"),
            "step": gr.Button("Step", elem_id=f"{form}-step", scale=1, min_width=50),
            "stop": stop_button(f"{form}-stop"),
        }


def _tree(trees: FormTrees) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    hidden: dict[str, Any] = {"visible": False, "min_width": 60}  # `shaped` sets labels and values
    with gr.Group(elem_classes="pg-group"):
        parts["tree"] = menu(
            tree_choices(),
            "Tree",
            "pg-tree",
            "planned",
            info=SHAPES["planned"].about,
        )
        with gr.Row():
            parts["first"] = gr.Number(elem_id="pg-first", **hidden)
            parts["second"] = gr.Number(elem_id="pg-second", **hidden)
            parts["branching"] = gr.Textbox(max_lines=1, elem_id="pg-branching", **hidden)
        tree_picture("decode", trees)
        parts["verifier"] = menu(
            [(_named(one), key) for key, one in VERIFIERS.items()],
            "Verifier",
            "pg-verifier",
            DEFAULT_VERIFIER,
        )
        parts["clock"] = menu(clock_choices(), LABEL, "pg-clock", HERE)
    return parts


def _named(verifier: Verifier) -> str:
    return f"{verifier.label} ({verifier.drawn})" if verifier.drawn else verifier.label


def _settings(limits: Limits) -> dict[str, Any]:
    with gr.Group(elem_classes="pg-group"):
        with gr.Row():
            fields = sampling_fields("pg", labels.RUN, min(160, limits.tokens), min_width=100)
        compare = gr.Checkbox(
            label="Compare with plain decoding", value=True, elem_id="pg-compare", container=False
        )
    return {**fields, "compare": compare}


# -- scripts of the buttons ------------------------------------------------------------------------


def began(form: RunControls, updates: Updates | None = None) -> str:
    """JavaScript for an event that starts a run: shows the buttons of a run in progress, or
    `updates`. It does not ask the server, because the answer could arrive after the run has
    ended."""
    updates = updates or form.going()
    buttons = markup.literal([updates[button] for button in form.buttons])
    return call("run/form_changes", f"web.began({markup.literal(form.tab)}, {buttons})")


def anew(tab: str, function: str, *inputs: str) -> str:
    """JavaScript that changes the label of the Run button from Resume to Run if a function of
    form_changes.js returns true. tab: of the form, its first argument. inputs: the names of the
    inputs after the button's label, its other arguments."""
    when = f"web.{function}({', '.join([markup.literal(tab), *inputs])})"
    label = f"({when} && label === {markup.literal(RESUME)} ? {markup.literal(RUN)} : label)"
    return call("run/form_changes", label, ", ".join(["label", *inputs]))
