"""The Run view in a real Chromium: its verdict, its lanes and their totals against Python's, streams
and gaps, the analysis, and what a visitor sees and presses.

The test page comes from a local file server and is given invented runs. Every test fails if the
page writes to the console or requests something from another machine.
"""

from __future__ import annotations

import csv
import json
import random
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect
from view_pages import batch, give, opened, settle, trial

MARKUP = "<img src=x onerror=window.hit=1> ${window.hit=2} {{value}} \u202e\u0000"


def one_of(name: str, kind: str, seconds: float, most: int, nodes: int) -> dict[str, Any]:
    """A lane. seconds: of a typical step; most: the most tokens in a step; nodes: in the tree."""
    return {
        "name": name,
        "kind": kind,
        "description": kind,
        "verifier": "sequoia",
        "plain": kind == "plain",
        "seconds": seconds,
        "most": most,
        "nodes": nodes,
    }


LANES = [
    one_of("Sequoia", "planned", 0.014, 6, 16),
    one_of("Plain", "plain", 0.006, 1, 1),
    one_of("Chain", "chain", 0.013, 3, 4),
    one_of("Grown", "dynamic", 0.02, 3, 8),
]
Steps = list[dict[str, Any]]


def invented(lanes: int = 4, tokens: int = 96, seed: int = 5) -> dict[str, Any]:
    """A whole synthetic race, as if recorded. The lane furthest behind on its clock steps next."""
    dice = random.Random(seed)
    kinds = LANES[:lanes]
    clocks = [0.0] * len(kinds)
    done = [0] * len(kinds)
    made = [0] * len(kinds)
    steps = []
    step_lanes = []
    pieces: dict[str, str] = {}
    while running := [lane for lane in range(len(kinds)) if done[lane] < tokens]:
        lane = min(running, key=clocks.__getitem__)
        n = min(dice.randint(1, kinds[lane]["most"]), tokens - done[lane])
        seconds = [
            kinds[lane]["seconds"] * share * dice.uniform(0.8, 1.25)
            for share in (0.0 if n == 1 else 0.4, 0.5, 0.1)
        ]
        steps.append(
            {
                "index": made[lane],
                "tree": lane,
                **drafted(made[lane], kinds[lane]["nodes"], done[lane], n, pieces),
                "seconds": dict(zip(("draft", "verify", "overhead"), seconds, strict=True)),
                "finish": "length" if done[lane] + n == tokens else None,
            }
        )
        step_lanes.append(lane)
        made[lane] += 1
        done[lane] += n
        clocks[lane] += sum(seconds)
    head = [
        {
            **{key: kind[key] for key in ("name", "kind", "description", "verifier", "plain")},
            "most": kind["nodes"],
            "changes": False,
        }
        for kind in kinds
    ]
    params = {"temperature": 0, "top_p": 1, "max_new_tokens": tokens, "seed": 0, "ignore_eos": True}
    meta = {
        "label": "recorded",
        "target": "T",
        "draft": "D",
        "device": "cpu",
        "dtype": "float32",
        "prompt": "p",
        "params": params,
    }
    return {
        "v": 1,
        "run": f"r{seed}-{lanes}-{tokens}",
        "from": 0,
        "meta": meta,
        "lanes": head,
        "trees": [[k - 1 for k in range(kind["nodes"])] for kind in kinds],
        "pieces": pieces,
        "steps": steps,
        "step_lanes": step_lanes,
        "done": True,
        "error": None,
        "notice": None,
    }


def drafted(index: int, nodes: int, at: int, n: int, pieces: dict[str, str]) -> dict[str, Any]:
    """The tokens of a step of `nodes` nodes, each with a token of its own, that emits `n` tokens
    after token `at` of its lane. Their texts are added to `pieces`."""
    text = [f" w{at + k}" for k in range(n)]
    accepted = [*range(1, n)]
    tokens = []
    for words in ("now", *text[:-1], *(f"s{index}n{node}" for node in range(n, nodes)), text[-1]):
        tokens.append(len(pieces))
        pieces[str(len(pieces))] = words
    bonus = tokens.pop()
    return {
        "prefix_len": 0,
        "tokens": tokens,
        "draft_p": [None, *[0.5] * (nodes - 1)],
        "target_p": [None, *[0.6] * (nodes - 1)],
        "verdict": {
            "path": [0, *accepted],
            "bonus": bonus,
            "trials": [trial([node, 0.6, 0.5, 0.3, True, None]) for node in accepted],
        },
        "emitted": [*(tokens[node] for node in accepted), bonus],
        "text": text,
    }


