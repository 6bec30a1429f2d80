"""The profiles that come with the program: every figure has a source, and the profiles of the
paper's machines give the paper's speed-ups.

The paper's figures are those of assets/paper.json: target, draft, tree, tokens per step and
speed-up.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.errors import BadProfile
from sequoia.planning.named_profiles import (
    FOLDER,
    named_profile,
    profile_names,
    roofline_figures,
)
from sequoia.planning.paper_results import (
    PaperRow,
    PaperTable,
    paper_acceptance,
    paper_file,
    paper_tables,
)
from sequoia.planning.plan_for_machine import best_chain, best_plan
from sequoia.planning.roofline import RooflineDevice, RooflineModel, pass_seconds

PAPER_TABLES = {table.key: table for table in paper_tables()}
PAPER = Acceptance(paper_acceptance().rates[:10])
EAGER = "a100-llama-2-7b-eager"
L40 = "l40-llama-2-70b-offloaded"
L40_3 = "l40-llama-3-70b-offloaded"
SIMULATED = [name for name in profile_names() if named_profile(name).source == "simulated"]


# -- against the paper -----------------------------------------------------------------------------


def rows_of(*keys: str) -> list[Any]:
    """Parameters of a test: each row of the paper's tables `keys`, with its table."""
    return [
        pytest.param(table, row, id=f"{key}, {row.texts}, T {row.temperature}")
        for key in keys
        for table in [PAPER_TABLES[key]]
        for row in table.rows
    ]


def ratio(table: PaperTable, row: PaperRow, method: str = "sequoia") -> float:
    """The simulated speed-up divided by the paper's."""
    result = {one.method: one for one in row.results}[method]
    return table.simulated(result) / result.speedup


def test_each_row_has_a_tree_of_the_papers_size() -> None:
    printed = {
        (one["key"], i): (row["nodes"], row["levels"])
        for one in paper_file()["tables"]
        for i, row in enumerate(one["rows"])
    }
    made = {
        (table.key, i): (len(row.results[0].tree), row.results[0].tree.levels)
        for table in paper_tables()
        for i, row in enumerate(table.rows)
    }
    assert made == printed


OFFLOADED = ("offload-llama-2", "offload-llama-3")


# assets/bench/README.md states the bounds of the A100's 7B target and of the offloaded targets. The
# 13B target's time per token of plain decoding is from a post of Together AI (2024-03-12). Of the
# L40's rows, the simulation uses only the tokens per step and the tree sizes. The launch time of
# the 13B target is that on the A100, probably too long for the L40.
WITHIN = {"a100-7b": 0.04, "a100-13b": 0.10, "l40-7b": 0.04, "l40-13b": 0.22}
WITHIN |= dict.fromkeys(OFFLOADED, 0.10)


@pytest.mark.parametrize("key", WITHIN)
def test_the_papers_machines_give_its_rows(key: str) -> None:
    table = PAPER_TABLES[key]
    for row in table.rows:
        assert ratio(table, row) == pytest.approx(1, rel=WITHIN[key]), (row.texts, row.temperature)


@pytest.mark.parametrize(("table", "row"), rows_of("a100-7b", *OFFLOADED))
def test_specinfers_trees_are_within_15_percent(table: PaperTable, row: PaperRow) -> None:
    """SpecInfer's trees are 5 sequences of 8 tokens, or 16 of 48. On the A100 the worst row is 11 %
    off. It is an outlier in the paper itself: all rows use the same tree, but in this row a step
    takes only 4 % longer than a token of plain decoding, and in the others 11 to 22 %."""
    assert ratio(table, row, "specinfer") == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize(("table", "row"), rows_of("a100-33b"))
def test_a_33b_target_is_within_20_percent(table: PaperTable, row: PaperRow) -> None:
    """The time of a draft pass is not published. The simulation assumes that each of the draft's 24
    layers takes the launch time of a layer of the 68M draft. The simulated speed-ups are then too
    high."""
    assert 0.95 < ratio(table, row) < 1.20


def test_the_papers_own_times_are_met() -> None:
    """24.2 ms per plain token and 0.5 ms per draft pass on the A100, 5.7 s per plain token on the
    L40."""
    a100 = named_profile(EAGER)
    assert a100.plain_seconds == pytest.approx(0.0242, rel=1e-3)
    assert a100.draft_seconds_at(1) == pytest.approx(0.0005, rel=1e-3)
    for name in (L40, L40_3):
        assert named_profile(name).plain_seconds == pytest.approx(5.7, rel=2e-3)


def test_a_measured_7b_target_is_met_within_17_percent() -> None:
    """The model of the A100's profile with CUDA graphs, on the H100 that was measured. Its time per
    layer is from the same measurement, at one node."""
    measured = named_profile("h100-llama-2-7b")
    figures = roofline_figures("a100-llama-2-7b-graphs")
    assert figures is not None
    model = RooflineModel(**figures["target"])
    h100 = RooflineDevice("H100", memory_gb_per_s=3350, tflops=989)  # its data sheet
    for nodes, seconds, _ in measured.target_seconds:
        if nodes <= 512:
            found = pass_seconds(model, h100, nodes, measured.prefix_length)
            assert found == pytest.approx(seconds, rel=0.17), nodes


# -- all profiles ----------------------------------------------------------------------------------


def test_a_replaced_profile_can_still_be_read() -> None:
    for name in {path.stem for path in FOLDER.glob("*.json")} - set(profile_names()):
        content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        assert content["replaced_by"] in profile_names()
        assert named_profile(name).source == "paper"


@pytest.mark.parametrize("name", ["../a100-llama-2-7b-eager", None, []])
def test_an_unknown_name_is_refused(name: Any) -> None:
    with pytest.raises(BadProfile, match=r"no hardware profile is named .* a100-llama-2-7b-eager"):
        named_profile(name)


@pytest.mark.parametrize("name", SIMULATED)
def test_every_figure_has_a_source(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    sources = content["sources"]
    for part in ("device", "target", "draft"):
        figures = content["roofline"][part].keys() - {"name"}
        assert sources[part].keys() == figures
        assert all(len(words) > 10 for words in sources[part].values())
    assert sources["calibrated_nodes"]
    assert content["note"].startswith("Roofline")


@pytest.mark.parametrize("name", SIMULATED)
def test_the_best_tree_is_at_least_as_fast_as_the_best_chain(name: str) -> None:
    profile = named_profile(name)
    tree = best_plan(PAPER, profile)
    chain = best_chain(PAPER, profile)
    assert 1 < chain.predicted_speedup <= tree.predicted_speedup
    assert len(tree.tree) >= len(chain.tree)


def test_large_trees_pay_where_arithmetic_is_idle() -> None:
    """The best tree has about a thousand nodes if weights are copied over a slow link, about a
    hundred if kernels are launched one by one, fewer with CUDA graphs, and only a few on a machine
    with slow arithmetic."""
    nodes = {name: len(best_plan(PAPER, named_profile(name)).tree) for name in SIMULATED}
    assert nodes[L40] > 700
    assert nodes[EAGER] > 1.5 * nodes["a100-llama-2-7b-graphs"]
    assert 20 < nodes["rtx-4090-qwen3-8b"] < 100
    assert nodes["m1-max-qwen3-8b"] < 16
