"""Tokens per step of all verifiers at several temperatures (paper: Figure 4, right)."""

from __future__ import annotations

from sequoia.experiments.experiment import Done, Experiment
from sequoia.experiments.result import Axis, ExperimentResult, Settings
from sequoia.experiments.text_units import text_units
from sequoia.experiments.verifiers_compared import FIXED, NOTE, run_unit, summary


def _summary(settings: Settings, done: Done) -> ExperimentResult:
    axis = Axis("temperature", "temperature")
    return summary(settings, done, axis, lambda case: case.temperature)


TEMPERATURE = Experiment(
    name="temperature",
    title="Verifiers at several temperatures",
    question="Which verifier emits the most tokens per step, from temperature 0 upwards?",
    sizes={
        "small": {
            **FIXED,
            "kinds": ["code"],
            "temperatures": [0.0, 0.6, 1.0],
            "prompts": 4,
            "tokens": 64,
        },
        "full": {
            **FIXED,
            "kinds": ["code", "prose"],
            "temperatures": [0.0, 0.3, 0.6, 1.0, 1.2],
            "prompts": 12,
            "tokens": 112,
        },
    },
    units=text_units,
    run_unit=run_unit,
    summary=_summary,
    note=NOTE,
)
