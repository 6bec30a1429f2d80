"""How much the Decode view slows decoding down.

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
from ui.decode.recordings import RunStore  # noqa: E402
from ui.decode.request import DecodeRequest  # noqa: E402
from ui.decode.run import DecodeJob  # noqa: E402
from ui.page import launch_options, page  # noqa: E402
from ui.serving.limits import LOCAL  # noqa: E402
from ui.serving.model_host import ModelHost  # noqa: E402
from ui.shared.prompts import presets  # noqa: E402
from ui.shared.tree_request import TreeRequest  # noqa: E402

SPEED = "tokens per second"


def alone(model_host: ModelHost, decode_request: DecodeRequest) -> float:
    """Tokens a second of the engine with nothing around it."""
    pair = model_host.pair(lambda: False)
    chosen = decode_request.tree_request.tree(
        pair, decode_request.params, decode_request.verifier, decode_request.prompt
    )
    decoder = Decoder(
        pair, decode_request.prompt, decode_request.params, chosen.tree, decode_request.verifier
    )
    return per_second(run(decoder))


def per_second(steps: Iterable[StepTrace]) -> float:
    """Tokens a second of a run."""
    stats = DecodeStats.fold(steps)
    return stats.tokens / stats.total_seconds


def unseen(model_host: ModelHost, decode_request: DecodeRequest) -> float:
    """Tokens a second of a DecodeJob, which records its steps and makes messages. The messages are
    thrown away."""
    live = DecodeJob(decode_request, model_host, LOCAL, RunStore(1, 10**9))
    live.start(None)
    for _ in live.messages():
        pass
    return per_second(live.recording.run().steps)


def seen(visit: Page) -> float:
    """Tokens a second of a run that is started and watched in a browser."""
    before = visit.evaluate("document.querySelector('#pg-view .sq-stage').view.store.name")
    visit.click("#pg-run:not([disabled])")
    visit.wait_for_function(
        (
            "b => { const s = document.querySelector('#pg-view .sq-stage').view.store; "
            "return s.run !== b && s.done && s.steps.length; }"
        ),
        arg=before,
        timeout=120_000,
        polling=250,
    )  # the default, polling at every frame, would make the browser draw extra frames
    visit.wait_for_selector("#pg-run:not([disabled])")
    return visit.evaluate(
        "(s => s.totals(s.last).tokensPerSecond)"
        "(document.querySelector('#pg-view .sq-stage').view.store)"
    )


def fill(visit: Page, decode_request: DecodeRequest) -> None:
    visit.click("#pg-tree input")
    visit.get_by_role("option", name="Sequoia, sized").click()
    visit.fill("#pg-prompt textarea", decode_request.prompt)
    for name, value in (
        ("first", decode_request.tree_request.numbers[0]),
        ("second", decode_request.tree_request.numbers[1]),
        ("seed", decode_request.params.seed),
        ("temperature", decode_request.params.temperature),
        ("tokens", decode_request.params.max_new_tokens),
    ):
        visit.fill(f"#pg-{name} input", str(value))
    visit.uncheck("#pg-compare input")


def report(name: str, found: list[float], base: list[float]) -> Iterator[str]:
    """The lines about one way to decode: the median round, and the best round, which other work on
    the machine disturbs least."""
    for kind, pick in (("median", statistics.median), ("best", max)):
        yield (
            f"{name:22s} {kind:6s} {pick(found):7.1f} tokens/s   {pick(found) / pick(base):.3f} "
            "of the engine alone"
        )


def request(nodes: int, levels: int, tokens: int) -> DecodeRequest:
    decode_request = DecodeRequest.parse(
        {
            "prompt": presets()[1].text,
            "temperature": 0.6,
            "top_p": 1.0,
            "max_new_tokens": tokens,
            "seed": 0,
            "tree": "best",
            "first": nodes,
            "second": levels,
            "branching": "",
            "verifier": "sequoia",
            "compare": False,
        },
        LOCAL,
    )
    assert decode_request.tree_request == TreeRequest("best", (nodes, levels), LOCAL.nodes)
    return decode_request


@contextmanager
def form(address: str, decode_request: DecodeRequest) -> Iterator[Page]:
    """The page in a browser, its form filled in."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        visit = browser.new_page(viewport={"width": 1280, "height": 800})
        visit.goto(address)
        visit.wait_for_selector("[data-part=own]:visible")
        visit.click("[data-part=own]")  # shows the form
        visit.wait_for_selector("#pg-run:visible")
        fill(visit, decode_request)
        yield visit
        browser.close()


def measure_decode(nodes: int, levels: int, tokens: int, rounds: int) -> Iterator[str]:
    """Results, line by line, of one run decoded in three ways."""
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) - 1))
    decode_request = request(nodes, levels, tokens)
    model_host = ModelHost(load_pair, 4)
    model_host.open()
    model_host.pair(lambda: False)
    blocks = page(model_host, LOCAL)
    address = blocks.launch(prevent_thread_lock=True, **launch_options(model_host, LOCAL))[1]
    with form(address, decode_request) as visit:
        found = interleaved(ways(model_host, decode_request, visit), rounds)
    blocks.close()
    yield f"{nodes} nodes, {tokens} tokens, {rounds} rounds, {torch.get_num_threads()} thread(s)"
    base = found["engine alone"][SPEED]
    for name, figures in found.items():
        yield from report(name, figures[SPEED], base)


def ways(
    model_host: ModelHost, decode_request: DecodeRequest, visit: Page
) -> dict[str, Callable[[], Figures]]:
    return {
        "engine alone": lambda: {SPEED: alone(model_host, decode_request)},
        "messages for nobody": lambda: {SPEED: unseen(model_host, decode_request)},
        "page in a browser": lambda: {SPEED: seen(visit)},
    }
