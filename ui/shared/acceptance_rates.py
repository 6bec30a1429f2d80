"""The acceptance vectors that a tree can be planned with, each with a name and a label, and a table
of how often children were accepted, by their rank and the depth of their parent. For acceptance
vectors see sequoia/algorithm/acceptance.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sequoia import Acceptance, Pair
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.measuring.counted_acceptance import AcceptanceByLevel, depth_test
from sequoia.planning.paper_results import paper_acceptance
from ui.words.hardware import depth_words

# from appendix E of the paper
PAPER = paper_acceptance()
PAPER_MODELS = ("Llama3-70B-Instruct", "Llama3-8B-Instruct")


@dataclass(frozen=True)
class Rates:
    """An acceptance vector. label: "recorded", "measured" or "paper". temperature: the sampling
    temperature at which it was counted; None if not known. models: names of (target, draft); None
    for the loaded pair. short: a shorter name, for menus."""

    name: str
    label: str
    acceptance: Acceptance
    temperature: float | None = None
    models: tuple[str, str] | None = None
    short: str = ""


def rates_of(pair: Pair | None) -> dict[str, Rates]:
    """The vectors to plan with, by key: those shipped with the pair, those measured for it, and
    the paper's. Only the paper's if `pair` is None."""
    found: dict[str, Rates] = {}
    if pair is None:
        name = "Llama3-70B with 8B, CNN"
        return {"paper": Rates(name, "paper", PAPER, models=PAPER_MODELS, short=name)}
    for known in pair.known:
        kind = known.kind and f" {known.kind}"
        key = f"T{known.temperature:g}{'' if known.kind == pair.known[0].kind else kind}"
        short = f"{known.kind and known.kind + ', '}T {known.temperature:g}"
        name = f"{pair.name} pair, {short}"  # such as "bundled pair, code, T 0.6"
        found[key] = Rates(name, "recorded", known.acceptance, known.temperature, short=short)
    for how, findings in (("", pair.measured), (", as a chat", pair.measured.chats)):
        for (temperature, top_p, verifier), acceptance in dict(
            findings.acceptances if findings else {}
        ).items():
            rule = how if verifier == DEFAULT_VERIFIER else f"{how}, {verifier}"
            short = f"T {temperature:g}, top-p {top_p:g}{rule}"
            found[f"T{temperature:g}/{top_p:g}{rule}"] = Rates(
                f"this pair, {short}", "measured", acceptance, temperature, short=short
            )
    return {**found, **rates_of(None)}


# -- rates by rank and depth -----------------------------------------------------------------------


# the most ranks and depths in a table
MAX_RANKS = 10
MAX_DEPTHS = 14


def by_level_table(
    name: str, label: str, temperature: float, runs: int, by_level: AcceptanceByLevel
) -> dict[str, Any]:
    """The table as a JSON object. web/acceptance_table.js describes its fields."""
    cells = [
        [depth, rank, cell.visits, cell.accepted, *cell.interval]
        for (depth, rank), cell in sorted(by_level.cells.items())
        if depth < MAX_DEPTHS and rank < MAX_RANKS
    ]
    totals = [by_level.by_rank(rank) for rank in range(min(by_level.ranks, MAX_RANKS))]
    verdict = depth_test(by_level)
    doubtful = None if verdict.holds is None else [verdict.depth, verdict.rank]
    return {
        "name": name,
        "label": label,
        "temperature": temperature,
        "runs": runs,
        "depths": min(by_level.depths, MAX_DEPTHS),
        "ranks": min(by_level.ranks, MAX_RANKS),
        "of": [by_level.depths, by_level.ranks],
        "cells": cells,
        "all": [[cell.visits, cell.accepted, *cell.interval] for cell in totals],
        "holds": verdict.holds,
        "doubtful": doubtful,
        "sentence": depth_words(verdict),
    }
