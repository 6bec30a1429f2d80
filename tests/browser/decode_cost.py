"""How much the Run view slows decoding down.

Run it with
`python tests/browser/view_cost.py [--rounds 7] [--nodes 64] [--levels 8] [--tokens 256]`.

Decodes the same run in three ways, in interleaved rounds: by the engine alone; by a DecodeJob in
its own thread, with its messages thrown away; and from the page, in a real browser on this machine.
Prints tokens per second for each way: the median round and the best round, each with its ratio to
the engine alone. Only the time inside steps counts.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from cost_rounds import Figures, interleaved
from playwright.sync_api import Page, sync_playwright
from running_app import CHROMIUM, FLAGS

import app

app.set_up()

from sequoia import Decoder, DecodeStats, StepTrace, load_pair, run  # noqa: E402
from ui.page import launch_options, page  # noqa: E402
from ui.run.decode_job import DecodeJob  # noqa: E402
from ui.run.recordings import RunStore  # noqa: E402
from ui.run.request import RunRequest  # noqa: E402
from ui.serving.limits import LOCAL  # noqa: E402
from ui.serving.model_host import ModelHost  # noqa: E402
from ui.shared.prompts import presets  # noqa: E402

SPEED = "tokens per second"


def alone(model_host: ModelHost, asked: RunRequest) -> float:
    """Tokens a second of the engine with nothing around it."""
    pair = model_host.pair(lambda: False)
    (lane,) = asked.lanes
    tree = asked.tree(pair, lane).tree
    return per_second(run(Decoder(pair, asked.prompt, asked.params, tree, lane.verifier)))


def per_second(steps: Iterable[StepTrace]) -> float:
    """Tokens a second of a run."""
    stats = DecodeStats.fold(steps)
    return stats.tokens / stats.total_seconds


def unseen(model_host: ModelHost, asked: RunRequest) -> float:
    """Tokens a second of a DecodeJob, which records its steps and makes messages. The messages are
    thrown away."""
    live = DecodeJob(asked, model_host, LOCAL, RunStore(1, 10**9))
    live.start(None)
    for _ in live.messages():
        pass
    return per_second(live.recording.log().lanes[0].run.steps)


def seen(visit: Page) -> float:
    """Tokens a second of a run that is started and watched in a browser."""
    before = visit.evaluate("document.querySelector('#pg-view .sq-stage').view.store.name")
    visit.click("#pg-run:not([disabled])")
    visit.wait_for_function(
        (
            "b => { const s = document.querySelector('#pg-view .sq-stage').view.store; "
            "return s.name !== b && s.done && s.steps.length; }"
        ),
        arg=before,
        timeout=120_000,
        polling=250,
    )  # the default, polling at every frame, would make the browser draw extra frames
    visit.wait_for_selector("#pg-run:not([disabled])")
    return visit.evaluate(
        "(s => s.lane.sum.tokens / s.lane.sum.seconds)"
        "(document.querySelector('#pg-view .sq-stage').view.store)"
    )


def fill(visit: Page, asked: RunRequest) -> None:
    """Fill the form in: one lane with a sized tree, and no other."""
    (lane,) = asked.lanes
    visit.click("#pg-kind-1 input")
    visit.get_by_role("option", name="Sequoia, sized").click()
    visit.click("#pg-kind-2 input")
    visit.get_by_role("option", name="No lane").click()
    visit.click("#pg-more > button")
    visit.fill("#pg-prompt textarea", asked.prompt)
    for name, value in (
        ("numbers-1", ", ".join(map(str, lane.tree_request.numbers))),
        ("seed", asked.params.seed),
        ("temperature", asked.params.temperature),
        ("tokens", asked.params.max_new_tokens),
    ):
        visit.fill(f"#pg-{name} input", str(value))


def report(name: str, found: list[float], base: list[float]) -> Iterator[str]:
    """The lines about one way to decode: the median round, and the best round, which other work on
    the machine disturbs least."""
    for kind, pick in (("median", statistics.median), ("best", max)):
        yield (
            f"{name:22s} {kind:6s} {pick(found):7.1f} tokens/s   {pick(found) / pick(base):.3f} "
            "of the engine alone"
        )


def request(nodes: int, levels: int, tokens: int) -> RunRequest:
    return RunRequest.parse(
        {
            "prompt": presets()[1].text,
            "temperature": 0.6,
            "top_p": 1.0,
            "max_new_tokens": tokens,
            "seed": 0,
            "lanes": [("best", f"{nodes}, {levels}", "sequoia")],
        },
        LOCAL,
    )


@contextmanager
def form(address: str, asked: RunRequest) -> Iterator[Page]:
    """The page in a browser, its form filled in."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        visit = browser.new_page(viewport={"width": 1280, "height": 800})
        visit.goto(address)
        visit.wait_for_selector("[data-part=own]:visible")
        visit.click("[data-part=own]")  # shows the form
        visit.wait_for_selector("#pg-run:visible")
        fill(visit, asked)
        yield visit
        browser.close()


def measure_decode(nodes: int, levels: int, tokens: int, rounds: int) -> Iterator[str]:
    """Results, line by line, of one run decoded in three ways."""
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) - 1))
    asked = request(nodes, levels, tokens)
    model_host = ModelHost(load_pair, 4)
    model_host.open()
    model_host.pair(lambda: False)
    blocks = page(model_host, LOCAL)
    address = blocks.launch(prevent_thread_lock=True, **launch_options(model_host, LOCAL))[1]
    with form(address, asked) as visit:
        found = interleaved(ways(model_host, asked, visit), rounds)
    blocks.close()
    yield f"{nodes} nodes, {tokens} tokens, {rounds} rounds, {torch.get_num_threads()} thread(s)"
    base = found["engine alone"][SPEED]
    for name, figures in found.items():
        yield from report(name, figures[SPEED], base)


def ways(model_host: ModelHost, asked: RunRequest, visit: Page) -> dict[str, Callable[[], Figures]]:
    return {
        "engine alone": lambda: {SPEED: alone(model_host, asked)},
        "messages for nobody": lambda: {SPEED: unseen(model_host, asked)},
        "page in a browser": lambda: {SPEED: seen(visit)},
    }
