"""The way from the tests of the guarantees into the program, and the only one: `test_one_door.py`
refuses any other. If the program is rebuilt, only this module changes. The tests stay, so they hold
the new program to what the old one promised.

The values that pass through are the program's own where they are the subject itself (a Tree, an
Acceptance, a Verifier with `draw` and `verify`), and plain numbers, tuples and tensors elsewhere.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import fakes
import numpy as np
import pytest
import torch
from fakes import KINDS, PROMPTS, tiny_model
from goodness_of_fit import fit
from huge_activations import huge_model
from toy_pairs import toy_pair
from tree_files import from_node_link as tree_of_node_link

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import DPTable, best_first, best_tree, dp_table
from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.expected_tokens import (
    RejectIfPossible,
    expected_accepted,
    expected_tokens,
)
from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.tree_formats import from_paths as tree_of_paths
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.algorithm.verifiers.sequoia import walk, without_replacement
from sequoia.algorithm.verifiers.specinfer import with_replacement
from sequoia.algorithm.verifiers.traversal import PathNode
from sequoia.algorithm.verifiers.verifier import Verdict, Verifier
from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.decoding import engine
from sequoia.decoding.cuda import kernel_check
from sequoia.decoding.cuda.cuda_step import CudaStep
from sequoia.decoding.cuda.kernel_check import Case, by_kernel, by_reference, random_case
from sequoia.decoding.dynamic_tree import CalibratedTree, Calibration, Costs
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.decoding.recorder import Recorder
from sequoia.decoding.tree_choice import GrowingTree
from sequoia.errors import BadAcceptance, BadModel, BadPrompt, BadTrace, BadTree
from sequoia.exactness.losslessness import losslessness_test, tested_models
from sequoia.exactness.losslessness.bugs import BUGS
from sequoia.exactness.losslessness.comparison import Cells
from sequoia.exactness.losslessness.enumerator import Distribution, Enumerator, distribution
from sequoia.exactness.losslessness.settings import Decoding
from sequoia.exactness.losslessness.tested_models import (
    Model,
    Text,
    Toy,
    drafted,
    step,
    verified,
)
from sequoia.loading.load import recorded_acceptances as acceptance_table
from sequoia.loading.read_weights import check_frequencies, rotary_modules
from sequoia.measuring.stopping_chain import ChainWhileSure
from sequoia.models import tree_forward
from sequoia.models.cache_and_mask import DynamicTreeLayout, KVCache, TreeLayout, TreeMask
from sequoia.models.choose_forward import use_fast_forward, use_rounded_weights
from sequoia.models.native.library import NoLibrary
from sequoia.models.native.native_llama import native_forward
from sequoia.models.ngram import Followers, FoundPart
from sequoia.models.packed_llama import PackedLlama, Rotations
from sequoia.models.pair import Pair
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.plan_for_machine import best_chain, best_plan, predict, speedup_grid
from sequoia.planning.simulated_step_times import step_seconds
from sequoia.saved_files.race_file import LaneLog, RaceLog
from sequoia.saved_files.race_results import Result
from sequoia.saved_files.run_file import Run

__all__ = [
    "BUGS",
    "BUNDLED_PAIR",
    "KINDS",
    "MAX_NODES",
    "PROMPTS",
    "VERIFIERS",
    "Acceptance",
    "BadAcceptance",
    "BadModel",
    "BadPrompt",
    "BadTrace",
    "BadTree",
    "Case",
    "Context",
    "DPTable",
    "Distribution",
    "Enumerator",
    "GrowingTree",
    "HardwareProfile",
    "Model",
    "Pair",
    "PathNode",
    "RejectIfPossible",
    "Text",
    "Tree",
    "TreeModel",
    "Verdict",
    "Verifier",
    "acceptance_table",
    "best_chain",
    "best_first",
    "best_plan",
    "best_tree",
    "check_frequencies",
    "distribution",
    "dp_table",
    "drafted",
    "expected_accepted",
    "expected_tokens",
    "fit",
    "huge_model",
    "named_profile",
    "predict",
    "random_case",
    "rotary_modules",
    "speedup_grid",
    "step",
    "step_seconds",
    "tiny_model",
    "tree_of_node_link",
    "tree_of_paths",
    "verified",
    "with_replacement",
    "without_replacement",
]

# -- verifiers, and their randomness ---------------------------------------------------------------


def over_torch(name: str) -> Verifier:
    """The real verifier for models that return numpy arrays."""
    return tested_models.over_torch(VERIFIERS[name])


def mutant(verifier: Verifier, **parts: Any) -> Verifier:
    """A copy with another `draw` or `verify`."""
    return replace(verifier, **parts)


def walk_with(reject: Callable[..., Any]) -> Callable[..., Verdict]:
    """A `verify` that walks down the tree with another rule for what a rejection leaves."""
    return partial(walk, reject=reject)


def seeded(seed: int, device: str = "cpu") -> Seeded:
    """The randomness of real runs."""
    return Seeded(seed, device)


def warped(
    logits: torch.Tensor, temperature: float, top_p: float = 1.0, *, is_draft: bool = False
) -> np.ndarray:
    """The distribution (vocab,) that real runs make of logits (vocab,): p in float64, or q in
    float32."""
    rows = draft_rows if is_draft else target_rows
    return rows(logits, SamplingParams(temperature=temperature, top_p=top_p)).numpy()


# -- trees that grow while they are drafted --------------------------------------------------------


def chain_while_sure(most: int, surest: float) -> GrowingTree:
    """A chain that ends after its first token of a draft probability below `surest`."""
    return ChainWhileSure(most, surest)


def part_that_a_lookup_fills(planned: Tree) -> GrowingTree:
    """The nodes of `planned` for which the draft's distributions have tokens."""
    return FoundPart(planned)


