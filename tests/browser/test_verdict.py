"""Every speed-up and interval on the screen is that of the run's one verdict, for recorded and fresh
runs: a clear win, a slowdown, no clear difference, two prompts, a stopped lane, and several runs
pooled.

The numbers are found by their form ("1.6×", "1.2 to 2.1"), wherever they stand. Each must be a
rounding of a number of the verdict that the place is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import fakes
import pytest
from playwright.sync_api import Page
from view_pages import opened, settle

from sequoia import SamplingParams, StepTrace
from ui.record.runs import record, request_of_preset
from ui.run.messages import OpenedRun
from ui.run.presets import RunPreset
from ui.run.recordings import example
from ui.serving.model_host import ModelHost

RATIO = re.compile(r"(\d+(?:\.\d+)?)×")
RANGE = re.compile(r"(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)")
WORDS = {"win": "faster", "slower": "slower", "no_clear_difference": "no clear difference"}
# what is not about the speed-up of this run: predictions, and figures of the paper
OTHER = ".run-remedies, .run-says, .run-fall p, .run-fall li:not(:last-child), .run-notes"
VISIBLE = """([part, other]) => [...document.querySelectorAll(part)].flatMap(root => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT, node =>
    node.checkVisibility() && !node.matches(other + ', svg, .sq-explains')
      ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
  const found = [];
  for (let node = walker.currentNode; node; node = walker.nextNode())
    if (![...node.children].some(one => one.checkVisibility())) found.push(node.textContent);
  return [found.join(' ').replace(/ ×/g, '×')]; })"""


def shown(page: Page, part: str) -> str:
    return " ".join(page.evaluate(VISIBLE, [part, OTHER]))


def rounds_to(words: str, value: float) -> bool:
    decimals = len(words.partition(".")[2])
    return abs(float(words) - value) <= 0.5 * 10**-decimals + 1e-9


def agree(words: str, verdicts: list[dict[str, Any]], where: str) -> int:
    """Check that each ratio and each interval in `words` is one of `verdicts`. Returns how many
    there were."""
    turned = [_turned(one) for one in verdicts]
    ratios = RATIO.findall(words)
    for ratio in ratios:
        assert any(rounds_to(ratio, one["ratio"]) for one in turned), (where, ratio, words)
    ranges = RANGE.findall(words)
    for low, high in ranges:
        found = [one for one in turned if one["low"] is not None]
        fits = (rounds_to(low, one["low"]) and rounds_to(high, one["high"]) for one in found)
        assert any(fits), (where, low, high, words)
    return len(ratios) + len(ranges)


def _turned(verdict: dict[str, Any]) -> dict[str, Any]:
    """A slowdown as it is shown: 0.5 is 2 times slower."""
    if verdict["code"] != "slower":
        return verdict
    ratio, low, high = (1 / verdict[name] for name in ("ratio", "high", "low"))
    return {**verdict, "ratio": ratio, "low": low, "high": high}


@pytest.fixture(scope="module")
def host() -> ModelHost:
    model_host = ModelHost(fakes.tiny_pair, 4)
    model_host.open()
    return model_host


LANES = (("plain", "", "sequoia"), ("chain", "4", "sequoia"), ("best", "6, 3", "sequoia"))


def fresh(
    host: ModelHost, temperature: float, lanes: tuple[Any, ...] = LANES, second: str = ""
) -> Any:
    params = SamplingParams(temperature=temperature, max_new_tokens=48, seed=3)
    preset = RunPreset("x", "x", "x", lanes, second_prompt=second, prompt="def f(x):")
    return OpenedRun(record(request_of_preset(preset, "", params), host))


def stopped_run(host: ModelHost, steps: int, by: float = 1.0) -> Any:
    """The last lane has not finished: it has only its first `steps` steps. by: multiplies its
    times."""
    log = fresh(host, 0.0).log()
    *others, last = log.lanes
    run = replace(last.run, steps=tuple(slower(step, by) for step in last.run.steps[:steps]))
    return OpenedRun(replace(log, lanes=(*others, replace(last, run=run)), results=None))


RUNS: dict[str, Callable[[ModelHost], Any]] = {
    "pooled": lambda _: example("a100"),
    "a tree beside plain": lambda host: fresh(host, 0.8, (LANES[2], LANES[0])),
    "slower than plain": lambda _: example("useless-draft"),
    "unclear": lambda _: example("prose"),
    "fresh": lambda host: fresh(host, 0.0),
    "fresh, sampled": lambda host: fresh(host, 0.8),
    "two prompts": lambda host: fresh(host, 0.8, (LANES[0], LANES[2]), second="The sea"),
    "a lane stopped": lambda host: stopped_run(host, -2),
    "the fastest lane too short to compare": lambda host: stopped_run(host, 3, 0.1),
    "a win": lambda host: scaled(fresh(host, 0.0), 0.25),
    "a slowdown": lambda host: scaled(fresh(host, 0.0), 12.0),
}


def scaled(run: Any, by: float) -> Any:
    """`run` with all times multiplied by `by`, except those of plain decoding."""

    def timed(lane: Any) -> Any:
        steps = tuple(slower(step, by) for step in lane.run.steps)
        return lane if lane.plain else replace(lane, run=replace(lane.run, steps=steps))

    log = run.log()
    return OpenedRun(replace(log, lanes=tuple(map(timed, log.lanes)), results=None))


def slower(step: StepTrace, by: float) -> StepTrace:
    return replace(step, seconds={name: one * by for name, one in step.seconds.items()})


@pytest.fixture
def board(tab: Page) -> Iterator[Page]:
    yield from opened(tab, "run", height=900)


def pair_verdicts(verdict: dict[str, Any], lane: int | None = None) -> list[dict[str, Any]]:
    """The pairs, each seen from both lanes. lane: only the pairs of this lane."""
    found = []
    for pair in verdict["pairs"]:
        if lane not in (None, pair["faster"], pair["slower"]):
            continue
        code = "win" if pair["apart"] else "no_clear_difference"
        own = {"code": code, "ratio": pair["ratio"], "low": pair["least"], "high": pair["most"]}
        found += [own, {**own, "ratio": 1 / own["ratio"], "low": 1 / own["high"]}]
        found[-1]["high"] = 1 / own["low"]
    return found


@pytest.mark.parametrize("name", RUNS)
def test_every_speed_up_of_a_run_is_that_of_its_verdict(
    board: Page, host: ModelHost, name: str
) -> None:
    run = RUNS[name](host)
    verdict = asdict(run.verdict)
    board.evaluate(
        """text => { stage.ingest(JSON.parse(text)); stage.store.seekEnd();
          stage.store.set({ showsFigures: true });
          document.querySelector(".run-analysis").open = true; }""",
        run.whole(),
    )
    settle(board)
    settle(board)
    pairs = pair_verdicts(verdict)
    headlines = board.locator("[data-part=headline-words]").all_inner_texts()
    assert len(headlines) == len(verdict["headlines"])
    plain = [lane["plain"] for lane in run.lanes]
    if sorted(plain) == [False, True]:
        say_the_only_speedup(board, headlines[0], verdict["speedups"][plain.index(False)])
    else:
        for words, headline in zip(headlines, verdict["headlines"], strict=True):
            say_who_won(words, headline, run, pairs)
    factors = [{**one, "code": ""} for one in verdict["speedups"] if one]  # such as 0.8×
    assert agree(shown(board, "[data-part=intervals]"), [*pairs, *factors], "intervals") > 0
    judged_runs = verdict["races"]
    for lane, speedup in enumerate(verdict["speedups"]):
        card = shown(board, f".run-lane[data-lane='{lane}'] .run-speed")
        basis = board.locator(f".run-lane[data-lane='{lane}'] .run-speed").get_attribute("title")
        if speedup is None:
            continue
        assert agree(card, [speedup], f"lane {lane}") >= 1 + (speedup["low"] is not None)
        assert WORDS[speedup["code"]] in card
        pair = run.verdict.pair(lane, speedup["over"])
        say_how_tokens_were_found(
            board, lane, basis or "", is_expected=bool(pair and pair.expected)
        )
        if judged_runs == 1:
            why = shown(board, f".run-why[data-lane='{lane}'] .run-fall li:last-child b")
            as_factor = {**speedup, "code": ""}  # a factor below 1 is not turned here
            agree(why, [as_factor], f"where the time of lane {lane} went")
    places = verdict["places"]
    for pair in verdict["pairs"]:
        first, second = (places[pair[one]]["place"] for one in ("faster", "slower"))
        assert first != second if pair["apart"] else True
    stopped = "p" if verdict["stopped"] else ""
    assert all((pair["p"] is None) == bool(stopped) for pair in verdict["pairs"])


def say_the_only_speedup(board: Page, headline: str, speedup: dict[str, Any]) -> None:
    """The headline, its interval and presenter mode give the speed-up over the plain lane."""
    words = f"{headline} {shown(board, '[data-part=interval]')}"
    assert agree(words, [speedup], "verdict") >= 1 + (speedup["low"] is not None)
    board.keyboard.press("p")
    settle(board)
    presented = shown(board, ".sq-present-head")
    assert agree(presented, [speedup], "presenter") >= (speedup["code"] != "no_clear_difference")
    board.keyboard.press("Escape")
    others = {word for code, word in WORDS.items() if code != speedup["code"]}
    for said in (words, presented):
        assert WORDS[speedup["code"]] in said
        assert not [word for word in others if f" {word}" in f" {said}"], said


def say_who_won(words: str, headline: dict[str, Any], run: Any, pairs: list[Any]) -> None:
    assert len(words.split()) <= 7
    if headline["code"] == "wins":
        own = run.verdict.pair(headline["winner"], headline["rival"])
        assert own.apart
        assert agree(words, pairs, "headline") == 1
    else:  # several lanes share the first place; together they may still beat plain decoding
        speedups = [one for one in run.verdict.speedups if one and one.code == "win"]
        assert not RATIO.findall(words) or (speedups and "faster than plain decoding" in words)


def say_how_tokens_were_found(board: Page, lane: int, basis: str, *, is_expected: bool) -> None:
    """The card of a lane and its analysis show the same tokens per step, or say which of them were
    counted and which are to be expected."""
    assert ("expected tokens" in basis) == is_expected
    (counted, *found) = board.locator(
        f".run-lane[data-lane='{lane}'] [data-figure=tokensPerStep],"
        f".run-why[data-lane='{lane}'] .run-fall li:first-child b"
    ).all_inner_texts()
    named = board.locator(f".run-why[data-lane='{lane}'] li:first-child .run-fall-name")
    if is_expected:
        assert "ounted in" in shown(board, f".run-lane[data-lane='{lane}'] [data-part=counted]")
        assert all("expected" in name for name in named.all_inner_texts())
    else:
        assert all(float(one) == float(counted) for one in found)


def test_the_runs_have_all_verdicts(host: ModelHost) -> None:
    codes = set()
    for name in ("pooled", "a win", "a slowdown", "unclear"):
        codes |= {one.code for one in RUNS[name](host).verdict.speedups if one}
    assert {*WORDS} <= codes
