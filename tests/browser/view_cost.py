"""What the page costs: decoding speed, processor time in the browser, first paint, layout.

If none of --live, --paint and --film is given, this script decodes one run in three ways
(see decode_cost.py) and prints how much the page slows the run down.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from cost_rounds import Figures, in_words, interleaved
from film_cost import film_cost
from paint_cost import paint_times
from playwright.sync_api import Browser, sync_playwright
from running_app import CHROMIUM, FLAGS
from tree_cost import live_cost
from two_checkouts import Checkout, why_not_a_checkout

ROOT = Path(__file__).resolve().parents[2]
EPILOG = """\
examples:
  python tests/browser/view_cost.py                           how much the page slows down decoding
  python tests/browser/view_cost.py --live                    this checkout alone
  python tests/browser/view_cost.py --paint --against ../old  this checkout (new) and another (old)

All figures are measured on this machine. The first round warms up and is left out. In the other
rounds, the checkouts or the three ways to decode take turns. For the decode, the median and the
best round are printed. A table of a page's figures shows the median and, in parentheses, the lowest
and highest round; new/old is computed within each round. With six rounds or more the range of
new/old contains the true median with 95 % confidence, if the rounds are independent of each other.
"""


def command() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="view_cost.py",
        description=str(__doc__).splitlines()[0],
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--live",
        action="store_true",
        help="main thread's processor time per message of a live run: 84 messages, 12 a second, "
        "128 nodes, in both modes of the tree",
    )
    made.add_argument(
        "--paint",
        action="store_true",
        help="the app's page: first contentful paint, recording drawn, drawn after a reload",
    )
    made.add_argument(
        "--film",
        action="store_true",
        help="the app's page: bytes sent, layout shift in 30 s at three widths, layouts and frames "
        "in 6 s of slow motion",
    )
    made.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="another checkout of the project to compare with, such as a git worktree",
    )
    made.add_argument("--rounds", type=int, default=7, help="rounds that count (default: 7)")
    decode = made.add_argument_group("the decode, measured without --live, --paint, --film")
    decode.add_argument("--nodes", type=int, default=64, help="nodes of the tree (default: 64)")
    decode.add_argument(
        "--levels", type=int, default=8, help="maximum levels of the tree (default: 8)"
    )
    decode.add_argument("--tokens", type=int, default=256, help="to decode (default: 256)")
    return made


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The options, if they are valid; else exits with the reason."""
    made = command()
    asked = made.parse_args(arguments)
    if asked.rounds < 1:
        made.error(f"--rounds {asked.rounds} is too few; give 1 or more")
    if asked.against is None:
        return asked
    if not asks_pages(asked):
        made.error("--against compares pages; add --live, --paint or --film")
    reason = why_not_a_checkout(asked.against)
    if reason:
        made.error(f"--against {asked.against}: {reason}; give a checkout of the project")
    return asked


def asks_pages(asked: argparse.Namespace) -> bool:
    return asked.live or asked.paint or asked.film


def measure_pages(asked: argparse.Namespace) -> Iterator[str]:
    """The lines of one table for each measurement that was asked for."""
    folders = {"new": ROOT}
    if asked.against is not None:
        folders["old"] = asked.against.resolve()
    checkouts = {name: Checkout(folder) for name, folder in folders.items()}
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            yield from measure_each(browser, checkouts, asked)
            browser.close()
    finally:
        for checkout in checkouts.values():
            checkout.close()


def measure_each(
    browser: Browser, checkouts: dict[str, Checkout], asked: argparse.Namespace
) -> Iterator[str]:
    if asked.live:
        pages = {name: checkout.run_page() for name, checkout in checkouts.items()}
        yield from table(live_cost, browser, pages, asked.rounds)
    if not (asked.paint or asked.film):
        return
    apps = {name: checkout.ready_app(browser) for name, checkout in checkouts.items()}
    if asked.paint:
        yield from table(paint_times, browser, apps, asked.rounds)
    if asked.film:
        yield from table(film_cost, browser, apps, asked.rounds)


def table(
    cost: Callable[[Browser, str], Figures], browser: Browser, pages: dict[str, str], rounds: int
) -> Iterator[str]:
    """The lines of a table: what `cost` measures on each checkout's page, and how busy the machine
    was."""
    before = os.getloadavg()[0]
    ways = {name: partial(cost, browser, page) for name, page in pages.items()}
    found = interleaved(ways, rounds)
    yield str(cost.__doc__).splitlines()[0]
    yield from in_words(found)
    after = os.getloadavg()[0]
    yield f"  measured, rounds: {rounds}; load average {before:.1f} before, {after:.1f} after"


def main(arguments: list[str]) -> None:
    asked = parsed(arguments)
    if asks_pages(asked):
        lines = measure_pages(asked)
    else:
        from decode_cost import measure_decode  # imports torch and sets up the app

        lines = measure_decode(asked.nodes, asked.levels, asked.tokens, asked.rounds)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
