"""Sentences about losslessness: token by token, by the distribution of first tokens, and by the
test with many samples; and about the bugs that this test should find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.exactness.chi_square import ALARM
from sequoia.exactness.losslessness.bugs import Bug
from sequoia.exactness.losslessness.comparison import Comparison, Grouping
from sequoia.exactness.losslessness.losslessness_test import Findable
from sequoia.exactness.same_distribution import LEAST_BITS, MIN_EXPECTED, MOST_PLACES
from sequoia.saved_files.race_results import Lossless, Place, SampleCount, TextMatch, Why
from ui.words.figures import p_words

_ENDS = {
    "tie": "a tie, decided by rounding",
    "bug": "a bug",
    "undecided": "undecided",
}


# -- token by token --------------------------------------------------------------------------------


def match_words(match: TextMatch) -> str:
    """Whether a text is that of plain decoding; if not, where it differs and what that means."""
    if match.index is None:
        return f"All {match.compared} tokens equal plain decoding's: exact."
    words = [f"Token {match.index + 1} is the first that differs from plain decoding"]
    if match.first:
        words.append(
            f"In {_wide(match.dtype)}, the lower logit of the two tokens is "
            f"{_place_words(match.first)}"
        )
    if match.later:
        words[-1] += (
            f", but given the run's own text, its token {match.later.index + 1} is "
            f"{_place_words(match.later)}"
        )
    if match.problem:
        words.append(
            f"Whether this is a bug could not be checked in {_wide(match.dtype)}, because "
            f"{match.problem}"
        )
    return f"{'. '.join(words)}: {_ENDS[match.verdict]}."


def _place_words(place: Place) -> str:
    size = "at most" if place.is_tie else "more than"
    return (
        f"{place.margin:.3g} below the best, {size} twice the rounding error of {place.error:.3g}"
    )


def _wide(dtype: str) -> str:
    """The dtype in which a target of `dtype` is checked."""
    return "float32" if dtype.endswith("16") else "float64"


# -- by distribution -------------------------------------------------------------------------------


def lossless_words(found: Lossless, meta: Mapping[str, Any]) -> str:
    """Whether a lane of a run is lossless, or why that was not checked. meta: of the run."""
    if found.match:
        return match_words(found.match)
    if found.count and found.kind == "blind":
        return _blind_words(found.count, found.why)
    if found.count:
        early = _early_words(found.count, found.why)
        return " ".join(
            filter(None, (_samples_words(found.kind, found.p_value, found.count), early))
        )
    if found.why == "no_plain_text":
        return "Not checked: there is no text from plain decoding."
    temperature = meta.get("params", {}).get("temperature", 1.0)
    return (
        f"Not checked: {_NOT_CHECKED[found.why]}. (At temperature {temperature:g}, even lossless "
        "texts differ by chance, so comparing texts would show nothing.)"
    )


_NOT_CHECKED: dict[Why, str] = {
    "": "the reason was not recorded",
    "two_prompts": "only a run of one prompt can be checked; run each prompt alone",
    "not_requested": "“Verify losslessness” is not ticked",
    "time_limit": "the time limit was reached",
    "other_run": "another run is waiting for the models",
    "stopped": "the run was stopped",
}


def _early_words(count: SampleCount, why: Why) -> str:
    """Why the drawing ended before all samples were drawn; empty if it did not."""
    return f"Stopped before all {count.wanted} samples: {_NOT_CHECKED[why]}." if why else ""


def _samples_words(kind: str, p_value: float | None, count: SampleCount) -> str:
    """Whether first tokens follow the target's distribution, and what the test would find."""
    tokens = f"first tokens of {count.draws} sample{'s' * (count.draws != 1)}"
    if p_value is None or count.statistic is None:
        return f"The {tokens} are too few to compare with the large model's distribution."
    result = (
        f"χ² = {count.statistic:.1f}, {count.freedom} degree{'s' * (count.freedom != 1)} of "
        f"freedom, p-value {p_words(p_value)}"
    )
    if kind == "fits":
        points = round((count.detectable_difference or 1) * 100)
        return (
            f"The {tokens} are consistent with the large model's distribution: {result}. A p-value "
            "below one in a million counts as an error. With this many samples, that happens "
            "if, for example, the most probable token comes too often or too rarely by about "
            f"{points} percentage points."
        )
    if kind == "poor":
        return (
            f"The {tokens} fit the large model's distribution poorly: {result}. This happens by "
            f"chance now and then, so only p below {ALARM:g} counts as different: sample "
            "again with another seed."
        )
    return f"The {tokens} do not follow the large model's distribution: {result}, below {ALARM:g}."


