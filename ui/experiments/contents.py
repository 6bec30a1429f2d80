"""The markup of the Experiments tab without a result. It is written when the page is built."""

from __future__ import annotations

from sequoia.experiments.experiment import Experiment, units
from sequoia.experiments.registry import EXPERIMENTS
from ui.experiments.experiment_job import SIZE
from ui.shared.markup import Markup, element
from ui.words.experiments import WORDS


def page() -> Markup:
    """The list, and the head of the chosen experiment. The browser fills what is empty."""
    entries = map(_entry, EXPERIMENTS.values())
    return element(
        "div",
        element("nav", *entries, class_="xp-list", data_part="list", aria_label="Experiments"),
        element(
            "section",
            element(
                "div",
                element("h2", element("span", data_part="question"), class_="sq-title"),
                element("div", *_sides(), class_="sq-tools"),
                class_="sq-panel-head",
            ),
            element("div", *_body(), class_="sq-panel-body"),
            class_="sq-panel xp-head",
            data_part="head",
        ),
        class_="sq-stage xp-stage sq-frame",
    )


def _entry(experiment: Experiment) -> Markup:
    return element(
        "button",
        WORDS[experiment.name].title,
        type="button",
        class_="sq-btn",
        data_name=experiment.name,
        data_question=experiment.question,
        data_units=len(units(experiment.sizes[SIZE])),
    )


def _sides() -> tuple[Markup, ...]:
    """Where the result comes from, and which of two results to show."""
    sides = (_button(label, f"side-{side}") for side, label in SIDES.items())
    group = {"role": "group", "aria_label": "Result to show", "data_part": "sides"}
    return (
        element("span", class_="sq-badge", data_part="source"),
        element("span", *sides, class_="sq-segments", **group),
    )


SIDES = {"recorded": "Recorded", "own": "Your run"}
RUN = "Run a small version with the loaded models; after a stop, only the parts not done yet"
STOP = "Stop after the current part; finished parts are kept"


def _body() -> tuple[Markup, ...]:
    return (
        element("p", class_="xp-finding", data_part="finding"),
        element(
            "details",
            element("summary", "In detail"),
            element("ul", data_part="details"),
            class_="xp-details",
            data_part="more",
        ),
        element("p", class_="xp-partial", data_part="partial"),
        element("p", class_="xp-dim", data_part="missing"),
        element(
            "div",
            _button("", "run", title=RUN, class_="sq-btn xp-go"),
            _button("Stop", "stop", title=STOP, disabled=True),
            element("span", class_="xp-dim", role="status", data_part="progress"),
            class_="xp-line",
        ),
    )


def _button(words: str, part: str, class_: str = "sq-btn", **look: object) -> Markup:
    words_in = element("span", words)
    return element("button", words_in, type="button", class_=class_, data_part=part, **look)
