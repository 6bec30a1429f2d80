"""Run an experiment, one of the paper's or our own: `python -m sequoia.experiments NAME`.

Ctrl-C stops the run and writes the result of the finished units of work. The same command then
continues the run.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sequoia.bench.command import add_pair_options, option_parser, reports_errors
from sequoia.experiments.experiment import SIZES, Experiment
from sequoia.experiments.result import ExperimentResult, scores
from sequoia.experiments.runner import (
    EXPERIMENTS,
    RunProgress,
    experiment_named,
    run_experiment,
    units_file,
)
from sequoia.loading.load import load_pair
from sequoia.text_files import require_writable, write_text, writing


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    parser = _parser()
    options = parser.parse_args(argv)
    if options.list:
        _print_list()
    elif options.name is None:
        parser.error("no experiment is given; --list shows the names")
    else:
        _run(experiment_named(options.name), options)


def _run(experiment: Experiment, options: Namespace) -> None:
    settings = experiment.sizes[options.size]
    path = options.out / f"{experiment.name}.json"
    require_writable(path)
    require_writable(units_file(experiment, options.out))
    pair = load_pair(target=options.target, draft=options.draft, dtype="float32")
    run = partial(run_experiment, experiment, pair, settings, options.out, label=options.source)
    with writing(options.out):
        try:
            result = run(_print_progress)
        except KeyboardInterrupt:
            result = run(should_stop=lambda: True)
    with writing(path):
        write_text(path, result.model_dump_json() + "\n")
    _print_scores(result)
    print(f"written to {path}")
    if not result.is_complete:
        counts = f"{result.done} of {result.total} parts"
        print(f"stopped after {counts}; run the same command again to continue")


def _print_scores(result: ExperimentResult) -> None:
    """For each pair of lanes, how often one is clearly higher or lower: the 95% interval of the
    ratio excludes 1."""
    for (one, other), counts in scores(result.ratios).items():
        print(f"{one} / {other}: {counts.higher} higher, {counts.lower} lower of {counts.total}")


def _print_progress(progress: RunProgress) -> None:
    if progress.starts_over and progress.seconds_left is None:
        print("saved parts are of another pair, size or version; starting over", file=sys.stderr)
    left = "" if progress.seconds_left is None else f", about {progress.seconds_left:.0f} s left"
    print(f"{progress.done} of {progress.total} parts done{left}", file=sys.stderr, flush=True)


def _print_list() -> None:
    width = max(map(len, EXPERIMENTS))
    for name, experiment in EXPERIMENTS.items():
        print(f"{name:{width}}  {experiment.question}")


def _parser() -> ArgumentParser:
    parser = option_parser("python -m sequoia.experiments", __doc__)
    parser.add_argument("name", nargs="?", help="name of the experiment (see --list)")
    parser.add_argument("--list", action="store_true", help="list all experiments and exit")
    parser.add_argument(
        "--size",
        choices=SIZES,
        default="small",
        help="how many prompts, tokens and settings to run; the bundled results were made "
        "with full",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("experiments"),
        help="folder for the result (NAME.json) and the finished parts (NAME.jsonl)",
    )
    parser.add_argument(
        "--source",
        choices=("measured", "recorded"),
        default="measured",
        help="label of the numbers measured in this run; recorded is for results that are to be "
        "published with the program",
    )
    add_pair_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
