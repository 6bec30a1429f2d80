"""Measure, check and record what this machine can do: `python -m sequoia.report OUT`.

Every stage runs in a separate process with a time limit. If a stage fails, the remaining stages
still run. The command can be stopped at any time; started again with the same folder, it repeats
the interrupted stage and continues. Nothing is downloaded, and only --adopt writes outside OUT.
"""

from __future__ import annotations

import math
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import suppress
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
    """Run the command. Returns the exit status: 1 if a stage has failed or --adopt refused a file,
    2 after a SequoiaError, and otherwise 0."""
    options = _options(argv)
    try:
        folder = Folder(options.out.resolve())
        if options.adopt:
            folder.identity()  # raises if there is no report, before `opened` creates the folder
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
    """Seconds since this process started. The budget includes the time spent on imports."""
    return max(time.time() - psutil.Process().create_time(), 0.0)


def _refuse_unknown(names: Sequence[str], stages: Sequence[Stage]) -> None:
    known = [stage.name for stage in stages]
    for name in names:
        if name not in known:
            raise SequoiaError(f"unknown stage {shown(name)}; known: {', '.join(known)}")


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 1 <= (value := float(text)) < math.inf:
            return value
    raise ArgumentTypeError(f"{shown(text)} is not a number of seconds (1 or more)")


def _options(argv: Sequence[str] | None) -> Namespace:
    parser = option_parser("python -m sequoia.report", __doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the results")
    parser.add_argument(
        "--budget",
        type=_seconds,
        default=math.inf,
        metavar="SECONDS",
        help="time for the whole command; the most valuable stages that fit are run. It includes "
        "examining the machine at the start, which is never cut short (default: no limit)",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="STAGE",
        help="run only these stages; those that failed or were skipped before are repeated "
        "(default: all)",
    )
    parser.add_argument(
        "--skip",
        nargs="+",
        default=[],
        metavar="STAGE",
        help="do not run these stages (default: none)",
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="run no stage; check the results in OUT and move them into the assets",
    )
    return parser.parse_args(argv)
