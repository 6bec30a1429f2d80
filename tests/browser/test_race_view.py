"""The Race view in a real Chromium: its totals against Python's, scrubbing, streams and gaps, and
what a visitor sees and presses.

The test page comes from a local file server and is given synthetic races. Every test fails if the
page writes to the console or requests something from another machine.
"""

from __future__ import annotations

import csv
import json
import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import asdict
from itertools import accumulate, pairwise
from statistics import median
from typing import Any
from xml.etree import ElementTree

import pytest
from nightly_cases import nightly
from playwright.sync_api import Page, expect
from view_pages import ROOT, opened, settle, trial

from sequoia.algorithm.step_trace import repetition
from sequoia.diagnosis.compare_runs import LaneRun, LaneRuns
from sequoia.diagnosis.race_verdict import race_verdict

MARKUP = "<img src=x onerror=window.hit=1> ${window.hit=2} {{value}} \u202e\u0000"
# seconds: of a typical step; most: the most tokens in a step; nodes: in the tree
LANES: list[dict[str, Any]] = [
    {
        "name": "Sequoia",
        "kind": "planned",
        "description": "planned",
        "verifier": "sequoia",
        "plain": False,
        "seconds": 0.014,
        "most": 6,
        "nodes": 16,
    },
    {
        "name": "Plain",
        "kind": "plain",
        "description": "no draft",
        "verifier": "sequoia",
        "plain": True,
        "seconds": 0.006,
        "most": 1,
        "nodes": 1,
    },
    {
        "name": "Chain",
        "kind": "chain",
        "description": "chain",
        "verifier": "sequoia",
        "plain": False,
        "seconds": 0.013,
        "most": 3,
        "nodes": 4,
    },
    {
        "name": "Grown",
        "kind": "dynamic",
        "description": "grown",
        "verifier": "naive",
        "plain": False,
        "seconds": 0.02,
        "most": 3,
        "nodes": 8,
    },
]
Steps = list[dict[str, Any]]


def race(lanes: int = 4, tokens: int = 96, plain: bool = True, seed: int = 5) -> dict[str, Any]:
    """A whole synthetic race, as if recorded. The lane furthest behind on its clock steps next."""
    dice = random.Random(seed)
    kinds = [lane for lane in LANES if plain or not lane["plain"]][:lanes]
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
        "race": f"r{seed}-{lanes}-{tokens}-{plain}",
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


def part(whole: dict[str, Any], start: int, stop: int, **more: Any) -> dict[str, Any]:
    """Steps [start, stop) as a message of a race under way."""
    head = {
        "meta": {**whole["meta"], "label": "measured"},
        "lanes": whole["lanes"],
        "trees": whole["trees"],
        "pieces": whole["pieces"],
    }
    return {
        "v": 1,
        "race": whole["race"],
        "from": start,
        **({} if start else head),
        "steps": whole["steps"][start:stop],
        "step_lanes": whole["step_lanes"][start:stop],
        "done": False,
        "error": None,
        "notice": None,
        **more,
    }


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

    def steps(self, t: float) -> list[tuple[int, float]]:
        """(tokens, seconds) of each step that is over at t."""
        return [
            (len(step["text"]), sum(step["seconds"].values()))
            for step, end in zip(self.made, self.times[1:], strict=True)
            if end <= t
        ]

    def rate(self, t: float = 1e9) -> float:
        """Tokens a second so far."""
        tokens, seconds = self.at(t)
        return tokens / seconds


def with_verdict(whole: dict[str, Any]) -> dict[str, Any]:
    """`whole` with the verdict that the server would send."""
    lanes = [
        LaneRuns(
            lane["name"],
            "plain" if lane["plain"] else "chain" if lane["kind"] == "chain" else "tree",
            (LaneRun("p", 0, tuple(Clock(whole, i).steps(1e9))),),
        )
        for i, lane in enumerate(whole["lanes"])
    ]
    words = {"reasons": [], "details": []}
    return {**whole, "verdict": {**asdict(race_verdict(lanes)), **words}}


