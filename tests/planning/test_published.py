"""Published speeds on one scale."""

from __future__ import annotations

import pytest

from sequoia.planning import published
from sequoia.planning.published import floor_ms, published_figures, tuned_baseline
from sequoia.text_files import load_json

FIGURES = {(one.system, one.model): one for one in published_figures()}


def test_the_floor_is_the_time_of_reading_the_weights() -> None:
    card, model = {"gb_per_s": 2000}, {"parameters": 7_000_000_000}
    assert floor_ms(card, model) == pytest.approx(7.0)  # 14 GB at 2 TB/s


@pytest.mark.parametrize(
    ("system", "tokens_per_second", "over_floor"),
    [
        ("gpt-fast, plain", 104.9, 0.69),
        ("SGLang, plain", 158.34, 0.76),
        ("EAGLE-3 in SGLang", 373.25, 1.79),
        ("JetSpec", 910.3, 1.86),
        ("Sequoia", 166.7, 1.16),
    ],
)
def test_figures_have_the_speed_of_their_sources(
    system: str, tokens_per_second: float, over_floor: float
) -> None:
    found = next(one for one in published_figures() if one.system == system)
    assert found.tokens_per_second == pytest.approx(tokens_per_second, rel=1e-3)
    assert found.over_floor == pytest.approx(over_floor, abs=0.006)


def test_plain_decoding_stays_below_the_floor_and_stated_speedups_are_met() -> None:
    assert all(one.over_floor < 1 for one in published_figures() if one.claimed is None)
    plain = FIGURES["SGLang, plain", "Llama-3.1-8B"].ms
    for system in ("EAGLE-2 in SGLang", "EAGLE-3 in SGLang"):
        found = FIGURES[system, "Llama-3.1-8B"]
        assert plain / found.ms == pytest.approx(found.claimed, rel=0.005)


def test_the_tuned_baseline_is_faster_than_the_papers() -> None:
    baseline = FIGURES["transformers, plain", "Llama-2-7B"]
    assert tuned_baseline().model == baseline.model
    assert 2 < baseline.ms / tuned_baseline().ms < 3


def test_every_published_figure_names_its_source() -> None:
    assert all(one.source for one in published_figures())
    content = load_json(published.FILE)
    assert all(one["url"].startswith("https://") for one in content["figures"])
    assert all(card["source"] for card in content["cards"].values())
