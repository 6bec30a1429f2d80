"""What the page says about results: only what their numbers show."""

from __future__ import annotations

from typing import Any

import pytest

from sequoia.assets_folder import ASSETS
from sequoia.experiments.chain import CHAIN, LANES, STOPPING, TREE
from sequoia.experiments.registry import EXPERIMENTS
from sequoia.experiments.result import Estimate, ExperimentResult, Ratio, Row
from sequoia.experiments.verifiers import OURS
from sequoia.planning.paper_results import paper_tables
from ui.experiments.words import WORDS
from ui.experiments.words.chain import WHY
from ui.experiments.words.specinfer import in_paper
from ui.experiments.words.verifiers import paper_tokens

CODE = {"kind": "code", "temperature": 0.6}


def result(rows: Any = (), ratios: Any = (), **settings: Any) -> ExperimentResult:
    return ExperimentResult(
        name="", settings=settings, rows=tuple(rows), ratios=tuple(ratios), done=1, total=1
    )


def ratio(one: str, other: str, low: float, high: float, **at: Any) -> Ratio:
    middle = Estimate((low + high) / 2, low, high, 2)
    return Ratio(one=one, other=other, at={**CODE, **at}, ratio=middle)


def finding(name: str, found: ExperimentResult) -> list[str]:
    return [*filter(None, WORDS[name].finding(found))]


def recorded(name: str) -> dict[str, Any]:
    text = (ASSETS / "experiments" / f"{name}.json").read_bytes()
    return WORDS[name].view(ExperimentResult.from_json(text))


def test_each_experiment_has_words() -> None:
    assert WORDS.keys() == EXPERIMENTS.keys()


@pytest.mark.parametrize("name", WORDS)
def test_a_recorded_result_fills_the_view(name: str) -> None:
    view = recorded(name)
    assert view["finding"]
    assert view["comparisons"]
    assert all(series["points"] for series in view["series"])
    columns = {column["name"] for column in view["columns"]}
    assert view["rows"]
    assert all(columns == row.keys() for row in view["rows"])
    labels = {column["kind"] for column in view["columns"]} | {view["source"]}
    assert labels <= {"", "recorded", "simulated", "predicted", "paper"}


@pytest.mark.parametrize("name", WORDS)
def test_a_result_without_units_says_nothing(name: str) -> None:
    settings = EXPERIMENTS[name].sizes["small"]
    view = WORDS[name].view(result(**settings))
    assert (view["finding"], view["series"], view["rows"]) == ("", [], [])


def test_the_papers_figures_are_tokens_per_step() -> None:
    """Tables 1 and 8 of the paper also print speed-ups, which must not be used by mistake."""
    tables = {table.key: table for table in paper_tables()}
    tokens = {one.tokens for row in tables["top-p"].rows for one in row.results}
    view = recorded("top-p")
    (paper,) = (one["name"] for one in view["columns"] if one["kind"] == "paper")
    assert {row[paper] for row in view["rows"]} == {None, *tokens}
    assert paper_tokens()["sequoia", 0.8] == 3.18
    assert in_paper() == {(5, 8): (2.97, 3.92)}


def answer(**lows: list[float]) -> str:
    """lows: low ends of the ratios of Sequoia to each verifier; each interval is 0.4 wide."""
    ratios = [ratio(OURS, name, low, low + 0.4) for name, some in lows.items() for low in some]
    return finding("temperature", result(ratios=ratios, temperatures=[0.6]))[0]


def test_the_verifier_with_the_most_tokens_per_step_is_named_only_if_it_is_clear() -> None:
    won, lost, unclear = 1.1, 0.5, 0.8
    assert answer(specinfer=[won, won], traversal=[lost, lost]) == (
        "Traversal emits the most tokens per step: clearly more than Sequoia in all 2 cases. "
        "Sequoia emits clearly more than SpecInfer in all 2."
    )
    assert "Sequoia emits the most tokens" in answer(
        specinfer=[won] * 3, traversal=[unclear, won, won]
    )
    assert "the most" not in answer(specinfer=[unclear, unclear], traversal=[lost, unclear])
    assert "the most" not in answer(specinfer=[unclear], traversal=[unclear])


