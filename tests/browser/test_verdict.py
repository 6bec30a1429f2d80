"""Every speed-up and interval on the screen is that of the run's one verdict, for recorded and fresh
runs and races: a clear win, a slowdown, no clear difference, two prompts, a stopped lane, and
several races pooled.

The numbers are found by their form ("1.6×", "1.2 to 2.1"), wherever they stand. Each must be a
rounding of a number of the verdict that the place is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import fakes
import pytest
from playwright.sync_api import Page
from view_pages import opened, settle

from sequoia import Run, SamplingParams, StepTrace
from sequoia.assets_folder import ASSETS
from sequoia.saved_files.race_file import RaceLog
from ui.decode import recordings
from ui.decode.request import DecodeRequest
from ui.race.messages import OpenedRace
from ui.race.presets import RacePreset
from ui.record.runs import record_race, record_run
from ui.serving.model_host import ModelHost
from ui.shared.tree_request import TreeRequest

RATIO = re.compile(r"(\d+(?:\.\d+)?)×")
RANGE = re.compile(r"(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)")
WORDS = {"win": "faster", "slower": "slower", "no_clear_difference": "no clear difference"}
# what is not about the speed-up of this run: predictions, and figures of the paper
OTHER = ".race-remedies, .race-says, .race-fall p, .race-fall li:not(:last-child), .race-notes"
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


# -- runs ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def host() -> ModelHost:
    model_host = ModelHost(fakes.tiny_pair, 4)
    model_host.open()
    return model_host


def fresh_run(host: ModelHost, temperature: float, tokens: int) -> Run:
    params = SamplingParams(temperature=temperature, max_new_tokens=tokens, seed=3)
    return record_run(DecodeRequest("def f(x):", params, TreeRequest("best", (6, 3))), host)


def recorded_run(name: str) -> Callable[[ModelHost], Run]:
    return lambda _: recordings.opened(str(ASSETS / "runs" / f"{name}.json"), 10**8)


RUNS: dict[str, Callable[[ModelHost], Run]] = {
    "win": recorded_run("welcome"),
    "slower": recorded_run("useless-draft"),
    "unclear": recorded_run("prose"),
    "fresh": lambda host: fresh_run(host, 0.0, 48),
    "fresh, sampled": lambda host: fresh_run(host, 0.8, 48),
    "too short": lambda host: fresh_run(host, 0.0, 6),
}


@pytest.fixture
def decode(tab: Page) -> Iterator[Page]:
    yield from opened(tab, "decode", "?bare")


@pytest.mark.parametrize("name", RUNS)
def test_every_speed_up_of_a_run_is_that_of_its_verdict(
    decode: Page, host: ModelHost, name: str
) -> None:
    run = RUNS[name](host)
    verdict = run.meta["speedup"]
    meta = {**run.meta}
    meta.pop("opening", None)  # its headline also has the speed-ups of other prompts
    message = json.loads(recordings.messages.whole(replace(run, meta=meta), name))
    decode.evaluate("text => stage.ingest(JSON.parse(text))", json.dumps(message))
    for step in (1, 10**6):
        decode.evaluate(f"stage.seek({step})")
        settle(decode)
        for part in ("[data-part=headline]", "[data-total=speedup]"):
            words = shown(decode, part)
            assert agree(words, [verdict], part) >= 1 + (verdict["low"] is not None)
            assert WORDS[verdict["code"]] in words, part
            others = {word for code, word in WORDS.items() if code != verdict["code"]}
            assert not [word for word in others if f" {word}" in f" {words}"], (part, words)
        agree(shown(decode, ".sq-stage"), [verdict], "the whole view")
        decode.keyboard.press("p")
        settle(decode)
        words = shown(decode, ".sq-present-head")
        assert agree(words, [verdict], "presenter") >= 1
        assert WORDS[verdict["code"]] in words
        decode.keyboard.press("Escape")


def test_the_runs_have_all_verdicts(host: ModelHost) -> None:
    assert {RUNS[name](host).meta["speedup"]["code"] for name in ("win", "slower", "unclear")} == {
        *WORDS
    }


# -- races -----------------------------------------------------------------------------------------

LANES = (("plain", "", "sequoia"), ("chain", "4", "sequoia"), ("best", "6, 3", "sequoia"))


def fresh_race(host: ModelHost, temperature: float, second: str = "", further: bool = False) -> Any:
    params = SamplingParams(temperature=temperature, max_new_tokens=48, seed=3)
    lanes = (LANES[0], LANES[2]) if second else LANES
    preset = RacePreset("x", "x", "", lanes, second_prompt=second, prompt="def f(x):")
    return OpenedRace(RaceLog.from_json(record_race(preset, "", params, further, host)))


def stopped_race(host: ModelHost, steps: int, by: float = 1.0) -> Any:
    """The last lane has not finished: it has only its first `steps` steps. by: multiplies its
    times."""
    log = fresh_race(host, 0.0).log()
    *others, last = log.lanes
    run = replace(last.run, steps=tuple(slower(step, by) for step in last.run.steps[:steps]))
    return OpenedRace(replace(log, lanes=(*others, replace(last, run=run)), results=None))


RACES: dict[str, Callable[[ModelHost], Any]] = {
    "pooled": lambda _: OpenedRace(
        RaceLog.from_json((ASSETS / "races" / "welcome.json").read_text(encoding="utf-8"))
    ),
    "fresh": lambda host: fresh_race(host, 0.0),
    "fresh, sampled": lambda host: fresh_race(host, 0.8),
    "two prompts": lambda host: fresh_race(host, 0.8, second="The sea"),
    "a lane stopped": lambda host: stopped_race(host, -2),
    "the fastest lane too short to compare": lambda host: stopped_race(host, 3, 0.1),
    "a win": lambda host: scaled(fresh_race(host, 0.0), 0.25),
    "a slowdown": lambda host: scaled(fresh_race(host, 0.0), 12.0),
}


def scaled(race: Any, by: float) -> Any:
    """`race` with all times multiplied by `by`, except those of plain decoding."""

    def timed(lane: Any) -> Any:
        steps = tuple(slower(step, by) for step in lane.run.steps)
        return lane if lane.plain else replace(lane, run=replace(lane.run, steps=steps))

    log = race.log()
    return OpenedRace(replace(log, lanes=tuple(map(timed, log.lanes)), results=None))


def slower(step: StepTrace, by: float) -> StepTrace:
    return replace(step, seconds={name: one * by for name, one in step.seconds.items()})


@pytest.fixture
def board(tab: Page) -> Iterator[Page]:
    yield from opened(tab, "race", "?empty", 900)


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


@pytest.mark.parametrize("name", RACES)
def test_every_speed_up_of_a_race_is_that_of_its_verdict(
    board: Page, host: ModelHost, name: str
) -> None:
    race = RACES[name](host)
    verdict = asdict(race.verdict)
    board.evaluate(
        "text => { stage.ingest(JSON.parse(text)); stage.store.seekTime(stage.store.end); }",
        race.whole(),
    )
    settle(board)
    pairs = pair_verdicts(verdict)
    headlines = board.locator("[data-part=headline-words]").all_inner_texts()
    assert len(headlines) == len(verdict["headlines"])
    for words, headline in zip(headlines, verdict["headlines"], strict=True):
        assert len(words.split()) <= 7
        if headline["code"] == "wins":
            own = race.verdict.pair(headline["winner"], headline["rival"])
            assert own.apart
            assert agree(words, pairs, "headline") == 1
        else:
            assert RATIO.findall(words) == []
    assert agree(shown(board, "[data-part=intervals]"), pairs, "intervals") > 0
    judged_runs = verdict["races"]
    for lane, speedup in enumerate(verdict["speedups"]):
        card = shown(board, f".race-lane[data-lane='{lane}'] .race-speed")
        card += shown(board, f".race-lane[data-lane='{lane}'] .race-range")
        if speedup is None:
            continue
        assert agree(card, [speedup], f"lane {lane}") >= 1 + (speedup["low"] is not None)
        assert WORDS[speedup["code"]] in card
        pair = race.verdict.pair(lane, speedup["over"])
        say_how_tokens_were_found(board, lane, card, is_expected=bool(pair and pair.expected))
        if judged_runs == 1:
            why = shown(board, f".race-why[data-lane='{lane}'] .race-fall li:last-child b")
            as_factor = {**speedup, "code": ""}  # a factor below 1 is not turned here
            agree(why, [as_factor], f"where the time of lane {lane} went")
    places = verdict["places"]
    for pair in verdict["pairs"]:
        first, second = (places[pair[one]]["place"] for one in ("faster", "slower"))
        assert first != second if pair["apart"] else True
    stopped = "p" if verdict["stopped"] else ""
    assert all((pair["p"] is None) == bool(stopped) for pair in verdict["pairs"])


def say_how_tokens_were_found(board: Page, lane: int, card: str, *, is_expected: bool) -> None:
    """The card of a lane and its analysis show the same tokens per step, or say which of them were
    counted and which are to be expected."""
    assert ("expected tokens" in card) == is_expected
    (counted, *found) = board.locator(
        f".race-lane[data-lane='{lane}'] [data-figure=tokensPerStep],"
        f".race-why[data-lane='{lane}'] .race-fall li:first-child b"
    ).all_inner_texts()
    named = board.locator(f".race-why[data-lane='{lane}'] li:first-child .race-fall-name")
    if is_expected:
        assert "ounted in" in shown(board, f".race-lane[data-lane='{lane}'] [data-part=counted]")
        assert all("expected" in name for name in named.all_inner_texts())
    else:
        assert all(float(one) == float(counted) for one in found)


def test_the_races_have_all_verdicts(host: ModelHost) -> None:
    codes = set()
    for name in ("pooled", "a win", "a slowdown"):
        codes |= {one.code for one in RACES[name](host).verdict.speedups if one}
    assert {"win", "slower"} <= codes