def found_after(text: Sequence[int]) -> Mapping[int, int]:
    """How often each token followed the longest earlier match of the end of `text`."""
    return Followers(text).found()


def calibrated_tree(most: int, levels: int) -> GrowingTree:
    """A dynamic tree. Levels cost nothing and nodes little, so that its shape differs after
    different draws."""
    rates = Acceptance((0.5, 0.2, 0.1))
    costs = Costs(rates, profile(), most, levels)
    costs.node[:] = 0.25
    costs.level = lambda width: 0.0  # type: ignore[method-assign]
    return CalibratedTree(Calibration(rates, greedy=True), costs, most, levels)


# -- the page's own enumeration, with and without a bug --------------------------------------------

_Toy = tuple[str, str]  # p and q, as typed


def output_shares(
    toy: _Toy, tree: Tree, bug: str | None, places: int, verifier: str
) -> np.ndarray | None:
    """The exact probability of each text of `places` tokens; None if there are too many
    outcomes."""
    models = Toy.parse(*toy)
    decoding = Decoding(tree, verifier, BUGS[bug] if bug else None)
    found = losslessness_test.output_shares(models, decoding, _cells(models, places))
    return None if found is None else np.array(found)


def true_shares(toy: _Toy, places: int) -> np.ndarray:
    """Those of a lossless decoder."""
    return np.array([cell.share for cell in _cells(Toy.parse(*toy), places).all])


def first_token_shares(toy: _Toy, bug: str) -> list[float]:
    """Those of a decoder with `bug` for one token, in closed form."""
    models = Toy.parse(*toy)
    found = enumerate(losslessness_test.first_token(models, BUGS[bug]))
    return _cells(models, 1).shares({(token,): share for token, share in found})


def _cells(toy: Toy, places: int) -> Cells:
    return Cells(toy.p, places, toy.vocab)


# -- the best tree, for its size and for a machine -------------------------------------------------


def limit_tables(patch: pytest.MonkeyPatch, cells: int) -> None:
    """The dynamic program refuses tables of more cells."""
    patch.setattr("sequoia.algorithm.best_tree.MAX_CELLS", cells)


def stored_levels(table: DPTable) -> int:
    """The number of levels for which a table holds values."""
    return len(table._cells)


def profile(**changes: Any) -> HardwareProfile:
    """A simulated machine, with `changes` to its fields."""
    return fakes.made_profile(**changes)


# -- models: KV cache, mask and forward ------------------------------------------------------------