def analysed(results: list[Any]) -> dict[str, Any]:
    """The fields of a message with `results`. In each, the words are beside the numbers."""
    sent, analysis = [], []
    for one in results:
        lossless = one and one.get("lossless")
        count = lossless and lossless.get("count")
        match = {"match": {"index": lossless["index"]}} if lossless and "index" in lossless else {}
        sent.append(one and {"lossless": lossless and {**lossless, **match}})
        analysis.append(
            {
                "bars": ((one or {}).get("time_breakdown") or {}).get("bars", []),
                "advice": (one or {}).get("what_to_try"),
                "lossless": (lossless or {}).get("words", ""),
                "rule": (count or {}).get("rule", ""),
            }
        )
    return {"results": sent, "analysis": analysis}


def lane_steps(whole: dict[str, Any], lane: int) -> Steps:
    return [
        step for step, one in zip(whole["steps"], whole["step_lanes"], strict=True) if one == lane
    ]


# -- the same totals in Python ---------------------------------------------------------------------


class Clock:
    """One lane's running sums."""

    def __init__(self, whole: dict[str, Any], lane: int) -> None:
        self.made = lane_steps(whole, lane)
        self.times = [0.0, *accumulate(sum(step["seconds"].values()) for step in self.made)]
        self.tokens = [0, *accumulate(len(step["text"]) for step in self.made)]

    def at(self, t: float) -> tuple[int, float]:
        k = bisect_right(self.times, t) - 1
        return self.tokens[k], self.times[k]

    def rate(self, t: float = 1e9) -> float:
        """Tokens a second so far."""
        tokens, seconds = self.at(t)
        return tokens / seconds


