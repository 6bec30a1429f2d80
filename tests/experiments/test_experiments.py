"""The experiments with tiny models, functions that they use, and the command that runs
experiments."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.errors import SequoiaError
from sequoia.experiments import __main__ as command
from sequoia.experiments import budget, texts
from sequoia.experiments.experiment import Entry, Unit, units
from sequoia.experiments.result import ExperimentResult
from sequoia.experiments.runner import EXPERIMENTS, complete_result, experiment_named
from sequoia.experiments.texts import (
    KINDS,
    Text,
    continued,
    new_tokens,
    planning_prompts,
    prompts_of,
)
from sequoia.experiments.verifiers import traversal_gain
from sequoia.models.pair import Pair
from tests.fakes import same_pair, tiny_pair

TINY = {
    "kinds": ["code"],
    "prompts": 2,
    "tokens": 12,
    "ranks": 4,
    "budgets": [16],
    "nodes": 8,
    "chain": 3,
    "widths": [1, 2],
    "depths": [2],
    "sizes": [2, 4],
    "stride": 12,
    "planning": [1, 6],
}


@cache
def pair() -> Pair:
    return tiny_pair(context=1024)


def text_after(pair: Pair, temperature: float, tokens: int = 24) -> Text:
    params = SamplingParams(temperature, max_new_tokens=tokens, ignore_eos=True)
    return continued(pair, planning_prompts("code")[0], params)


@pytest.fixture(autouse=True)
def _short_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "PLANNING_PROMPTS", 1)
    monkeypatch.setattr(texts, "PLANNING_TOKENS", 8)
    monkeypatch.setattr(budget, "PROMPTS", 1)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_gives_estimates_with_intervals_and_ratios(name: str) -> None:
    experiment = EXPERIMENTS[name]
    settings = {**experiment.sizes["small"], **TINY}
    done = {unit.key: list(experiment.measure(pair(), unit)) for unit in units(settings)}
    assert len(done) == len(units(settings))
    result = complete_result(experiment, pair(), settings, done)
    assert result.is_complete
    assert result.rows
    found = [one for row in result.rows for one in row.figures.values()]
    assert all(one.low is not None and one.mean >= 0 and one.prompts == 2 for one in found)
    assert all(one.ratio.low is not None for one in result.ratios)
    if machines := settings.get("machines"):
        assert {one.at["machine"] for one in result.ratios} == {*machines}
    assert result.ratios
    assert ExperimentResult.from_json(result.model_dump_json()) == result


@pytest.mark.parametrize("name", ["temperature", "top-p"])
def test_at_temperature_0_all_verifiers_are_equal(name: str) -> None:
    """All four tree verifiers emit the same number of tokens per step. So do the two verifiers on a
    chain: token and block verification."""
    experiment = EXPERIMENTS[name]
    settings = {**experiment.sizes["small"], **TINY, "temperatures": [0.0], "top_ps": [1.0]}
    unit = units(settings)[0]
    tokens = {one.lane: one.figures["tokens"] for one in experiment.measure(pair(), unit)}
    assert len({tokens[one] for one in ("sequoia", "specinfer", "topk", "traversal")}) == 1
    assert tokens["chain"] == tokens["block"]


def test_no_prompt_is_used_for_both_planning_and_measuring() -> None:
    for kind in KINDS:
        assert not set(prompts_of(kind)) & set(planning_prompts(kind))
        most = max(one.sizes["full"].get("prompts", 0) for one in EXPERIMENTS.values())
        assert len(set(prompts_of(kind))) >= most


def test_traversal_gains_on_a_chain_and_nothing_with_a_perfect_draft() -> None:
    chain = Tree.chain(5)
    text = text_after(pair(), 1.0)
    assert traversal_gain(pair(), text, chain, [1.0] * len(text.tokens), 4) > 1
    same = same_pair(context=1024)
    text = text_after(same, 1.0)
    gain = traversal_gain(same, text, Tree.kary(2, 3), [1.0] * len(text.tokens), 4)
    assert gain == pytest.approx(1, abs=1e-6)


def test_an_unknown_experiment_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SequoiaError, match=r"unknown experiment 'nothing'; known: budget, "):
        experiment_named("nothing")


def test_the_command_lists_and_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(one.question in listed for one in EXPERIMENTS.values())
    monkeypatch.setattr(command, "load_pair", lambda **_: pair())
    monkeypatch.setitem(EXPERIMENTS["ranks"].sizes, "small", {**TINY, "temperatures": [0.6]})
    options = ["--out", str(tmp_path), "--source", "recorded"]
    assert command.main(["ranks", *options]) == 0
    shown = capsys.readouterr()
    assert "2 of 2 parts done" in shown.err
    assert str(tmp_path / "ranks.json") in shown.out
    result = ExperimentResult.from_json((tmp_path / "ranks.json").read_text(encoding="utf-8"))
    assert result.label == "recorded"


def test_a_bad_folder_is_refused_in_one_line_before_models_are_loaded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(command, "load_pair", lambda **_: pytest.fail("models were loaded"))
    assert command.main(["ranks", "--out", "file"]) == 2
    words = capsys.readouterr().err
    assert words.startswith("error: file/ranks.json cannot be written (")
    assert words.count("\n") == 1


def test_ctrl_c_stops_the_command_and_the_finished_units_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Running the same command again finishes the experiment."""
    whole = EXPERIMENTS["ranks"]

    def interrupted(pair: Pair, unit: Unit) -> Iterable[Entry]:
        if unit.number == 1:
            signal.raise_signal(signal.SIGINT)
        return whole.measure(pair, unit)

    monkeypatch.setattr(command, "load_pair", lambda **_: pair())
    monkeypatch.setitem(EXPERIMENTS["ranks"].sizes, "small", {**TINY, "temperatures": [0.6]})  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(EXPERIMENTS, "ranks", replace(whole, measure=interrupted))
    assert command.main(["ranks", "--out", str(tmp_path)]) == 0
    assert (
        "stopped after 1 of 2 parts; run the same command again to continue"
        in capsys.readouterr().out
    )
    monkeypatch.setitem(EXPERIMENTS, "ranks", whole)
    assert command.main(["ranks", "--out", str(tmp_path)]) == 0
    result = ExperimentResult.from_json((tmp_path / "ranks.json").read_text(encoding="utf-8"))
    assert result.is_complete


@pytest.mark.parametrize(
    ("prompt", "tokens", "new"),
    [
        ((1,), tuple(range(2, 30)), 28),  # nothing is repeated
        # a part of the prompt is repeated
        ((1,), (7,) * 30, 1),
    ],
)
def test_a_text_is_new_until_eight_tokens_in_a_row_are_repeated(
    prompt: tuple[int, ...], tokens: tuple[int, ...], new: int
) -> None:
    assert new_tokens(Text(prompt, tokens, SamplingParams())) == new
