"""Files that people have saved can still be opened, with the same content.

The files in `tests/saved/` were saved by the version of November 2026. Only one profile is older:
in it, the overhead of a level is not measured separately. The page's Save button saved the runs and
races, which are of the bundled pair and have at most 24 tokens. The package saved the trees,
profiles and acceptance rates. The files are never rewritten: only the code that reads them changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

# The page writes these tree formats for other programs; only the tests read them back.
from tree_files import from_node_link as tree_of_node_link
from tree_files import from_paths as tree_of_paths

from sequoia import Acceptance, DecodeStats, HardwareProfile, Run, Tree, best_plan
from sequoia.loading.load import recorded_acceptances as acceptance_table
from sequoia.saved_files.race_file import RaceLog

SAVED = Path(__file__).resolve().parent / "saved"


def text_of(name: str) -> str:
    return (SAVED / name).read_text(encoding="utf-8")


def written(run: Run) -> str:
    """The text that a run added to its prompt."""
    return "".join(piece for step in run.texts for piece in step)


# -- runs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedRun:
    """The content of a saved run. sizes: number of nodes of each step's tree. accepted: number of
    accepted nodes by rank."""

    start: str
    tokens: int
    verifier: str
    temperature: float
    how: str
    sizes: tuple[int, ...]
    accepted: tuple[int, ...]
    finish: str | None = "length"


RUNS = {
    "greedy": SavedRun(
        start=" (width - height) % 2\n\n\nclass",
        tokens=24,
        verifier="sequoia",
        temperature=0.0,
        how="planned for this machine, from recorded prose acceptance",
        sizes=(7,) * 11 + (6,),
        accepted=(10, 2),
    ),
    "top-p": SavedRun(
        start=" use the terminal and pool\n",
        tokens=24,
        verifier="sequoia",
        temperature=0.6,
        how="best of its size, from measured acceptance",
        sizes=(12,) * 8 + (10,),
        accepted=(14, 1),
    ),
    "specinfer": SavedRun(
        start=" sum(width - height)\n\n\ndef isatty",
        tokens=24,
        verifier="specinfer",
        temperature=0.6,
        how="branching 3, 2, 1",
        sizes=(16,) * 7 + (10,),
        accepted=(15, 0, 1),
    ),
    "stopped": SavedRun(
        start=" isinstance(width, height)\n",
        tokens=8,
        verifier="sequoia",
        temperature=1.0,
        how="2-ary",
        sizes=(15, 15),
        accepted=(4, 2),
        finish=None,
    ),
    "dynamic": SavedRun(
        start=" sum(width - height)\n\n\ndef isoll",
        tokens=24,
        verifier="sequoia",
        temperature=0.6,
        how="dynamic, grown with the draft, from recorded prose acceptance",
        sizes=(6, 6, 7, 7, 6),
        accepted=(19,),
    ),
    "replanned": SavedRun(
        start=" (width - height) % 2\n\n\nclass",
        tokens=24,
        verifier="sequoia",
        temperature=0.0,
        how="replanned while decoding, from recorded prose acceptance",
        sizes=(7,) * 8 + (10,) * 4 + (1,),
        accepted=(9, 2),
    ),
    "plain": SavedRun(
        start=' the public API.\n\n"""\n\nimport os',
        tokens=24,
        verifier="sequoia",
        temperature=0.0,
        how="plain decoding",
        sizes=(1,) * 24,
        accepted=(),
    ),
}


def test_every_saved_file_is_read_by_a_test() -> None:
    assert {path.stem for path in (SAVED / "runs").iterdir()} == RUNS.keys()
    assert {path.stem for path in (SAVED / "races").iterdir()} == RACES.keys()
    assert {path.name for path in (SAVED / "trees").iterdir()} == TREES.keys() | {"branching.json"}
    assert {path.stem for path in (SAVED / "profiles").iterdir()} == PROFILES.keys()
    assert {path.name for path in (SAVED / "acceptance").iterdir()} == {
        "vector.json",
        "survey.json",
    }


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_what_it_was(name: str) -> None:
    run = Run.from_json(text_of(f"runs/{name}.json"))
    expected = RUNS[name]
    stats = DecodeStats.fold(run.steps)
    assert written(run).startswith(expected.start)
    assert (stats.tokens, stats.accepted) == (expected.tokens, expected.accepted)
    assert tuple(len(step.tree) for step in run.steps) == expected.sizes
    assert run.steps[-1].finish == expected.finish
    assert run.meta["label"] == "measured"
    assert run.meta["verifier"] == expected.verifier
    assert run.meta["policy"]["temperature"] == expected.temperature
    assert run.meta["tree"]["how"] == expected.how


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_saved_again_is_the_same_file(name: str) -> None:
    """Otherwise a visitor who opens and saves a file would lose part of it."""
    text = text_of(f"runs/{name}.json")
    assert json.loads(Run.from_json(text).to_json()) == json.loads(text)


# -- races -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedLane:
    """The content of a lane. verdict: the kind of the verdict on whether its decoding was lossless.
    p: the p-value of that verdict."""

    name: str
    start: str
    tokens: int
    steps: int
    verdict: str | None = None
    p: float | None = None
    verifier: str = "sequoia"