# -- the page --------------------------------------------------------------------------------------


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The empty test page at 1280 x 900."""
    yield from opened(tab, "run", height=900)


def analysis(page: Page) -> None:
    """Open the charts and the analysis."""
    page.evaluate("document.querySelector('.run-analysis').open = true")
    settle(page)


def still(page: Page, message: dict[str, Any], t: float | None = None) -> None:
    """Show a whole race, paused at `t`, or at its end if `t` is None."""
    page.evaluate(
        "([text, t]) => { stage.ingest(JSON.parse(text)); stage.store.seekTime(t ?? stage.store.end); }",
        [json.dumps(message), t],
    )
    settle(page)


def lane(index: int, name: str = "") -> str:
    return f".run-lane[data-lane='{index}']" + (f" [data-part={name}]" if name else "")


def text(page: Page, selector: str) -> str:
    return page.locator(selector).inner_text()


def flow(page: Page, index: int) -> str:
    """The text a lane shows, without its hidden steps."""
    return page.evaluate(
        (
            "s => [...document.querySelector(s).children].filter(g => !g.hidden).map(g => "
            "g.textContent).join('')"
        ),
        lane(index, "flow"),
    )


def words(whole: dict[str, Any], index: int, t: float = float("inf")) -> str:
    clock = Clock(whole, index)
    return "".join(
        piece
        for k, step in enumerate(clock.made)
        if clock.times[k + 1] <= t
        for piece in step["text"]
    )


def moment(page: Page) -> float:
    settle(page)
    return page.evaluate("stage.store.time")


def drawn(page: Page, figure: str) -> list[dict[str, Any]]:
    """Traces of a figure once it shows the newest state."""
    analysis(page)
    page.wait_for_function(
        "() => { const [charts] = stage.stage.analysis.panels; return !charts.stale && [charts.tokens, "
        "charts.speedup].every(f => f.chart.node.dataset.drawn); }"
    )
    page.wait_for_timeout(50)  # Plotly may still draw
    return page.evaluate(
        (
            "f => stage.stage.analysis.panels[0][f].chart.node.data.map(d => ({name: d.name, x: [...d.x], y: "
            "[...d.y], colour: d.line.color, dash: d.line.dash, symbol: d.marker.symbol, "
            "error: d.error_y || null}))"
        ),
        figure,
    )


# -- time, badges and the verdict ------------------------------------------------------------------


def test_scrubbing_shows_the_state_at_that_time(page: Page) -> None:
    whole = invented()
    still(page, whole)
    ends = page.evaluate("stage.store.end")
    for t in (ends * 0.2, ends * 0.9, ends * 0.5, 0):
        page.evaluate("t => stage.store.seekTime(t)", t)
        settle(page)
        for index in range(4):
            assert flow(page, index) == words(whole, index, t)
            assert page.locator(lane(index)).get_attribute("data-tokens") == str(
                Clock(whole, index).at(t)[0]
            )
    page.evaluate("t => stage.store.seekTime(t)", ends / 2)
    assert all(max(trace["x"]) <= ends / 2 for trace in drawn(page, "tokens"))


def pair(faster: int, slower: int, ratio: float) -> dict[str, Any]:
    return {
        "faster": faster,
        "slower": slower,
        "ratio": ratio,
        "least": ratio / 1.1,
        "most": ratio * 1.1,
        "per_step": 2 * ratio,
        "step_time": 2.0,
        "p": 0.01,
        "apart": True,
        "per_step_range": [ratio, 4 * ratio],
        "step_time_range": [1.5, 2.5],
    }


VERDICT: dict[str, Any] = {
    "order": [0, 2, 1],
    "places": [{"place": 1, "tied": False}, {"place": 2, "tied": True}, {"place": 2, "tied": True}],
    "pairs": [pair(0, 1, 2.0), pair(0, 2, 1.08)],
    "prompts": 1,
    "tokens": 96,
    "stopped": False,
    "more_races": 30,
    "races": 1,
    "headlines": [{"prompt_name": "", "code": "wins", "winner": 0, "rival": 1, "best": ""}],
    "speedups": [
        {"over": 1, "code": "win", "ratio": 2.0, "low": 1.82, "high": 2.2},
        None,
        {"over": 1, "code": "no_clear_difference", "ratio": 1.85, "low": 0.9, "high": 3.8},
    ],
    "reasons": ["Sequoia emits 4.0 tokens per step, plain decoding 1.0."],
    "details": ["p is corrected for 2 pairs.", "This holds for this prompt."],
}
POOL: dict[str, Any] = {
    "runs": [{"prompt": "p", "seed": 0, "seconds": [0.01, 0.02, 0.011]}],
    "more": 30,
    "more_seconds": 200.0,
    "most": 40,
    "kind": "code",
    "seeds": True,
    "planned": None,
}


def two(speedup: dict[str, Any], seed: int = 5, **meta: Any) -> dict[str, Any]:
    """A tree beside plain decoding, with its speed-up."""
    whole = invented(lanes=2, seed=seed)
    verdict = {**VERDICT, "pairs": [pair(0, 1, 2.0)], "speedups": [{"over": 1, **speedup}, None]}
    return {**whole, "meta": {**whole["meta"], **meta}, "verdict": {**verdict, "places": []}}


VERDICTS = [
    ("win", 1.6, 1.2, 2.1, "accepted-text"),
    ("slower", 0.625, 0.4, 0.8, "rejected-text"),
    ("no_clear_difference", 1.6, None, None, "text"),
]
COLOURS = """() => { const n = document.querySelector('[data-part=headline]');
  const i = n.appendChild(document.createElement('i'));
  const of = name => (i.style.color = `var(--sq-${name})`, getComputedStyle(i).color);
  const found = Object.fromEntries(['accepted-text', 'rejected-text', 'text']
    .map(name => [name, of(name)]));
  i.remove();
  return [getComputedStyle(n).color, found]; }"""


@pytest.mark.parametrize(("code", "ratio", "low", "high", "colour"), VERDICTS)
def test_a_slowdown_never_has_the_colour_of_a_success(
    page: Page, code: str, ratio: float, low: float | None, high: float | None, colour: str
) -> None:
    """tests/browser/test_verdict.py has the words and numbers."""
    still(page, two({"code": code, "ratio": ratio, "low": low, "high": high}))
    shown, colours = page.evaluate(COLOURS)
    assert shown == colours[colour]
    bar = page.locator(".run-verdict .sq-interval-range")
    assert bar.is_visible() == (low is not None)


WIN = {"code": "win", "ratio": 6.3, "low": 5.2, "high": 7.5}


def test_a_hypothetical_run_says_so_in_large_type(page: Page) -> None:
    paper = {"ratio": 4.04, "target": "T", "draft": "D", "machine": "A100", "source": "Table 1"}
    clock = {"label": "simulated", "clock": "my card", "clock_machine": "an A100", "paper": paper}
    flag = page.locator("[data-part=flag]")
    for hypothetical in (False, True):
        whole = two(WIN, hypothetical, **clock, hypothetical=hypothetical)
        still(page, whole)
        assert flag.is_visible() == hypothetical
        assert ("hypothetical" in text(page, "[data-part=badge]")) == hypothetical
        basis = text(page, "[data-part=basis]")
        assert ("Paper: 4.04× at best (T with D, A100, Table 1)" in basis) == hypothetical
    page.keyboard.press("p")
    head = text(page, ".sq-present-head")
    assert "hypothetical" in head
    assert "6.3× faster" in head
    page.keyboard.press("Escape")


def test_a_finished_measured_run_shows_when_and_where_it_was_measured(page: Page) -> None:
    """Guards against a run made a minute ago being labelled live or recorded."""
    whole = invented(lanes=2)
    give(
        page, {**whole, "meta": {**whole["meta"], "label": "measured", "date": "2026-11-21 20:13"}}
    )
    badge = page.locator("[data-part=badge]")
    assert badge.inner_text() == "measured here, 20:13"
    assert badge.get_attribute("title") == "Measured on this machine, 2026-11-21 20:13"
    give(page, {**whole, "run": "other"})
    assert (badge.inner_text(), badge.get_attribute("title")) == ("recorded", None)


def test_the_winner_of_several_lanes_is_named_and_each_has_its_place(page: Page) -> None:
    whole = {**invented(lanes=3), "verdict": VERDICT}
    clock, plain = Clock(whole, 2), Clock(whole, 1)
    half = max(clock.times[-1], plain.times[-1]) / 2
    still(page, whole, half)
    ratio = clock.rate(half) / plain.rate(half)
    assert text(page, lane(2, "speed")).replace("\n", " ") == f"{ratio:.1f}× plain so far"
    assert page.locator(lane(2)).get_attribute("data-verdict") is None
    assert text(page, lane(2, "place")) == ""
    page.evaluate("stage.store.seekEnd()")
    settle(page)
    assert text(page, "[data-part=headline-words]") == "Sequoia wins: 2.0× plain decoding"
    places = [text(page, lane(index, "place")) for index in range(3)]
    assert places == ["1st", *["tied for 2nd"] * 2]
    page.click("[data-part=verdict] summary")
    lines = page.locator("[data-part=verdict] li").all_inner_texts()
    assert lines == VERDICT["reasons"] + VERDICT["details"]
    cells = page.locator("[data-part=pairs] tr").nth(1).locator("td").all_inner_texts()
    assert cells == ["4.0× (2.0–8.0)", "2.0× (1.5–2.5)", "2.0× (1.8–2.2)", "0.01"]
    assert page.locator("[data-part=further]").is_hidden()  # without a pool, as in an old file
    give(page, {**invented(seed=8), "run": "next"})
    assert "tokens per step" in text(page, "[data-part=headline]")


def test_further_runs_are_made_with_one_button_and_the_intervals_narrow(page: Page) -> None:
    whole = invented(lanes=3)
    still(page, {**whole, "verdict": VERDICT, "pool": POOL})
    words = page.text_content("[data-part=offer]") or ""
    assert "on other code prompts, each with its own seed" in words
    button = page.locator("[data-part=more-runs]")
    assert button.inner_text() == "Make 30 more runs (about 3 min)"
    button.click()
    settle(page)
    assert page.evaluate("said.at(-1)") == ["more", {"run": whole["run"]}]

    def further(runs: int, planned: int | None, wide: float) -> dict[str, Any]:
        pairs = [{**one, "least": 1.9 / wide, "most": 2.1 * wide} for one in VERDICT["pairs"]]
        made = [{**POOL["runs"][0], "seed": seed} for seed in range(runs)]
        pool = {**POOL, "runs": made, "planned": planned, "more": 39 - runs}
        verdict = {**VERDICT, "pairs": pairs, "prompts": runs}
        common = {"v": 1, "run": whole["run"], "error": None, "notice": None}
        return {**common, "verdict": verdict, "pool": pool}

    give(page, further(2, 31, 1.5))
    assert button.inner_text() == "Stop"
    assert text(page, "[data-part=further-words]").startswith("Run 3 of 31, on other code")
    assert page.locator("[data-part=further] progress").evaluate("bar => bar.value") == 2 / 31
    scope = page.text_content("[data-part=verdict-scope]") or ""
    assert "applies to the 2 prompts listed below (2 recorded runs)" in scope
    range_width = "() => document.querySelector('.run-interval .sq-interval-range').offsetWidth"
    page.emulate_media(reduced_motion="reduce")
    settle(page)
    before = page.evaluate(range_width)
    give(page, further(20, 31, 1.1))
    assert page.evaluate(range_width) < before
    page.emulate_media(reduced_motion="no-preference")  # the tests after this one share the tab
    assert page.locator(".run-interval:visible").count() == 2
    assert page.locator(".run-interval:visible").first.locator("i.sq-interval-dot").count() == 20
    give(page, {**further(31, None, 1.05), "error": "Out of memory."})
    assert page.evaluate("stage.store.state") == "finished"  # the run itself did not fail
    assert page.locator("[data-part=further] progress").is_hidden()
    page.click("[data-part=verdict] summary")
    assert page.locator("[data-part=runs] tbody tr").count() == 31


# -- lanes -----------------------------------------------------------------------------------------


def test_another_lane_is_chosen_with_a_press_or_a_key_and_the_moment_stays(page: Page) -> None:
    whole = invented(lanes=3)
    still(page, whole, Clock(whole, 0).times[5])
    before = moment(page)
    title = page.locator("[data-part=tree] .sq-title")

    def chosen() -> list[str]:
        return page.locator(".run-lane.is-chosen h3").all_inner_texts()

    assert chosen() == ["Sequoia"]
    page.keyboard.press("3")
    expect(title).to_contain_text("Tree: Chain")
    assert chosen() == ["Chain"]
    page.locator(f"{lane(1)} .run-progress").click()
    expect(title).to_contain_text("Tree: Plain")
    page.keyboard.press("4")  # there is no such lane
    page.locator(f"{lane(0)} h3 button").click()
    expect(title).to_contain_text("Tree: Sequoia")
    assert moment(page) == pytest.approx(before)
    for index in range(3):
        assert flow(page, index) == words(whole, index, before + 1e-9)


def test_a_press_on_a_token_shows_its_lane_step_and_node(page: Page) -> None:
    whole = invented(lanes=3)
    still(page, whole)
    token = page.locator(f"{lane(2)} .run-step[data-step='3'] .sq-tok").last
    token.hover()
    assert page.evaluate("stage.store.hover") is None  # another lane's token has no node here
    token.click()
    settle(page)
    assert page.evaluate("[stage.store.chosen, stage.store.at]") == [2, 3]
    assert page.evaluate("stage.store.pin") == "bonus"
    assert page.locator(f"{lane(2)} .sq-now").get_attribute("data-step") == "3"
    assert page.locator(f"{lane(2)} .sq-linked").count() == 1
    assert page.locator(f"{lane(0)} :is(.sq-now, .sq-linked)").count() == 0


def test_one_press_opens_the_figures_of_all_cards(page: Page) -> None:
    still(page, invented(lanes=3))
    figures = page.locator("[data-figure=tokensPerStep]")
    assert figures.locator("visible=true").count() == 0
    page.locator(".run-lane.is-chosen summary").click()
    expect(figures.locator("visible=true")).to_have_count(3)
    page.locator(".run-lane.is-chosen summary").click()
    expect(figures.locator("visible=true")).to_have_count(0)


# -- streams, gaps and painting --------------------------------------------------------------------


def test_a_stream_in_small_batches_loses_nothing_and_rebuilds_nothing(page: Page) -> None:
    """Guards against batches lost between two paints, and against text groups being rebuilt."""
    whole = invented(tokens=64)
    give(page, batch(whole, 0, 4))
    page.evaluate(
        "s => { window.firstStep = document.querySelector(s).firstChild; }", lane(0, "flow")
    )
    count = len(whole["steps"])
    batches = [json.dumps(batch(whole, k, k + 3, done=k + 3 >= count)) for k in range(4, count, 3)]
    page.evaluate(
        "batches => batches.forEach((text, k) => setTimeout(() => stage.ingest(JSON.parse(text)), 5 * k))",
        batches,
    )
    page.wait_for_function("stage.store.done")
    settle(page)
    assert [flow(page, index) for index in range(4)] == [words(whole, index) for index in range(4)]
    assert page.evaluate(
        "s => window.firstStep === document.querySelector(s).firstChild", lane(0, "flow")
    )
    for index, trace in enumerate(drawn(page, "tokens")):
        clock = Clock(whole, index)
        assert trace["x"] == pytest.approx(clock.times)
        assert trace["y"] == clock.tokens


def test_text_stays_at_its_end_unless_the_visitor_scrolled_up(page: Page) -> None:
    whole = invented(lanes=2, tokens=900)
    give(page, batch(whole, 0, 500))
    gap = """() => {
      const box = document.querySelector('.run-lane .sq-text-box'),
        last = [...box.querySelectorAll('.run-step')].at(-1);
      return box.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom;
    }"""
    assert 0 <= page.evaluate(gap) < 40
    give(page, batch(whole, 500, 560))
    assert 0 <= page.evaluate(gap) < 40
    box = page.locator(".run-lane .sq-text-box").first
    box.hover()
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(300)
    top = "() => document.querySelector('.run-step').getBoundingClientRect().top"
    before = page.evaluate(top)
    give(page, batch(whole, 560, 620))
    assert page.evaluate(top) == pytest.approx(before, abs=1)


# -- looks and keyboard -------------------------------------------------------------------------


SHOWN = """() => [...document.querySelectorAll('.run-figure')].map(panel => {
  const [chart, waiting] = ['[role=img]', '.run-waiting']
    .map(part => getComputedStyle(panel.querySelector(part)).visibility === 'visible');
  return chart && !waiting ? 'chart' : waiting && !chart ? 'sentence' : 'both';
})"""


def test_a_new_run_clears_the_charts_at_once(page: Page) -> None:
    """Guards against the previous race's curves under the word "measured"."""
    still(page, invented())
    drawn(page, "speedup")
    assert page.evaluate(SHOWN) == ["chart", "chart"]
    new = {**invented(seed=8), "run": "new"}
    give(page, batch(new, 0, 0))
    assert page.evaluate(SHOWN) == ["sentence", "sentence"]
    assert text(page, "[data-part=speedup-so-far] .run-waiting") == (
        "The chart appears after the first steps."
    )
    page.wait_for_timeout(400)
    assert page.evaluate(SHOWN) == ["sentence", "sentence"]
    other = new["step_lanes"].index(1)
    first = next(k for k, lane in enumerate(new["step_lanes"]) if lane != 1)
    give(page, batch(new, 0, max(first, other) + 1))
    drawn(page, "speedup")
    assert page.evaluate(SHOWN) == ["chart", "chart"]
    ends = page.evaluate("stage.stage.analysis.panels[0].tokens.chart.node.layout.xaxis.range")
    assert ends[1] >= page.evaluate("stage.store.end") > 0.005