# -- the page --------------------------------------------------------------------------------------


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The empty test page at 1280 x 900."""
    yield from opened(tab, "race", "?empty", 900)


def give(page: Page, message: dict[str, Any]) -> None:
    page.evaluate("text => stage.ingest(JSON.parse(text))", json.dumps(message))
    settle(page)


def still(page: Page, message: dict[str, Any], t: float | None = None) -> None:
    """Show a whole race, paused at `t`, or at its end if `t` is None."""
    page.evaluate(
        "([text, t]) => { stage.ingest(JSON.parse(text)); stage.store.seekTime(t ?? stage.store.end); }",
        [json.dumps(message), t],
    )
    settle(page)


def lane(index: int, name: str = "") -> str:
    return f".race-lane[data-lane='{index}']" + (f" [data-part={name}]" if name else "")


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
    page.wait_for_function(
        "() => { const { charts } = stage.stage; return !charts.stale && [charts.tokens, "
        "charts.speedup].every(f => f.chart.node.dataset.drawn); }"
    )
    page.wait_for_timeout(50)  # Plotly may still draw
    return page.evaluate(
        (
            "f => stage.stage.charts[f].chart.node.data.map(d => ({name: d.name, x: [...d.x], y: "
            "[...d.y], colour: d.line.color, dash: d.line.dash, symbol: d.marker.symbol, "
            "error: d.error_y || null}))"
        ),
        figure,
    )


# -- totals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, *nightly(2, 3)])
def test_a_lanes_speedup_has_an_interval_only_with_the_verdict(page: Page, seed: int) -> None:
    """Before the end, the speed-up so far has none. At the end, ratio, interval, word and place are
    those of the verdict."""
    whole = with_verdict(race(seed=seed))
    clocks = [Clock(whole, index) for index in range(4)]
    end = max(clock.times[-1] for clock in clocks)
    still(page, whole, end * 0.75)
    for index in (0, 2, 3):
        ratio = clocks[index].rate(end * 0.75) / clocks[1].rate(end * 0.75)
        assert text(page, lane(index, "speed")).replace("\n", "") == f"{ratio:.2f}× plain so far"
        assert text(page, lane(index, "spread")) == "recorded"
        assert page.locator(lane(index)).get_attribute("data-verdict") is None
        assert text(page, lane(index, "place")) == ""
    still(page, whole)
    for index in (0, 2, 3):
        found = whole["verdict"]["speedups"][index]
        assert page.locator(lane(index)).get_attribute("data-verdict") == found["code"]
        shown = float(text(page, lane(index, "ratio")))
        ratio = 1 / found["ratio"] if found["code"] == "slower" else found["ratio"]
        assert shown == pytest.approx(ratio, abs=0.051)
        assert text(page, lane(index, "spread")).endswith("; recorded times")
    assert text(page, lane(1, "speed")).replace("\n", "") == "1.00× plain decoding"


def test_figures_of_a_lane_are_as_in_python(page: Page) -> None:
    whole = race()
    still(page, whole)
    for index in range(4):
        clock = Clock(whole, index)
        node = page.locator(lane(index))
        steps = len(clock.made)
        tokens = clock.tokens[-1]
        seconds = clock.times[-1]
        assert node.locator("[data-figure=tokensPerStep]").inner_text() == f"{tokens / steps:.2f}"
        digits = 1 if seconds / tokens >= 0.01 else 2
        assert (
            node.locator("[data-figure=perToken]").inner_text()
            == f"{seconds / tokens * 1e3:.{digits}f} ms"
        )
        assert float(node.locator("[data-figure=nodes]").inner_text()) == LANES[index]["nodes"]
        assert text(page, lane(index, "tokens")) == "96 / 96 tokens"
        shares = [
            sum(step["seconds"][phase] for step in clock.made) / seconds
            for phase in ("draft", "verify", "overhead")
        ]
        grown = page.evaluate(
            "s => [...document.querySelectorAll(s)].map(n => Number(n.style.flexGrow))",
            f"{lane(index)} .race-split i",
        )
        assert grown == pytest.approx(shares, abs=1e-5)


@pytest.mark.nightly
def test_the_share_of_repeated_text_is_shown(page: Page) -> None:
    """Guards against a speed-up shown without saying that the text repeats itself. The share is
    compared with the repetition that the benchmark counts. Plain decoding drafts nothing, so its
    lane does not say that the text is easier to draft."""
    whole = race(lanes=3)
    for index, period in ((0, 11), (1, 11), (2, 1000)):
        mine = lane_steps(whole, index)
        pieces = iter(f"w{k % period}" for k in range(96))
        for step in mine:
            step["text"] = [next(pieces) for _ in step["text"]]
            step["emitted"] = [int(piece[1:]) for piece in step["text"]]
    still(page, whole)
    tokens = [int(piece[1:]) for step in lane_steps(whole, 0) for piece in step["text"]]
    share = repetition(tokens)
    assert share > 0.8
    assert text(page, f"{lane(0)} [data-figure=repeats]") == f"{share * 100:.0f}%"
    said = f"{share * 100:.0f}% repeated text: easier to draft"
    assert text(page, f"{lane(0)} .sq-loops") == said
    assert text(page, f"{lane(1)} [data-figure=repeats]") == f"{share * 100:.0f}%"
    assert text(page, f"{lane(2)} [data-figure=repeats]") == "0%"
    for index in (1, 2):
        assert page.locator(f"{lane(index)} .sq-loops").is_hidden()
    page.evaluate("stage.store.seekTime(0.02)")
    settle(page)
    assert page.locator(f"{lane(0)} .sq-loops").is_hidden()


@pytest.mark.nightly
def test_without_a_plain_lane_speedups_are_over_the_slowest_lane(page: Page) -> None:
    whole = with_verdict(race(lanes=3, plain=False))
    rates = [Clock(whole, index).rate() for index in range(3)]
    slowest = rates.index(min(rates))
    assert {one["over"] for one in whole["verdict"]["speedups"] if one} == {slowest}
    still(page, whole)
    name = whole["lanes"][slowest]["name"]
    for index in range(3):
        beside = "baseline" if index == slowest else name
        assert beside in text(page, lane(index, "speed"))
    assert f"over {name}" in text(page, "[data-part=race-speedup] h2")
    other = (slowest + 1) % 3
    whole["verdict"]["speedups"] = [
        None if index == other else {**VERDICT["speedups"][0], "over": other} for index in range(3)
    ]
    give(page, {**whole, "race": "judged otherwise"})
    page.evaluate("stage.store.seekTime(stage.store.end / 2)")
    settle(page)
    base = whole["lanes"][other]["name"]
    assert f"over {base}" in text(page, "[data-part=race-speedup] h2")
    assert base in text(page, lane(slowest, "speed"))


@pytest.mark.nightly
def test_what_is_missing_is_a_dash(page: Page) -> None:
    """Guards against NaN, Infinity, undefined and null on the page, before any step and after
    damaged results."""
    whole = race(lanes=3)
    give(page, part(whole, 0, 0))
    assert page.locator(lane(0)).get_attribute("data-tokens") == "0"
    assert text(page, lane(0, "ratio")) == "–"
    bars = [{"name": "tokens", "value": None, "loss": None, "words": None}]
    result = {
        "time_breakdown": {"bars": bars},
        "what_to_try": {"words": None, "remedies": []},
        "lossless": None,
    }
    give(page, {"v": 1, "race": whole["race"], "done": True, **analysed([None, result])})
    seen = text(page, ".race-stage")
    assert not any(word in seen for word in ("NaN", "Infinity", "undefined", "null"))


# -- time, badges and the verdict ------------------------------------------------------------------


def test_scrubbing_shows_the_state_at_that_time(page: Page) -> None:
    whole = race()
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


@pytest.mark.nightly
def test_dragging_the_track_moves_the_race(page: Page) -> None:
    """To the end of the chosen lane's step at that point, or to a moment after that lane's end."""
    whole = race()
    still(page, whole)
    box = page.locator("[data-part=track]").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 10)
    page.mouse.up()
    point = page.evaluate("stage.store.end") * 0.25
    end = next(time for time in Clock(whole, 0).times if time >= point)
    assert moment(page) == pytest.approx(end, rel=0.02)
    assert page.evaluate("[stage.store.follow, stage.store.playing]") == [False, False]


def test_keys_play_step_and_jump(page: Page) -> None:
    whole = race()
    times = Clock(whole, 0).times
    still(page, whole, times[1])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert moment(page) == pytest.approx(times[3])
    page.keyboard.press("ArrowLeft")
    assert moment(page) == pytest.approx(times[2])
    page.keyboard.press("End")
    assert moment(page) == pytest.approx(max(Clock(whole, index).times[-1] for index in range(4)))
    page.keyboard.press("Home")
    assert moment(page) == pytest.approx(times[1])
    page.keyboard.press("Space")
    assert page.evaluate("stage.store.playing")
    page.keyboard.press("Space")
    assert not page.evaluate("stage.store.playing")
    page.keyboard.press("?")
    expect(page.locator("[data-part=help]")).to_contain_text("one step back or forward")


@pytest.mark.nightly
def test_stepping_visits_every_step_both_ways(page: Page) -> None:
    whole = race(lanes=2, tokens=30)
    still(page, whole, Clock(whole, 0).times[1])
    ends = [Clock(whole, index).times for index in range(2)]
    times = [*ends[0][1:], *(ends[1][-1:] if ends[1][-1] > ends[0][-1] else [])]
    walk = """by => {
      const seen = [stage.store.time];
      for (let k = 0; k < 500 && seen.at(-1) !== seen.at(-2); k++) {
        stage.store.step(by);
        seen.push(stage.store.time);
      }
      return seen.slice(0, -1);
    }"""
    assert page.evaluate(walk, 1) == pytest.approx(times)
    assert page.evaluate(walk, -1) == pytest.approx(times[::-1])


def test_a_recorded_race_plays_automatically_to_its_end(page: Page) -> None:
    give(page, race(lanes=2, tokens=400))
    assert page.evaluate("stage.store.playing")
    page.evaluate("stage.store.seekTime(stage.store.end - 0.2); stage.store.play()")
    page.wait_for_function("!stage.store.playing")
    assert moment(page) == page.evaluate("stage.store.end")
    assert [text(page, lane(index, "tokens")) for index in (0, 1)] == ["400 / 400 tokens"] * 2


def test_a_running_race_is_followed_until_the_visitor_looks_back(page: Page) -> None:
    whole = race()
    give(page, part(whole, 0, 20))
    assert page.locator(".race-stage").get_attribute("data-state") == "running"
    assert moment(page) == page.evaluate("stage.store.end")
    page.evaluate("stage.store.seekTime(0.02)")
    give(page, part(whole, 20, 60))
    assert moment(page) == pytest.approx(0.02)
    page.click("[data-part=live]")
    give(page, part(whole, 60, 80))
    assert moment(page) == page.evaluate("stage.store.end")


@pytest.mark.nightly
def test_a_finished_race_is_called_replaying_until_its_end_is_shown(page: Page) -> None:
    still(page, race())
    assert text(page, "[data-part=state]").startswith("finished · ")
    page.evaluate("stage.store.seekTime(0.02)")
    settle(page)
    assert text(page, "[data-part=state]").startswith("replay paused · ")
    page.evaluate("stage.store.play()")
    settle(page)
    assert text(page, "[data-part=state]").startswith("replaying · ")
    assert text(page, "[data-part=state]").endswith(" in total")


@pytest.mark.nightly
def test_the_finish_of_a_lane_is_not_animated_if_a_paused_race_jumps_past_it(page: Page) -> None:
    still(page, race())
    page.evaluate("stage.store.seekTime(0.02)")
    settle(page)
    page.evaluate("stage.store.play()")
    settle(page)
    page.evaluate("stage.store.pause()")
    settle(page)
    page.evaluate("stage.store.seekTime(stage.store.end)")
    settle(page)
    assert page.get_attribute(lane(0), "data-finish") == "seen"


@pytest.mark.nightly
def test_a_lane_names_the_simulated_machine_and_its_tooltip_gives_the_rule(page: Page) -> None:
    whole = race(2, 24)
    clock = "A100, eager"
    planned = f"planned for {clock}, from acceptance rates counted on Python code"
    rule = "among trees within 1% of the fastest, the one with the most expected tokens per step"
    whole["meta"] |= {"label": "simulated", "clock": clock}
    whole["lanes"][0] |= {"description": planned, "rule": rule}
    still(page, whole)
    how = page.locator(f"{lane(0)} .race-how")
    assert how.inner_text().endswith("planned for A100")
    assert (how.get_attribute("title") or "").endswith(rule)
    facts = text(page, ".sq-chips")
    assert "models ran on cpu" in facts
    assert "times simulated for “A100, eager”" in facts


@pytest.mark.nightly
def test_a_race_that_was_stopped_says_so(page: Page) -> None:
    whole = race()
    give(page, part(whole, 0, 30))
    assert "running" in text(page, "[data-part=state]")
    give(page, part(whole, 30, 30, done=True, stopped=True, notice="Stopped."))
    assert "stopped" in text(page, "[data-part=state]")
    assert text(page, "[data-part=notice]") == "Stopped."
    assert text(page, lane(0, "place")) == ""
    assert "stopped" in text(page, f"{lane(0)} .sq-end")
    give(page, {**race(seed=8), "race": "next"})
    assert page.get_attribute("[data-part=state]", "data-state") == "finished"
    assert page.locator("[data-part=notice]").is_hidden()


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


def test_the_verdict_comes_with_the_end_and_gives_the_places(page: Page) -> None:
    whole = race(lanes=3)
    still(page, {**whole, "verdict": VERDICT}, t=0.02)
    assert page.locator("[data-part=verdict]").is_hidden()
    page.evaluate("stage.store.seekTime(stage.store.end)")
    settle(page)
    assert text(page, "[data-part=headline-words]") == "Sequoia wins: 2.00× plain decoding"
    places = [text(page, lane(index, "place")) for index in range(3)]
    assert places == ["1st", *["tied for 2nd (within noise)"] * 2]
    page.click("[data-part=verdict] summary")
    lines = page.locator("[data-part=verdict] li").all_inner_texts()
    assert lines == VERDICT["reasons"] + VERDICT["details"]
    give(page, {**race(seed=8), "race": "next"})
    assert page.locator("[data-part=verdict]").is_hidden()


@pytest.mark.nightly
def test_the_verdict_lists_the_tokens_per_step_and_step_time_of_each_pair(page: Page) -> None:
    still(page, {**race(lanes=3), "verdict": VERDICT})
    page.click("[data-part=verdict] summary")
    rows = page.locator("[data-part=pairs] tr")
    assert rows.nth(1).locator("th, td").all_inner_texts() == [
        "Sequoia vs. Plain",
        "4.00× (2.00–8.00)",
        "2.00× (1.50–2.50)",
        "2.00× (1.82–2.20)",
        "0.01",
    ]
    assert text(page, "[data-part=verdict-scope]") == (
        "The result applies to this prompt (1 recorded run of 96 tokens); on other prompts it may "
        "differ."
    )
    assert page.locator("[data-part=race-on]").is_hidden()  # without a pool, as in an old file


@pytest.mark.parametrize("needed", [560, None])
def test_a_race_says_if_no_number_of_runs_that_it_may_have_would_be_enough(
    page: Page, needed: int | None
) -> None:
    verdict = {**VERDICT, "more_races": needed}
    still(page, {**race(lanes=3), "verdict": verdict, "pool": {**POOL, "more": 5}})
    words = text(page, "[data-part=race-on-words]")
    assert "above the limit of 40" in words
    assert ("would take about 560 more runs (predicted)" in words) == bool(needed)


def test_a_race_goes_on_with_one_button_and_its_intervals_narrow(page: Page) -> None:
    whole = race(lanes=3)
    still(page, {**whole, "verdict": VERDICT, "pool": POOL})
    words = text(page, "[data-part=race-on-words]")
    assert "on other code prompts, each with its own seed" in words
    assert "as so far, about 30 more runs (predicted) should separate them." in words
    button = page.locator("[data-part=race-on-button]")
    assert button.inner_text() == "Make 30 more runs (about 3 min)"
    button.click()
    settle(page)
    assert page.evaluate("said.at(-1)") == ["more", {"race": whole["race"]}]
    assert button.is_disabled()  # until the server answers

    def further(runs: int, planned: int | None, wide: float) -> dict[str, Any]:
        pairs = [{**one, "least": 1.9 / wide, "most": 2.1 * wide} for one in VERDICT["pairs"]]
        made = [{**POOL["runs"][0], "seed": seed} for seed in range(runs)]
        pool = {**POOL, "runs": made, "planned": planned, "more": 39 - runs}
        verdict = {**VERDICT, "pairs": pairs, "prompts": runs}
        common = {"v": 1, "race": whole["race"], "error": None, "notice": None}
        return {**common, "verdict": verdict, "pool": pool}

    give(page, further(2, 31, 1.5))
    assert "finished" in text(page, "[data-part=state]")
    assert button.inner_text() == "Stop"
    assert text(page, "[data-part=race-on-words]").startswith("Run 3 of 31, on other code")
    assert page.locator("[data-part=race-on] progress").evaluate("bar => bar.value") == 2
    scope = page.text_content("[data-part=verdict-scope]") or ""
    assert "applies to the 2 prompts listed below (2 recorded runs)" in scope
    range_width = "() => document.querySelector('.race-interval .sq-interval-range').offsetWidth"
    page.emulate_media(reduced_motion="reduce")
    settle(page)
    before = page.evaluate(range_width)
    give(page, further(20, 31, 1.1))
    assert page.evaluate(range_width) < before
    page.emulate_media(reduced_motion="no-preference")  # the tests after this one share the tab
    assert page.locator(".race-interval:visible").count() == 2
    assert page.locator(".race-interval:visible").first.locator("i.sq-interval-dot").count() == 20
    give(page, {**further(3, None, 1.2), "race": "another"})  # about a race that is not on screen
    assert page.evaluate("stage.store.pool.runs.length") == 20
    give(page, {**further(31, None, 1.05), "error": "Out of memory."})
    assert "finished" in text(page, "[data-part=state]")  # the race itself did not fail
    assert page.locator("[data-part=race-on] progress").is_hidden()
    page.click("[data-part=verdict] summary")
    assert page.locator("[data-part=runs] tbody tr").count() == 31


@pytest.mark.nightly
def test_a_lane_that_finishes_shows_its_time(page: Page) -> None:
    """The finish is animated only if the race plays up to it, not if a visitor jumps there."""
    whole = with_verdict(race(lanes=3))
    give(page, whole)
    clocks = [Clock(whole, index).times[-1] for index in range(3)]
    first = min(range(3), key=clocks.__getitem__)
    page.evaluate("t => stage.store.seekTime(t)", clocks[first] - 1e-6)
    settle(page)
    assert page.locator(lane(first, "time")).is_hidden()
    page.evaluate("t => stage.store.seekTime(t)", clocks[first] + 1e-6)
    settle(page)
    assert text(page, lane(first, "time")) == f"{clocks[first] * 1000:.0f} ms"
    assert page.locator(lane(first)).get_attribute("data-finish") == "seen"
    page.evaluate("t => { stage.store.seekTime(t); stage.store.play(); }", clocks[first] - 0.02)
    page.wait_for_selector(f"{lane(first)}[data-finish=new]")
    page.wait_for_function("stage.store.isOver")
    assert "1st" in text(page, lane(first, "place"))
    assert page.locator("[data-part=time]:visible").count() == 3


# -- the tree --------------------------------------------------------------------------------------


def tree_texts(page: Page) -> list[str]:
    return page.locator("[data-part=tree] .sq-tree-svg text").all_text_contents()


def test_below_the_lanes_are_the_steps_of_the_first_lane_with_a_draft(page: Page) -> None:
    whole = race()
    whole["lanes"] = [whole["lanes"][1], whole["lanes"][0], *whole["lanes"][2:]]
    whole["step_lanes"] = [{0: 1, 1: 0}.get(lane, lane) for lane in whole["step_lanes"]]
    times = Clock(whole, 1).times
    still(page, whole, times[3])
    assert "Token tree: Sequoia" in text(page, "[data-part=tree] .sq-title")
    assert text(page, ".sq-place") == f"step shown: 3 / {len(times) - 1}"
    assert any(words.startswith("s2n") for words in tree_texts(page))
    assert text(page, "[data-part=bar-values]").startswith("step 3")
    page.keyboard.press(".")  # the first picture of the next step
    settle(page)
    assert page.locator("[data-part=phase-guess][aria-pressed=true]").count() == 1
    assert moment(page) == pytest.approx(times[3])
    # within a step, the panel shows the picture of that moment
    page.evaluate("t => stage.store.seekTime(t)", times[5] + 0.1 * (times[6] - times[5]))
    settle(page)
    assert text(page, ".sq-place") == f"step shown: 6 / {len(times) - 1}"
    assert page.locator("[data-part=phase-result][aria-pressed=true]").count() == 0


def test_another_lane_is_chosen_with_a_press_or_a_key_and_the_moment_stays(page: Page) -> None:
    whole = race(lanes=3)
    still(page, whole, Clock(whole, 0).times[5])
    before = moment(page)
    title = page.locator("[data-part=tree] .sq-title")

    def chosen() -> list[str]:
        return page.locator(".race-lane.is-chosen h3").all_inner_texts()

    assert chosen() == ["Sequoia"]
    page.keyboard.press("3")
    expect(title).to_contain_text("Token tree: Chain")
    assert chosen() == ["Chain"]
    page.locator(f"{lane(1)} .race-how").click()
    expect(title).to_contain_text("Token tree: Plain")
    assert chosen() == ["Plain"]
    assert page.locator(f"{lane(1)} button[aria-pressed=true]").inner_text() == "Show tree"
    page.keyboard.press("4")  # there is no such lane
    expect(title).to_contain_text("Token tree: Plain")
    page.locator(f"{lane(0)} button", has_text="Show tree").click()
    expect(title).to_contain_text("Token tree: Sequoia")
    expect(page.locator("[data-part=tree]")).to_be_in_viewport()
    assert moment(page) == pytest.approx(before)
    for index in range(3):
        assert flow(page, index) == words(whole, index, before + 1e-9)


def test_presenter_mode_has_the_verdict_all_texts_and_the_tree_of_the_chosen_lane(
    page: Page,
) -> None:
    whole = with_verdict(race(lanes=3))
    still(page, whole)
    presenter = page.locator("[data-part=presenter]")
    page.keyboard.press("p")
    expect(presenter.locator(".sq-present-number")).to_have_text(
        page.locator("[data-part=headline-words]").inner_text()
    )
    texts = presenter.locator(".sq-present-lane:visible")
    assert texts.locator(".sq-present-title").all_inner_texts() == ["Sequoia", "Plain", "Chain"]
    for index in range(3):
        assert words(whole, index).split()[-1] in texts.nth(index).inner_text()
    assert presenter.locator(".sq-present-total:visible").count() == 3
    page.keyboard.press("3")  # another lane
    expect(presenter.locator(".is-chosen .sq-present-title")).to_have_text("Chain")
    page.keyboard.press("Home")
    expect(presenter.locator(".sq-present-number")).to_have_text("replay paused")
    expect(presenter.locator(".sq-present-svg .sq-n-text").nth(1)).to_be_visible()
    page.keyboard.press("Escape")
    expect(presenter).to_be_hidden()


# -- streams, gaps and painting --------------------------------------------------------------------


def test_a_stream_in_small_batches_loses_nothing_and_rebuilds_nothing(page: Page) -> None:
    """Guards against batches lost between two paints, and against text groups being rebuilt."""
    whole = race(tokens=64)
    give(page, part(whole, 0, 4))
    page.evaluate(
        "s => { window.firstStep = document.querySelector(s).firstChild; }", lane(0, "flow")
    )
    count = len(whole["steps"])
    batches = [json.dumps(part(whole, k, k + 3, done=k + 3 >= count)) for k in range(4, count, 3)]
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


@pytest.mark.nightly
def test_messages_that_come_twice_change_nothing(page: Page) -> None:
    whole = race()
    for start, stop in ((0, 10), (10, 20), (10, 20), (0, 10), (15, 30)):
        give(page, part(whole, start, stop))
    assert page.evaluate("stage.store.arrived.length") == 30
    assert page.evaluate("stage.store.trees.length") == 4
    assert (
        sum(int(page.locator(lane(index)).get_attribute("data-steps") or 0) for index in range(4))
        == 30
    )


def test_a_refused_file_does_not_break_the_race_on_screen(page: Page) -> None:
    whole = race(2, 24)
    still(page, whole)
    give(page, {"v": 1, "race": None, "error": "Not opened: no race in it", "notice": None})
    assert page.locator("[data-part=error]").inner_text() == "Not opened: no race in it"
    assert page.get_attribute("[data-part=state]", "data-state") == "finished"
    give(
        page,
        {
            "v": 1,
            "race": whole["race"],
            "done": True,
            "error": "out of memory",
            "notice": None,
        },
    )
    assert page.get_attribute("[data-part=state]", "data-state") == "broken"


def test_a_gap_is_said_and_ends_with_the_whole_race(page: Page) -> None:
    whole = race()
    give(page, part(whole, 0, 10))
    give(page, part(whole, 14, 20))
    assert "did not arrive" in text(page, "[data-part=error]")
    assert page.evaluate("stage.store.arrived.length") == 10
    give(page, {**whole, "error": None})
    assert [flow(page, index) for index in range(4)] == [words(whole, index) for index in range(4)]
    got = page.evaluate("stage.store.lanes.map(f => f.seconds)")
    assert got == pytest.approx([Clock(whole, index).times[-1] for index in range(4)])


@pytest.mark.nightly
def test_text_stays_at_its_end_unless_the_visitor_scrolled_up(page: Page) -> None:
    whole = race(lanes=2, tokens=900)
    give(page, part(whole, 0, 500))
    gap = """() => {
      const box = document.querySelector('.race-text'),
        last = [...box.querySelectorAll('.race-step')].at(-1);
      return box.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom;
    }"""
    assert 0 <= page.evaluate(gap) < 40
    give(page, part(whole, 500, 560))
    assert 0 <= page.evaluate(gap) < 40
    box = page.locator(".race-text").first
    box.hover()
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(300)
    top = "() => document.querySelector('.race-step').getBoundingClientRect().top"
    before = page.evaluate(top)
    give(page, part(whole, 560, 620))
    assert page.evaluate(top) == pytest.approx(before, abs=1)


@pytest.mark.nightly
def test_four_long_lanes_paint_in_time(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    """Four lanes of 512 tokens arrive in batches of 4 steps every 10 ms. No step is lost, and the
    figures are drawn at most once in 120 ms. Prints how long the paints took."""
    page.evaluate("""async () => {
      window.marks = [];
      const { charts } = stage.stage, draw = charts.draw;
      charts.draw = function () { window.marks.push(performance.now()); draw.call(charts); };
      window.whole = modules.cannedRace({ tokens: 512 });
      await modules.deliver(stage, window.whole, 4, 10);
    }""")
    settle(page)
    got = page.evaluate("""() => ({
      paints: stage.store.paints.slice().sort((a, b) => a - b),
      marks: window.marks, steps: window.whole.steps.length,
      tokens: stage.store.lanes.map(f => f.sums.at(-1).tokens),
      texts: document.querySelectorAll('.race-step').length,
    })""")
    assert got["tokens"] == [512] * 4
    assert got["texts"] == got["steps"]
    # this holds on a slow machine too, because a timer never fires early
    assert all(b - a > 120 for a, b in pairwise(got["marks"]))
    paints = got["paints"]
    with capsys.disabled():
        print(
            f"\nrace, 4 x 512 tokens: {len(paints)} paints, median {median(paints):.2f} ms, 95% "
            f"{paints[int(len(paints) * 0.95)]:.2f} ms, most {paints[-1]:.2f} ms; "
            f"{len(got['marks'])} drawings of figures"
        )


@pytest.mark.nightly
def test_at_rest_nothing_paints_or_moves(page: Page) -> None:
    give(page, part(race(), 0, 60))
    drawn(page, "speedup")
    before = page.evaluate("[stage.store.paints.length, stage.stage.charts.at]")
    page.wait_for_timeout(400)
    assert page.evaluate("[stage.store.paints.length, stage.stage.charts.at]") == before
    assert page.evaluate("document.getAnimations().length") == 0


# -- looks and keyboard -------------------------------------------------------------------------


SHOWN = """() => [...document.querySelectorAll('.race-figure')].map(panel => {
  const [chart, waiting] = ['[role=img]', '.race-waiting']
    .map(part => getComputedStyle(panel.querySelector(part)).visibility === 'visible');
  return chart && !waiting ? 'chart' : waiting && !chart ? 'sentence' : 'both';
})"""


def test_a_new_race_clears_the_charts_at_once(page: Page) -> None:
    """Guards against the previous race's curves under the word "measured"."""
    still(page, race())
    drawn(page, "speedup")
    assert page.evaluate(SHOWN) == ["chart", "chart"]
    new = {**race(seed=8), "race": "new"}
    give(page, part(new, 0, 0))
    assert page.evaluate(SHOWN) == ["sentence", "sentence"]
    assert text(page, "[data-part=race-speedup] .race-waiting") == (
        "The chart appears after the first steps."
    )
    page.wait_for_timeout(400)
    assert page.evaluate(SHOWN) == ["sentence", "sentence"]
    other = new["step_lanes"].index(1)
    first = next(k for k, lane in enumerate(new["step_lanes"]) if lane != 1)
    give(page, part(new, 0, max(first, other) + 1))
    drawn(page, "speedup")
    assert page.evaluate(SHOWN) == ["chart", "chart"]
    ends = page.evaluate("stage.stage.charts.tokens.chart.node.layout.xaxis.range")
    assert ends[1] >= page.evaluate("stage.store.end") > 0.005


