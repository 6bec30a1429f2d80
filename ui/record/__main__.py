"""Record what the page shows before anyone has run something: `python -m ui.record WHAT`.

The page opens with the run called "welcome", which `opening` makes.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import torch

from sequoia import SamplingParams
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import option_parser, reports_errors
from sequoia.exactness.losslessness.losslessness_test import LosslessnessTest
from sequoia.exactness.losslessness.settings import CORRECT, PRESETS
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.models.describe import describe
from sequoia.text_files import write_text
from ui.lossless.lossless_job import Sampled
from ui.lossless.messages import test_fields
from ui.record.examples import record_examples
from ui.record.opening import record_opening
from ui.record.runs import (
    host_of,
    opened_host,
    prompt_named,
    quietest,
    record,
    repeated,
    request_of,
    request_of_preset,
)
from ui.run.presets import PRESETS as RUN_PRESETS
from ui.run.recordings import RUNS
from ui.run.request import RunRequest
from ui.shared.prompts import TEMPERATURE, chat_presets, presets
from ui.tour.tab import FOLDER as LESSONS
from ui.tour.tab import tour

LOSSLESSNESS = ASSETS / "losslessness.json"
BROKEN_WITH = "draft-noise"
# the fields of a test that the Lossless tab shows
_SHOWN = ("decoder", "broken", "kind", "draws", "distance", "floor", "p_value", "rows")


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    options = _parser().parse_args(argv)
    options.make(options)


def _parser() -> ArgumentParser:
    parser = option_parser("python -m ui.record", __doc__)
    kinds = parser.add_subparsers(required=True, metavar="WHAT")

    def kind(name: str, make: Any, words: str) -> ArgumentParser:
        added = kinds.add_parser(
            name, help=words, description=words, formatter_class=ArgumentDefaultsHelpFormatter
        )
        added.set_defaults(make=make)
        return added

    run = kind("run", _run, "one run, as the page would make it")
    _add_run_options(run)
    run.add_argument("--nodes", type=int, help="the best tree of so many nodes, not the planned")
    run.add_argument(
        "--preset", choices=[one.name for one in RUN_PRESETS], help="a ready-made comparison"
    )
    run.add_argument("--title", default="", help="in the menu Examples")
    run.add_argument("--further", action="store_true", help="add all runs that the page offers")
    opening = kind("opening", _opening, "the run that the page opens with")
    _add_rounds(opening, tokens=64)
    _add_pair(opening)
    opening.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    opening.add_argument("--out", type=Path, default=RUNS, help="folder for the file")
    _add_rounds(kind("examples", _examples, "the runs of the menu Examples"), tokens=96)
    kind("tour", _tour, "the runs of the tour")
    losslessness = kind("losslessness", _losslessness, "the tests that Lossless opens with")
    losslessness.add_argument("--out", type=Path, default=LOSSLESSNESS, help="file to write")
    return parser


def _add_run_options(parser: ArgumentParser) -> None:
    names = [one.name for one in [*presets(), *chat_presets()]]
    _add_pair(parser)
    parser.add_argument("name", help="name of the file, without .json")
    parser.add_argument("--prompt", default=names[0], choices=names, help="the example prompt")
    parser.add_argument("--tokens", type=int, default=128, help="number of tokens to generate")
    parser.add_argument("--temperature", type=float, help="0 is greedy (default: as in the form)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random draws")
    parser.add_argument("--out", type=Path, default=RUNS, help="folder for the file")


def _add_pair(parser: ArgumentParser) -> None:
    parser.add_argument("--pair", default=BUNDLED_NAME, help="name of the pair")
    parser.add_argument("--target", help="folder with the pair's target, instead of a download")


def _add_rounds(parser: ArgumentParser, tokens: int) -> None:
    parser.add_argument("--tokens", type=int, default=tokens, help="tokens per run")
    parser.add_argument("--rounds", type=int, default=5, help="runs per prompt")


def _run(options: Namespace) -> None:
    prompt = prompt_named(options.prompt)
    preset = next((one for one in RUN_PRESETS if one.name == options.preset), None)
    if preset:
        usual = TEMPERATURE if preset.temperature is None else preset.temperature
        asked = request_of_preset(preset, prompt, _params(options, usual))
    else:
        tree = ("best", options.nodes, 8) if options.nodes else ("planned",)
        asked = request_of(prompt, _params(options, TEMPERATURE), tree)
    log = record(asked, host_of(options.pair, options.target), options.further)
    about = {"title": options.title, "about": preset.shows if preset else ""}
    meta = {**log.meta, **{name: words for name, words in about.items() if words}}
    path = options.out / f"{options.name}.json"
    text = replace(log, meta=meta).to_json()
    write_text(path, text)
    print(f"{path}: {len(text) / 1e3:.0f} kB")


def _params(options: Namespace, usual: float) -> SamplingParams:
    """usual: the temperature if none is given."""
    temperature = usual if options.temperature is None else options.temperature
    return SamplingParams(temperature=temperature, max_new_tokens=options.tokens, seed=options.seed)


def _opening(options: Namespace) -> None:
    params = SamplingParams(options.temperature, max_new_tokens=options.tokens, seed=0)
    host = host_of(options.pair, options.target)
    record_opening(host, options.pair, params, options.rounds, options.out)


def _examples(options: Namespace) -> None:
    record_examples(options.tokens, options.rounds)


# -- the tour and the Lossless tab -----------------------------------------------------------------


def _tour(_: Namespace) -> None:
    """Make the runs of assets/lessons/tour.json. Each is repeated with the same seed, so it always
    gives the same tokens. A file has the run of the tree only."""
    host = opened_host()
    makes = {
        name: lambda settings=settings: record(tour_request(settings), host)
        for name, settings in tour()["recordings"].items()
    }
    for name, runs in repeated(makes, rounds=3).items():
        path = LESSONS / f"{name}.json"
        write_text(path, quietest(runs).lanes[0].run.to_json())
        print(path)


def tour_request(settings: dict[str, Any]) -> RunRequest:
    """The request that makes a recording of the tour. settings: preset, temperature, seed, tokens
    and tree."""
    params = SamplingParams(
        temperature=settings["temperature"],
        max_new_tokens=settings["tokens"],
        seed=settings["seed"],
    )
    return request_of(prompt_named(settings["preset"]), params, settings["tree"])


def _losslessness(options: Namespace) -> None:
    """Test the correct decoder and a broken one, both with the toy model that the form of the tab
    starts with. The seed is fixed, so the counts are the same on every machine."""
    made = {
        "machine": describe(torch.device("cpu")),
        "date": date.today().isoformat(),
        "tests": [_tested(CORRECT), _tested(BROKEN_WITH)],
    }
    write_text(options.out, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    print(options.out)


def _tested(key: str) -> dict[str, Any]:
    test = LosslessnessTest(PRESETS[key])
    *_, last = test.comparisons(1000)
    fields = test_fields(Sampled(test, (), last, None), going=False)
    return {name: fields[name] for name in _SHOWN}


if __name__ == "__main__":
    sys.exit(main())
