"""The Tour view: its component, and what the tour shows: its settings and sentences, its recorded
runs, and the hardware profiles of its machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import gradio as gr

from sequoia import Run
from sequoia.assets_folder import ASSETS
from sequoia.planning.named_profiles import named_profile
from sequoia.text_files import load_json
from sequoia.validate_input import json_text
from ui.lossless.tab import LosslessTab
from ui.lossless.tables import opening
from ui.run import recordings
from ui.run.meta import recorded
from ui.run.report import drafted_lane
from ui.serving.model_host import ModelHost
from ui.shared.events import QUIET
from ui.shared.layout import drawn


class TourTab:
    """The view's component and its handlers. Its last stop tests decoders, as `lossless` does."""

    def __init__(self, model_host: ModelHost, lossless: LosslessTab) -> None:
        self._model_host = model_host
        self._lossless = lossless

    def build(self) -> None:
        """Create the view's component in the current container."""
        self.board = drawn(
            "tr", "tour/connect", ["come", "test"], '<div class="sq-stage sq-tour"></div>'
        )

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect the component to its handlers."""
        self.board.come(self.start, None, self.board, concurrency_limit=None, **QUIET)
        self._lossless.test_in(self.board)

    def start(self) -> str:
        """The JSON text of the tour's recorded runs and hardware profiles."""
        return message(self._model_host.draft)


FOLDER = ASSETS / "lessons"
OPENING = "opening"  # name of the run that the page opens with


def tour() -> dict[str, Any]:
    """The settings and sentences of the tour: the content of tour.json."""
    return load_json(FOLDER / "tour.json")


def recorded_run(name: str) -> Run:
    """The recorded run in assets/lessons/`name`.json."""
    return Run.from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def message(draft: str) -> str:
    """The JSON text of the tour's recorded runs and hardware profiles: {"runs": {name: run},
    "profiles": {name: profile}, "tests": HTML}, with the names used in tour.json. The opening
    run is that of the film (see `recordings.film`); it has its lane's name and, if timed, its
    speed-up over plain decoding. tests: two recorded tests of losslessness."""
    settings = tour()
    return json_text(
        {
            "runs": {
                **{name: _parts(recorded_run(name)) for name in settings["recordings"]},
                OPENING: _opening(draft),
            },
            "profiles": {name: named_profile(name).to_dict() for name in settings["machines"]},
            "tests": opening(),
        }
    )


def _opening(draft: str) -> dict[str, Any]:
    film = recordings.film(recordings.film_name(draft))
    if film is None:
        return {}
    log = film.log()
    lane = drafted_lane(log, film.verdict)
    if lane is None:
        return {}
    name = next(one.name for one in log.lanes if one.run is lane.run)
    return {**_parts(lane.run), "lane": name, "speedup": lane.speedup and asdict(lane.speedup)}


def _parts(run: Run) -> dict[str, Any]:
    data = run.to_dict()
    parts = {name: data[name] for name in ("trees", "pieces", "steps")}
    return {"meta": recorded(data["meta"]), **parts}
