"""Tokens per step of all verifiers when top-p cuts off the least probable tokens (paper: Table
8)."""

from __future__ import annotations

from dataclasses import replace

from sequoia.experiments.experiment import Done, Experiment
from sequoia.experiments.result import Axis, Column, ExperimentResult, Settings
from sequoia.experiments.text_units import cases, text_units
from sequoia.experiments.verifiers_compared import FIXED, NOTE, WALKS, run_unit, summary
from sequoia.planning.paper_results import METHODS, paper_file

_FIXED = {**FIXED, "temperatures": [1.0], "top_ps": [0.8, 0.9, 1.0]}
# name of a verifier -> its key in the paper's tables
_IN_PAPER = dict(zip(WALKS, METHODS, strict=True))


def paper_tokens() -> dict[tuple[str, float], float]:
    """Tokens per step in Table 8 of arXiv 2402.12374, by verifier and top-p."""
    table = next(table for table in paper_file()["tables"] if table["key"] == "top-p")
    return {
        (name, float(row["texts"].removeprefix("top-p "))): row["results"][key][0]
        for row in table["rows"]
        for name, key in _IN_PAPER.items()
    }


def _summary(settings: Settings, done: Done) -> ExperimentResult:
    result = summary(settings, done, Axis("top-p", "top-p"), lambda case: case.top_p)
    top_p = {case.words: case.top_p for case in cases(settings)}
    paper = paper_tokens()
    rows = tuple(
        {**row, "paper": paper.get((str(row["verifier"]), top_p[str(row["case"])]))}
        for row in result.rows
    )
    column = Column("paper", "tokens per step in Table 8", "paper")
    return replace(result, rows=rows, columns=(*result.columns, column))


TOP_P = Experiment(
    name="top-p",
    title="Verifiers with top-p",
    question="Which verifier emits the most tokens per step, with and without top-p?",
    sizes={
        "small": {**_FIXED, "kinds": ["code"], "prompts": 4, "tokens": 64},
        "full": {**_FIXED, "kinds": ["code", "prose"], "prompts": 12, "tokens": 112},
    },
    units=text_units,
    run_unit=run_unit,
    summary=_summary,
    note=NOTE,
)
