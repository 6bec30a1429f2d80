"""How smoothly a race of four 64-node trees is painted, and how soon Stop ends a race.

Run it with `python tests/browser/race_cost.py [--tokens 512]`.

A race shows several ways to decode one prompt side by side; each is a lane. One race in a real
browser on this machine is watched frame by frame, then another is stopped soon after its start. All
times are measured in the page. Printed for the first race: the times from one frame to the next,
and from one addition to a lane's text to the next. Printed for the second race: the time from the
press on Stop to the end.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from running_app import CHROMIUM, FLAGS, App

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sequoia.algorithm.verifiers import VERIFIERS
from ui.shared.tree_menu import SHAPES

LANES = (
    ("best", "sequoia", "64, 8"),
    ("best", "specinfer", "64, 8"),
    ("best", "topk", "64, 8"),
    ("sequences", "sequoia", "9, 7"),
)
STORE = "document.querySelector('#rc-view .sq-stage').view.store"
WATCH = """() => {
    const lanes = [...document.querySelectorAll(".race-lane")],
      seen = (window.seen = { frames: [], lanes: lanes.map(() => []) });
    const tokens = lanes.map(() => -1);
    let last = performance.now();
    const look = (now) => {
        if (document.querySelector('#rc-view .sq-stage').view.store.done) return;
        seen.frames.push(now - last);
        last = now;
        lanes.forEach((lane, i) => {
            if (+lane.dataset.tokens > tokens[i])
              [tokens[i]] = [+lane.dataset.tokens, seen.lanes[i].push(now)];
        });
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


def fill(visit: Page, tokens: int) -> None:
    """Fill in the race's form: four lanes with trees of about 64 nodes, and `tokens`."""
    visit.get_by_role("tab", name="Race").click()
    visit.wait_for_selector("#rc-run:not([disabled])")
    visit.click("#rc-clock input")
    visit.get_by_role("option", name="this machine (measured)", exact=True).last.click()
    for place, (kind, verifier, numbers) in enumerate(LANES, start=1):
        for menu, choice in (
            (f"#rc-kind-{place}", SHAPES[kind].name),
            (f"#rc-verifier-{place}", VERIFIERS[verifier].label),
        ):
            visit.click(f"{menu} input")
            visit.get_by_role("option", name=choice, exact=True).last.click()
        visit.fill(f"#rc-numbers-{place} textarea, #rc-numbers-{place} input", numbers)
    visit.uncheck("#rc-check input")
    visit.fill("#rc-tokens input", str(tokens))


def race(visit: Page) -> None:
    """Start a race, and watch its frames from the first step on."""
    before = visit.evaluate(f"{STORE}.race")
    visit.click("#rc-run:not([disabled])")
    visit.wait_for_function(
        f"b => {STORE}.race !== b && {STORE}.steps.length", arg=before, timeout=120_000
    )
    visit.evaluate(WATCH)


def measure(visit: Page, tokens: int, steps: int = 100) -> Iterator[str]:
    """Yields the results line by line: of a race of `tokens` tokens, then of a long race that is
    stopped after `steps` steps."""
    fill(visit, tokens)
    yield from smooth(visit)
    visit.wait_for_selector("#rc-run:not([disabled])", timeout=120_000)
    visit.fill("#rc-tokens input", "2000")  # enough to still be running when stopped
    yield stopped(visit, steps)


def smooth(visit: Page) -> Iterator[str]:
    race(visit)
    visit.wait_for_function(f"{STORE}.done", timeout=600_000, polling=500)
    seen = visit.evaluate("window.seen")
    yield f"frames: {len(seen['frames'])}, {in_words(seen['frames'])}"
    for (kind, verifier, _), times in zip(LANES, seen["lanes"], strict=True):
        name = f"{SHAPES[kind].name}, {VERIFIERS[verifier].label}"
        yield (
            f"{name:30s} grew {len(times)} times, "
            f"{in_words([after - time for time, after in pairwise(times)])}"
        )


def in_words(gaps: Sequence[float]) -> str:
    """How often something happened. gaps: the milliseconds from each time to the next."""
    ordered = sorted(gaps) or [0.0]
    most = ordered[int(0.99 * (len(ordered) - 1))]
    return (
        f"every {statistics.median(ordered):.0f} ms (median); 99 of 100 within {most:.0f} ms, "
        f"longest {ordered[-1]:.0f} ms"
    )


def stopped(visit: Page, steps: int) -> str:
    race(visit)
    visit.wait_for_function(f"{STORE}.steps.length >= {steps}", timeout=120_000)
    more, took = visit.evaluate(f"""() => new Promise((over) => {{
        const store = {STORE}, steps = store.steps.length, start = performance.now();
        document.querySelector("#rc-stop").click();
        const look = () => (store.done
          ? over([store.steps.length - steps, performance.now() - start])
          : setTimeout(look, 1));
        look();
    }})""")
    return f"Stop: {more} more steps reached the page; it showed the end after {took:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--tokens", type=int, default=512)
    asked = parser.parse_args()
    app = App()
    app.answer()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        visit = browser.new_page(viewport={"width": 1280, "height": 800})
        visit.goto(app.url)
        visit.wait_for_selector(".pg-status[data-stage=ready]", timeout=60_000)
        for line in measure(visit, asked.tokens):
            print(line, flush=True)
        browser.close()
    app.stop()


if __name__ == "__main__":
    main()
