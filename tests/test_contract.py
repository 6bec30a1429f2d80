"""What scripts outside this project may use: names, keywords, fields, members and commands.

Files move and classes are renamed, but everything listed here keeps working. So this file imports
only `sequoia` itself. It tests keywords by calling functions, not by comparing signatures: a
function may get more keywords, or accept both the old and the new name of one. The lists date from
November 2026. Names may be added; removing one breaks somebody's script.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import sequoia
from sequoia import (
    Acceptance,
    Decoder,
    DecodeStats,
    Dynamic,
    HardwareProfile,
    Lane,
    Pair,
    Plan,
    Policy,
    Race,
    Recorder,
    Replanned,
    Run,
    SequoiaError,
    Shaper,
    StepTrace,
    Tree,
)

ROOT = Path(__file__).resolve().parent.parent

KINDS = {
    "Acceptance": "frozen dataclass",
    "DecodeStats": "frozen dataclass",
    "Decoder": "class",
    "Dynamic": "class",
    "HardwareProfile": "frozen dataclass",
    "Lane": "frozen dataclass",
    "Pair": "frozen dataclass",
    "Plan": "frozen dataclass",
    "Policy": "frozen dataclass",
    "Race": "class",
    "Recorder": "class",
    "Replanned": "class",
    "Run": "frozen dataclass",
    "SequoiaError": "exception",
    "Shaper": "protocol",
    "StepTrace": "frozen dataclass",
    "Tree": "frozen dataclass",
    "acceptance_of": "function",
    "best_plan": "function",
    "best_tree": "function",
    "count_acceptance": "function",
    "default_plan": "function",
    "dp_table": "function",
    "expected_tokens": "function",
    "load_pair": "function",
    "machine": "function",
    "measure_acceptance": "function",
    "measure_profile": "function",
    "named_profile": "function",
    "plain": "function",
    "profile_names": "function",
    "run": "function",
    "speculate": "function",
}

# In this order, because scripts may also pass them by position.
FIELDS = {
    "Acceptance": ("rates",),
    "DecodeStats": ("steps", "tokens", "seconds", "visited", "tried", "accepted"),
    "HardwareProfile": (
        "device",
        "dtype",
        "target",
        "draft",
        "prefix_length",
        "target_seconds",
        "draft_seconds",
        "source",
        "date",
        "overhead_seconds",
        "versions",
        "level_overhead",
    ),
    "Lane": ("name", "tree", "verifier"),
    "Policy": ("temperature", "top_p", "max_new_tokens", "seed", "ignore_eos"),
    "Run": ("meta", "pieces", "steps", "texts"),
    "StepTrace": (
        "index",
        "prefix_len",
        "tree",
        "tokens",
        "draft_p",
        "target_p",
        "verdict",
        "emitted",
        "seconds",
        "finish",
    ),
    "Tree": ("parents",),
}

# Fields of values that only the package itself creates; their constructors may require more fields.
FIELDS_TO_READ = {
    "Pair": (
        "name",
        "target",
        "draft",
        "tokenizer",
        "begin",
        "stop",
        "known",
        "measured",
        "template",
        "chats",
    ),
    "Plan": ("tree", "expected_tokens", "predicted_seconds", "predicted_speedup"),
}

# Attributes and methods that are not fields.
MEMBERS = {
    "Acceptance": ("is_monotone", "smoothed", "fit_power_law", "to_json"),
    "DecodeStats": (
        "add",
        "total_seconds",
        "tokens_per_step",
        "tokens_per_second",
        "overhead_share",
        "rates",
    ),
    "Decoder": (
        "pair",
        "policy",
        "prompt",
        "emitted",
        "index",
        "finish",
        "remaining",
        "prefill",
        "step",
    ),
    "Dynamic": ("most", "widest", "next", "learn"),
    "HardwareProfile": (
        "verify_seconds",
        "draft_seconds_at",
        "overhead",
        "level_seconds",
        "plain_seconds",
        "calibrated_up_to",
        "to_json",
    ),
    "Lane": ("is_plain",),
    "Pair": ("limit", "encode", "piece", "as_chat"),
    "Policy": ("further",),
    "Race": ("lanes", "stats", "prompt", "running", "prefill", "step"),
    "Recorder": ("add", "run", "pending"),
    "Replanned": ("most", "widest", "next", "learn", "acceptance"),
    "Run": ("to_json",),
    "StepTrace": ("total_seconds",),
    "Tree": (
        "children",
        "depths",
        "ranks",
        "levels",
        "inner",
        "widths",
        "ancestor_mask",
        "path",
        "limit",
        "to_json",
        "to_networkx",
    ),
}

COMMANDS = {
    "sequoia.bench": (
        "--target --draft --device --offload --threads --prompts --limit --temperature --tokens "
        "--rounds --assistant-tokens --seed --grid --sizes --json"
    ),
    "sequoia.pretrain": (
        "--out --resume --tokens --packages --docs --text --tokenizer --vocab --target --warm "
        "--target-size --target-peak --draft-size --draft-peak --batch --context --seed --device "
        "--threads --compile --quiet"
    ),
    "sequoia.shapes": "--device --rounds --seconds --out",
    "sequoia.survey": "--target --draft --temperature --prompts --tokens --ranks --draws --out",
    "sequoia.profiles": "--kind --temperature --profile",
    "sequoia.judge_pair": (
        "--target --draft --before --excerpts --kinds --limit --tokens --draws --timed --threads "
        "--json"
    ),
    "sequoia.sweep": "--only --variants --jobs --out",
}

# Positional arguments.
WORDS = {
    "sequoia.pretrain": "text target target-decay samples draft draft-decay excerpts all",
    "sequoia.shapes": "llama-2-7b qwen3-8b qwen3-32b qwen3-32b-offloaded tiny",
}

PROMPT = "def area(width, height):\n    return"
POLICY = Policy(max_new_tokens=6, ignore_eos=True)
TREE = Tree.chain(3)
ACCEPTANCE = Acceptance((0.6, 0.2, 0.1))
PROFILE = HardwareProfile(
    device="one card",
    dtype="float16",
    target="large",
    draft="small",
    prefix_length=128,
    target_seconds=((1, 0.02, 0.001), (64, 0.05, 0.002)),
    draft_seconds=((1, 0.0015, 0.0),),
    source="simulated",
    date="2026-01-31",
)


# -- names and commands ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def after_import() -> dict[str, Any]:
    script = Path(__file__).with_name("after_import.py")
    ended = subprocess.run(
        [sys.executable, str(script), *COMMANDS],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_every_name_is_there_after_all_modules_were_imported(after_import: dict[str, Any]) -> None:
    """Guards against a module with the name of a function: importing `sequoia.machine`, say, would
    replace the function `machine`."""
    assert len(after_import["modules"]) > 20
    assert {name: after_import["kinds"].get(name) for name in KINDS} == KINDS


def test_machine_is_a_function() -> None:
    assert callable(sequoia.machine)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_its_options(after_import: dict[str, Any], command: str) -> None:
    status, text = after_import["helps"][command]
    assert status == 0
    options = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
    assert set(COMMANDS[command].split()) <= set(options)


@pytest.mark.parametrize("command", WORDS)
def test_a_command_has_its_positional_arguments(after_import: dict[str, Any], command: str) -> None:
    words = re.findall(r"[\w-]+", after_import["helps"][command][1])
    assert set(WORDS[command].split()) <= set(words)


# -- values ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair() -> Pair:
    return sequoia.load_pair(
        name="bundled",
        draft=None,
        target=None,
        device="cpu",
        dtype="float32",
        offload=False,
        online=False,
        tell=lambda _: None,
        stop=lambda: False,
    )


@pytest.fixture(scope="module")
def race(pair: Pair) -> Race:
    lanes = [Lane("plain", Tree.chain(1)), Lane("tree", Tree.kary(2, 3), "specinfer")]
    return Race(pair=pair, prompt=PROMPT, policy=POLICY, lanes=lanes)


@pytest.fixture(scope="module")
def objects(pair: Pair, race: Race) -> dict[str, Any]:
    """One object of each public class, except SequoiaError and the protocol Shaper."""
    decoder = Decoder(
        pair=pair, prompt=PROMPT, policy=POLICY, tree=TREE, verifier="sequoia", chance=None
    )
    recorder = Recorder(pair=pair, prompt=pair.encode(PROMPT), meta={"label": "measured"})
    steps = list(sequoia.run(decoder=decoder))
    for step in steps:
        recorder.add(trace=step)
    return {
        "Acceptance": ACCEPTANCE,
        "DecodeStats": DecodeStats.fold(traces=steps),
        "Decoder": decoder,
        "Dynamic": Dynamic(
            acceptance=ACCEPTANCE, profile=PROFILE, temperature=0.6, most=12, levels=6
        ),
        "HardwareProfile": PROFILE,
        "Lane": race.lanes[1],
        "Pair": pair,
        "Plan": sequoia.best_plan(ACCEPTANCE, PROFILE, 12, 6),
        "Policy": POLICY,
        "Race": race,
        "Recorder": recorder,
        "Replanned": Replanned(
            acceptance=ACCEPTANCE, profile=PROFILE, most=12, levels=6, every=4, slack=0.01
        ),
        "Run": recorder.run(),
        "StepTrace": steps[0],
        "Tree": TREE,
    }


def test_the_objects_are_of_their_classes(objects: dict[str, Any]) -> None:
    for name, value in objects.items():
        assert isinstance(value, getattr(sequoia, name))


@pytest.mark.parametrize("name", FIELDS)
def test_a_value_is_made_of_its_fields(objects: dict[str, Any], name: str) -> None:
    """By keyword and by position. Fields added later must have defaults."""
    value = objects[name]
    kind = getattr(sequoia, name)
    given = {field: getattr(value, field) for field in FIELDS[name]}
    assert kind(**given) == value
    assert kind(*given.values()) == value


@pytest.mark.parametrize("name", FIELDS_TO_READ)
def test_dataclasses_replace_accepts_the_fields(objects: dict[str, Any], name: str) -> None:
    value = objects[name]
    given = {field: getattr(value, field) for field in FIELDS_TO_READ[name]}
    assert dataclasses.replace(value, **given) == value


@pytest.mark.parametrize("name", [*FIELDS, *FIELDS_TO_READ])
def test_a_value_stays_as_it_is(objects: dict[str, Any], name: str) -> None:
    field = {**FIELDS, **FIELDS_TO_READ}[name][0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(objects[name], field, None)


@pytest.mark.parametrize("name", MEMBERS)
def test_an_object_has_its_members(objects: dict[str, Any], name: str) -> None:
    assert [member for member in MEMBERS[name] if not hasattr(objects[name], member)] == []


def test_sampling_parameters_work_as_before() -> None:
    usual = Policy(temperature=0.0, top_p=1.0, max_new_tokens=128, seed=0, ignore_eos=False)
    assert Policy() == usual
    assert Policy(0.6, 0.9, 24, 3, True).further(by=2) == Policy(0.6, 0.9, 24, 5, True)
    assert Policy.parse(values={"temperature": 0.6}) == Policy(temperature=0.6)
    with pytest.raises(SequoiaError, match=r"temperature: -1"):
        Policy(temperature=-1)


def test_trees_have_their_constructors() -> None:
    assert Tree.chain(n=3).parents == (-1, 0, 1)
    assert Tree.sequences(k=2, length=2).parents == (-1, 0, 0, 1, 2)
    assert Tree.kary(k=2, levels=3) == Tree.from_branching(branching=[2, 2])
    assert Tree.from_parents(parents=[-1, 0, 1, 0]).parents == (-1, 0, 0, 1)
    assert Tree.from_json(text=TREE.to_json()) == TREE
    assert sorted(TREE.to_networkx().edges) == [(0, 1), (1, 2)]
    assert TREE.path(node=2) == (0, 1, 2)
    assert TREE.limit(levels=2) == Tree.chain(2)
    with pytest.raises(SequoiaError):
        Tree((-1, 5))


def test_acceptance_and_profiles_have_their_constructors() -> None:
    acceptance = Acceptance.power_law(exponent=1.0, first=0.5, length=2)
    assert acceptance == Acceptance((0.5, 0.25))
    assert Acceptance.from_json(text=acceptance.to_json()) == acceptance
    assert HardwareProfile.from_json(text=PROFILE.to_json()) == PROFILE
    assert PROFILE.verify_seconds(n=1) == PROFILE.plain_seconds == 0.02
    assert PROFILE.draft_seconds_at(width=1) == PROFILE.level_seconds(width=1) == 0.0015
    assert PROFILE.overhead(n=1, drafted=1) == 0


def test_a_profile_is_computed_or_found_by_name() -> None:
    profile = HardwareProfile.roofline(
        device={"name": "card", "memory_gb_per_s": 1000, "tflops": 100, "link_gb_per_s": 25},
        target={
            "name": "large",
            "parameters": 7e9,
            "layers": 32,
            "launch_us_per_layer": 30,
            "bytes_per_weight": 2,
            "kv_bytes_per_token": 524288,
            "offloaded": 0.0,
        },
        draft={"name": "small", "parameters": 7e7, "layers": 2, "launch_us_per_layer": 30},
        prefix_length=256,
        overhead_seconds=0.001,
        level_overhead=0.0001,
        calibrated_nodes=64,
        dtype="bfloat16",
        date="2026-01-31",
    )
    assert profile.source == "simulated"
    assert profile.calibrated_up_to == 64
    assert "a100-llama-2-7b-eager" in sequoia.profile_names()
    assert isinstance(sequoia.named_profile(name="a100-llama-2-7b-eager"), HardwareProfile)


def test_a_run_is_written_and_read(objects: dict[str, Any]) -> None:
    again = Run.from_json(text=objects["Run"].to_json())
    assert emitted(again.steps) == emitted(objects["Run"].steps)
    assert again.texts == objects["Run"].texts


# -- planning --------------------------------------------------------------------------------------


def test_planning_takes_its_keywords() -> None:
    tree = sequoia.best_tree(acceptance=ACCEPTANCE, nodes=8, levels=4)
    table = sequoia.dp_table(acceptance=ACCEPTANCE, nodes=8, levels=4)
    worth = sequoia.expected_tokens(tree=tree, acceptance=ACCEPTANCE)
    branches = len(tree.children[0])
    assert table.value(n=8, levels=4, branches=branches) == pytest.approx(worth)
    assert table.tree(n=8, levels=4, branches=branches) == tree
    assert sequoia.best_tree(ACCEPTANCE, 8) == sequoia.dp_table(ACCEPTANCE, 8).tree(8, 8)


def test_a_plan_takes_its_keywords() -> None:
    plan = sequoia.best_plan(
        acceptance=ACCEPTANCE, profile=PROFILE, max_nodes=12, max_levels=6, slack=0.01
    )
    assert isinstance(plan, Plan)
    assert len(plan.tree) <= 12
    assert plan.tree.levels <= 6
    assert plan.predicted_speedup > 1
    assert sequoia.best_plan(ACCEPTANCE, PROFILE).predicted_speedup >= plan.predicted_speedup


# -- decoding --------------------------------------------------------------------------------------


def emitted(steps: Iterable[StepTrace]) -> list[int]:
    return [token for step in steps for token in step.emitted]


def test_decoding_takes_its_keywords(pair: Pair) -> None:
    expected = emitted(sequoia.plain(pair=pair, prompt=PROMPT, policy=POLICY))
    by_name = sequoia.speculate(
        pair=pair, prompt=PROMPT, policy=POLICY, tree=TREE, verifier="specinfer"
    )
    assert len(expected) == POLICY.max_new_tokens
    assert emitted(by_name) == expected
    assert emitted(sequoia.speculate(pair, PROMPT, POLICY, TREE, "sequoia")) == expected
    assert emitted(sequoia.plain(pair, PROMPT, POLICY)) == expected


@pytest.mark.slow
def test_without_a_tree_one_is_planned_for_this_machine(pair: Pair) -> None:
    steps = list(sequoia.speculate(pair, PROMPT, POLICY))
    assert emitted(steps) == emitted(sequoia.plain(pair, PROMPT, POLICY))
    plan = sequoia.default_plan(
        pair=pair, policy=POLICY, verifier="sequoia", texts=[PROMPT], most=12
    )
    assert len(plan.tree) <= 12
    assert sequoia.machine(pair=pair) == sequoia.machine(pair)


def test_a_race_is_iterated_over(race: Race) -> None:
    found = {0: [], 1: []}
    for lane, step in race:
        found[lane] += step.emitted
    assert found[0] == found[1]
    assert [stats.tokens for stats in race.stats] == [POLICY.max_new_tokens] * 2


def test_a_script_can_choose_trees_itself(pair: Pair) -> None:
    class Growing:
        """One more node at every step, up to `most`."""

        most = 4
        widest = 1

        def __init__(self) -> None:
            self.nodes = 1

        def next(self, levels: int) -> Tree:
            return Tree.chain(self.nodes).limit(levels)

        def learn(self, tree: Tree, verdict: Any) -> None:
            self.nodes = min(self.nodes + 1, self.most)

    tree_choice: Shaper = Growing()
    steps = list(sequoia.run(Decoder(pair, PROMPT, POLICY, tree_choice)))
    assert [len(step.tree) for step in steps][:2] == [1, 2]
    assert emitted(steps) == emitted(sequoia.plain(pair, PROMPT, POLICY))


def test_invalid_requests_are_rejected_at_the_call(pair: Pair) -> None:
    with pytest.raises(SequoiaError):
        sequoia.plain(pair, "", POLICY)
    with pytest.raises(SequoiaError):
        sequoia.speculate(pair, PROMPT, POLICY, TREE, "no such verifier")


def test_the_pair_encodes_text(pair: Pair) -> None:
    tokens = pair.encode(prompt=PROMPT, chat=False)
    assert pair.tokenizer.decode(tokens).endswith(PROMPT)
    assert "return" in pair.piece(token=tokens[-1])


# -- measuring -------------------------------------------------------------------------------------


def test_acceptance_takes_its_keywords(pair: Pair) -> None:
    found, source = sequoia.acceptance_of(
        pair=pair, policy=POLICY, verifier="sequoia", texts=[PROMPT]
    )
    assert isinstance(found, Acceptance)
    assert source.startswith("recorded")


def test_counting_takes_its_keywords(pair: Pair) -> None:
    shares: list[float] = []
    counted = sequoia.count_acceptance(
        pair=pair,
        prompts=[PROMPT],
        policy=POLICY,
        ranks=2,
        verifier="sequoia",
        tree=None,
        progress=shares.append,
    )
    assert shares
    assert len(counted.accepted) == 2
    measured = sequoia.measure_acceptance(
        pair=pair, prompts=[PROMPT], policy=POLICY, ranks=2, verifier="sequoia", tree=None
    )
    assert measured == counted.acceptance


@pytest.mark.slow
def test_timing_takes_its_keywords(pair: Pair) -> None:
    shares: list[float] = []
    profile = sequoia.measure_profile(
        pair=pair,
        sizes=(1, 2),
        widths=(1, 2),
        prefix=8,
        rounds=1,
        seconds=0.1,
        progress=shares.append,
    )
    assert shares
    assert profile.source == "measured"
    assert [size for size, _, _ in profile.target_seconds] == [1, 2]
