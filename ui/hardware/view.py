"""The content of the Hardware view, computed from a profile, an acceptance vector and the latest
run. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sequoia import DecodeStats, HardwareProfile, Run, SequoiaError, best_plan
from sequoia.algorithm.tree import MAX_NODES
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.diagnosis.where_time_went import check_prediction
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.measuring.counted_acceptance import AcceptanceByLevel
from sequoia.measuring.defaults import SLACK
from sequoia.planning.compare_plans import fastest, knee, runner_up
from sequoia.planning.plan_for_machine import Plan, bounds, levels_for, predict, speedup_grid
from sequoia.saved_files.race_results import PARTS
from sequoia.validate_input import and_list, json_text
from ui.decode import recordings
from ui.hardware import figures
from ui.hardware.profile_job import Measurement
from ui.shared.acceptance_rates import Rates, by_level_table
from ui.shared.saved_profiles import Entry
from ui.words.figures import size_words, time_words
from ui.words.plans import effects, prediction_words, why

SIZES = {2**k for k in range(11)} | {3 * 2**k for k in range(9)}  # 1, 2, 3, 4, 6, 8 ... 768, 1024
_VISIBLE = 0.02  # smallest relative change of a time that is mentioned


def message(
    entry: Entry,
    rates: Rates,
    nodes: int | None,
    against: Entry | None,
    run: Run | None = None,
    here: HardwareProfile | None = None,
    known: Mapping[str, Rates] | None = None,
    notice: str | None = None,
    most: int = MAX_NODES,
    made_here: bool = False,
) -> str:
    """A message with everything the view shows.

    nodes: the most nodes of a tree; if None, the planner's own bound for each profile, but at most
    `most`. The tree for Decode's default setting is bounded as if `nodes` were None.
    against: the profile to compare with. run: the latest run, to compare with its prediction.
    here: this machine's profile; None if no models are loaded. known: the acceptance vectors to
    choose from for the prediction of the run; if None, only `rates`. notice: the text of a banner.
    most: the largest size that visitors may choose. made_here: whether the run was made in Decode,
    on any clock. Raises a SequoiaError for sizes out of bounds.
    """
    profile = entry.profile
    largest = _largest(profile, nodes, most)
    best = best_plan(rates.acceptance, profile, largest)
    default = best_plan(rates.acceptance, profile, _largest(profile, None, most), slack=SLACK)
    wanted = {*SIZES, largest, len(best.tree), len(default.tree)}
    sizes = sorted(n for n in wanted if n <= largest)
    grid = speedup_grid(rates.acceptance, profile, sizes, range(1, levels_for(largest) + 1))
    plan = fastest(grid)
    supposed = _mixed_models_warning(entry, here, rates)
    shown = [(entry.name, profile), *([(against.name, against.profile)] if against else [])]
    return _text(
        {
            "notice": notice,
            "view": {
                "profile": _facts(entry),
                "against": against.name if against else None,
                "file": entry.file(),
                "rates": {"name": rates.name, "label": rates.label},
                "plan": _numbers(plan, profile),
                "knee": {"nodes": knee(profile), "most": profile.target_seconds[-1][0]},
                "supposed": supposed,
                "why": why(grid, profile) + _capped(plan, largest, most),
                "default": _default(default, plan, runner_up(grid), profile is here, supposed),
                "tree": list(plan.tree.parents),
                "figures": {
                    "heat": figures.heat_map(grid).to_plotly_json(),
                    "verify": figures.verify_curve(shown).to_plotly_json(),
                    "small": figures.small_curves(shown).to_plotly_json(),
                },
                "levels": _levels(profile),
                "averaged": _averaged(profile),
                "there": against
                and _plan_elsewhere(against, here, rates, _largest(against.profile, nodes, most)),
                "run": _run(run, here, known or {"given": rates}),
                "by_level": _by_level_tables(run, made_here),
            },
        }
    )


def notice_message(
    *, error: str | None = None, notice: str | None = None, share: float | None = None
) -> str:
    """A message with the text of a banner, and nothing else to show. share: progress of a
    measurement, 0 to 1."""
    return _text({"error": error, "notice": notice, "share": share})


def change_words(before: HardwareProfile | None, measurement: Measurement) -> str:
    """A sentence about a new measurement of this machine: the time of a one-token pass of the
    target, and its change since the measurement `before`; or why it is not used."""
    if measurement.doubt:
        return (
            "The earlier measurement is kept: other programs seem to have slowed this one down, as "
            f"{measurement.doubt}. Measure again; if the result is the same, it is used."
        )
    seconds = measurement.profile.verify_seconds(1)
    words = f"A one-token pass takes {time_words(seconds)}"
    if before is None:
        return f"{words}, measured."
    last = before.verify_seconds(1)
    change = round((seconds / last - 1) * 100)
    if not change:
        return f"{words}, as before."
    return f"{words}; before, it took {time_words(last)} ({change:+d}%)."


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
        "versions": dict(profile.versions),
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


def _plan_elsewhere(against: Entry, here: HardwareProfile | None, rates: Rates, nodes: int) -> str:
    """In words: the best plan with the times of `against`."""
    plan = best_plan(rates.acceptance, against.profile, nodes)
    return (
        f"With the times of {against.name} ({against.profile.source}) and the same "
        f"acceptance: {size_words(plan.tree)}, {plan.expected_tokens:.2f} tokens in "
        f"{time_words(plan.predicted_seconds)}, {plan.predicted_speedup:.2f}× plain decoding "
        f"({_label(_mixed_models_warning(against, here, rates))})."
    )


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
    target, draft = entry.model_names
    return (
        f"Hypothetical: the times are those of {target} with {draft}, but the "
        f"acceptance is that of {rates.name}. "
    )


def _levels(profile: HardwareProfile) -> str | None:
    """A sentence on the overhead per level, which the curve of overhead by nodes does not include;
    None if the profile has no such overhead."""
    if not profile.level_overhead:
        return None
    return (
        f"Not in the overhead curve: {time_words(profile.level_overhead)} per drafted level, "
        "however many nodes it has. It covers sampling the level's tokens and, after the "
        "target's pass, accepting or rejecting them."
    )


def _averaged(profile: HardwareProfile) -> str | None:
    """A sentence on the times of a target pass that planning uses; None if they are nearly equal to
    the times in the profile."""
    changed = [
        nodes
        for nodes, seconds, _ in profile.target_seconds
        if abs(profile.verify_seconds(nodes) / seconds - 1) > _VISIBLE
    ]
    if not changed:
        return None
    flat = dict.fromkeys(map(profile.verify_seconds, changed))
    averages = and_list([_average(profile, seconds) for seconds in flat])
    return (
        "More nodes cannot take less time, so a fall in the curve is noise, and planning uses "
        f"an average: {averages}."
    )


def _average(profile: HardwareProfile, seconds: float) -> str:
    """In words: the time of a target pass that planning uses for several sizes in a row."""
    same = [size for size, *_ in profile.target_seconds if profile.verify_seconds(size) == seconds]
    return f"{time_words(seconds)} for {same[0]} to {same[-1]} nodes"


def _capped(plan: Plan, nodes: int, most: int) -> str:
    """A hint that a larger tree may be faster, if the best tree has `nodes` nodes, the largest size
    considered, and more than one. Otherwise empty. most: the largest size that “Max nodes”
    accepts."""
    if not len(plan.tree) == nodes > 1:
        return ""
    words = f" The best tree has {nodes} nodes, the largest size considered."
    words += " A larger tree may be faster"
    return f"{words}: set “Max nodes” above {nodes}." if nodes < most else f"{words}."


def _default(
    default: Plan, plan: Plan, second: Plan | None, here: bool, supposed: str | None
) -> str:
    """In sentences: the tree that Decode's default setting would choose with the same times and
    acceptance. plan: the fastest tree. second: the runner-up. here: whether the times are this
    machine's. supposed: as `_mixed_models_warning` returns it."""
    rule = (
        f"In Decode, “Sequoia, planned for this machine” {'is' if here else 'would be'} the tree "
        "with the most expected tokens per step of those that are at most "
        f"{SLACK * 100:g}% slower than the fastest. Here"
    )
    if default.tree == plan.tree:
        return f"{rule} that is the fastest tree."
    if second and default.tree == second.tree:
        return f"{rule} that is the runner-up."
    return (
        f"{rule} that tree has {size_words(default.tree)}: {default.expected_tokens:.2f} tokens "
        f"per step, {default.predicted_speedup:.2f}× plain ({_label(supposed)})."
    )


