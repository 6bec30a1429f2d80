"""Measure, check and record what this machine can: `python -m sequoia.report OUT`.

Every stage runs in a process of its own and has its own time limit; one that fails stops no other.
The command can be ended at any time. Started again with the same folder, it goes on with the stage
that was cut. Nothing is downloaded, and nothing is written outside of the folder.
"""

from __future__ import annotations

import math
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

import psutil

from sequoia.bench.command import option_parser
from sequoia.errors import SequoiaError
from sequoia.report.adopt import adopt
from sequoia.report.collect import Wanted, collect
from sequoia.report.folder import Folder, program_version
from sequoia.report.machine import examined
from sequoia.report.stage import Stage
from sequoia.report.stages import all_stages
from sequoia.validate_input import shown


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. The exit status is 1 if a stage has failed or a file was refused, and 2 if
    the command could not start."""
    options = _options(argv)
    try:
        folder = Folder(options.out.resolve())
        if options.adopt:
            folder.identity()  # raises before the folder is made
        with folder.opened():
            is_good = adopt(folder) if options.adopt else _collected(folder, options)
    except SequoiaError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0 if is_good else 1


def _collected(folder: Folder, options: Namespace) -> bool:
    started = time.monotonic() - _seconds_since_start()
    machine = examined(folder)
    folder.identify(machine.name, program_version())
    stages = all_stages(machine)
    _refuse_unknown([*options.only, *options.skip], stages)
    print(f"{machine.name}: {len(stages)} stages, results in {folder.path}")
    wanted = Wanted(options.budget, frozenset(options.only), frozenset(options.skip))
    return collect(stages, folder, wanted, started, lambda text: print(text, flush=True))


def _seconds_since_start() -> float:
    """Seconds since this process was started: importing everything counts as well."""
    return max(time.time() - psutil.Process().create_time(), 0.0)


def _refuse_unknown(names: Sequence[str], stages: Sequence[Stage]) -> None:
    known = [stage.name for stage in stages]
    for name in names:
        if name not in known:
            raise SequoiaError(f"unknown stage {shown(name)}; known: {', '.join(known)}")


def _seconds(text: str) -> float:
    value = float(text)
    if not 1 <= value < math.inf:
        raise ArgumentTypeError(f"{value:g} is not a number of seconds from 1 up")
    return value


def _options(argv: Sequence[str] | None) -> Namespace:
    parser = option_parser("python -m sequoia.report", __doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the results")
    parser.add_argument(
        "--budget",
        type=_seconds,
        default=math.inf,
        metavar="SECONDS",
        help="time for everything: the stages worth most that fit into it",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="STAGE",
        help="these stages only, again if they have failed or were skipped",
    )
    parser.add_argument(
        "--skip", nargs="+", default=[], metavar="STAGE", help="all stages but these"
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="measure nothing; check the results in OUT and move them into the assets",
    )
    return parser.parse_args(argv)