RACES = {
    "greedy": (
        SavedLane("Plain", " (width - height) % 2\n", 24, 24),
        SavedLane("Chain", " (width - height) % 2\n", 24, 13, "exact"),
        SavedLane("k-ary", " (width - height) % 2\n", 24, 12, "exact"),
    ),
    "law": (
        SavedLane("Plain", " the process compared to the\n", 24, 24),
        SavedLane(
            "SpecInfer tree, SpecInfer",
            " to use in a gr.py.\n",
            24,
            11,
            "law",
            0.5342659616076735,
            "specinfer",
        ),
        SavedLane("Dynamic", " call the dependencies to\n", 24, 10, "law", 0.5380162205814425),
    ),
    "stopped": (
        SavedLane("Plain", " (", 1, 1),
        SavedLane("k sequences", " sum(width", 3, 1, "none"),
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_what_it_was(name: str) -> None:
    race = RaceLog.from_json(text_of(f"races/{name}.json"))
    assert race.meta["label"] == "measured"
    assert len(race.lanes) == len(RACES[name])
    for lane, expected in zip(race.lanes, RACES[name], strict=True):
        assert (lane.name, lane.verifier) == (expected.name, expected.verifier)
        assert lane.plain is (expected.name == "Plain")
        assert lane.changes is (expected.name == "Dynamic")
        assert len(lane.run.steps) == expected.steps
        assert DecodeStats.fold(lane.run.steps).tokens == expected.tokens
        assert written(lane.run).startswith(expected.start)


@pytest.mark.parametrize("name", RACES)
def test_the_results_after_a_race_are_kept(name: str) -> None:
    race = RaceLog.from_json(text_of(f"races/{name}.json"))
    for found, expected in zip(race.results, RACES[name], strict=True):
        if expected.verdict is None:
            assert found is None
            continue
        assert found["lossless"]["kind"] == expected.verdict
        assert found["lossless"]["p"] == expected.p
        bars = [bar["name"] for bar in found["waterfall"]["bars"]]
        assert bars == ["tokens", "verify", "draft", "overhead"]
        assert found["doctor"]["speedup"] == pytest.approx(found["waterfall"]["bars"][-1]["value"])


def test_the_counts_behind_a_verdict_are_kept() -> None:
    race = RaceLog.from_json(text_of("races/law.json"))
    counts = [found["lossless"]["count"] for found in race.results[1:]]
    assert [count["draws"] for count in counts] == [155, 151]
    for count in counts:
        assert count["freedom"] == len(count["cells"]) - 1
        assert sum(cell["seen"] for cell in count["cells"]) == count["draws"]


@pytest.mark.parametrize("name", RACES)
def test_a_race_that_is_saved_again_is_the_same_file(name: str) -> None:
    text = text_of(f"races/{name}.json")
    assert json.loads(RaceLog.from_json(text).to_json()) == json.loads(text)


# -- trees -----------------------------------------------------------------------------------------

TREE = Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4, 5, 6, 7, 7, 8, 9, 10))
TREES = {
    "tree.json": Tree.from_json,
    "node-link.json": lambda text: tree_of_node_link(json.loads(text)),
    "paths.json": lambda text: tree_of_paths(json.loads(text)),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_what_it_was(name: str) -> None:
    assert TREES[name](text_of(f"trees/{name}")) == TREE


def test_a_list_of_children_by_level_is_what_it_was() -> None:
    tree = Tree.from_branching(json.loads(text_of("trees/branching.json")))
    assert [len(children) for children in tree.children][:4] == [3, 2, 2, 2]
    assert len(tree) == 16


# -- profiles --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedProfile:
    """The content of a profile. times: seconds of a target pass over 1 and over 8 nodes. If a
    larger pass was measured as faster than a smaller one, the mean of the two is used for both."""

    source: str
    device: str
    times: tuple[float, float]
    level_overhead: float


XEON = "cpu (1 thread, Intel(R) Xeon(R) Processor)"
PROFILES = {
    "measured": SavedProfile(
        "measured", XEON, (0.0182581905, 0.0244672570), 0.00016298569989885435
    ),
    "kept": SavedProfile("measured", XEON, (0.0182581905, 0.0244672570), 0.00016298569989885435),
    "simulated": SavedProfile("simulated", "twice as fast", (0.02, 0.02 + 0.03 * 7 / 63), 0.0001),
    "before-level-overhead": SavedProfile(
        "recorded", "cpu (2 threads, AMD EPYC)", (0.0039794950, 0.0049473120), 0.0
    ),
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_what_it_was(name: str) -> None:
    profile = HardwareProfile.from_json(text_of(f"profiles/{name}.json"))
    expected = PROFILES[name]
    assert (profile.source, profile.device) == (expected.source, expected.device)
    assert profile.level_overhead == expected.level_overhead
    times = (profile.verify_seconds(1), profile.verify_seconds(8))
    assert times == pytest.approx(expected.times)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_can_be_used_for_planning(name: str) -> None:
    profile = HardwareProfile.from_json(text_of(f"profiles/{name}.json"))
    plan = best_plan(Acceptance((0.8, 0.1)), profile, max_nodes=16)
    assert plan.predicted_speedup >= 1


# -- acceptance ------------------------------------------------------------------------------------


def test_a_vector_is_what_it_was() -> None:
    assert Acceptance.from_json(text_of("acceptance/vector.json")).rates == (0.6, 0.15, 0.05)


def test_an_acceptance_table_is_what_it_was() -> None:
    """`python -m sequoia.survey` wrote this file. Its `fitted` rates are read, not its counted
    ones."""
    table = acceptance_table(SAVED / "acceptance" / "survey.json")
    found = [(known.kind, known.temperature, known.acceptance.rates[0]) for known in table]
    assert found == [
        ("code", 0.0, pytest.approx(0.3563908402973269)),
        ("code", 0.6, pytest.approx(0.643204475232778)),
        ("prose", 0.0, pytest.approx(0.6599384034763109)),
        ("prose", 0.6, pytest.approx(0.5079439814447382)),
    ]
    assert {known.kind: known.agreement for known in table} == {"code": 0.5913, "prose": 0.4239}