def test_losses_are_explained_only_if_the_reason_fits_all_of_them() -> None:
    """The reason: a long chain does well on whole texts at temperature 0, because they usually
    repeat themselves."""

    def explained(*lost: dict[str, Any]) -> bool:
        ratios = [
            ratio(OURS, place.pop("other"), 0.8, 0.95, nodes=16, **place)
            for place in map(dict, lost)
        ]
        words = finding("budget", result(ratios=[ratio(OURS, "chain", 1.1, 2, nodes=16), *ratios]))
        return any("long chain does well" in one for one in words)

    greedy = {"other": "chain", "temperature": 0.0}
    assert explained(greedy)
    assert not explained()
    assert not explained({**greedy, "other": "kary"})
    assert not explained(greedy, {**greedy, "other": "specinfer"})
    assert not explained({**greedy, "temperature": 0.6})
    assert not explained({**greedy, "part": "new"})


@pytest.mark.parametrize(
    ("highest", "says"),
    [
        (0.9, "In every case Sequoia rejects all 16 children less often than SpecInfer and "),
        (1.0, "less often than the other verifiers, or equally often"),
        (1.1, "In some cases another verifier rejects all 16 children less often"),
    ],
)
def test_a_verifier_that_is_tied_is_not_called_best(highest: float, says: str) -> None:
    ratios = [ratio(OURS, "topk", one, one, children=16) for one in (0.5, highest)]
    assert says in finding("ranks", result(ratios=ratios))[0]


@pytest.mark.parametrize("foreign", [0.5, 1.2])
def test_a_tree_for_another_machine_is_called_slow_only_if_it_is(foreign: float) -> None:
    machines = ["l40-llama-3-70b-offloaded", "m1-max-qwen3-8b"]
    speeds = {"8": 1.0, machines[0]: 1.0, machines[1]: foreign}
    at = {**CODE, "machine": machines[0]}
    figures = {name: {"speed": Estimate(one)} for name, one in speeds.items()}
    rows = [Row(lane=one, at=at, about={"nodes": 8}, figures=figures[one]) for one in figures]
    ratios = [ratio(machines[0], "8", 0.9, 1.1, machine=machines[0])]
    settings = {"machines": machines, "kinds": ["code"], "temperatures": [0.6]}
    words = finding("hardware", result(rows, ratios, **settings))[-1]
    assert ("can be slow" in words) == (foreign < 1)
    assert f"runs at {foreign:.2f}× the speed" in words


def chains(*settings: tuple[str, float, float, int]) -> list[str]:
    """The finding of settings, each with its machine, the acceptance of the first guess, the speed
    of the tree over the chain, and the most children of the tree."""
    rows = list[Row]()
    ratios = list[Ratio]()
    for number, (machine, first, gain, children) in enumerate(settings):
        at = {**CODE, "draft": str(number), "machine": machine}
        about = {"first": first, "children": children}
        for lane in LANES:
            speed = {"speed": Estimate(gain if lane == TREE else 1.0)}
            rows.append(Row(lane=lane, at=at, about=about, figures=speed))
            if lane != CHAIN:
                ratios.append(ratio(lane, CHAIN, gain - 0.01, gain + 0.01, **at))
        ratios.append(ratio(TREE, STOPPING, 0.9, 1.1, **at))
    return finding("chain", result(rows, ratios))


def test_the_finding_on_chains_says_why_only_if_the_data_agree() -> None:
    cheap, dear = "l40-llama-3-70b-offloaded", "epyc-2-cores-bundled"
    usual = chains((cheap, 0.5, 1.3, 2), (dear, 0.8, 0.9, 2))
    assert "faster than the tuned chain in 1 of 2 settings, and clearly slower in 1." in usual[0]
    assert "In 0 settings the planned tree is itself a chain." in usual
    assert WHY in usual[-1]
    assert WHY not in chains((cheap, 0.8, 0.9, 2), (dear, 0.5, 1.3, 2))[-1]
    one = chains((cheap, 0.5, 1.3, 2), (dear, 0.8, 0.9, 1), (dear, 0.8, 0.9, 0))
    assert (
        "In 2 settings the planned tree is itself a chain. In 1 of them it has one node, which is "
        "plain decoding." in one
    )
