"""The claims of the paper, each with what this program measured or simulated, and a verdict that
is computed from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.experiments import claims, ranks
from sequoia.experiments.result import Ratio
from sequoia.planning.paper_results import PaperTable, paper_file, paper_tables
from sequoia.planning.published import tuned_baseline
from sequoia.text_files import load_json
from ui.experiments.messages import recorded_result
from ui.paper.tables import deviation, spread
from ui.words.experiments import WORDS
from ui.words.paper import (
    gain_words,
    lossless_words,
    range_words,
    tuned_words,
)

LOSSLESSNESS = ASSETS / "losslessness.json"


@dataclass(frozen=True)
class Evidence:
    """What stands beside a claim. paper, here: what the paper and this program found, in words.
    label: where the numbers of `here` come from."""

    verdict: str
    paper: str
    here: str
    label: str


@dataclass(frozen=True)
class Claim:
    """A claim and its evidence. about: the claim in full; empty if `text` says it all. rule: a key
    of RULES in ui/words/paper.py. experiment, panel: where more is shown; empty if nowhere."""

    text: str
    source: str
    about: str
    rule: str
    experiment: str
    panel: str
    evidence: Evidence


def all_claims() -> Iterator[Claim]:
    for one in paper_file()["claims"]:
        more = (one.get(name, "") for name in ("about", "rule", "experiment", "panel"))
        yield Claim(one["claim"], one["source"], *more, evidence=FINDERS[one["rule"]](one))


# -- the rules -------------------------------------------------------------------------------------


def _better(claim: Mapping[str, Any]) -> Evidence:
    gain = claim.get("gain", 0.0)
    paper = claim.get("paper") or (f"+{gain:.0%}" if gain else "–")
    result = recorded_result(claim["experiment"])
    ratios = _compared(claim, result.ratios)
    label = WORDS[claim["experiment"]].label(result)
    return Evidence(claims.better(ratios, gain), paper, gain_words(ratios), label)


def _compared(claim: Mapping[str, Any], ratios: Sequence[Ratio]) -> list[Ratio]:
    """The ratios that the claim is about. "size" stands for the tree of a fixed size."""
    others = claim["others"]
    return [
        one
        for one in ratios
        if one.one == claim.get("one", one.one)
        and ("size" if one.other.isdigit() else one.other) in others
    ]


def _power_law(claim: Mapping[str, Any]) -> Evidence:
    result = recorded_result(claim["experiment"])
    curves = dict[tuple[Any, ...], list[tuple[float, float]]]()
    for row in result.rows:
        if row.lane == ranks.OURS:
            place = (row.at["kind"], row.at["temperature"])
            point = (float(row.at["children"]), row.figures["rejected"].mean)
            curves.setdefault(place, []).append(point)
    fits = [ranks.power_law(*zip(*points, strict=True))[1] for points in curves.values()]
    here = f"R² {min(fits):.2f}–{max(fits):.2f}"
    return Evidence(claims.straight(fits), claim["paper"], here, result.label)


def _table(claim: Mapping[str, Any]) -> Evidence:
    tables = [table for table in paper_tables() if table.key in claim["tables"]]
    pairs = [pair for table in tables for pair in _speedups(table)]
    shares = [deviation(simulated, paper) for paper, simulated in pairs]
    here = f"{range_words([simulated for _, simulated in pairs])} ({spread(shares)})"
    paper = range_words([paper for paper, _ in pairs])
    return Evidence(claims.close(shares), paper, here, "simulated")


def _speedups(table: PaperTable) -> Iterator[tuple[float, float]]:
    """The paper's and the simulated speed-up of Sequoia in each row."""
    for row in table.rows:
        yield row.results[0].speedup, table.simulated(row.results[0])


def _tuned(claim: Mapping[str, Any]) -> Evidence:
    (table,) = (table for table in paper_tables() if table.key == "a100-7b")
    claimed = max(row.results[0].speedup for row in table.rows)
    tuned = tuned_baseline()
    found = tuned.ms * claimed / (1e3 * table.profile.plain_seconds)
    verdict = claims.over_tuned(claimed, found)
    return Evidence(verdict, claim["paper"], tuned_words(found), tuned.label)


def _lossless(claim: Mapping[str, Any]) -> Evidence:
    correct, broken = load_json(LOSSLESSNESS)["tests"]
    verdict = claims.lossless(correct["kind"], broken["kind"])
    here = lossless_words(correct["p_value"])
    return Evidence(verdict, claim["paper"], here, "recorded")


FINDERS: dict[str, Callable[[Mapping[str, Any]], Evidence]] = {
    "better": _better,
    "power law": _power_law,
    "table": _table,
    "tuned": _tuned,
    "lossless": _lossless,
}