def _blind_words(count: SampleCount, why: Why) -> str:
    """Why samples at this position could not show a difference."""
    bits = f"{count.bits:.2g} bits of entropy"
    reason = (
        f"spread over so many tokens that none is expected {MIN_EXPECTED:g} times in "
        f"{count.wanted} samples ({bits})"
    )
    if count.bits < LEAST_BITS:
        reason = (
            f"nearly certain of one token at each of the first {count.looked} positions (at most "
            f"{bits}), so even a wrong decoder would pass"
        )
    advice = _early_words(count, why) or "Try another temperature or prompt."
    return f"This check is inconclusive here: the large model's distribution is {reason}. {advice}"


def rule_words(count: SampleCount) -> str:
    """Why the position of the samples was chosen."""
    least = f"{LEAST_BITS:g} bit of entropy"
    if count.bits >= LEAST_BITS:
        return (
            "the first position in the text where the large model's distribution has at least "
            f"{least}; it has {count.bits:.1f} bits"
        )
    return (
        f"none of the first {count.looked} positions (at most {MOST_PLACES} are examined) has "
        f"at least {least}, so this is the one with the most: {count.bits:.2g} bits"
    )


# -- by many samples -------------------------------------------------------------------------------


SHOWS = 0.5  # the smallest power at which a bug counts as visible in a setting


def progress_words(draws: int, wanted: int) -> str:
    """The number of samples so far, "" before the first."""
    if not draws:
        return ""
    return (
        f"{draws:,} samples so far of {wanted:,}. The verdict comes after the last sample, because "
        "the number of samples is fixed in advance."
    )


def test_words(comparison: Comparison, planned: Grouping, findable: Sequence[Findable]) -> str:
    """The result of a test that has ended, "" without samples. planned: the cells of the whole
    test, which may have been stopped."""
    draws = f"{comparison.draws:,} samples"
    if not comparison.draws:
        return ""
    p_value = comparison.fit.p_value
    is_early = comparison.draws < planned.draws
    if p_value is None and is_early and len(planned.groups) > 1:
        return f"Stopped after {draws} of {planned.draws:,}: too few for a verdict."
    if p_value is None:
        return (
            f"No verdict from {draws}: the large model is so sure of one result that no other is "
            "expected often enough to be counted. Try a higher temperature or another prompt; for "
            "a toy, another p."
        )
    if comparison.fit.differs:
        return (
            f"Not lossless: with a correct decoder, {draws} are this far off in at most about one "
            "in a million tests."
        )
    early = f" (stopped; {planned.draws:,} were planned)" * is_early
    return f"No difference found in {draws}{early}. {_what_it_would_find(findable)}"


def _what_it_would_find(findable: Sequence[Findable]) -> str:
    """Which bug is the hardest to find among those with a power of at least SHOWS, and how likely
    the test is to find it."""
    powers = [
        (round(one.power, 9), one.distance, BUG_WORDS[one.bug.key].label)
        for one in findable
        if one.power is not None and one.power >= SHOWS
    ]
    if not powers:
        return "No bug in the table below is known to bias the output here, so this says little."
    power, _, label = min(powers)
    return (
        f"Of the bugs that are known to bias the output here, the hardest to find (“{label}”) "
        f"would be found with probability {_power(power)}."
    )


def _power(power: float) -> str:
    return "above 0.999999" if power > 0.999999 else f"{power:.6g}"


# -- historical bugs -------------------------------------------------------------------------------


def decoder_name(bug: Bug | None) -> str:
    """The name of the sampled decoder, for results and files."""
    return f"broken on purpose: {BUG_WORDS[bug.key].label}" if bug else "correct"


@dataclass(frozen=True)
class BugWords:
    """label: the bug's name. about: what is wrong. shows, hides: where the bias can be seen, and
    why it cannot be seen elsewhere."""

    label: str
    about: str
    shows: str
    hides: str