METHODS = {
    "plain": "plain",
    "chain": "chain",
    "sequences": "sequences",
    "kary": "kary",
    "branching": "kary",
    "planned": "sequoia",
    "best": "sequoia",
    "replanned": "replanned",
    "dynamic": "dynamic",
    "lab": "other",
}


def of_kinds(*kinds: str) -> dict[str, Any]:
    """A race whose lanes have these kinds, in order."""
    whole = race(lanes=len(kinds), seed=len("".join(kinds)))
    for one, kind in zip(whole["lanes"], kinds, strict=True):
        one.update(kind=kind, plain=kind == "plain", name=kind)
    return {**whole, "race": "-".join(kinds)}


STROKES = "nodes => nodes.map(n => getComputedStyle(n).stroke)"


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["dark", *nightly("light")])
def test_a_method_has_one_colour_and_marker_in_every_race(page: Page, theme: str) -> None:
    """The colour is the same in lanes, charts and scrubber. It has a contrast of at least 3:1 with
    the lane's background."""
    page.evaluate("theme => document.body.classList.toggle('dark', theme === 'dark')", theme)
    seen: dict[str, set[tuple[str, str]]] = {}
    kinds = [*METHODS]
    races = [[*kinds[4:8]], [*kinds[:4]], ["lab", "chain", "plain", "best"], [*kinds[5:9]]]
    for chosen in races:
        still(page, of_kinds(*chosen))
        traces = drawn(page, "tokens")
        rgb = page.evaluate(
            "colours => colours.map(c => { const n = document.createElement('i'); "
            "n.style.color = c; return n.style.color; })",
            [trace["colour"] for trace in traces],
        )
        assert page.locator(".race-name .race-stroke").evaluate_all(STROKES) == rgb
        lines = page.locator(".sq-track-svg .race-stroke").evaluate_all(STROKES)
        # the chosen lane and plain decoding are rows of blocks
        assert len(lines) >= 2
        assert set(lines) <= set(rgb)
        for kind, colour, trace in zip(chosen, rgb, traces, strict=True):
            seen.setdefault(METHODS[kind], set()).add((colour, trace["symbol"].split("-open")[0]))
    assert [len(styles) for styles in seen.values()] == [1] * 8
    styles = [style for found in seen.values() for style in found]
    assert len({colour for colour, _ in styles}) == len({symbol for _, symbol in styles}) == 8
    ground = page.locator(".race-lane").first.evaluate("n => getComputedStyle(n).backgroundColor")
    assert min(contrast(colour, ground) for colour, _ in styles) >= 3
    page.evaluate("document.body.classList.remove('dark')")


