"""The content of the Hardware view, computed from a profile, an acceptance vector and the latest
run. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from sequoia import DecodeStats, HardwareProfile, Run, SequoiaError, best_plan
from sequoia.algorithm.tree import MAX_NODES
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.diagnosis.where_time_went import check_prediction
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.measuring.counted_acceptance import AcceptanceByLevel
from sequoia.planning.compare_plans import at_batches, fastest
from sequoia.planning.plan_for_machine import Plan, bounds, levels_for, predict, speedup_grid
from sequoia.saved_files.race_results import PARTS
from sequoia.validate_input import json_text
from ui.hardware import figures
from ui.run import recordings
from ui.run.report import DraftedLane, drafted_lane
from ui.shared.acceptance_rates import Rates, by_level_table
from ui.shared.saved_profiles import Entry
from ui.words.figures import time_words
from ui.words.hardware import (
    averaged_words,
    batch_words,
    largest_words,
    level_words,
    mixed_words,
    there_words,
)
from ui.words.plans import effects, prediction_words, why

SIZES = {2**k for k in range(11)} | {3 * 2**k for k in range(9)}  # 1, 2, 3, 4, 6, 8 ... 768, 1024


def message(
    entry: Entry,
    rates: Rates,
    nodes: int | None,
    against: Entry | None,
    run: DraftedLane | None = None,
    here: HardwareProfile | None = None,
    known: Mapping[str, Rates] | None = None,
    notice: str | None = None,
    most: int = MAX_NODES,
    made_here: bool = False,
) -> str:
    """A message with everything the view shows.

    nodes: the most nodes of a tree; if None, the planner's own bound for each profile, but at most
    `most`.
    against: the profile to compare with. run: the latest run, to compare with its prediction.
    here: this machine's profile; None if no models are loaded. known: the acceptance vectors to
    choose from for the prediction of the run; if None, only `rates`. notice: the text of a banner.
    most: the largest size that visitors may choose. made_here: whether the run was made here,
    on any clock. Raises a SequoiaError for sizes out of bounds.
    """
    profile = entry.profile
    largest = _largest(profile, nodes, most)
    best = best_plan(rates.acceptance, profile, largest)
    wanted = {*SIZES, largest, len(best.tree)}
    sizes = sorted(n for n in wanted if n <= largest)
    grid = speedup_grid(rates.acceptance, profile, sizes, range(1, levels_for(largest) + 1))
    plan = fastest(grid)
    supposed = _mixed_models_warning(entry, here, rates)
    batches = at_batches(rates.acceptance, profile, largest)
    capped = largest_words(largest) if len(plan.tree) == largest > 1 else ""
    shown = [(entry.name, profile), *([(against.name, against.profile)] if against else [])]
    return json_text(
        {
            "notice": notice,
            "view": {
                "profile": _facts(entry),
                "against": against.name if against else None,
                "file": entry.file(),
                "rates": {"name": rates.name, "label": rates.label},
                "plan": _numbers(plan, profile),
                "supposed": supposed,
                "why": why(grid, profile) + capped,
                "figures": {
                    "heat": figures.heat_map(grid).to_plotly_json(),
                    "verify": figures.verify_curve(shown).to_plotly_json(),
                    "small": figures.small_curves(shown).to_plotly_json(),
                    "batch": figures.batch_lines(batches).to_plotly_json(),
                },
                "levels": level_words(profile.level_overhead) if profile.level_overhead else None,
                "averaged": averaged_words(profile),
                "batch": batch_words(batches),
                "there": against
                and _there(against, here, rates, _largest(against.profile, nodes, most)),
                "run": _run(run, here, known or {"given": rates}),
                "by_level": _by_level_tables(run and run.run, made_here),
            },
        }
    )


def notice_message(
    *, error: str | None = None, notice: str | None = None, share: float | None = None
) -> str:
    """A message with the text of a banner, and nothing else to show. share: progress of a
    measurement, 0 to 1."""
    return json_text({"error": error, "notice": notice, "share": share})


# -- parts -----------------------------------------------------------------------------------------


def _facts(entry: Entry) -> dict[str, Any]:
    profile = entry.profile
    target, draft = entry.model_names
    return {
        "name": entry.name,
        "label": profile.source,
        "note": entry.note,
        "device": profile.device,
        "dtype": profile.dtype,
        "target": target,
        "draft": draft,
        "prefix": profile.prefix_length,
        "date": profile.date,
    }


def _numbers(plan: Plan, profile: HardwareProfile) -> dict[str, Any]:
    return {
        "nodes": len(plan.tree),
        "levels": plan.tree.levels,
        "tokens": plan.expected_tokens,
        "seconds": plan.predicted_seconds,
        "speedup": plan.predicted_speedup,
        "plain": profile.plain_seconds,
    }


def _largest(profile: HardwareProfile, asked: int | None, most: int) -> int:
    """The most nodes of a tree to consider."""
    return min(bounds(profile)[0], most) if asked is None else asked


def _there(against: Entry, here: HardwareProfile | None, rates: Rates, nodes: int) -> str:
    plan = best_plan(rates.acceptance, against.profile, nodes)
    label = _label(_mixed_models_warning(against, here, rates))
    return there_words(against.name, against.profile.source, plan, label)


def _label(supposed: str | None) -> str:
    return "hypothetical" if supposed else "predicted"


def _mixed_models_warning(entry: Entry, here: HardwareProfile | None, rates: Rates) -> str | None:
    """A warning if times and acceptance may be of different models, so that no real pair would run
    as predicted. None if there is nothing to warn of. Acceptance without `models` is that of the
    loaded pair. If no pair is loaded, only times from a paper then cause a warning."""
    profile = entry.profile
    times = (profile.target, profile.draft)
    counted = rates.models or (here and (here.target, here.draft))
    if counted == times or (counted is None and profile.source != "paper"):
        return None
    return mixed_words(entry.model_names, rates.name)


def _run(
    lane: DraftedLane | None, here: HardwareProfile | None, known: Mapping[str, Rates]
) -> dict[str, Any] | None:
    """The fields of a message that compare the lane of a run with the prediction for its largest
    tree. None if that is not possible, as for a run that was not measured on this machine.

    The prediction uses this machine's profile, `here`, and the vector that the tree was planned
    with. If `known` lacks this vector, the one counted at the nearest temperature is used instead.
    """
    if lane is None or here is None or not lane.run.steps or not _is_measured(lane.run):
        return None
    run, verdict = lane.run, lane.speedup
    rates = _planned_with(known, run) or _nearest(known, _temperature(run))
    plan = predict(
        max((step.tree for step in run.steps), key=len), rates.acceptance.smoothed(), here
    )
    try:
        found = check_prediction(DecodeStats.fold(run.steps), plan, here, lane.plain_seconds)
    except SequoiaError:
        return None
    words = effects(found)
    both = found.predicted, found.measured
    measured = verdict.ratio if verdict else found.measured.speedup
    return {
        "sentence": prediction_words(found, measured),
        "figure": figures.phase_bars(found).to_plotly_json(),
        "predicted": found.predicted.speedup,
        "measured": measured,
        "verdict": verdict and asdict(verdict),
        "parts": [
            [part, *(_said(part, getattr(one, part)) for one in both), words[part]]
            for part in PARTS
        ],
        "steps": len(run.steps),
        "nodes": len(plan.tree),
        "levels": plan.tree.levels,
        "rates": rates.name,
        "rates_label": rates.label,
    }


def _said(part: str, value: float) -> str:
    return f"{value:.2f}" if part == "tokens" else time_words(value)


def _is_measured(run: Run) -> bool:
    """Whether this program has just measured the times of a run. A run from a file has another
    label, and so has a run on a simulated clock."""
    return run.meta.get("label") == "measured"


def _planned_with(known: Mapping[str, Rates], run: Run) -> Rates | None:
    """The vector in `known` that the run's tree was planned with; None if there is none."""
    return next(
        (
            rates
            for rates in known.values()
            if list(rates.acceptance.rates) == run.meta.get("acceptance")
        ),
        None,
    )


