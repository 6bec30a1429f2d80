"""The Experiments tab: a component that the browser draws, and the handlers of its requests. Anyone
can call the handlers with any value, so they check what they get."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import gradio as gr

from sequoia import SequoiaError
from sequoia.experiments.experiment import Experiment, units
from sequoia.experiments.runner import EXPERIMENTS, experiment_named
from sequoia.planning.paper_results import paper_file
from ui.experiments.experiment_job import SIZE, ExperimentJob
from ui.experiments.messages import recorded_message, refusal_message, report_message
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import ASKED, SessionView, sent_with
from ui.serving.temporary_folder import VARIABLE
from ui.shared.events import UNQUEUED, Updates, model_work, visitor
from ui.shared.layout import drawn
from ui.shared.markup import Markup, element
from ui.words.experiments import WORDS

SECONDS = 300.0  # maximum computing time of one run; the next run continues where it stopped


class KeptUnits:
    """A temporary folder for each visitor, with the finished units of their experiments, so that an
    interrupted experiment can continue. If there are more than `most`, the least recently requested
    one is deleted. All methods are thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._folders: OrderedDict[str, Path] = OrderedDict()

    def folder(self, who: str) -> Path:
        """The visitor's folder, created if there is none."""
        with self._lock:
            if who not in self._folders:
                parent = os.environ.get(VARIABLE)
                self._folders[who] = Path(tempfile.mkdtemp(prefix="experiments-", dir=parent))
            self._folders.move_to_end(who)
            while len(self._folders) > self._most:
                shutil.rmtree(self._folders.popitem(last=False)[1], ignore_errors=True)
            return self._folders[who]

    def forget(self, who: str) -> None:
        """Delete the visitor's folder, if there is one."""
        with self._lock:
            if folder := self._folders.pop(who, None):
                shutil.rmtree(folder, ignore_errors=True)


class ExperimentsTab(SessionView[ExperimentJob]):
    """The view's component and its handlers."""

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host, limits)
        self._kept = KeptUnits(limits.sessions)
        model_host.after_leaving.append(self._kept.forget)
        self._seconds = min(SECONDS, limits.seconds)

    def build(self) -> None:
        """Create the components in the current container."""
        self.board = drawn(
            "xp",
            "experiments/connect",
            ["run", "halt", "ask"],
            page(),
            asked=self.get_recorded_experiment,
        )

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect the component to its handlers."""
        board = self.board
        board.run(self.run_experiment, None, board, **model_work(self._limits.waiting))
        board.halt(self.stop, None, None, **UNQUEUED)
        board.ask(self.job_state, None, board, **ASKED)

    def get_recorded_experiment(self, asked: Any) -> str:
        """The recorded result of the experiment `asked`, or why there is none, as JSON."""
        return recorded_message(asked)

    async def run_experiment(self, event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        """Run an experiment with the loaded pair. The browser sends its name as `name`. Yields
        messages with the progress and the result. Units (see Unit) that this visitor finished
        earlier with the same pair are reused, or run again if the browser sent `again`."""
        sent = sent_with(event)
        again = sent.get("again") is True
        try:
            experiment = experiment_named(sent.get("name", ""))
            job = await self.started(request, lambda: self._job(experiment, request, again))
        except SequoiaError as problem:
            yield refusal_message(f"Not run: {problem}")
            return
        try:
            async for report in job.reports():
                yield report_message(report, experiment.name)
        finally:  # also if the page is closed: Gradio then closes this generator
            job.halt()

    def _job(self, experiment: Experiment, request: gr.Request, again: bool) -> ExperimentJob:
        folder = self._kept.folder(visitor(request))
        return ExperimentJob(self._model_host, experiment, folder, self._seconds, again=again)

    def buttons_now(self, request: gr.Request) -> Updates:  # noqa: ARG002  the browser draws the buttons
        return {self.board: gr.skip()}

    def not_running(self, words: str) -> Updates:
        return {self.board: refusal_message(words)}


# -- the markup without a result, written when the page is built -----------------------------------


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
    name = experiment.name
    claims = [one["claim"] for one in paper_file()["claims"] if one.get("experiment") == name]
    return element(
        "button",
        WORDS[name].title,
        type="button",
        class_="sq-btn",
        data_name=name,
        data_claims=f"Claim: {'; '.join(claims)}",
        data_question=experiment.question,
        data_units=len(units(experiment.sizes[SIZE])),
    )


def _sides() -> tuple[Markup, ...]:
    """Where the result comes from, and which of several results to show."""
    sides = (_button(label, f"side-{side}", data_side=side) for side, label in SIDES.items())
    group = {"role": "group", "aria_label": "Result to show", "data_part": "sides"}
    return (
        element("span", class_="sq-badge", data_part="source"),
        element("span", *sides, class_="sq-segments", **group),
    )


SIDES = {"bundled": "Bundled pair", "smollm2-135m": "SmolLM2-135M", "own": "Your run"}
RUN = "Run a small version with the loaded models; after a stop, only the parts not done yet"
STOP = "Stop after the current part; finished parts are kept"


def _body() -> tuple[Markup, ...]:
    return (
        element("p", class_="xp-dim", data_part="claims"),
        element("p", class_="xp-finding", data_part="finding"),
        element(
            "details",
            element("summary", "In detail"),
            element("ul", data_part="details"),
            class_="xp-details",
            data_part="more",
        ),
        element("p", class_="xp-partial", data_part="partial"),
        element("p", class_="sq-dim", data_part="missing"),
        element(
            "div",
            _button("", "run", title=RUN, class_="sq-btn sq-btn-main"),
            _button("Stop", "stop", title=STOP, disabled=True),
            element("span", class_="sq-dim", role="status", data_part="progress"),
            class_="xp-line sq-wrap",
        ),
    )


def _button(words: str, part: str, class_: str = "sq-btn", **look: object) -> Markup:
    words_in = element("span", words)
    return element("button", words_in, type="button", class_=class_, data_part=part, **look)
