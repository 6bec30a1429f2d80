"""The verdict of a race in words: the sentence at the top, and the details behind it. A lane is a
decoder that takes part in the race."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sequoia.diagnosis.race_verdict.elsewhere import Elsewhere
from sequoia.diagnosis.race_verdict.lane_runs import LaneRuns
from sequoia.diagnosis.race_verdict.two_prompts import prompts_of
from sequoia.diagnosis.race_verdict.verdict import PairVerdict, SpeedupRatio, Verdict
from sequoia.planning.named_profiles import machine_of

_LEAST_P = 0.001  # smaller p-values are shown as "p < 0.001"


def sentence(
    verdict: Verdict, lanes: Sequence[LaneRuns], elsewhere: Elsewhere | None = None
) -> str:
    """Who won and by how much, or why that is open. elsewhere: a machine on which a tree is
    predicted to win. That machine is named only if a chain is in first place here."""
    clock = f"Simulated for {machine_of(verdict.clock)}. " if verdict.clock else ""
    words = " ".join([_who_won_on_each(verdict, lanes), *_luck(verdict, lanes)])
    if elsewhere and _should_name_elsewhere(verdict, lanes):
        words = f"{words} {elsewhere.sentence}"
    return clock + words


def details(verdict: Verdict, lanes: Sequence[LaneRuns]) -> tuple[str, ...]:
    """The sentences under "How sure?": how p was corrected, what was compared, and which prompts
    the verdict holds for."""
    return tuple(_details(verdict, several=len(prompts_of(lanes)) > 1))


# -- the sentence ----------------------------------------------------------------------------------


def _should_name_elsewhere(verdict: Verdict, lanes: Sequence[LaneRuns]) -> bool:
    """Whether a tree raced, and a chain is in first place on some prompt. If times were measured, a
    tie for first place counts. If they come from a simulated clock, it does not."""
    if all(lane.kind != "tree" for lane in lanes):
        return False
    leaders = [
        [lanes[lane].kind for lane in verdict.leaders if lane in group]
        for group in prompts_of(lanes)
    ]
    return any("chain" in kinds and not (len(kinds) > 1 and verdict.clock) for kinds in leaders)


def _luck(verdict: Verdict, lanes: Sequence[LaneRuns]) -> Iterator[str]:
    """For a single race, a sentence for each lucky lane. Such a lane was faster in this race than a
    lane in first place, but by expected tokens per step it is slower (`PairVerdict.certain`)."""
    lucky = dict.fromkeys(  # each once, even if it was faster than several lanes in first place
        pair.slower
        for winner in (verdict.leaders if verdict.races == 1 else ())
        for pair in verdict.pairs
        if pair.faster == winner and pair.certain and pair.expected and _was_ahead(pair, lanes)
    )
    for lane in (lanes[index] for index in lucky):
        who = f"On {lane.on}, {_name(lane)}" if lane.on else _capital(_name(lane))
        yield f"{who} was ahead this time, by the luck of the draws."


def _was_ahead(pair: PairVerdict, lanes: Sequence[LaneRuns]) -> bool:
    """Whether the lane that the verdict calls slower took less time per token in the race."""
    slower, faster = lanes[pair.slower], lanes[pair.faster]
    return slower.seconds / slower.tokens < faster.seconds / faster.tokens


def _who_won_on_each(verdict: Verdict, lanes: Sequence[LaneRuns]) -> str:
    """Who won. In a race of two prompts: who won on each, and how the speed-ups compare."""
    groups = prompts_of(lanes)
    if len(groups) < 2:
        return _who_won(verdict, lanes)
    words = [_who_won_on(group, verdict, lanes) for group in groups]
    return " ".join([*words, *map(_larger_speedup, verdict.speedup_ratios)])


def _who_won_on(group: Sequence[int], verdict: Verdict, lanes: Sequence[LaneRuns]) -> str:
    first = lanes[group[0]]
    if len(group) < 2:
        return f"On {first.on}, {_name(first)} has no lane to race against."
    order = tuple(lane for lane in verdict.order if lane in group)
    return f"On {first.on}: {_who_won(replace(verdict, order=order), lanes)}"


def _larger_speedup(found: SpeedupRatio) -> str:
    name = _in_sentence(found.name)
    bounds = f"95% CI: {found.least:.2f} to {found.most:.2f}×"
    if found.least <= 1:
        return (
            f"Whether {name} gains more on {found.larger} or on {found.smaller} is too close "
            f"to call ({found.larger} over {found.smaller}: {found.ratio:.2f}×; {bounds})."
        )
    return (
        f"{_capital(name)}’s speed-up over plain decoding is {found.ratio:.2f}× as large on "
        f"{found.larger} as on {found.smaller} ({bounds})."
    )


def _who_won(verdict: Verdict, lanes: Sequence[LaneRuns]) -> str:
    if len(verdict.order) < 2:
        return "No verdict: fewer than two lanes made a step."
    if verdict.pair(verdict.order[0], verdict.order[1]) is None:
        return "No verdict: the lanes made too few steps to compare."
    if len(verdict.leaders) != 1:
        return _too_close(verdict, lanes)
    winner = verdict.leaders[0]
    rival = _rival(winner, verdict, lanes)
    pair = verdict.pair(winner, rival)
    assert pair is not None  # `_rival` returns only lanes that the winner was compared with
    kinds = lanes[winner].kind, lanes[rival].kind
    if kinds[0] == "plain":
        return _plain_wins(pair, lanes)
    if kinds == ("chain", "tree") and pair.certain and (why := _why_the_chain(pair, lanes)):
        return (
            f"{_capital(_name(lanes[winner]))} wins here, {_ahead(pair, lanes)}: "
            f"{_name(lanes[rival])}’s {why}."
        )
    return _wins(pair, verdict, lanes)


def _rival(winner: int, verdict: Verdict, lanes: Sequence[LaneRuns]) -> int:
    """The lane that the sentence compares the winner with. For a tree, this is the best chain; for
    a chain, the best tree. If there is none, or plain decoding won, it is the next lane in order.
    Lanes that the winner was not compared with are left out."""
    wanted = {"tree": "chain", "chain": "tree"}.get(lanes[winner].kind)
    others = [lane for lane in verdict.order[1:] if verdict.pair(winner, lane)]
    return next((lane for lane in others if lanes[lane].kind == wanted), others[0])


def _wins(pair: PairVerdict, verdict: Verdict, lanes: Sequence[LaneRuns]) -> str:
    """The sentence about the lane that is ahead. It says "leads" instead of "wins" if the lead is
    not certain."""
    winner = lanes[pair.faster]
    rival = lanes[pair.slower]
    wins = "wins" if pair.certain else f"leads after {_runs(verdict)}"
    luck = "" if pair.certain else ", which could still be luck"
    per_step = [f"{_tokens_per_step(lane, pair):.1f}" for lane in (winner, rival)]
    tokens = f"{per_step[0]} tokens per step against {per_step[1]}"
    if rival.kind == "plain":
        sure = _sure(pair, f"{pair.least:.2f} to {pair.most:.2f}×")
        return (
            f"{_capital(_name(winner))} {wins}: {pair.ratio:.1f}× plain ({sure}){luck}; {tokens}."
        )
    plain = next((lane for lane in verdict.order if lanes[lane].kind == "plain"), None)
    over = None if plain is None else verdict.pair(pair.faster, plain)
    times = f"{over.ratio:.1f}× plain, " if over else ""
    return f"{_capital(_name(winner))} {wins}: {times}{_ahead(pair, lanes)}{luck}; {tokens}."


def _plain_wins(pair: PairVerdict, lanes: Sequence[LaneRuns]) -> str:
    sure = _sure(pair, f"{1 / pair.most:.2f} to {1 / pair.least:.2f}×")
    rival = _capital(_name(lanes[pair.slower]))
    return f"Plain decoding wins here. {rival} reaches {1 / pair.ratio:.2f}× its pace ({sure})."


def _tokens_per_step(lane: LaneRuns, pair: PairVerdict) -> float:
    """Tokens per step of `lane` over all its runs: the expected value if `pair` compares expected
    values and the lane has one, otherwise the measured value."""
    expected = lane.expected_tokens_per_step if pair.expected else None
    return expected or lane.tokens_per_step


def _why_the_chain(pair: PairVerdict, lanes: Sequence[LaneRuns]) -> str | None:
    """Why the tree is slower than the chain: how much longer its steps are, and how much time their
    extra tokens save. If the tree has fewer nodes than the chain, its steps may instead be shorter
    but give fewer tokens. None if the totals of all steps do not show the chain ahead."""
    chain, tree = lanes[pair.faster], lanes[pair.slower]
    of_chain = _tokens_per_step(chain, pair)
    cost = tree.step_seconds - chain.step_seconds
    tokens = _tokens_per_step(tree, pair) - of_chain
    saved = tokens * chain.step_seconds / of_chain
    if cost <= saved:
        return None
    if cost <= 0:
        return (
            f"steps are {_ms(-cost)} shorter but give {-tokens:.1f} fewer tokens, worth "
            f"{_ms(-saved)}"
        )
    if tokens <= 0:
        return f"steps are {_ms(cost)} longer and give no more tokens"
    return (
        f"steps are {_ms(cost)} longer, but their {tokens:.1f} extra tokens save only {_ms(saved)}"
    )


def _too_close(verdict: Verdict, lanes: Sequence[LaneRuns]) -> str:
    names = [_name(lanes[lane]) for lane in verdict.leaders]
    between = f"{', '.join(names[:-1])} and {names[-1]}{_over_plain(verdict, lanes)}"
    return f"Too close to call between {between} after {_runs(verdict)}{_what_would(verdict)}."


def _over_plain(verdict: Verdict, lanes: Sequence[LaneRuns]) -> str:
    """The speed-ups of the leaders, if plain decoding is not one of them."""
    plain = next((lane for lane in verdict.order if lanes[lane].kind == "plain"), None)
    if plain is None or plain in verdict.leaders:
        return ""
    pairs = [verdict.pair(lane, plain) for lane in verdict.leaders]
    ratios = [pair.ratio for pair in pairs if pair and pair.slower == plain]
    if not ratios:
        return ""
    ends = [f"{ratio:.1f}×" for ratio in (min(ratios), max(ratios))]
    return f" ({' to '.join(dict.fromkeys(ends))} plain)"


def _what_would(verdict: Verdict) -> str:
    """The end of a sentence: how many more runs would show a difference of 10%, or that the present
    runs would have shown one. Empty if this is unknown or the race was stopped."""
    if verdict.stopped or verdict.more_races is None:
        return ""
    if verdict.more_races == 0:
        return "; a difference of 10% would have shown"
    runs = "run" if verdict.more_races == 1 else "runs"
    return (
        f"; about {_round(verdict.more_races):,} more {runs} would be enough to detect a "
        "difference as small as 10% (predicted)"
    )


def _ahead(pair: PairVerdict, lanes: Sequence[LaneRuns]) -> str:
    """By how much the faster lane is ahead, and how sure that is."""
    winner, rival = lanes[pair.faster], lanes[pair.slower]
    chains = [lane for lane in lanes if lane.kind == "chain" and lane.on == rival.on]
    is_best_chain = rival in chains and winner not in chains and len(chains) > 1
    name = "the best chain" if is_best_chain else _name(rival)
    bounds = f"{_percent(pair.least)} to {_percent(pair.most)}%"
    return f"{_percent(pair.ratio)}% ahead of {name} ({_sure(pair, bounds)})"


def _sure(pair: PairVerdict, bounds: str) -> str:
    return f"95% CI: {bounds}" + ("" if pair.p is None else f", {_p(pair.p)}")


# -- the details -----------------------------------------------------------------------------------


def _details(verdict: Verdict, several: bool) -> Iterator[str]:
    """several: whether the race has two prompts."""
    if not verdict.pairs:
        return
    yield _corrections(verdict)
    if verdict.clock:
        yield (
            f"Step times come from the profile “{verdict.clock}” (simulated); tokens and trees "
            "are real."
        )
    if any(pair.apart and not pair.certain for pair in verdict.pairs):  # see decide.py
        yield (
            "Once a lane and plain decoding have 96 tokens each, the lane is placed ahead if it "
            "came out at least 1.4× as fast, even if chance is not ruled out."
        )
    if several:
        yield (
            "Each lane is compared only with lanes on its own prompt. Between the two prompts, "
            "only the speed-ups over plain decoding are compared."
        )
    if verdict.paired:
        yield (
            "The lanes that are compared emitted the same text, except perhaps near its end, so "
            "they are compared at the same positions."
        )
    else:
        yield from _of_different_texts(verdict)
    where = f"{verdict.scope} ({_runs(verdict)})"
    yield f"The result applies to {where}; on other prompts it may differ."


def _of_different_texts(verdict: Verdict) -> Iterator[str]:
    """What was compared if the texts of some lanes differ."""
    expected = [pair.expected for pair in verdict.pairs]
    if any(expected):
        yield (
            "Where lanes wrote different texts, tokens per step are expected values, not counts: "
            "the models’ probabilities give the number of steps that each lane would need, on "
            "average, for all these texts. So no lane is ahead because of lucky draws."
        )
    if not all(expected):
        start = "Without expected values, a" if any(expected) else "A"
        yield (
            f"{start} difference in the texts alone can change the pace; the intervals include "
            "this variation."
        )


def _corrections(verdict: Verdict) -> str:
    """Why p is missing, or what it is corrected for."""
    if verdict.stopped:
        what = "The race did not run to its end" if verdict.races == 1 else "Not all runs were made"
        return (
            f"{what}, so there are intervals but no p-values: the moment of stopping may depend on "
            "who was ahead."
        )
    words = f"p is corrected for comparing {_count(len(verdict.pairs), 'pair')} of lanes (Holm)"
    if verdict.looks == 1:
        return f"{words}."
    return (
        f"{words}, and because the verdict was computed {verdict.looks} times, each time with "
        "more runs (Bonferroni)."
    )


# -- words -----------------------------------------------------------------------------------------


def _name(lane: LaneRuns) -> str:
    return _in_sentence(lane.name)


def _in_sentence(name: str) -> str:
    """A lane's name inside a sentence."""
    if name in ("Chain", "Tuned chain"):
        return f"the {name.lower()}"
    if name == "Plain":
        return "plain decoding"
    shape, comma, verifier = name.partition(", ")
    return f"{shape} ({verifier})" if comma else shape


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _runs(verdict: Verdict) -> str:
    if verdict.races == 1:
        return f"1 run of {verdict.tokens} tokens"
    return f"{verdict.races:,} runs"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _percent(ratio: float) -> str:
    """How far a ratio is above 1, in percent."""
    return f"{100 * (ratio - 1):.0f}".replace("-0", "0")


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


def _p(p: float) -> str:
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.2g}"


def _round(number: int) -> int:
    """`number` rounded to two significant digits."""
    return round(number, min(0, 2 - len(str(number))))
