"""Record the runs of the tour: `python -m ui.record_tour`.

Their settings are in assets/lessons/tour.json, under "recordings", by the names of the files, which
go to the same folder.
"""

from __future__ import annotations

import sys
from typing import Any

from sequoia import SamplingParams, SequoiaError, load_pair
from sequoia.text_files import write_text
from ui.decode.request import DecodeRequest
from ui.record import record
from ui.serving.model_host import ModelHost
from ui.shared.prompts import presets
from ui.shared.tree_menu import TreeRequest
from ui.tour import lesson


def request_of(settings: dict[str, Any]) -> DecodeRequest:
    """The request that makes a recording. settings: preset, temperature, seed, tokens, and tree,
    which is its kind and then its numbers."""
    prompt = next(one.text for one in presets() if one.name == settings["preset"])
    params = SamplingParams(
        temperature=settings["temperature"],
        max_new_tokens=settings["tokens"],
        seed=settings["seed"],
    )
    kind, *numbers = settings["tree"]
    return DecodeRequest(prompt, params, TreeRequest(kind, tuple(numbers)), compare=True)


def main() -> None:
    model_host = ModelHost(load_pair, 1)
    model_host.open()
    for name, settings in lesson.tour()["recordings"].items():
        path = lesson.FOLDER / f"{name}.json"
        write_text(path, record(request_of(settings), model_host))
        print(path)


if __name__ == "__main__":
    try:
        main()
    except SequoiaError as problem:
        sys.exit(str(problem))
