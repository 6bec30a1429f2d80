"""The form of the Lossless tab: its components, their values, and their updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sequoia import SequoiaError
from sequoia.algorithm.verifiers import RULES
from sequoia.errors import BadSamplingParams
from sequoia.exactness.losslessness.settings import (
    CORRECT,
    MOST_CHILDREN,
    MOST_LEVELS,
    PAIR,
    PRESETS,
    TOY,
    Setting,
)
from sequoia.validate_input import shown
from ui.shared.events import FormData, Updates
from ui.shared.labels import with_labels
from ui.shared.layout import menu, said_at, start_button, stop_button
from ui.shared.tree_menu import typed_numbers
from ui.words.losslessness import BUG_WORDS

LABELS = {
    "where": "Distributions",
    "p": "p, the large model (target)",
    "q": "q, the small model (draft)",
    "prompt": "Prompt",
    "temperature": "Temperature",
    "top_p": "Top-p",
    "children": "Tree: children, level by level",
    "verifier": "Verifier",
    "places": "What is counted",
    "samples": "Samples",
    "bug": "Decoder",
}
# The label of the run button.
RUN = "Run the test"
COUNTED = [
    ("the first token", 1),
    ("the first two tokens", 2),
    ("the first three tokens", 3),
]
_TOY_ONLY = ("p", "q")
_PAIR_ONLY = ("prompt", "temperature", "top_p")
# The beginning of a message about a value, and the field at which the message is shown.
_FIELDS = {
    **{name: name for name in LABELS},
    "the prompt": "prompt",
    "a node of the tree": "children",
    "the first": "children",  # for example "the first 5 levels already have 4681 nodes"
    "unknown verifier": "verifier",
}


@dataclass(frozen=True)
class LosslessForm:
    """The components of the form. fields: by the names of Setting's fields."""

    fields: Mapping[str, Any]
    run: gr.Button
    stop: gr.Button

    @property
    def parts(self) -> set[Any]:
        """The components whose values form a Setting."""
        return set(self.fields.values())

    def setting(self, data: FormData) -> Setting:
        """The Setting with the values of the form. Raises a SequoiaError for a wrong value."""
        typed = {name: data[part] for name, part in self.fields.items()}
        children = typed_numbers(typed["children"], 60)
        if not children:
            raise BadSamplingParams(
                f"children: {shown(typed['children'])}; enter 1 to {MOST_LEVELS} whole numbers "
                f"from 1 to {MOST_CHILDREN}, such as 2, 1"
            )
        return Setting(**{**typed, "children": tuple(children)})

    def preset(self, bug: Any, chosen: bool = False) -> Updates:
        """Updates that fill the form with the setting in PRESETS for `bug`, in which the test finds
        it. The setting for CORRECT is the one that the page opens with. The field `bug` says what
        is wrong, and is set too if `chosen`. Nothing changes for an unknown bug."""
        setting = PRESETS.get(bug) if isinstance(bug, str) else None
        field = self.fields["bug"]
        if setting is None:
            return {field: gr.skip()}
        about = BUG_WORDS[bug].about if bug in BUG_WORDS else ""
        updates = {
            part: gr.update(value=value_of(setting, name), **_fine())
            for name, part in self.fields.items()
            if name != "bug"
        }
        updates[field] = gr.update(**_fine(about))
        if chosen:
            updates[field]["value"] = bug
        return _merged(updates, self.shaped(setting.where))

    def shaped(self, where: Any) -> Updates:
        """Updates that show or hide the fields that only one kind of test has. For a toy, p and q
        are shown; for a pair, the prompt, the temperature and top-p."""
        return {
            self.fields[name]: gr.update(visible=(name in _TOY_ONLY) == (where == TOY))
            for name in (*_TOY_ONLY, *_PAIR_ONLY)
        }

    def refused(self, problem: SequoiaError | None) -> Updates:
        """Updates that show `problem` at its field, and no problem at the other fields. No value
        changes."""
        words = str(with_labels(problem, LABELS)) if problem else ""
        return said_at(self.fields, field_of(problem), words)


def field_of(problem: SequoiaError | None) -> str | None:
    """The field that the message of `problem` is about; None if there is no such field."""
    starts = sorted(_FIELDS, key=len, reverse=True)
    found = [start for start in starts if str(problem).startswith((start + ":", start + " "))]
    return _FIELDS[found[0]] if problem and found else None


def value_of(setting: Setting, name: str) -> Any:
    """The value of a form's field for `setting`."""
    value = getattr(setting, name)
    return ", ".join(map(str, value)) if name == "children" else value


def lossless_form() -> LosslessForm:
    """Lay the form out in the current column, filled for the correct decoder."""
    with gr.Row(elem_classes="pg-go"):
        run = start_button(RUN, "ls-run")
        stop = stop_button("ls-stop")
    decoders = [("correct", CORRECT), *((words.label, key) for key, words in BUG_WORDS.items())]
    fields = {"bug": _menu("bug", decoders)}
    with gr.Accordion("More", open=False, elem_id="ls-more"):
        fields |= _more()
    return LosslessForm(fields, run, stop)


def _more() -> dict[str, Any]:
    """The fields that only a setting of the visitor's own needs."""
    with gr.Group(elem_classes="pg-group"):
        places = [("a toy with a few words", TOY), ("the loaded pair", PAIR)]
        fields = {"where": _menu("where", places)}
    with gr.Group(elem_classes="pg-group"):
        fields |= {name: _text(name, name in _TOY_ONLY) for name in (*_TOY_ONLY, "prompt")}
        with gr.Row():
            fields |= {name: _number(name, False) for name in ("temperature", "top_p")}
    with gr.Group(elem_classes="pg-group"):
        fields["children"] = _text("children")
        fields["verifier"] = _menu("verifier", [(rule.label, rule.key) for rule in RULES])
    with gr.Group(elem_classes="pg-group"):
        fields["places"] = _menu("places", COUNTED)
        fields["samples"] = _number("samples")
    return fields


def _menu(name: str, choices: list[tuple[str, Any]]) -> gr.Dropdown:
    return menu(choices, LABELS[name], _id(name), getattr(PRESETS[CORRECT], name))


def _text(name: str, visible: bool = True) -> gr.Textbox:
    return gr.Textbox(
        value=value_of(PRESETS[CORRECT], name),
        label=LABELS[name],
        lines=2 if name == "prompt" else 1,
        max_lines=6 if name == "prompt" else 1,
        visible=visible,
        elem_id=_id(name),
    )


def _number(name: str, visible: bool = True) -> gr.Number:
    return gr.Number(
        value=getattr(PRESETS[CORRECT], name),
        label=LABELS[name],
        precision=0 if name == "samples" else None,
        min_width=100,
        visible=visible,
        elem_id=_id(name),
    )


def _id(name: str) -> str:
    return "ls-" + name.replace("_", "-")


def _fine(words: str = "") -> dict[str, Any]:
    return {"info": words, "elem_classes": []}


def _merged(one: Updates, other: Updates) -> Updates:
    return {part: {**one.get(part, {}), **other.get(part, {})} for part in {**one, **other}}
