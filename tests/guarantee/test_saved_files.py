"""Files that people have saved can still be opened, with the same content, and a damaged one is
refused with a message.

The files in `tests/saved/` were saved by the version of November 2026. Only one profile is older:
in it, the overhead of a level is not measured separately. The page's Save button saved the runs and
races, which are of the bundled pair and have at most 24 tokens. The package saved the trees,
profiles and acceptance rates. The files are never rewritten: only the code that reads them changes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from damaged_files import damaged_files
from doors import (
    VERIFIERS,
    Acceptance,
    BadTrace,
    HardwareProfile,
    Tree,
    acceptance_table,
    best_plan,
    open_race,
    open_run,
    recorded_run,
    saved_again,
    tree_of_node_link,
    tree_of_paths,
)

SAVED = Path(__file__).resolve().parents[1] / "saved"


def text_of(name: str) -> str:
    return (SAVED / name).read_text(encoding="utf-8")


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
        how="planned for this machine, from acceptance rates counted on prose",
        sizes=(7,) * 11 + (6,),
        accepted=(10, 2),
    ),
    "top-p": SavedRun(
        start=" use the terminal and pool\n",
        tokens=24,
        verifier="sequoia",
        temperature=0.6,
        how="best of its size, from acceptance rates",
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
        how="dynamic, grown with the draft, from acceptance rates counted on prose",
        sizes=(6, 6, 7, 7, 6),
        accepted=(19,),
    ),
    "replanned": SavedRun(
        start=" (width - height) % 2\n\n\nclass",
        tokens=24,
        verifier="sequoia",
        temperature=0.0,
        how="replanned while decoding, from acceptance rates counted on prose",
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
    run = open_run(text_of(f"runs/{name}.json"))
    expected = RUNS[name]
    assert run.text.startswith(expected.start)
    assert (run.tokens, run.accepted) == (expected.tokens, expected.accepted)
    assert run.sizes == expected.sizes
    assert run.finish == expected.finish
    assert run.label == "measured"
    assert run.verifier == expected.verifier
    assert run.temperature == expected.temperature
    assert run.how == expected.how


@pytest.mark.parametrize("kind", ["runs", "races"])
def test_a_file_that_is_saved_again_is_the_same(kind: str) -> None:
    """Otherwise a visitor who opens and saves a file would lose part of it."""
    for path in (SAVED / kind).iterdir():
        text = path.read_text(encoding="utf-8")
        assert json.loads(saved_again(text)) == json.loads(text)


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
            "fits",
            0.5342659616076735,
            "specinfer",
        ),
        SavedLane("Dynamic", " call the dependencies to\n", 24, 10, "fits", 0.5380162205814425),
    ),
    "stopped": (
        SavedLane("Plain", " (", 1, 1),
        SavedLane("k sequences", " sum(width", 3, 1, "none"),
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_what_it_was(name: str) -> None:
    race = open_race(text_of(f"races/{name}.json"))
    assert race.label == "measured"
    assert len(race.lanes) == len(RACES[name])
    for lane, expected in zip(race.lanes, RACES[name], strict=True):
        assert (lane.name, lane.run.verifier) == (expected.name, expected.verifier)
        assert lane.is_plain is (expected.name == "Plain")
        assert lane.has_changing_tree is (expected.name == "Dynamic")
        assert len(lane.run.sizes) == expected.steps
        assert lane.run.tokens == expected.tokens
        assert lane.run.text.startswith(expected.start)


@pytest.mark.parametrize("name", RACES)
def test_the_results_after_a_race_are_kept(name: str) -> None:
    race = open_race(text_of(f"races/{name}.json"))
    for found, expected in zip(race.results, RACES[name], strict=True):
        if expected.verdict is None:
            assert found is None
            continue
        assert found is not None
        assert (found.verdict, found.p) == (expected.verdict, expected.p)
        assert [*found.bars] == ["tokens", "verify", "draft", "overhead"]
        assert found.speedup == pytest.approx([*found.bars.values()][-1])


def test_the_counts_behind_a_verdict_are_kept() -> None:
    race = open_race(text_of("races/law.json"))
    counts = [found.count for found in race.results[1:] if found and found.count]
    assert [count.draws for count in counts] == [155, 151]
    for count in counts:
        assert count.freedom == len(count.seen) - 1
        assert sum(count.seen) == count.draws


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


# -- damaged files ---------------------------------------------------------------------------------

WRONG: dict[type, tuple[Any, ...]] = {
    bool: (1, "x"),
    int: (2**62, True, "x", []),
    float: (2**62, True, "x", []),
    str: (5, [], "a\ud800"),
    list: ({}, 5, "x"),
    dict: ([], 5, "x"),
}
ANYTHING = {"meta"}  # all of its fields may be missing
OPTIONAL = {
    *("results", "count", "level_seconds", "residual_heads"),
    *("mass", "q", "finish", "time_breakdown", "what_to_try", "lossless", "why", "p_value"),
    *("statistic", "detectable_difference", "index"),
}
MAY_BE_NEGATIVE = {"trees"}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys and indices that lead to each value below `value`."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*path, key)
        if key not in ANYTHING and isinstance(value[key], dict | list):
            yield from places(value[key], (*path, key))


def fields_of(data: Any) -> dict[Any, tuple[Any, ...]]:
    """One place of each kind. Places whose paths differ in an index or a number are alike."""
    kinds = {}
    for path in places(data):
        value = at(data, path)
        names = tuple(key for key in path if isinstance(key, str) and not key.isdigit())
        if value is not None:
            kinds[names, len(path), type(value)] = path
    return kinds


def at(data: Any, path: Sequence[Any]) -> Any:
    return reduce(getitem, path, data)


def is_refused(data: Any, path: Sequence[Any], *wrong: Any) -> bool:
    """Whether the file is refused with the value `wrong` at `path`, or without any."""
    changed = copy.deepcopy(data)
    holder, key = at(changed, path[:-1]), path[-1]
    del holder[key]
    if wrong:
        holder.insert(key, wrong[0]) if isinstance(holder, list) else holder.update({key: wrong[0]})
    try:
        saved_again(json.dumps(changed))
    except BadTrace:
        return True
    return False


def everything_recorded() -> list[str]:
    return [recorded_run(verifier) for verifier in VERIFIERS] + [text_of("races/law.json")]


@pytest.mark.parametrize("file", range(len(VERIFIERS) + 1))
def test_no_wrong_value_is_accepted_anywhere(file: int) -> None:
    """Every field of a run or race, one at a time, gets values of other types, a huge number and a
    negative one, or is left out."""
    data = json.loads(everything_recorded()[file])
    for path in fields_of(data).values():
        names = {key for key in path if isinstance(key, str)}
        wrong = WRONG[type(at(data, path))]
        if type(at(data, path)) in (int, float) and not names & MAY_BE_NEGATIVE:
            wrong += (-1,)
        accepted = [value for value in wrong if not is_refused(data, path, value)]
        assert accepted == [], path
        if isinstance(path[-1], str) and path[-1] not in OPTIONAL:
            assert is_refused(data, path), path


def test_a_damaged_file_that_is_opened_is_complete() -> None:
    """It can be saved, encoded as UTF-8 and opened again. All others raise BadTrace."""
    files = [file for file in damaged_files(600) if file.kind in ("runs", "races")]
    opened = []
    for file in files:
        try:
            opened.append(saved_again(file.data.decode("utf-8", "replace")))
        except BadTrace:
            continue
    assert len(files) / 10 < len(opened) < len(files) / 2
    for text in opened:
        assert saved_again(text.encode().decode()) == text
        if '"sequoia-race"' not in text:
            run = open_run(text)
            assert run.tokens == run.pieces
