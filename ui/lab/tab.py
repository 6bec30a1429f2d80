"""The Lab view: its component, and the handlers of the browser's requests. Most of the Lab runs in
the browser. Anyone can call the handlers, even without the page, so they check all that they
receive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sequoia import SamplingParams, SequoiaError, Tree, machine
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.errors import BadPrompt, BadSamplingParams, BadTree
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.text_files import load_json
from sequoia.validate_input import json_text, shown
from ui.lab.acceptance_job import WAYS, AcceptanceJob
from ui.run import clocks
from ui.run.form import began
from ui.run.tab import RunTab
from ui.serving.job import Report
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import ASKED, SessionView, sent_with
from ui.shared import markup, saved_profiles
from ui.shared.acceptance_rates import by_level_table, rates_of
from ui.shared.events import QUIET, UNQUEUED, Updates, model_work
from ui.shared.layout import server_function
from ui.shared.prompts import presets
from ui.shared.saved_profiles import Entry
from ui.shared.serve_modules import call, connect
from ui.shared.tree_menu import SHAPES, listed_numbers
from ui.words.hardware import counted_words

CODE = "code"  # all prompts that are code
TYPED = "typed"  # a text typed by the visitor
# Limits of one measurement. The server's own limits apply as well.
COUNT_TOKENS = 128  # new tokens per prompt
MOST_TYPED = 4000  # characters of a typed text


@dataclass(frozen=True)
class CountRequest:
    """A valid request to measure acceptance. name: what to call the prompts. way: a key of WAYS."""

    name: str
    prompts: list[str]
    params: SamplingParams
    way: str


class LabTab(SessionView[AcceptanceJob]):
    """The view's component and its handlers."""

    def __init__(self, model_host: ModelHost, limits: Limits, runs: RunTab) -> None:
        super().__init__(model_host, limits)
        self._runs = runs

    def build(self) -> None:
        """Create the view's component in the current container."""
        self.board = gr.HTML(
            html_template='<div class="sq-stage sq-lab"></div>',
            apply_default_css=False,
            elem_id="lab-view",
            server_functions=[server_function(self.read_tree)],
            js_on_load=connect(
                "lab/connect", ["select", "run", "count", "halt", "ask"], server=True
            ),
        )

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect the component to its handlers."""
        form = self._runs.form
        engine = model_work(self._limits.waiting)
        self.board.select(
            self.come,
            [self._runs.profiles, form.clock],
            self.board,
            concurrency_limit=None,
            **QUIET,
        )
        self.board.count(self.count, None, self.board, **engine)
        self.board.halt(self.stop, None, None, **UNQUEUED)
        self.board.ask(self.job_state, None, self.board, **ASKED)
        chosen = self.board.run(
            self.run, self._runs.profiles, [*form.lane_parts, form.clock, form.temperature], **QUIET
        )
        left = chosen.success(
            None,
            None,
            None,
            js=call("shared/navigation", 'web.openView("run")'),
            api_visibility="private",
        )
        left.success(None, None, form.buttons, js=began(form), api_visibility="private")
        left.success(self._runs.run, form.form, self._runs.stage, **engine).then(
            self._runs.buttons_now, None, form.buttons, **UNQUEUED
        )

    # -- figures of the pair -----------------------------------------------------------------------

    async def come(self, store: Any, clock: Any = clocks.HERE) -> AsyncIterator[str]:
        """Yields what the Lab needs from the server. If models are being loaded, yields a new
        message once loading has ended. store: the profiles saved in the browser. clock: the key of
        the clock chosen in Run, which times its runs. Both arguments are untrusted."""
        while not self._model_host.settled:
            yield json_text(self._known(store, clock))
            await self._model_host.until_settled()
        yield json_text(self._known(store, clock))

    def _known(self, store: Any, clock: Any) -> dict[str, Any]:
        pair = self._model_host.pair_now
        own_survey = pair.survey if pair else None
        survey = load_json(own_survey or BUNDLED_PAIR / "acceptance.json")
        survey["name"] = "Bundled pair"
        if pair and own_survey and pair.name != BUNDLED_NAME:
            survey["name"] = pair.draft.name
        named = [
            {"key": CODE, "label": "all code prompts"},
            *({"key": one.name, "label": one.name} for one in presets()),
            {"key": TYPED, "label": "your own text"},
        ]
        own = (
            []
            if pair is None or own_survey
            else [rates for rates in rates_of(pair).values() if rates.label == "measured"]
        )
        return {
            "own": [
                {
                    "name": one.name,
                    "rates": list(one.acceptance.rates),
                    "temperature": one.temperature,
                }
                for one in own
            ],
            "pair": self._model_host.version,
            "survey": survey,
            "surveyed": own_survey is not None,
            "most": self._limits.nodes,
            "prompts": named,
            "measurable": pair is not None,
            "loading": not self._model_host.settled,
            "ways": [{"key": key, "label": label} for key, (label, _) in WAYS.items()],
            "profile": machine(pair).to_dict() if pair else None,
            "profiles": [
                _profile_message(key, entry)
                for key, entry in saved_profiles.listed(saved_profiles.all_entries(store)).items()
            ],
            "clock": clock if isinstance(clock, str) else clocks.HERE,
        }

    # -- measuring ---------------------------------------------------------------------------------

    async def count(self, event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        """Measure the pair's acceptance as asked in `event`. Yields the progress and the result."""
        try:
            asked = self._asked(sent_with(event))
            task = await self.started(request, lambda: self._job(asked))
        except SequoiaError as problem:
            yield json_text({"count": {"error": str(problem)}})
            return
        try:
            async for report in task.reports():
                yield json_text({"count": _count_message(report, asked)})
        finally:  # also if the page is closed: Gradio then closes this generator
            task.halt()

    def _job(self, asked: CountRequest) -> AcceptanceJob:
        return AcceptanceJob(
            self._model_host, asked.prompts, asked.params, self._limits.seconds, asked.way
        )

    def buttons_now(self, request: gr.Request) -> Updates:  # noqa: ARG002  the browser draws the button
        return {self.board: gr.skip()}

    def not_running(self, words: str) -> Updates:
        return {self.board: json_text({"count": {"interrupted": words}})}

    def _asked(self, data: Mapping[str, Any]) -> CountRequest:
        way = data.get("way", "decode")
        if not isinstance(way, str) or way not in WAYS:
            raise BadSamplingParams(f"way: {shown(way)} is not one of {', '.join(WAYS)}")
        name, prompts = self._prompts(data.get("prompts"), data.get("text"))
        params = SamplingParams(
            temperature=_number(data.get("temperature"), "temperature"),
            top_p=_number(data.get("top_p"), "top_p"),
            max_new_tokens=min(COUNT_TOKENS, self._limits.tokens),
            ignore_eos=True,
        )
        return CountRequest(name, prompts, params, way)

    def _prompts(self, name: Any, text: Any) -> tuple[str, list[str]]:
        """A name for the chosen prompts, and the list of their texts. Raises SequoiaError if `name`
        is unknown, or if the visitor's own `text` is not a string or has a wrong length."""
        texts = {one.name: one.text for one in presets()}
        if name == CODE:
            return "code prompts", [text for key, text in texts.items() if key != "prose"]
        if name == TYPED:
            most = min(MOST_TYPED, self._limits.prompt_chars)
            if not isinstance(text, str) or not 1 <= len(text) <= most:
                found = f"{len(text)} characters" if isinstance(text, str) else shown(text)
                raise BadPrompt(f"your text: {found}; enter 1 to {most} characters")
            return "typed text", [text]
        if isinstance(name, str) and name in texts:
            return f"prompt {name}", [texts[name]]
        raise BadSamplingParams(
            f"prompts: {shown(name)} is not one of {', '.join([CODE, *texts, TYPED])}"
        )

    # -- reading and running a tree ----------------------------------------------------------------

    def read_tree(self, text: Any) -> str:
        """Read a pasted tree, in any format that Run reads. Returns JSON: {"parents": ...}, in
        breadth-first order, or {"refused": why}."""
        try:
            (typed,) = listed_numbers("lab", text)
            tree = SHAPES["lab"].make(typed)  # pyright: ignore[reportOptionalCall]
            return json_text({"parents": tree.parents})
        except BadTree as problem:
            return json_text({"refused": str(problem)})

    def run(self, event: gr.EventData, store: Any = None) -> Updates:
        """Copy the tree, the clock and the acceptance's temperature to the form of Run, beside
        plain decoding. Raises gr.Error if the tree is invalid or too large to run here. store: the
        profiles saved in the browser, untrusted."""
        sent = sent_with(event)
        try:
            tree = Tree.from_parents(sent.get("parents", ()))
            temperature = sent.get("temperature")
            heat = None if temperature is None else _number(temperature, "temperature")
            return self._runs.run_tree(tree, sent.get("clock"), store, heat)
        except SequoiaError as problem:
            raise gr.Error(markup.toast(f"Not run: {problem}"), print_exception=False) from None