class Cache:
    """A KV cache of its own, for two heads of three numbers."""

    def __init__(self, layers: int, slots: int) -> None:
        self._cache = KVCache(layers, slots)
        self._layers = layers

    def write(self, values: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one slot for each of `values` in every layer. In layer i, the keys are `values`
        plus 100 * i; the attention's values are the negatives of its keys. Returns the keys and
        values (1, heads, slots, 3) that the last layer's attention would see."""
        rows = torch.tensor(values, dtype=torch.float32)[None, None, :, None].expand(1, 2, -1, 3)
        self._cache.reserve(len(values))
        for layer in range(self._layers):
            seen = self._cache.update(rows + 100 * layer, -rows - 100 * layer, layer)
        return seen

    def keep(self, rows: Sequence[int]) -> None:
        self._cache.keep(rows)

    @property
    def slots(self) -> tuple[int, int]:
        """How many are kept, and how many written after them."""
        return self._cache.length, self._cache.written

    def kept(self, layer: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values (1, heads, kept slots, 3) of one layer."""
        held = self._cache.layers[layer]
        return held.keys[:, :, : self._cache.length], held.values[:, :, : self._cache.length]


def model(kind: str = "llama", dtype: torch.dtype = torch.float32, **options: Any) -> TreeModel:
    """A tiny random model of a real class, ready to run trees."""
    return of_transformers(tiny_model(kind, **options).to(dtype), kind)


def of_transformers(hf: Any, name: str) -> TreeModel:
    """A model of `transformers`, ready to run trees."""
    return TreeModel(hf, name)


def bare_logits(model: TreeModel, ids: Sequence[int]) -> torch.Tensor:
    """Logits (tokens, vocab) of `transformers` alone, without our KV cache and mask."""
    with torch.inference_mode():
        return model.hf(torch.tensor([ids], device=model.device)).logits[0, :, : model.vocab]


def three_passes(model: TreeModel) -> torch.Tensor:
    """Logits (rows, vocab) after a prompt, after each node of a tree, and after two more tokens
    that follow one path of the tree."""
    return fakes.tree_logits(model)


def empty(context: Context) -> None:
    """Drop all tokens of a run."""
    context.kv_cache.clear()


def in_parts_of(patch: pytest.MonkeyPatch, tokens: int) -> None:
    """A prompt goes through the model in passes of at most `tokens`."""
    patch.setattr(tree_forward, "PREFILL_CHUNK", tokens)


def tree_mask(tree: Tree, capacity: int) -> Callable[[int, int, int], torch.Tensor]:
    """(prefix, first, last) -> the additive mask (1, 1, last - first, prefix + last) of these nodes
    after `prefix` tokens."""
    seen = torch.from_numpy(tree.ancestor_mask)
    return TreeMask(seen, capacity, torch.float32, torch.device("cpu")).view


def layout(
    context: Context, tree: Tree, nodes: Sequence[int] | None = None, below: int = 0
) -> TreeLayout:
    """Mask and positions of `nodes` (None: all). below: levels of the tree that are in the prefix
    already."""
    return TreeLayout(context, tree, nodes, below)


def growing_layout(context: Context, most: int) -> DynamicTreeLayout:
    """A layout that is filled level by level."""
    return DynamicTreeLayout(context, most)


# -- the checks of a model at load, and faults for them to find ------------------------------------


def faster(model: TreeModel, text: Sequence[int] = ()) -> TreeModel:
    """The model with a faster forward, if that passes its check."""
    return use_fast_forward(model, text)


def native(model: TreeModel) -> TreeModel:
    """The model with its native forward, which was not checked. Skips the test if it has none on
    this machine."""
    try:
        forward = native_forward(model.hf)
    except NoLibrary as problem:
        pytest.skip(str(problem))
    assert forward is not None
    return model.with_forward(forward)


def rounded(model: TreeModel) -> TreeModel:
    """The model as a draft, whose native forward reads rounded weights."""
    found = native(model)
    return use_rounded_weights(found, found)


def check_at_load(model: TreeModel, text: Sequence[int] = ()) -> None:
    """Raises BadModel if the model cannot run a tree."""
    self_test(model, text)


def without_haste(patch: pytest.MonkeyPatch) -> None:
    """However slow this machine is at present, the check changes all its tokens."""
    patch.setattr("sequoia.models.self_test.SECONDS", 60.0)


def toy_model(kind: str) -> Any:
    """A toy of any type that `transformers` has."""
    return toy_pair(kind).target.hf


def example_texts() -> list[Path]:
    """The files with the bundled texts, each a list in JSON."""
    kinds = ("bench", "survey")
    return [ASSETS / kind / f"{name}.json" for kind in kinds for name in ("code", "prose")]


def change_layouts(
    patch: pytest.MonkeyPatch, change: Callable[[torch.Tensor, torch.Tensor], Any], nodes: int
) -> None:
    """Every layout of more than `nodes` nodes is changed in place: its mask (nodes, nodes) and its
    depths (nodes,)."""
    usual = TreeLayout.__init__

    def changed(self: TreeLayout, *given: Any) -> None:
        usual(self, *given)
        if len(self.depths) > nodes:
            change(self.mask.own, self.depths)

    patch.setattr(TreeLayout, "__init__", changed)


def change_passes(
    patch: pytest.MonkeyPatch,
    model: TreeModel,
    change: Callable[[torch.Tensor, torch.Tensor], Any],
    nodes: int,
) -> None:
    """The forward of `transformers` of one model, and the faster forward, get changed positions (1,
    rows) and masks (1, 1, rows, columns) in passes of more than `nodes` rows."""

    def changed(usual: Callable[..., torch.Tensor], *given: Any) -> torch.Tensor:
        *first, positions, mask, kv_cache, last_only = given  # first: perhaps `self`, and the ids
        positions, mask = positions.clone(), mask.clone()
        if positions.shape[1] > nodes:
            change(positions, mask)
        return usual(*first, positions, mask, kv_cache, last_only)

    packed = PackedLlama.__call__
    patch.setattr(PackedLlama, "__call__", lambda *given: changed(packed, *given))
    model.forward = partial(changed, model.forward)


def leave_kept_rows(patch: pytest.MonkeyPatch) -> None:
    """The kept nodes stay where they were, so that others take their places."""
    patch.setattr(KVCache, "_move", lambda *_: None)


def double_last_kept_row(patch: pytest.MonkeyPatch) -> None:
    usual = KVCache.keep

    @torch.inference_mode()
    def keep(self: KVCache, rows: Sequence[int]) -> None:
        usual(self, rows)
        if len(rows) and self.length < self.capacity:
            for tensor in self.memory:
                tensor[..., self.length, :] = tensor[..., self.length - 1, :]
            self.length += 1

    patch.setattr(KVCache, "keep", keep)


def change_prompts(patch: pytest.MonkeyPatch, ahead: int) -> None:
    """In a prompt, each token sees up to `ahead` later ones."""

    def causal(n: int, spec: Any, capacity: int) -> TreeMask:
        seen = torch.ones(n, n).tril(ahead).bool()
        return TreeMask(seen, capacity, spec.mask_dtype, spec.device)

    patch.setattr(tree_forward, "causal", causal)


def change_rotations(
    patch: pytest.MonkeyPatch,
    change: Callable[[Callable[[int], torch.Tensor], int], torch.Tensor],
) -> None:
    """The faster forward makes its table of rotations (positions, ...), complex, with `change`
    instead of the usual function of the number of positions."""
    usual = Rotations._made
    patch.setattr(
        Rotations, "_made", lambda self, positions: change(partial(usual, self), positions)
    )


# -- whole runs ------------------------------------------------------------------------------------


def pair(kind: str = "llama", dtype: str = "float32", **options: Any) -> Pair:
    """A tiny pair, loaded from files. The draft is the target with noise."""
    return fakes.tiny_pair(kind, dtype, **options)


def decode(
    pair: Pair,
    prompt: str,
    tree: Tree,
    verifier: str = "sequoia",
    *,
    tokens: int = 64,
    **params: Any,
) -> Iterator[tuple[int, ...]]:
    """Yields the tokens that each step emits. params: temperature (0 by default), top_p, seed."""
    for one in run(Decoder(pair, prompt, _params(tokens, params), tree, verifier)):
        yield one.emitted


def decode_plain(pair: Pair, prompt: str, tokens: int = 64, **params: Any) -> list[int]:
    """The tokens of decoding without a draft."""
    steps = plain(pair, prompt, _params(tokens, params))
    return [token for one in steps for token in one.emitted]


def _params(tokens: int, params: dict[str, Any]) -> SamplingParams:
    return SamplingParams(max_new_tokens=tokens, ignore_eos=True, **params)


# -- the kernel that verifies on a GPU -------------------------------------------------------------

# last node, bonus token, and for each trial: node, p, q, u, whether accepted, mass
Walked = tuple[int, int, list[list[Any]]]
_DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def walked_by_kernel(case: Case, replacing: bool) -> Walked:
    """replacing: whether siblings were drawn independently. Without a GPU, Triton's interpreter
    runs the kernel."""
    found = by_kernel(case, torch.device(_DEVICE), replacing)
    return found.node, found.bonus, found.trials


def walked_by_reference(case: Case, replacing: bool) -> Walked:
    found = by_reference(case, replacing)
    trials = [[one.node, one.p, one.q, one.u, one.accepted, one.mass] for one in found.trials]
    return found.path[-1], found.bonus, trials


def cases_of_the_check(vocab: int, replacing: bool) -> list[Case]:
    """Those with which the kernel is checked before its first use."""
    return list(kernel_check._cases(vocab, replacing))


def blocks_of(patch: pytest.MonkeyPatch, tokens: int) -> None:
    """The kernel goes through the vocabulary in blocks of `tokens`."""
    patch.setattr("sequoia.decoding.cuda.verify_kernel._BLOCK", tokens)


def verify_on_device(patch: pytest.MonkeyPatch) -> None:
    """Steps stay on the device, which may be the CPU, if the kernel passes its check of a few
    cases."""
    patch.setattr(engine, "fits", lambda _target, _draft: True)
    patch.setattr(kernel_check, "CASES", 10)


def is_verified_by_kernel(pair: Pair, tree: Tree, verifier: str) -> bool:
    decoder = Decoder(pair, PROMPTS[0], SamplingParams(), tree, verifier)
    return isinstance(decoder._draft_and_verify, CudaStep)


def placed_pair() -> Pair:
    """The tiny pair on the device on which the kernel runs."""
    found = pair()
    for one in (found.target, found.draft) if _DEVICE == "cuda" else ():
        one.__init__(copy.deepcopy(one.hf).to(_DEVICE), one.name)
        use_fast_forward(one)
    return found


# -- saved files -----------------------------------------------------------------------------------


class SavedRun(NamedTuple):
    """text: what the run added to its prompt, in `pieces` parts. accepted: number of accepted nodes
    by rank. sizes: number of nodes of each step's tree. how: the tree in words."""

    label: str
    text: str
    pieces: int
    tokens: int
    accepted: tuple[int, ...]
    sizes: tuple[int, ...]
    finish: str | None
    verifier: str
    temperature: float | None
    how: str


class SavedLane(NamedTuple):
    name: str
    is_plain: bool
    has_changing_tree: bool
    run: SavedRun


class SavedCount(NamedTuple):
    """Counts of first tokens: how many were drawn, and of those, how many fell in each cell."""

    draws: int
    freedom: int
    seen: list[int]


class SavedResult(NamedTuple):
    """verdict, p: of the check whether the lane is lossless. bars: the steps from the ideal to the
    measured speed-up."""

    verdict: str
    p: float | None
    count: SavedCount | None
    speedup: float
    bars: dict[str, float]


class SavedRace(NamedTuple):
    label: str
    lanes: list[SavedLane]
    results: list[SavedResult | None]


def recorded_run(verifier: str) -> str:
    """The file of a short run in which everything is recorded that can be."""
    params = SamplingParams(temperature=0.8, max_new_tokens=8, seed=5, ignore_eos=True)
    decoder = Decoder(pair(), PROMPTS[1], params, Tree.kary(2, 3), verifier, has_heads=True)
    recorder = Recorder(decoder.pair, decoder.prompt, {"label": "measured", "prompt": PROMPTS[1]})
    for one in run(decoder):
        recorder.add(one)
    return recorder.run().to_json()


def open_run(text: str) -> SavedRun:
    """Raises BadTrace, as all three of these."""
    return _saved_run(Run.from_json(text))


def open_race(text: str) -> SavedRace:
    race = RaceLog.from_json(text)
    results = [_saved_result(one) if one else None for one in race.results or ()]
    return SavedRace(race.meta["label"], [_saved_lane(one) for one in race.lanes], results)


def saved_again(text: str) -> str:
    """A file that was opened and saved again."""
    is_race = '"sequoia-race"' in text
    return (RaceLog if is_race else Run).from_json(text).to_json()


def _saved_run(run: Run, verifier: str = "") -> SavedRun:
    ranks = Counter(one.tree.ranks[node] for one in run.steps for node in one.verdict.path[1:])
    pieces = [piece for step in run.steps for piece in step.text]
    return SavedRun(
        run.meta.get("label", ""),
        "".join(pieces),
        len(pieces),
        DecodeStats.fold(run.steps).tokens,
        tuple(ranks[rank] for rank in range(max(ranks, default=-1) + 1)),
        tuple(len(one.tree) for one in run.steps),
        run.steps[-1].finish if run.steps else None,
        verifier or run.meta.get("verifier", ""),
        run.meta.get("params", {}).get("temperature"),
        run.meta.get("tree", {}).get("description", ""),
    )


def _saved_lane(lane: LaneLog) -> SavedLane:
    return SavedLane(lane.name, lane.plain, lane.changes, _saved_run(lane.run, lane.verifier))


def _saved_result(found: Result) -> SavedResult:
    lossless = found.lossless
    count = lossless.count
    return SavedResult(
        lossless.kind,
        lossless.p_value,
        count and SavedCount(count.draws, count.freedom, [cell.seen for cell in count.cells]),
        found.what_to_try.speedup,
        {bar.name: bar.value for bar in found.time_breakdown.bars},
    )