def contrast(one: str, other: str) -> float:
    """The WCAG ratio of two colours such as "rgb(0, 0, 0)"."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted([light(one), light(other)])
    return (high + 0.05) / (low + 0.05)


def test_lanes_of_the_same_method_differ_by_dash_and_marker(page: Page) -> None:
    still(page, of_kinds("chain", "chain", "plain", "chain"))
    traces = drawn(page, "tokens")
    lines = [(trace["colour"], trace["dash"], trace["symbol"]) for trace in traces]
    assert lines[0][0] == lines[1][0] == lines[3][0] != lines[2][0]
    assert len({dash for _, dash, _ in lines}) == 3
    assert lines[1][2] == lines[0][2] + "-open"
    for place, count in ((".race-name", 3), (".sq-track-svg", 2)):
        dashes = page.locator(f"{place} .race-stroke path:first-child").evaluate_all(
            "nodes => nodes.map(n => n.getAttribute('stroke-dasharray'))"
        )
        assert len(set(dashes)) == count


def with_reasons(whole: dict[str, Any]) -> dict[str, Any]:
    """The race with results, which are shown in its lanes and in the panels below its charts."""
    bars = [{"name": name, "value": 1.0, "loss": 0.0, "words": "w."} for name in ("tokens", "x")]
    remedy = {"words": "A chain", "predicted": 1.9, "label": "predicted", "parents": [-1, 0]}
    advice = {"speedup": 1.6, "loss": "draft", "words": "w", "remedies": [remedy, remedy]}
    result = {
        "time_breakdown": {"bars": bars},
        "what_to_try": advice,
        "lossless": counts(400, False, (230, 170)),
    }
    return {**whole, **analysed([None if one["plain"] else result for one in whole["lanes"]])}


AXE = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """() => axe.run('.race-stage', { rules: {
    'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } } })
  .then(found => found.violations
    .map(one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 90)).join(' ')))"""


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page: Page, theme: str) -> None:
    page.evaluate("theme => document.body.classList.toggle('dark', theme === 'dark')", theme)
    still(page, with_reasons(race()))
    drawn(page, "tokens")
    page.add_script_tag(path=AXE)
    assert page.evaluate(VIOLATIONS) == []
    page.evaluate("document.body.classList.remove('dark')")


def test_headings_have_no_gap_and_table_headers_have_text(page: Page) -> None:
    still(page, with_reasons(race()))
    levels = page.locator(".race-stage :is(h1, h2, h3, h4)").evaluate_all(
        "nodes => nodes.map(n => Number(n.tagName[1]))"
    )
    assert levels[0] == 2
    assert {b - a for a, b in pairwise(levels)} <= {0, 1, -1}
    assert all(page.locator(".race-stage th").all_text_contents())


STOPS = """nodes => nodes.filter(n =>
  n.tabIndex >= 0 && n.offsetParent && n.checkVisibility() && !n.disabled).length"""


@pytest.mark.nightly
def test_four_lanes_have_few_tab_stops(page: Page) -> None:
    still(page, with_reasons(race()))
    nodes = page.locator(".race-stage :is(a, button, input, select, textarea, [tabindex])")
    assert nodes.evaluate_all(STOPS) <= 26


def test_arrow_keys_move_inside_a_group(page: Page) -> None:
    """A group is left with Tab, and entered again where it was left."""
    still(page, race(), 0.05)
    page.locator(f"{lane(1)} .race-foot button").first.focus()
    page.keyboard.press("ArrowLeft")
    focused = "document.activeElement.dataset.term || document.activeElement.textContent"
    assert page.evaluate(focused) == "overhead"
    assert moment(page) == 0.05  # the race was not stepped
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-lane]').dataset.lane") == "2"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "overhead"


SMALL = """() => {
  const stage = document.querySelector('.race-stage');
  const walk = document.createTreeWalker(stage, NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (walk.nextNode()) {
    const { parentElement: box, textContent } = walk.currentNode;
    if (!textContent.trim() || !box.getClientRects().length) continue;
    const own = [box, box.parentElement].some(
      one => /(^|\\s)race-/.test(one.getAttribute('class')));
    if (own && parseFloat(getComputedStyle(box).fontSize) < 12)
      small.add((box.getAttribute('class') || box.tagName) + ': ' + textContent.slice(0, 30));
  }
  return [...small];
}"""


@pytest.mark.parametrize("width", [480, *nightly(1280)])
def test_no_text_of_the_view_is_smaller_than_12_pixels(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    still(page, with_reasons(race()))
    drawn(page, "speedup")
    assert page.evaluate(SMALL) == []


# -- figures, reasons, files, hostile text and layout ----------------------------------------------


@pytest.mark.nightly
def test_figures_name_lanes_axes_and_colours(page: Page) -> None:
    still(page, race())
    traces = drawn(page, "tokens")
    assert [trace["name"] for trace in traces] == ["Sequoia", "Plain", "Chain", "Grown"]
    marks = page.evaluate(
        "[...document.querySelectorAll('.race-name .race-stroke')].map(n => "
        "getComputedStyle(n).stroke)"
    )
    as_rgb = (
        "hexes => hexes.map(h => { const n = document.createElement('i'); n.style.color = h; "
        "return n.style.color; })"
    )
    assert page.evaluate(as_rgb, [trace["colour"] for trace in traces]) == marks
    assert len(set(marks)) == 4
    titles = page.evaluate(
        "['tokens', 'speedup'].map(f => stage.stage.charts[f].chart.node.layout)"
        ".map(l => [l.xaxis.title.text, l.yaxis.title.text])"
    )
    assert titles == [["decode time (s)", "tokens"], ["decode time (s)", "speed-up (×)"]]
    assert not any(trace["error"] for trace in drawn(page, "speedup"))
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(
        "c => stage.stage.charts.tokens.chart.node.data[0].line.color !== c",
        arg=traces[0]["colour"],
    )


def test_reasons_badges_and_buttons(page: Page) -> None:
    whole = race(lanes=2)
    bars = [
        {"name": name, "value": value, "loss": loss, "words": f"words of {name}"}
        for name, value, loss in (
            ("tokens", 3.0, 0.0),
            ("verify", 2.5, 0.5),
            ("draft", 1.5, 1.0),
            ("overhead", 1.6, -0.1),
        )
    ]
    advice = {
        "speedup": 1.6,
        "loss": "draft",
        "words": "1.60× plain.",
        "remedies": [
            {"words": "A smaller tree", "predicted": 1.9, "label": "predicted", "parents": [-1, 0]},
            {
                "words": "A smaller draft",
                "predicted": 2.0,
                "label": "predicted, what if",
                "parents": None,
            },
            {"words": "Plain decoding", "predicted": 1.0, "label": "run", "parents": None},
        ],
    }
    still(page, whole)
    assert page.locator("[data-part=whys]").is_hidden()
    lossless = {"kind": "tie", "words": "A tie.", "index": 4, "p_value": None, "label": "measured"}
    results = [
        {"time_breakdown": {"bars": bars}, "what_to_try": advice, "lossless": lossless},
        None,
    ]
    give(page, {"v": 1, "race": whole["race"], "done": True, **analysed(results)})
    assert page.locator(".race-fall li > b").all_inner_texts() == [
        "3.00",
        "2.50×",
        "1.50×",
        "1.60×",
    ]
    assert page.locator(".race-fall-less").all_inner_texts() == ["", "−0.50", "−1.00", "+0.10"]
    assert page.locator(".race-fall p").all_inner_texts() == [bar["words"] for bar in bars]
    assert page.locator(".race-remedies b").all_inner_texts() == ["1.90×", "2.00×", "1.00×"]
    assert page.locator(".race-remedy-label").all_inner_texts() == [
        "predicted, +0.30",
        "predicted, what if, +0.40",
        "recorded, −0.60",
    ]
    assert page.locator(".race-remedies .sq-btn").count() == 1
    page.click(".race-remedies .sq-btn")
    assert page.evaluate("window.said[0]") == ["apply", {"lane": 1, "parents": [-1, 0]}]
    badge = page.locator(lane(0, "lossless"))
    assert (badge.inner_text(), badge.get_attribute("data-kind")) == ("tie", "tie")
    assert text(page, lane(0, "check")) == "A tie. First difference: token 5. (measured)"
    assert page.locator("[data-part=distribution]").is_hidden()
    assert page.locator(lane(1, "lossless")).is_hidden()


@pytest.mark.parametrize(
    ("kind", "word", "colour"),
    [
        ("bug", "bug", "--sq-rejected-soft"),
        *nightly(
            ("exact", "exact", "--sq-accepted-soft"),
            ("tie", "tie", "--sq-target-soft"),
            ("undecided", "undecided", "--sq-target-soft"),
        ),
    ],
)
def test_each_verdict_on_a_text_has_its_word_and_colour(
    page: Page, kind: str, word: str, colour: str
) -> None:
    whole = race()
    still(page, whole)
    judged(page, whole, {"kind": kind, "words": "", "index": 4, "p_value": None}, None)
    badge = page.locator(lane(0, "lossless"))
    assert (badge.inner_text(), badge.get_attribute("data-kind")) == (word, kind)
    assert "First difference: token 5." in text(page, lane(0, "check"))
    found, wanted = badge.evaluate(
        """(node, name) => {
            const other = node.parentNode.appendChild(document.createElement('i'));
            other.style.background = `var(${name})`;
            return [node, other].map((one) => getComputedStyle(one).backgroundColor);
        }""",
        colour,
    )
    assert found == wanted


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
    results = [{"time_breakdown": None, "what_to_try": None, "lossless": one} for one in lossless]
    give(page, {"v": 1, "race": whole["race"], "done": True, **analysed(results)})


def test_the_counts_of_first_tokens_are_shown_on_the_page(page: Page) -> None:
    """Guards against counts that only a tooltip shows, and against a check that shows nothing while
    it runs."""
    whole = race(lanes=3)
    still(page, whole)
    judged(page, whole, counts(5, True), None, counts(5, True, (1, 4)))
    assert text(page, lane(0, "lossless")) == "sampling, 5 / 400"
    bar = page.locator(f"{lane(0)} progress")
    assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("5", "400")
    assert text(page, "[data-part=distribution-where]").startswith(
        "Each lane with a draft repeats one step, each time with another seed, and the first token "
        "of the step is counted. Every repetition continues the same text, …a  b⏎, so the counted "
        "token takes the place of token 4 in the text of Plain. This position was chosen before "
        "sampling: "
    )
    assert "the first: 1.5 bits (what is a bit?)" in text(page, "[data-part=distribution-where]")
    judged(page, whole, counts(400, False, (230, 170)), None, counts(400, False, (250, 150)))
    assert (text(page, lane(0, "lossless")), text(page, lane(0, "check"))) == (
        "consistent with the target",
        "400 fit.",
    )
    assert bar.is_hidden()
    cells = page.evaluate(
        "[...document.querySelectorAll('.race-counts tr')].map(row => "
        "[...row.cells].map(c => c.innerText))"
    )
    assert cells == [
        ["next token", "target probability", "Sequoia", "Chain"],
        ["·x", "60%", "230 (240)", "250 (240)"],
        ["all others", "40%", "170 (160)", "150 (160)"],
        ["samples", "400 of 400", "400 of 400"],
        ["chi-square", "2.50 (1 d.f.)", "2.50 (1 d.f.)"],
        ["p-value", "0.25", "0.25"],
    ]
    assert "by about 12 percentage points" in text(page, "[data-part=distribution-note]")


def test_a_lane_marks_a_token_that_it_counts_in_all_others(page: Page) -> None:
    whole = race(lanes=2)
    still(page, whole)
    shares = (" x", 0.6, 240), (" y", 0.1, 40), (None, 0.3, 120)
    cells = [
        {"text": name, "more": False, "share": share, "seen": seen} for name, share, seen in shares
    ]
    judged(page, whole, counts(400, False, cells=cells, freedom=2), counts(50, False, (30, 20)))
    row = page.locator(".race-counts tbody tr").nth(1)
    assert row.inner_text().split("\t") == ["·y", "10%", "40 (40.0)", "in all others"]


def test_rows_left_out_of_a_count_are_added_up_in_one_row(page: Page) -> None:
    whole = race(lanes=2)
    still(page, whole)
    judged(page, whole, counts(100, False, (50, 20), freedom=4), None)
    assert page.locator(".race-counts tbody tr").last.inner_text().split("\t")[0] == "3 more rows"
    assert page.locator(".race-counts tbody tr").last.inner_text().split("\t")[-1] == "30 (0)"


@pytest.mark.nightly
def test_a_check_without_information_says_so_on_the_page(page: Page) -> None:
    whole = race(lanes=2)
    still(page, whole)
    judged(
        page,
        whole,
        {
            **counts(0, False, cells=[]),
            "kind": "blind",
            "words": "No information: certain.",
            "p_value": None,
        },
        None,
    )
    assert text(page, lane(0, "lossless")) == "no information"
    assert (
        text(page, lane(0, "check"))
        == text(page, "[data-part=distribution-where]")
        == "No information: certain."
    )
    assert page.locator(".race-counts").is_hidden()


def test_reasons_stay_as_they_are_while_first_tokens_are_counted(page: Page) -> None:
    """Guards against a button that is rebuilt under the pointer with each new count."""
    whole = race(lanes=2)
    still(page, whole)
    advice = {
        "speedup": 1.6,
        "loss": "draft",
        "words": "w",
        "remedies": [
            {"words": "A smaller tree", "predicted": 1.9, "label": "predicted", "parents": [-1, 0]}
        ],
    }
    bars = [{"name": "tokens", "value": 1.0, "loss": 0.0, "words": "w."}]
    for draws in (5, 10):
        give(
            page,
            {
                "v": 1,
                "race": whole["race"],
                "done": True,
                **analysed(
                    [
                        {
                            "time_breakdown": {"bars": bars},
                            "what_to_try": advice,
                            "lossless": counts(draws, True),
                        },
                        None,
                    ]
                ),
            },
        )
        page.evaluate("window.held ??= document.querySelector('.race-remedies .sq-btn')")
    assert page.evaluate(
        "window.held && window.held === document.querySelector('.race-remedies .sq-btn')"
    )


def test_terms_are_explained_on_focus_and_to_screen_readers(page: Page) -> None:
    """Every word with a dotted line has an explanation, which is shown on focus and under the
    pointer. Escape hides the explanation and does not stop the race."""
    whole = with_verdict(race(lanes=2))
    still(page, whole)
    judged(page, whole, counts(400, False), None)
    terms = page.evaluate(
        "[...document.querySelectorAll('[data-term]')].filter(n => n.offsetParent).map(n => "
        "[n.dataset.term, "
        "document.getElementById(n.getAttribute('aria-describedby'))?.textContent])"
    )
    assert {
        "clock",
        "target probability",
        "check",
        "range",
        "repeats",
        "overhead",
        "chi-square",
        "p-value",
        "bits",
        "place",
    } <= {key for key, _ in terms}
    known = json.loads((ROOT / "assets" / "tooltips.json").read_text(encoding="utf-8"))
    assert all(words == known[key] for key, words in terms)
    page.evaluate("() => { stage.stage.keys.page.stop = () => { window.stopped = true; }; }")
    card = page.locator(".sq-explains")
    clock = page.locator(f"{lane(0)} [data-term=clock]")
    clock.focus()
    assert card.is_visible()
    assert card.inner_text() == known["clock"]
    box = card.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    page.keyboard.press("Escape")
    assert card.is_hidden()
    assert page.evaluate("window.stopped") is None
    page.keyboard.press("ArrowRight")
    assert card.inner_text() == known["from the draft"]
    page.locator(f"{lane(1)} [data-term=overhead]").hover()
    assert card.inner_text() == known["overhead"]
    page.mouse.move(640, 5)
    assert card.is_hidden()


def test_the_table_holds_every_step(page: Page) -> None:
    whole = race(lanes=2)
    still(page, whole)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()))
    for index in (0, 1):
        clock = Clock(whole, index)
        mine = [row for row in rows if row["lane"] == str(index)]
        assert [int(row["tokens"]) for row in mine] == clock.tokens[1:]
        assert [float(row["seconds"]) for row in mine] == pytest.approx(clock.times[1:])
        assert {row["label"] for row in mine} == {"recorded"}


@pytest.mark.parametrize("form", ["svg", *nightly("png")])
@pytest.mark.nightly
def test_figures_are_saved_as_pictures(page: Page, form: str) -> None:
    still(page, race())
    drawn(page, "tokens")
    with page.expect_download() as download:
        page.click(f"[data-part=race-tokens] [data-save={form}]")
    data = download.value.path().read_bytes()
    assert data.startswith(b"<svg" if form == "svg" else b"\x89PNG")


@pytest.mark.nightly
def test_a_saved_figure_says_what_it_shows(page: Page) -> None:
    """A saved figure is seen without the page. Names from an opened file appear as plain text."""
    whole = race()
    whole["meta"].update(
        target="<img src=x onerror=window.hit=1>", draft="D&amp;D", title=MARKUP + " a title" * 20
    )
    still(page, whole)
    drawn(page, "tokens")
    with page.expect_download() as download:
        page.click("[data-part=race-tokens] [data-save=svg]")
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
    whole = race(lanes=2, tokens=12)
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
    assert page.locator(".race-stage img").count() == 0
    assert "<img src=x" in flow(page, 0)
    assert "\u202e" not in text(page, ".race-stage")


@pytest.mark.parametrize("width", [600, *nightly(1000, 1280, 1920)])
@pytest.mark.parametrize("panels", [1, 3, *nightly(2)])
def test_reasons_fill_their_rows(page: Page, width: int, panels: int) -> None:
    """Guards against half-empty rows."""
    page.set_viewport_size({"width": width, "height": 900})
    whole = race(lanes=panels + 1)
    still(page, whole)
    why = {
        "time_breakdown": {
            "bars": [{"name": "tokens", "value": 1.0, "loss": 0.0, "words": "w."}] * 4
        },
        "lossless": None,
        "what_to_try": {"speedup": 1.0, "loss": None, "words": "words", "remedies": []},
    }
    give(
        page,
        {
            "v": 1,
            "race": whole["race"],
            "done": True,
            **analysed([None if one["plain"] else why for one in whole["lanes"]]),
        },
    )
    box, *cards = page.evaluate(
        "[...document.querySelectorAll('.race-whys, .race-why')].map(n => "
        "n.getBoundingClientRect()).map(r => [r.left, r.right, Math.round(r.top)])"
    )
    assert len(cards) == panels
    for top in {card[2] for card in cards}:
        row = [card for card in cards if card[2] == top]
        assert (min(card[0] for card in row), max(card[1] for card in row)) == pytest.approx(
            box[:2], abs=1
        )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("width", "lanes", "columns"),
    [
        (1024, 4, 4),
        (900, 4, 2),
        (480, 2, 1),
        *nightly((1920, 4, 4), (1280, 4, 4), (1024, 3, 3), (1280, 2, 2)),
    ],
)
def test_lanes_are_side_by_side_where_there_is_room(
    page: Page, width: int, lanes: int, columns: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    still(page, race(lanes=lanes))
    lefts = page.evaluate(
        "[...document.querySelectorAll('.race-lane')].map(n => "
        "Math.round(n.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == columns
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(STICKS_OUT) == []


# The elements of a lane that stick out beyond its sides, and those listed in `cut` whose text is
# cut off. Headings, such as the lane's name, and the lane's text are not checked.
STICKS_OUT = """() => [...document.querySelectorAll('.race-lane')].flatMap(lane => {
  const side = lane.getBoundingClientRect(),
    cut = '.race-speed, .race-range, .race-figures dt, .race-figures dd, .race-phase';
  return [...lane.querySelectorAll('*')]
    .filter(one => !one.closest('.race-text, h2, h3')).filter(one => {
    const box = one.getBoundingClientRect();
    return box.width && (box.left < side.left - 0.5 || box.right > side.right + 0.5
      || (one.matches(cut) && one.scrollWidth > one.clientWidth + 1));
  }).map(one => `${lane.dataset.lane}: ${one.className} ${one.textContent.slice(0, 40)}`);
})"""
