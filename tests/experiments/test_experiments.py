"""Five of the experiments with tiny models, functions that they use, and the command that runs
experiments."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.assets_folder import ASSETS
from sequoia.errors import SequoiaError
from sequoia.experiments import command, planned, ranks, shapes, specinfer, top_p
from sequoia.experiments.continuations import continuation
from sequoia.experiments.drafted_trees import drafted_along
from sequoia.experiments.experiment import SIZES, Unit
from sequoia.experiments.prompts import KINDS, planning_prompts, prompts_of
from sequoia.experiments.ranks import power_law
from sequoia.experiments.registry import EXPERIMENTS, experiment_named
from sequoia.experiments.result import ExperimentResult, Point
from sequoia.experiments.runner import complete_result
from sequoia.experiments.shapes import SHAPES, candidates
from sequoia.experiments.text_units import Text, new_tokens
from sequoia.experiments.traversal_gain import traversal_gain
from sequoia.measuring.text_places import text_places
from sequoia.models.pair import Pair
from sequoia.planning.paper_results import paper_tables
from sequoia.text_files import load_json
from tests.fakes import same_pair, tiny_pair

MINE = ("budget", "temperature", "top-p", "ranks", "specinfer")
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
}


@cache
def pair() -> Pair:
    return tiny_pair(context=1024)


def text_after(pair: Pair, temperature: float, tokens: int = 24) -> Text:
    prompt = planning_prompts("code")[0]
    params = SamplingParams(temperature, max_new_tokens=tokens, ignore_eos=True)
    return Text(pair.encode(prompt), continuation(pair, prompt, params), params)


@pytest.fixture(autouse=True)
def _short_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned, "PROMPTS", 1)
    monkeypatch.setattr(planned, "TOKENS", 8)
    monkeypatch.setattr(shapes, "PROMPTS", 1)


@pytest.mark.parametrize("name", MINE)
def test_an_experiment_gives_points_with_intervals_a_table_and_a_finding(name: str) -> None:
    experiment = EXPERIMENTS[name]
    settings = {**experiment.sizes["small"], **TINY}
    units = experiment.units(settings)
    assert len({unit.key for unit in units}) == len(units)
    done = {unit.key: experiment.run_unit(pair(), unit) for unit in units}
    result = complete_result(experiment, pair(), settings, done, len(units))
    assert result.is_complete
    assert result.finding
    assert result.series
    assert all(one.low is not None for series in result.series for one in series.points)
    assert all(one.mean >= 0 for series in result.series for one in series.points)
    names = {column.name for column in result.columns}
    assert result.rows
    assert all(names == row.keys() for row in result.rows)
    assert result.comparisons
    assert ExperimentResult.from_json(result.to_json()) == result


@pytest.mark.parametrize("name", MINE)
def test_an_experiment_without_any_unit_has_an_empty_summary(name: str) -> None:
    experiment = EXPERIMENTS[name]
    for size in SIZES:
        result = experiment.summary(experiment.sizes[size], {})
        assert (result.series, result.rows, result.comparisons) == ((), (), ())


@pytest.mark.parametrize("name", ["temperature", "top-p"])
def test_at_temperature_0_all_verifiers_are_equal(name: str) -> None:
    """All four tree verifiers emit the same number of tokens per step. So do the two verifiers on a
    chain: token and block verification."""
    experiment = EXPERIMENTS[name]
    settings = {**experiment.sizes["small"], **TINY, "temperatures": [0.0], "top_ps": [1.0]}
    unit = experiment.units(settings)[0]
    tokens = experiment.run_unit(pair(), unit)["tokens"]
    assert len({tokens[one] for one in ("Sequoia", "SpecInfer", "top-k match", "Traversal")}) == 1
    assert tokens["chain"] == tokens["block"]


@pytest.mark.parametrize("name", ["temperature", "top-p"])
def test_the_predicted_speed_up_names_the_machine(name: str) -> None:
    experiment = EXPERIMENTS[name]
    columns = experiment.summary(experiment.sizes["small"], {}).columns
    assert "speed-up on A100" in [one.label for one in columns]


def test_the_papers_figures_beside_measured_tokens_are_tokens_per_step() -> None:
    """Tables 1 and 8 of the paper also print speed-ups, which must not be used by mistake."""
    tables = {table.key: table for table in paper_tables()}
    rows = {
        row.texts: {one.method: one.tokens for one in row.results} for row in tables["top-p"].rows
    }
    assert top_p.paper_tokens()["Sequoia", 0.8] == rows["top-p 0.8"]["sequoia"]
    assert top_p.paper_tokens()["top-k match", 1.0] == rows["top-p 1.0"]["top-k"]
    shown = load_json(ASSETS / "experiments" / "top-p.json")["rows"]
    assert {row["paper"] for row in shown} == {None, *top_p.paper_tokens().values()}
    (row,) = (
        {one.method: one.tokens for one in row.results}
        for row in tables["a100-7b"].rows
        if (row.texts, row.temperature) == ("C4", 0.6)
    )
    assert {(5, 8): (row["specinfer"], row["sequoia"])} == specinfer.PAPER


def test_the_same_unit_gives_the_same_values_again() -> None:
    experiment = EXPERIMENTS["temperature"]
    unit = experiment.units({**experiment.sizes["small"], **TINY})[-1]
    assert experiment.run_unit(pair(), unit) == experiment.run_unit(pair(), unit)


def test_no_prompt_is_used_for_both_planning_and_measuring() -> None:
    for kind in KINDS:
        assert not set(prompts_of(kind)) & set(planning_prompts(kind))
        most = max(one.sizes["full"].get("prompts", 0) for one in EXPERIMENTS.values())
        assert len(set(prompts_of(kind))) >= most


def test_the_shapes_have_at_most_the_requested_size() -> None:
    for nodes in (16, 64, 512):
        found = candidates([Acceptance.power_law(1.5, 0.4, 16)], nodes)
        assert found.keys() == SHAPES.keys()
        sizes = [len(tree) for trees in found.values() for tree in trees]
        assert all(nodes * 0.5 < size <= nodes for size in sizes)
        assert max(sizes) == nodes


def test_a_power_law_is_found() -> None:
    points = [Point(k, 0.5 * k**-0.7) for k in range(1, 20)]
    exponent, fit = power_law(points)
    assert (exponent, fit) == (pytest.approx(0.7), pytest.approx(1))


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        (0.3, "In every case Sequoia rejects all 16 children less often than SpecInfer and "),
        (0.2, "less often than the other verifiers, or equally often"),
        (0.1, "In some cases another verifier rejects all 16 children less often"),
    ],
)
def test_a_verifier_that_is_tied_is_not_called_best(theirs: float, says: str) -> None:
    row = {"case": "code", "first": 0.5, "exponent": 1.0, "fit": 1.0}
    lasts = {"Sequoia": 0.2, "SpecInfer": theirs, "top-k match": 0.3}
    assert says in ranks._finding(
        [{**row, "verifier": name, "last": last} for name, last in lasts.items()], 16
    )


def test_trees_drafted_along_a_text_have_its_distributions_at_the_root() -> None:
    """At each place, the root has the target's and draft's distributions after the text so far."""
    text = text_after(pair(), 1.0)
    along = list(text_places(pair(), text.prompt, text.tokens, text.params))
    for one in drafted_along(pair(), text, Tree.kary(2, 3), "sequoia", [0, 1, 7, 23]):
        np.testing.assert_allclose(one.p(0), along[one.place].p, atol=1e-5)
        np.testing.assert_allclose(one.drafted.q(0), along[one.place].q, atol=1e-5)


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


def test_the_command_lists_runs_and_prints_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(one.question in listed for one in EXPERIMENTS.values())
    monkeypatch.setattr(command, "load_pair", lambda **_: pair())
    monkeypatch.setitem(EXPERIMENTS["ranks"].sizes, "small", {**TINY, "temperatures": [0.6]})
    options = ["--out", str(tmp_path), "--source", "recorded", "--prompts", "3"]
    assert command.main(["ranks", *options]) == 0
    shown = capsys.readouterr()
    assert "3 of 3 parts done" in shown.err
    assert str(tmp_path / "ranks.json") in shown.out
    result = ExperimentResult.from_json((tmp_path / "ranks.json").read_text(encoding="utf-8"))
    assert result.source == "recorded"
    assert {column.kind for column in result.columns} == {"", "recorded"}
    assert command.main(["--csv", str(tmp_path / "ranks.json")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3 * 4
    assert command.main(["--csv", str(tmp_path / "none.json")]) == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--prompts", "0"], "--prompts: 0 is not a whole number from 1 to 28"),
        (["--prompts", "99"], "--prompts: 99 is not a whole number from 1 to 28"),
        (["--out", "file"], "file/ranks.json cannot be written ("),
        (["--out", "folder"], "folder/ranks.jsonl cannot be written ("),
    ],
)
def test_a_bad_option_is_refused_in_one_line_before_models_are_loaded(
    options: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "ranks.jsonl").mkdir(parents=True)
    monkeypatch.setattr(command, "load_pair", lambda **_: pytest.fail("models were loaded"))
    assert command.main(["ranks", *options]) == 2
    words = capsys.readouterr().err
    assert words.startswith(f"error: {says}")
    assert words.count("\n") == 1


def test_ctrl_c_stops_the_command_after_the_current_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Running the same command again finishes the experiment."""
    before = signal.getsignal(signal.SIGINT)
    whole = EXPERIMENTS["ranks"]

    def interrupted(pair: Pair, unit: Unit) -> Mapping[str, Any]:
        signal.raise_signal(signal.SIGINT)
        return whole.run_unit(pair, unit)

    monkeypatch.setattr(command, "load_pair", lambda **_: pair())
    monkeypatch.setitem(EXPERIMENTS["ranks"].sizes, "small", {**TINY, "temperatures": [0.6]})  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(EXPERIMENTS, "ranks", replace(whole, run_unit=interrupted))
    assert command.main(["ranks", "--out", str(tmp_path)]) == 0
    assert (
        "stopped after 1 of 2 parts; run the same command again to continue"
        in capsys.readouterr().out
    )
    assert signal.getsignal(signal.SIGINT) is before
    monkeypatch.setitem(EXPERIMENTS, "ranks", whole)
    assert command.main(["ranks", "--out", str(tmp_path)]) == 0
    result = ExperimentResult.from_json((tmp_path / "ranks.json").read_text(encoding="utf-8"))
    assert result.is_complete


@pytest.mark.parametrize(
    ("prompt", "tokens", "new"),
    [
        ((1,), tuple(range(2, 30)), 28),  # nothing is repeated
        ((1,), (*range(2, 12), *range(2, 12), *range(2, 12)), 10),
        # a part of the prompt is repeated
        (tuple(range(20)), (*range(30, 35), *range(3, 12), 40), 5),
        ((1,), (7,) * 30, 1),
    ],
)
def test_a_text_is_new_until_eight_tokens_in_a_row_are_repeated(
    prompt: tuple[int, ...], tokens: tuple[int, ...], new: int
) -> None:
    assert new_tokens(Text(prompt, tokens, SamplingParams())) == new
