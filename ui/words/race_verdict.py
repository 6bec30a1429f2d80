"""Sentences about a run: why the winner won, how sure that is, and how the trees were chosen. A
lane is one of the run's decoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sequoia.diagnosis.compare_runs import LaneRuns
from sequoia.diagnosis.race_verdict import prompts_of
from sequoia.diagnosis.verdict import Headline, PairVerdict, RaceVerdict, SpeedupRatio
from sequoia.planning.compare_plans import OtherMachine
from ui.words.figures import machine_of, ratio_words, speedup_words, text_words, time_words


def reasons(
    verdict: RaceVerdict, lanes: Sequence[LaneRuns], elsewhere: OtherMachine | None = None
) -> tuple[str, ...]:
    """Why the winner won. elsewhere: a machine on which a tree is predicted to win. That machine is
    named only if a chain is in first place here."""
    return tuple(_reasons(verdict, lanes, elsewhere))


def details(
    verdict: RaceVerdict, lanes: Sequence[LaneRuns], *, going: bool = False
) -> tuple[str, ...]:
    """How p-values and intervals were corrected, and what was compared. going: whether further runs
    are being made."""
    return tuple(_details(verdict, several=len(prompts_of(lanes)) > 1, going=going))


def elsewhere_words(found: OtherMachine) -> str:
    """That a tree would win on another machine."""
    return (
        f"On {machine_of(found.clock)}, a tree planned for that machine would be "
        f"{100 * (found.ratio - 1):.0f}% ahead of the best chain (predicted, "
        "hypothetical: this pair’s acceptance with the step times of other models)."
    )


# -- the reasons -----------------------------------------------------------------------------------


def _reasons(
    verdict: RaceVerdict, lanes: Sequence[LaneRuns], elsewhere: OtherMachine | None
) -> Iterator[str]:
    for headline in verdict.headlines:
        if headline.code == "wins":
            yield _why(headline, verdict, lanes)
    yield from map(_larger_speedup, verdict.speedup_ratios)
    yield from _luck(verdict, lanes)
    if elsewhere and _should_name_elsewhere(verdict, lanes):
        yield elsewhere_words(elsewhere)


def _why(headline: Headline, verdict: RaceVerdict, lanes: Sequence[LaneRuns]) -> str:
    winner, rival = lanes[headline.winner], lanes[headline.rival]
    pair = verdict.pair(headline.winner, headline.rival)
    assert pair is not None  # the rival of a headline is a lane that the winner is faster than
    where = f"On {headline.prompt_name}, " if headline.prompt_name else ""
    if why := _why_fewer_tokens(pair, lanes):
        return f"{where}{_name(rival)}’s {why}." if where else _capital(f"{_name(rival)}’s {why}.")
    mine, other = (f"{_tokens_per_step(lane, pair):.1f}" for lane in (winner, rival))
    emits = "is expected to emit" if pair.expected else "emits"
    words = f"{where}{_name(winner)} {emits} {mine} tokens per step, {_name(rival)} {other}."
    return words if where else _capital(words)


def _should_name_elsewhere(verdict: RaceVerdict, lanes: Sequence[LaneRuns]) -> bool:
    """Whether a tree raced, and a chain is in first place."""
    leads = any(lanes[lane].kind == "chain" for lane in verdict.leaders)
    return leads and any(lane.kind == "tree" for lane in lanes)


def _luck(verdict: RaceVerdict, lanes: Sequence[LaneRuns]) -> Iterator[str]:
    """For a single race, a sentence for each lucky lane. Such a lane was faster in this run than a
    lane in first place, but by expected tokens per step it is slower (`PairVerdict.apart`)."""
    lucky = dict.fromkeys(  # each once, even if it was faster than several lanes in first place
        pair.slower
        for winner in (verdict.leaders if verdict.races == 1 else ())
        for pair in verdict.pairs
        if pair.faster == winner and pair.apart and pair.expected and _was_ahead(pair, lanes)
    )
    for lane in (lanes[index] for index in lucky):
        name = _name(lane)
        who = f"On {lane.prompt_name}, {name}" if lane.prompt_name else _capital(name)
        yield f"{who} was ahead this time, by the luck of the draws."


def _was_ahead(pair: PairVerdict, lanes: Sequence[LaneRuns]) -> bool:
    """Whether the lane that the verdict calls slower took less time per token in the run."""
    slower, faster = lanes[pair.slower], lanes[pair.faster]
    return slower.seconds / slower.tokens < faster.seconds / faster.tokens


def _larger_speedup(found: SpeedupRatio) -> str:
    close = ", so it is too close to call" if found.least <= 1 else ""
    return (
        f"{_capital(_in_sentence(found.name))}’s speed-up over plain decoding is "
        f"{speedup_words(found.ratio)} as large on {found.larger} as on {found.smaller} (95% CI: "
        f"{ratio_words(found.least)} to {speedup_words(found.most)}){close}."
    )


def _tokens_per_step(lane: LaneRuns, pair: PairVerdict) -> float:
    """Tokens per step of `lane` over all its runs: the expected value if `pair` compares expected
    values and the lane has one, otherwise the measured value."""
    expected = lane.expected_tokens_per_step if pair.expected else None
    return expected or lane.tokens_per_step


def _why_fewer_tokens(pair: PairVerdict, lanes: Sequence[LaneRuns]) -> str | None:
    """Why the lane with more tokens per step is the slower one: how much longer its steps are, and
    how much time their extra tokens save. None if it has no more tokens."""
    faster, slower = lanes[pair.faster], lanes[pair.slower]
    fewer = _tokens_per_step(faster, pair)
    cost = slower.step_seconds - faster.step_seconds
    tokens = _tokens_per_step(slower, pair) - fewer
    saved = tokens * faster.step_seconds / fewer
    if tokens <= 0 or cost <= saved:
        return None
    extra = f"{tokens:.1f} extra tokens save only {time_words(saved)}"
    return f"steps are {time_words(cost)} longer, but their {extra}"


# -- the details -----------------------------------------------------------------------------------


def _details(verdict: RaceVerdict, several: bool, going: bool) -> Iterator[str]:
    """several: whether the run has two prompts. going: as in `details`."""
    if not verdict.pairs:
        return
    yield _corrections(verdict, going)
    if verdict.clock:
        yield (
            f"Step times come from the profile “{verdict.clock}” (simulated); tokens and trees "
            "are real."
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


def _of_different_texts(verdict: RaceVerdict) -> Iterator[str]:
    """What was compared if the texts of some lanes differ."""
    expected = [pair.expected for pair in verdict.pairs]
    if any(expected):
        yield (
            "Where lanes wrote different texts, tokens per step are expected values, not counts: "
            "the models’ probabilities give the number of steps that each lane would need, on "
            "average, for all these texts. So no lane is ahead because of lucky draws."
        )
    if not all(expected):
        yield (
            "A difference in the texts alone can change the pace; the intervals include this "
            "variation."
        )


def _corrections(verdict: RaceVerdict, going: bool) -> str:
    """Why p is missing, or what it is corrected for."""
    if going:
        return "Further runs are being made; p-values follow after the last one."
    if verdict.stopped:
        what = "The run did not reach its end" if verdict.races == 1 else "Not all runs were made"
        return (
            f"{what}, so there are intervals but no p-values: the moment of stopping may depend on "
            "who was ahead."
        )
    words = (
        f"Intervals and p are corrected for comparing {_count(len(verdict.pairs), 'pair')} of lanes"
    )
    if verdict.looks == 1:
        return f"{words} (Bonferroni)."
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


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


# -- the choice of the trees -----------------------------------------------------------------------


Note = dict[str, Any]  # see `Note` in sequoia/saved_files/run_meta.py


def note_words(notes: Sequence[Note], elsewhere: OtherMachine | None = None) -> list[str]:
    """A sentence for each of `notes`. If a lane was left out, and a tree would win on the machine
    `elsewhere`, a sentence about that follows."""
    words = [_WORDS[note["code"]](note) for note in notes]
    if elsewhere and any(note["code"] == "repeat" for note in notes):
        words.append(elsewhere_words(elsewhere))
    return words


def _rates_words(note: Note) -> str:
    """Where the acceptance rates come from."""
    found = dict.fromkeys(map(_source_words, note["sources"]))
    return f"Trees and chain lengths are planned from acceptance rates {' and '.join(found)}."


def _source_words(source: Note) -> str:
    not_here = "" if source["prompt_name"] else ", not on this prompt"
    if source["label"] != "recorded":
        return f"counted on a built-in sample text{not_here}"
    kind = f" ({text_words(source['kind'])})" if source["kind"] else ""
    if source["has_prompt"]:
        return f"counted on texts that include this prompt{kind}"
    return f"counted on other texts{kind}{not_here}"


def _chain_words(note: Note) -> str:
    label = "hypothetical" if note["hypothetical"] else "predicted"
    speedup = speedup_words(note["speedup"])
    return (
        f"A tuned chain of {note['nodes']} nodes, no lane of this run, would reach "
        f"{speedup} plain{_on(note)} ({label}, from the rates known before the run)."
    )


def _repeat_words(note: Note) -> str:
    if note["nodes"] == 1:
        return (
            f"{note['lane']} is plain decoding{_on(note)}: nothing larger is predicted to be "
            "faster."
        )
    return (
        f"{note['lane']} has {note['nodes']} nodes on {note['levels']} levels{_on(note)}, the same "
        f"as {note['other']}, so it is raced once."
    )


def _instead_words(note: Note) -> str:
    lanes = " and ".join(note["lanes"])
    return f"{lanes} races instead; to see a tree, choose “Show me a tree” as lane 1."


def _on(note: Note) -> str:
    return f" on {note['prompt_name']}" if note["prompt_name"] else ""


_WORDS = {
    "rates": _rates_words,
    "missing_chain": _chain_words,
    "repeat": _repeat_words,
    "instead": _instead_words,
}