# -- figures, reasons, files, hostile text and layout ----------------------------------------------


def test_reasons_badges_and_buttons(page: Page) -> None:
    whole = invented(lanes=2)
    bars = [
        {"name": "tokens", "value": 3.0, "loss": 0.0, "words": "words of tokens"},
        {"name": "verify", "value": 2.5, "loss": 0.5, "words": "words of verify"},
    ]
    tree = {"words": "A tree", "predicted": 1.9, "label": "predicted", "parents": [-1, 0]}
    alone = {"words": "Plain decoding", "predicted": 1.0, "label": "run", "parents": None}
    remedies = [tree, alone]
    advice = {"speedup": 1.6, "loss": "draft", "words": "1.60× plain.", "remedies": remedies}
    still(page, whole)
    analysis(page)
    page.evaluate("stage.store.set({ showsFigures: true })")
    assert page.locator("[data-part=whys]").is_hidden()
    lossless = {"kind": "tie", "words": "A tie.", "index": 4, "p_value": None, "label": "measured"}
    results = [
        {"time_breakdown": {"bars": bars}, "what_to_try": advice, "lossless": lossless},
        None,
    ]
    give(page, {"v": 1, "run": whole["run"], "done": True, **analysed(results)})
    assert page.locator(".run-fall li > b").all_inner_texts() == ["3.00", "2.5×"]
    assert page.locator(".run-fall-less").all_inner_texts() == ["", "−0.5"]
    assert page.locator(".run-remedies b").all_inner_texts() == ["1.9×", "1.0×"]
    labels = page.locator(".run-remedy-label").all_inner_texts()
    assert labels == ["predicted, +0.3", "recorded, −0.6"]
    assert page.locator(".run-remedies .sq-btn").count() == 1
    page.click(".run-remedies .sq-btn")
    assert page.evaluate("window.said[0]") == ["apply", {"lane": 1, "parents": [-1, 0]}]
    badge = page.locator(lane(0, "lossless"))
    assert (badge.inner_text(), badge.get_attribute("data-kind")) == ("tie", "tie")
    assert text(page, lane(0, "check")) == "A tie. First difference: token 5. (measured)"
    assert page.locator("[data-part=distribution]").is_hidden()
    assert page.locator(lane(1, "lossless")).is_hidden()
    for kind in ("exact", "undecided", "bug"):
        judged(page, whole, {**lossless, "kind": kind}, None)
        assert (badge.inner_text(), badge.get_attribute("data-kind")) == (kind, kind)


