"""The components of the form of the Run view, their values, and updates that change them. They are
laid out in form_layout.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.saved_files.race_file import MOST_LANES
from ui.run.clocks import HERE, clock_choices
from ui.run.presets import FormLane, RunPreset
from ui.run.request import NO_LANE
from ui.shared import labels, markup
from ui.shared.events import FormData, Updates
from ui.shared.serve_modules import call
from ui.shared.tree_menu import SHAPES

TAB = "run"
PARAMS = tuple(labels.RUN)
NAMES = ("prompt", "second_prompt", "chat", "check", "clock", *PARAMS)
RUN = "Run"
RESUME = "Resume"
LOADING = "loading models…"
STOP = "Stop"
START_OVER = "Start over"
EXAMPLES_ABOUT = (
    "Recorded runs, most of the bundled models. Some are slower than plain decoding; one has a "
    "useless draft (its weights were shuffled)."
)
FIRST_LANES: tuple[FormLane, ...] = (
    ("planned", "", DEFAULT_VERIFIER),
    ("plain", "", DEFAULT_VERIFIER),
)
EMPTY_LANE: FormLane = (NO_LANE, "", DEFAULT_VERIFIER)
_ADDED = ("plain", "tuned_chain", "planned", "sequences")  # kinds of an added lane, in this order


@dataclass(frozen=True)
class LaneFields:
    """The components of one lane. group: contains the others."""

    group: gr.Group
    kind: gr.Dropdown
    verifier: gr.Dropdown
    numbers: gr.Textbox

    @property
    def parts(self) -> list[Any]:
        """The components that `put` may change."""
        return [self.group, self.kind, self.verifier, self.numbers]

    def put(self, lane: FormLane) -> Updates:
        """Updates that show `lane`. Without numbers, those that its kind starts with."""
        kind, numbers, verifier = lane
        updates = self.shaped(kind)
        if numbers:
            updates[self.numbers] = {**updates[self.numbers], "value": numbers}
        updates[self.verifier] = {**updates[self.verifier], "value": verifier}
        return {**updates, self.kind: gr.update(value=kind)}

    def shaped(self, kind: Any) -> Updates:
        """Updates for a lane of the shape `kind`: its fields, and the numbers that it starts
        with. The lane is hidden if `kind` is not a shape."""
        shape = SHAPES.get(kind) if isinstance(kind, str) else None
        numbers = gr.update(visible=False)
        if shape and shape.fields:
            start = ", ".join(map(str, shape.start))
            numbers = gr.update(visible=True, label=", ".join(shape.fields), value=start)
        return {
            self.group: gr.update(visible=True if shape else "hidden"),
            self.verifier: gr.update(visible=shape is not None and kind != "plain"),
            self.numbers: numbers,
        }


@dataclass(frozen=True)
class RunForm:
    """The components of the form, by name. profiles: the hardware profiles saved in the visitor's
    browser."""

    prompt: gr.Textbox
    example_prompt: gr.Dropdown
    chat: gr.Checkbox
    run: gr.Button
    step: gr.Button
    stop: gr.Button
    lanes: tuple[LaneFields, ...]
    add: gr.Button
    clock: gr.Dropdown
    temperature: gr.Number
    top_p: gr.Number
    max_new_tokens: gr.Number
    seed: gr.Number
    presets: tuple[gr.Button, ...]
    about: gr.Markdown
    second_prompt: gr.Textbox
    check: gr.Checkbox
    example: gr.Dropdown
    save: gr.DownloadButton
    open: gr.UploadButton
    shared: gr.Checkbox
    profiles: gr.BrowserState

    # -- values ------------------------------------------------------------------------------------

    @property
    def fields(self) -> dict[str, Any]:
        """The components whose values are in a link to the page, by name. The names of a lane's
        components end in the lane's number: "kind1"."""
        lanes = {
            f"{name}{number}": getattr(lane, name)
            for number, lane in enumerate(self.lanes, start=1)
            for name in ("kind", "numbers", "verifier")
        }
        return {**{name: getattr(self, name) for name in NAMES}, **lanes}

    @property
    def form(self) -> set[Any]:
        """The components of a request, and the box that lets other visitors follow its run."""
        return {self.shared, self.profiles, *self.fields.values()}

    @property
    def noted(self) -> dict[str, Any]:
        """The components whose values the browser records, by name. The profiles are among them,
        because the tree pictures may depend on them."""
        return {**self.fields, "profiles": self.profiles}

    def values(self, data: FormData) -> dict[str, Any]:
        """The values of the form by name, as RunRequest.parse expects them."""
        lanes = [(data[lane.kind], data[lane.numbers], data[lane.verifier]) for lane in self.lanes]
        return {
            **{name: data[getattr(self, name)] for name in (*NAMES, "profiles")},
            "lanes": lanes,
        }

    def is_shared(self, data: FormData) -> bool:
        """Whether other visitors may follow the run."""
        return data.get(self.shared) is True

    # -- updates of the lanes ----------------------------------------------------------------------

    @property
    def lane_parts(self) -> list[Any]:
        """The components that `put_lanes` may change."""
        return [self.add, *(part for lane in self.lanes for part in lane.parts)]

    def put_lanes(self, lanes: Sequence[FormLane]) -> Updates:
        """Updates that put `lanes` into the form. The other lanes are hidden."""
        every = [*lanes, *[EMPTY_LANE] * (MOST_LANES - len(lanes))]
        updates: Updates = {self.add: gr.update(visible=_has_room(kind for kind, _, _ in every))}
        for fields, lane in zip(self.lanes, every, strict=True):
            updates |= fields.put(lane)
        return updates

    def added(self, *kinds: Any) -> Updates:
        """Updates that show one more lane. kinds: of all lanes in the form."""
        free = next((i for i, kind in enumerate(kinds) if kind == NO_LANE), None)
        if free is None:
            return {self.add: gr.update(visible=False)}
        kind = next((one for one in _ADDED if one not in kinds), "best")
        now = [*kinds[:free], kind, *kinds[free + 1 :]]
        lane = self.lanes[free].put((kind, "", DEFAULT_VERIFIER))
        return {**lane, self.add: gr.update(visible=_has_room(now))}

    @property
    def of_a_request(self) -> list[Any]:
        """The components that `use` may change."""
        return [*(getattr(self, name) for name in NAMES), *self.lane_parts]

    def use(self, values: Mapping[str, Any]) -> Updates:
        """Updates that put `values`, by name and with `lanes`, into the form. RunRequest.parse has
        accepted them."""
        named = {getattr(self, name): gr.update(value=values[name]) for name in NAMES}
        return {**named, **self.put_lanes(values["lanes"])}

    @property
    def of_a_preset(self) -> list[Any]:
        """The components that `filled_with` may change."""
        prompts = [self.prompt, self.second_prompt]
        return [self.about, *prompts, self.temperature, self.clock, *self.lane_parts]

    def filled_with(self, preset: RunPreset) -> Updates:
        """Updates that fill the form with `preset`."""
        updates: Updates = {
            self.about: preset.about,
            self.clock: preset.clock,
            self.second_prompt: preset.second_prompt,
            self.temperature: preset.temperature,
            **self.put_lanes(preset.lanes),
        }
        if preset.prompt:
            updates[self.prompt] = preset.prompt
        return updates

    @property
    def changes_of_a_preset(self) -> list[Any]:
        """Events in which the visitor changes the clock or a detail of a lane, so that the form no
        longer matches a preset."""
        fields = (part for lane in self.lanes for part in (lane.numbers, lane.verifier))
        return [self.clock.input, self.add.click, *(field.input for field in fields)]

    def offer_clocks(self, profiles: Any, clock: Any) -> Updates:
        """Updates of the clock menu for the `profiles` saved in the browser. If the clock with the
        key `clock` no longer exists, this machine's own is chosen."""
        choices = clock_choices(profiles)
        if clock in [key for _, key in choices]:
            return {self.clock: gr.update(choices=choices)}  # no value: a link may be setting it
        return {self.clock: gr.update(choices=choices, value=HERE)}

    # -- updates of the buttons --------------------------------------------------------------------

    @property
    def buttons(self) -> list[Any]:
        """The components that `going` and `resting` change."""
        return [self.run, self.step, self.stop, self.save, self.open, self.example]

    def going(self) -> Updates:
        """Updates for the start of a run. They also disable Save, because its file lacks the steps
        of this run; and the run on screen is no longer an example."""
        updates = {button: gr.update(interactive=False) for button in self.buttons}
        example = gr.update(interactive=False, value=None, info=EXAMPLES_ABOUT)
        stop = gr.update(interactive=True, value=STOP)
        return {**updates, self.stop: stop, self.example: example}

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


def _has_room(kinds: Any) -> bool:
    return NO_LANE in [*kinds]


# -- scripts of the buttons ------------------------------------------------------------------------


def began(form: RunForm, updates: Updates | None = None) -> str:
    """JavaScript for an event that starts a run: shows the buttons of a run in progress, or
    `updates`. It does not ask the server, because the answer could arrive after the run has
    ended."""
    updates = updates or form.going()
    buttons = markup.literal([updates[button] for button in form.buttons])
    return call("run/form_changes", f"web.began({buttons})")


def anew(function: str, *inputs: str) -> str:
    """JavaScript that changes the label of the Run button from Resume to Run if a function of
    form_changes.js returns true. inputs: the names of the inputs after the button's label, the
    function's arguments."""
    when = f"web.{function}({', '.join(inputs)})"
    # not the label itself, which may be old by now: the module is loaded first
    same = markup.literal(gr.skip())
    label = f"({when} && label === {markup.literal(RESUME)} ? {markup.literal(RUN)} : {same})"
    return call("run/form_changes", label, ", ".join(["label", *inputs]))
