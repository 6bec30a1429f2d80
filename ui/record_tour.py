"""Record the runs of the tour: `python -m ui.record_tour`.

The settings are in assets/lessons/tour.json under "recordings", by file name. The recordings are
written to the same folder. Each run is repeated with the same seed, so it always gives the same
tokens. The fastest run is kept, because other work on the machine disturbed it least.
"""

from __future__ import annotations

import sys
from typing import Any

from sequoia import Run, SamplingParams, SequoiaError, load_pair
from sequoia.text_files import write_text
from ui.decode import recordings
from ui.decode.request import DecodeRequest
from ui.record import record_run
from ui.serving.model_host import ModelHost
from ui.shared.prompts import presets
from ui.shared.tree_request import TreeRequest
from ui.tour import lesson

TIMES = 3


def request_of(settings: dict[str, Any]) -> DecodeRequest:
    """The request that makes a recording. settings: preset, temperature, seed, tokens and tree. The
    tree is a list: the kind of tree, then the values of its fields, such as ["best", 16, 6]."""
    prompt = next(one.text for one in presets() if one.name == settings["preset"])
    params = SamplingParams(
        temperature=settings["temperature"],
        max_new_tokens=settings["tokens"],
        seed=settings["seed"],
    )
    kind, *numbers = settings["tree"]
    return DecodeRequest(prompt, params, TreeRequest(kind, tuple(numbers)), compare=True)


def seconds_of(run: Run) -> float:
    """The time of all steps of a run."""
    return sum(step.total_seconds for step in run.steps)


def main() -> None:
    model_host = ModelHost(load_pair, 1)
    model_host.open()
    for name, settings in lesson.tour()["recordings"].items():
        path = lesson.FOLDER / f"{name}.json"
        runs = [record_run(request_of(settings), model_host) for _ in range(TIMES)]
        write_text(path, recordings.played(min(runs, key=seconds_of)).to_json())
        print(path)


if __name__ == "__main__":
    try:
        main()
    except SequoiaError as problem:
        sys.exit(str(problem))