def _nearest(known: Mapping[str, Rates], temperature: float) -> Rates:
    """The vector counted at the nearest temperature; the first one if none has a temperature."""
    counted = [
        (abs(rates.temperature - temperature), rates)
        for rates in known.values()
        if rates.temperature is not None
    ]
    return min(counted, key=lambda one: one[0])[1] if counted else next(iter(known.values()))


def _temperature(run: Run) -> float:
    """The temperature of a run; 1 if its meta does not say."""
    params = run.meta.get("params")
    value = params.get("temperature") if isinstance(params, Mapping) else None
    return float(value) if isinstance(value, int | float) else 1.0


def _by_level_tables(run: Run | None, made_here: bool) -> list[dict[str, Any]]:
    """Tables of acceptance by rank and level: one for `run`, if any node was tried in it, then one
    for each temperature of the runs that `recorded` counts. The counts of a run made here are
    labelled measured, whatever its clock: a simulated clock changes the times, not the tokens."""
    tables = [
        by_level_table("runs" if runs > 1 else "1 run", "recorded", temperature, runs, by_level)
        for temperature, (runs, by_level) in recorded().items()
    ]
    counts = AcceptanceByLevel.fold(run.steps if run is not None else ())
    if run is not None and counts.cells:
        is_new = made_here or _is_measured(run)
        name, label = ("latest run", "measured") if is_new else ("run on screen", "recorded")
        tables.insert(0, by_level_table(name, label, _temperature(run), 1, counts))
    return tables


@cache
def recorded() -> dict[float, tuple[int, AcceptanceByLevel]]:
    """By temperature, the number of runs shipped with the program and the sum of their counts. Only
    runs with the default verifier and the bundled draft are counted."""
    found: dict[float, tuple[int, AcceptanceByLevel]] = {}
    for name in [one.name for one in recordings.examples()]:
        lane = drafted_lane(recordings.example(name).log(), None)
        if lane is None or not _is_usual(lane.run):
            continue
        at = _temperature(lane.run)
        runs, by_level = found.get(at, (0, AcceptanceByLevel()))
        found[at] = runs + 1, by_level + AcceptanceByLevel.fold(lane.run.steps)
    return dict(sorted(found.items()))


def _is_usual(run: Run) -> bool:
    draft = str(run.meta.get("draft", ""))
    return run.meta.get("verifier") == DEFAULT_VERIFIER and draft.startswith(BUNDLED_NAME)