def counts(
    draws: int, going: bool, seen: tuple[int, ...] = (3, 2), **changes: Any
) -> dict[str, Any]:
    cells = [
        {"text": name, "more": False, "share": share, "seen": n}
        for name, share, n in zip((" x", None), (0.6, 0.4), seen, strict=True)
    ]
    return {
        "kind": "fits",
        "words": f"{draws} fit.",
        "index": None,
        "p_value": 0.25,
        "count": {
            "draws": draws,
            "wanted": 400,
            "going": going,
            "position": 3,
            "lane": 1,
            "bits": 1.5,
            "rule": "the first: 1.5 bits",
            "context": "a  b\n",
            "statistic": 2.5,
            "freedom": 1,
            "detectable_difference": 0.12,
            "cells": cells,
            **changes,
        },
    }


def judged(page: Page, whole: dict[str, Any], *lossless: dict[str, Any] | None) -> None:
    analysis(page)
    page.evaluate("stage.store.set({ showsFigures: true })")
    results = [{"time_breakdown": None, "what_to_try": None, "lossless": one} for one in lossless]
    give(page, {"v": 1, "run": whole["run"], "done": True, **analysed(results)})


def test_the_counts_of_first_tokens_are_shown_on_the_page(page: Page) -> None:
    """Guards against counts that only a tooltip shows, and against a check that shows nothing while
    it runs."""
    whole = invented(lanes=3)
    still(page, whole)
    judged(page, whole, counts(5, True), None, counts(5, True, (1, 4)))
    assert text(page, lane(0, "lossless")) == "sampling, 5 / 400"
    bar = page.locator(f"{lane(0)} progress")
    assert bar.evaluate("bar => bar.value") == 5 / 400
    assert "the first: 1.5 bits" in text(page, "[data-part=distribution-where]")
    judged(page, whole, counts(400, False, (230, 170)), None, counts(400, False, (250, 150)))
    assert text(page, lane(0, "lossless")) == "consistent"
    assert bar.is_hidden()
    cells = page.evaluate(
        "[...document.querySelectorAll('.run-counts tr')].map(row => "
        "[...row.cells].map(c => c.innerText))"
    )
    assert cells == [
        ["next token", "large model", "Sequoia", "Chain"],
        ["·x", "60%", "230 (240)", "250 (240)"],
        ["all others", "40%", "170 (160)", "150 (160)"],
        ["samples", "400 of 400", "400 of 400"],
        ["chi-square", "2.50 (1 d.f.)", "2.50 (1 d.f.)"],
        ["p-value", "0.25", "0.25"],
    ]


