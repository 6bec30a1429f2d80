"""Record a run, or with `--race` a race, as the page would make it: `python -m ui.record NAME`.

The file is written to assets/runs/ or assets/races/, or to the folder given by `--out`. The page
opens with the files called "welcome". `python -m ui.record_opening` makes the welcome run, and
`python -m ui.record welcome --tokens 96 --race "on an A100" --further` makes the welcome race.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from sequoia import Run, SamplingParams, SequoiaError, load_pair
from sequoia.text_files import write_text
from ui.decode import recordings
from ui.decode.recordings import RunStore
from ui.decode.request import DecodeRequest
from ui.decode.run import DecodeJob
from ui.race import recordings as races
from ui.race.form import PARAMS
from ui.race.messages import OpenedRace, StoredRace
from ui.race.presets import PRESETS, RacePreset, preset_named
from ui.race.race_on import RaceOnJob
from ui.race.request import RaceRequest
from ui.race.run import RaceJob
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.serving.run_job import RunJob
from ui.shared.prompts import TEMPERATURE, presets
from ui.shared.tree_menu import SHAPES
from ui.shared.tree_request import TreeRequest


def record(decode_request: DecodeRequest, model_host: ModelHost) -> str:
    """Make the requested run and return the text of its file. Raises SequoiaError if the run
    fails."""
    return recordings.played(record_run(decode_request, model_host)).to_json()


def record_run(decode_request: DecodeRequest, model_host: ModelHost) -> Run:
    """Make the requested run. Raises SequoiaError if the run fails."""
    run = DecodeJob(decode_request, model_host, LOCAL, RunStore(1, LOCAL.stored_nodes))
    return _made(run).run()


def record_race(
    preset: RacePreset, prompt: str, params: SamplingParams, goes_on: bool, model_host: ModelHost
) -> str:
    """Make the race of `preset` and return the text of its file. prompt: used if `preset` has none.
    goes_on: whether to add all further runs that the page offers. Raises SequoiaError if the race
    or a further run fails."""
    asked = {name: getattr(params, name) for name in PARAMS}
    form = {
        **asked,
        "prompt": preset.prompt or prompt,
        "second_prompt": preset.second_prompt,
        "lanes": preset.lanes,
        "clock": preset.clock,
        "check": True,
    }
    store: RunStore[StoredRace] = RunStore(1, LOCAL.stored_nodes)
    race = _made(RaceJob(RaceRequest.parse(form, LOCAL), model_host, LOCAL, store))
    if goes_on:
        race = _made(RaceOnJob(race, model_host, LOCAL))
    return OpenedRace(race.log()).log().to_json()


def _made(job: RunJob) -> Any:
    """Run `job` to its end and return its recording. Raises SequoiaError if the job fails."""
    job.start()
    for _ in job.messages():
        pass
    if job.error or job.recording is None:
        raise SequoiaError(job.error or f"the {job.name} did not start")
    return job.recording


def _temperature(given: float | None, preset: RacePreset | None) -> float:
    """The temperature given by --temperature, else that of the race preset, else the form's."""
    wanted = (given, preset.temperature if preset else None, TEMPERATURE)
    return next(one for one in wanted if one is not None)


def main() -> None:
    known = {preset.name: preset for preset in presets()}
    parser = argparse.ArgumentParser(
        prog="python -m ui.record", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("name", help="name of the file, without .json")
    parser.add_argument(
        "--preset", default=presets()[0].name, choices=known, help="which example prompt to decode"
    )
    parser.add_argument("--tokens", type=int, default=128, help="number of tokens to generate")
    parser.add_argument(
        "--temperature",
        type=float,
        help=f"temperature; 0 is greedy (default: the race preset's, else {TEMPERATURE})",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all random draws")
    parser.add_argument(
        "--tree",
        default="planned",
        choices=[k for k, s in SHAPES.items() if not s.fields or k == "best"],
        help="kind of tree, as in the form's menu",
    )
    parser.add_argument("--nodes", type=int, default=64, help="nodes for --tree best")
    parser.add_argument("--levels", type=int, default=8, help="max levels for --tree best")
    parser.add_argument(
        "--race",
        nargs="?",
        const=PRESETS[0].name,
        choices=[one.name for one in PRESETS],
        help=f"record a race with this preset instead of a run (without a name: {PRESETS[0].name})",
    )
    parser.add_argument(
        "--further",
        action="store_true",
        help="with --race: also add all further runs that the page offers",
    )
    parser.add_argument(
        "--out", type=Path, help="folder for the file (default: where the page looks for it)"
    )
    asked = parser.parse_args()
    preset = preset_named(asked.race)
    params = SamplingParams(
        temperature=_temperature(asked.temperature, preset),
        max_new_tokens=asked.tokens,
        seed=asked.seed,
    )
    prompt = known[asked.preset].text
    tree_request = TreeRequest(asked.tree, (asked.nodes, asked.levels))
    model_host = ModelHost(load_pair, 1)
    model_host.open()
    text = (
        record_race(preset, prompt, params, asked.further, model_host)
        if preset
        else record(DecodeRequest(prompt, params, tree_request), model_host)
    )
    folder = asked.out or (races.RACES if asked.race else recordings.RUNS)
    path = folder / f"{asked.name}.json"
    write_text(path, text)
    print(f"{path}: {len(text) / 1e3:.0f} kB")


if __name__ == "__main__":
    try:
        main()
    except SequoiaError as problem:
        sys.exit(str(problem))