def _number(value: Any, name: str) -> float:
    """The typed value as a number. SamplingParams checks its bounds."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadSamplingParams(f"{name}: {shown(value)} is not a number") from None


def _profile_message(key: str, entry: Entry) -> dict[str, Any]:
    return {
        "key": key,
        "name": entry.name,
        "label": clocks.clock_label(key, entry),
        "note": entry.note,
        "profile": entry.profile.to_dict(),
    }


def _count_message(report: Report, asked: CountRequest) -> dict[str, Any]:
    if report.error:
        return {"error": report.error}
    found = report.result
    if found is None:
        return {"share": report.share, "words": report.words, "over": report.over}
    params = asked.params
    try:
        rates = list(found.acceptance.rates)
    except SequoiaError as problem:
        return {"error": str(problem)}
    way = WAYS[asked.way][0]
    unit = "positions" if asked.way in ("own", "text") else "roots"
    table = by_level_table(
        f"{way} · {asked.name}", "measured", params.temperature, 1, found.by_level
    )
    return {
        "result": {
            "rates": rates,
            "accepted": list(found.accepted),
            "visited": found.visited,
            "words": counted_words(way, asked.name, params, f"{found.visited} {unit}"),
            "texts": asked.name,
            "temperature": params.temperature,
            "top_p": params.top_p,
            "unit": unit,
            "by_level": table,
        }
    }
