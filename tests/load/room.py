"""A load test of one app. For ten minutes, 60 visitors that are simulated without a browser and 3
visitors with real browsers press Run, Step, Race and Open, reload and leave.

    python tests/load/room.py [--minutes 10] [--visitors 60] [--browsers 3]

Prints each result beside its goal. The exit status is 0 only if every goal was reached.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

import httpx
from goals import report
from measured_app import MeasuredApp
from room_browsers import browse
from room_findings import Findings, machine_goals
from room_visitors import visit

# seconds with a few visitors, until the numbers of threads and descriptors are steady
WARM_UP = 20.0
# seconds without visitors before the app's memory, threads and files are counted
QUIET = 30.0


async def crowd(app: MeasuredApp, visitors: int, browsers: int, seconds: float) -> Findings:
    """Let visitors use the app for `seconds`. Returns what they found."""
    findings = Findings()
    end = time.monotonic() + seconds
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    async with httpx.AsyncClient(
        base_url=app.url, timeout=120, trust_env=False, limits=limits
    ) as http:
        config = (await http.get("config")).json()
        people = [visit(http, config, findings, end, seed) for seed in range(visitors)]
        await asyncio.gather(*people, browse(app.url, findings, end, browsers))
    return findings


def measure(app: MeasuredApp, arguments: argparse.Namespace) -> int:
    """Run the load test and report. Returns the exit status."""
    app.await_models()
    asyncio.run(crowd(app, min(arguments.visitors, 8), 0, WARM_UP))
    time.sleep(QUIET)
    before = app.taken()
    with app.watched(every=1.0) as points:
        findings = asyncio.run(
            crowd(app, arguments.visitors, arguments.browsers, 60 * arguments.minutes)
        )
    time.sleep(QUIET)
    print(findings.details())
    return report([*findings.goals(), *machine_goals(points, before, app.taken())])


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    made.add_argument("--minutes", type=float, default=10)
    made.add_argument("--visitors", type=int, default=60)
    made.add_argument("--browsers", type=int, default=3)
    arguments = made.parse_args()
    app = MeasuredApp("--public")
    try:
        app.answer(600)
        return measure(app, arguments)
    finally:
        printed = app.stop().splitlines()
        print(f"the app's log: {len(printed)} lines, the last of them:", *printed[-5:], sep="\n  ")


if __name__ == "__main__":
    sys.exit(main())