def test_a_lane_marks_a_token_that_it_counts_in_all_others(page: Page) -> None:
    whole = invented(lanes=2)
    still(page, whole)
    shares = (" x", 0.6, 240), (" y", 0.1, 40), (None, 0.3, 120)
    cells = [
        {"text": name, "more": False, "share": share, "seen": seen} for name, share, seen in shares
    ]
    judged(page, whole, counts(400, False, cells=cells, freedom=2), counts(50, False, (30, 20)))
    row = page.locator(".run-counts tbody tr").nth(1)
    assert row.inner_text().split("\t") == ["·y", "10%", "40 (40.0)", "in all others"]


def test_the_table_holds_every_step(page: Page) -> None:
    whole = invented(lanes=2)
    still(page, whole)
    analysis(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    for index in (0, 1):
        clock = Clock(whole, index)
        mine = [row for row in rows if row["lane"] == str(index)]
        assert [int(row["tokens"]) for row in mine] == clock.tokens[1:]
        assert [float(row["seconds"]) for row in mine] == pytest.approx(clock.times[1:])
        assert {row["label"] for row in mine} == {"recorded"}


def test_a_saved_figure_says_what_it_shows(page: Page) -> None:
    """A saved figure is seen without the page. Names from an opened file appear as plain text."""
    whole = invented()
    whole["meta"].update(
        target="<img src=x onerror=window.hit=1>", draft="D&amp;D", title=MARKUP + " a title" * 20
    )
    still(page, whole)
    drawn(page, "tokens")
    with page.expect_download() as download:
        page.click("[data-part=tokens-over-time] [data-save=svg]")
    shown = ElementTree.fromstring(download.value.path().read_text(encoding="utf-8"))
    lines = ["".join(line.itertext()) for line in shown.iter("{http://www.w3.org/2000/svg}tspan")]
    assert "Tokens over time: recorded" in lines
    models = next(line for line in lines if line.endswith(" + D&amp;D"))
    assert models == "<img src=x onerror=window.hit=1> + D&amp;D"
    assert next(line for line in lines if "${window.hit=2} {{value}}" in line).endswith("…")
    assert max(map(len, lines)) <= 68
    assert {"on cpu · float32 · temperature 0 · 96 tokens · seed 0", "end of text ignored"} <= {
        *lines
    }


def test_hostile_texts_stay_texts(page: Page) -> None:
    """Guards against markup from models, visitors and files."""
    whole = invented(lanes=2, tokens=12)
    whole["pieces"] = dict.fromkeys(whole["pieces"], MARKUP)
    for step in whole["steps"]:
        step["text"] = [MARKUP] * len(step["text"])
    for one in whole["lanes"]:
        one.update(name=MARKUP, how=MARKUP, verifier=MARKUP)
    whole["meta"].update(target=MARKUP, draft=MARKUP, device=MARKUP, prompt=MARKUP, title=MARKUP)
    whole.update(error=MARKUP, notice=MARKUP)
    result = {
        "time_breakdown": {"bars": [{"name": MARKUP, "value": 1, "loss": 0, "words": MARKUP}] * 2},
        "what_to_try": {
            "words": MARKUP,
            "remedies": [{"words": MARKUP, "predicted": 2, "label": MARKUP, "parents": None}],
        },
        "lossless": {"kind": "bug", "words": MARKUP, "index": None, "p_value": None},
    }
    still(page, {**whole, **analysed([result, result])})
    drawn(page, "tokens")
    assert page.evaluate("window.hit") is None
    assert page.locator(".run-stage img").count() == 0
    assert "<img src=x" in flow(page, 0)
    assert "\u202e" not in text(page, ".run-stage")


def test_bars_are_visible_in_forced_colours(page: Page) -> None:
    page.emulate_media(forced_colors="active")
    pictures = []
    for t in (0.1, None):
        still(page, invented(), t)
        pictures.append(page.locator(".run-bar").first.screenshot())
    page.emulate_media(forced_colors="none")  # the tests after this one share the tab
    assert pictures[0] != pictures[1]