_REUSED = (
    "In the joint distribution of two tokens from different steps. If the tree is a root with one "
    "level of children, often all of them are rejected, and the second token then needs a second "
    "step."
)
BUG_WORDS = {
    "float16": BugWords(
        "drafting: float16 random numbers",
        "Children are drawn as the argmax of log(u) / q with u drawn in float16, which gives only "
        "2,048 different values. A token with q below about 0.001 is drawn too rarely, one with q "
        "below 0.0001 almost never, but verification assumes that each is drawn with probability "
        "q.",
        "At a high temperature, where many rare tokens together have a large share of q: the small "
        "model hardly ever proposes them, so far too few of them reach the output.",
        "At low temperatures rare tokens have hardly any share, and a toy with a few words has no "
        "rare ones. Texts look normal, because the missing tokens are rare anyway.",
    ),
    "draft-noise": BugWords(
        "drafting: random numbers reused",
        "The random numbers that draw the guesses are reused at each step. So a token that was "
        "just rejected tends to be guessed again.",
        _REUSED,
        "The first token of a text has exactly the right distribution: within one step no random "
        "number is used twice. Every test of first tokens passes.",
    ),
    "walk-u": BugWords(
        "verifier: random numbers reused",
        "The random numbers u that accept or reject tokens are drawn once for a whole text and "
        "reused at each step. After a rejection u is known to be large, so the next step rejects "
        "more often than it should.",
        _REUSED,
        "The first token of a text has exactly the right distribution: within one step no u is "
        "used twice. Every test of first tokens passes.",
    ),
    "dropped": BugWords(
        "unlikely children dropped",
        "A child with q below 0.1 is dropped after it was drawn, to save a node of the tree. The "
        "step is verified as if the child had never been drawn. Taken together, tokens with such a "
        "q are then emitted less often than p demands, and the others too often.",
        "Where the small model spreads over several tokens, some with q above 0.1 and some below. "
        "The bias shows even in the first token.",
        "The bug has no effect if every drawn child has a q of 0.1 or more (common at low "
        "temperatures): then none is dropped. It also has none if every token has q below 0.1: "
        "then all children are dropped, and every token is drawn from the large model alone.",
    ),
    "last-token": BugWords(
        "last token ignores rejections",
        "After all children of a node are rejected, the large model's own token is drawn from p "
        "instead of the residual distribution. Tokens to which the small model gives too much "
        "probability get a second chance, so they are emitted too often.",
        "Wherever the two models differ. The bias shows even in the first token.",
        "Where p and q agree, hardly any token is rejected. At temperature 0, p and the residual "
        "are the same single token: every greedy test passes.",
    ),
}


# -- the recorded tests, and what a test would find ------------------------------------------------


WHAT_IT_DOES = "One text shows no bug; thousands do. Test a decoder:"
SCOPE = (
    "Unless a bug is chosen under Decoder, drafted tokens are drawn and verified as in real runs. "
    "With a toy, p and q are as typed. With the pair, they come from a plain forward pass over the "
    "whole text, without a tree or a KV cache, with the large model in float32. So this test does "
    "not cover the forward pass over a tree or the KV cache. The self-test at load and the check "
    "after a run cover both."
)
HOW_TO_READ = (
    "The bars show how often each outcome was sampled, and the marks show its exact probability. "
    "Red: off by more than 3 standard deviations. Total variation: half the sum of the absolute "
    "differences between sampled and exact. p-value: the probability that a correct decoder "
    "deviates this much or more. The toy has three words (a, b and c), and the first two words of "
    "each text are counted."
)
RECORDED_WORDS = {  # by the bug of the decoder
    None: ("Every pair of words comes as often as it should, up to chance."),
    "draft-noise": ("Every first word comes as often as it should, but some pairs do not."),
}


def far_words(test: Mapping[str, Any]) -> str:
    """How far off all counts of a test are together, and how rare that is."""
    p = f"; p-value {p_words(test['p_value'])}" if test["p_value"] is not None else ""
    return (
        f"{test['draws']:,} texts. Total variation {test['distance']:.1%}; chance alone gives "
        f"{test['floor']:.1%} on average{p}."
    )


def found_words(power: float | None, is_biased: bool, is_hidden: bool) -> str:
    """With what probability a test finds a bug. is_biased: whether the bug changes the counted
    outcomes at all."""
    if power is None:
        return "not computed for this setting"
    if not is_biased:
        return "never: no bias here"
    return f"hidden here ({power:.2g})" if is_hidden else _power(power)