def _run(
    run: Run | None, here: HardwareProfile | None, known: Mapping[str, Rates]
) -> dict[str, Any] | None:
    """The fields of a message that compare the run with the prediction for its largest tree. None
    if that is not possible, as for a run that was not measured on this machine.

    The prediction uses this machine's profile, `here`, and the vector that the tree was planned
    with. If `known` lacks this vector, the one counted at the nearest temperature is used instead.
    """
    if run is None or here is None or not run.steps or not _is_measured(run):
        return None
    rates = _planned_with(known, run) or _nearest(known, _temperature(run))
    plan = predict(
        max((step.tree for step in run.steps), key=len), rates.acceptance.smoothed(), here
    )
    verdict = run.meta.get("speedup")
    try:
        found = check_prediction(
            DecodeStats.fold(run.steps), plan, here, verdict and verdict["seconds"][1]
        )
    except SequoiaError:
        return None
    words = effects(found)
    measured = verdict["ratio"] if verdict else found.measured.speedup
    return {
        "sentence": prediction_words(found, measured),
        "figure": figures.phase_bars(found).to_plotly_json(),
        "predicted": found.predicted.speedup,
        "measured": measured,
        "verdict": verdict,
        "parts": [
            [part, getattr(found.predicted, part), getattr(found.measured, part), words[part]]
            for part in PARTS
        ],
        "steps": len(run.steps),
        "nodes": len(plan.tree),
        "levels": plan.tree.levels,
        "rates": rates.name,
        "rates_label": rates.label,
    }


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
    for each temperature of the runs that `recorded` counts. The counts of a run made in Decode are
    labelled measured, whatever its clock: a simulated clock changes the times, not the tokens."""
    tables = [
        by_level_table("runs" if runs > 1 else "1 run", "recorded", temperature, runs, by_level)
        for temperature, (runs, by_level) in recorded().items()
    ]
    counts = AcceptanceByLevel.fold(run.steps if run is not None else ())
    if run is not None and counts.cells:
        is_new = made_here or _is_measured(run)
        name, label = ("latest run", "measured") if is_new else ("run in Decode", "recorded")
        tables.insert(0, by_level_table(name, label, _temperature(run), 1, counts))
    return tables


@cache
def recorded() -> dict[float, tuple[int, AcceptanceByLevel]]:
    """By temperature, the number of runs shipped with the program and the sum of their counts. Only
    runs with the default verifier and the bundled draft are counted."""
    found: dict[float, tuple[int, AcceptanceByLevel]] = {}
    for path in recordings.shipped().values():
        try:
            run = Run.from_json(path.read_text(encoding="utf-8"))
        except SequoiaError:
            continue
        if not _is_usual(run):
            continue
        runs, by_level = found.get(_temperature(run), (0, AcceptanceByLevel()))
        found[_temperature(run)] = runs + 1, by_level + AcceptanceByLevel.fold(run.steps)
    return dict(sorted(found.items()))


def _is_usual(run: Run) -> bool:
    draft = str(run.meta.get("draft", ""))
    return run.meta.get("verifier") == DEFAULT_VERIFIER and draft.startswith(BUNDLED_NAME)


def _text(value: Mapping[str, Any]) -> str:
    return json_text({"v": 1, **value})
