"""The engine on tiny models of five real classes: how much is accepted, where a run ends, what its
traces say, and what it costs. tests/guarantee has its losslessness."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import math
import weakref
from collections.abc import Iterable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from decoded import emitted
from exact import nucleus_by_hand
from fakes import KINDS, PROMPTS, hopeless_pair, same_pair, tiny_pair

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.decoding import engine
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.errors import BadModel, BadSamplingParams
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

TREES = {
    "chain": Tree.chain(5),
    "sequences": Tree.sequences(3, 3),
    "bushy": Tree.from_branching([4, 2, 1, 1]),
    "flat": Tree.from_branching([16]),
    "ragged": Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4, 6, 7, 8, 10)),
}
GREEDY = SamplingParams(max_new_tokens=64, ignore_eos=True)
WARM = dataclasses.replace(GREEDY, temperature=0.8, seed=7)

# Tests share these pairs. A test that modifies a model permanently calls `tiny_pair` instead.
made = cache(tiny_pair)


def steps_of(
    pair: Pair, prompt: str, params: SamplingParams, tree: Tree, verifier: str = "sequoia"
) -> Iterator[StepTrace]:
    return run(Decoder(pair, prompt, params, tree, verifier))


@cache
def plain_tokens(pair_args: tuple[str, ...], prompt: str) -> list[int]:
    return emitted(plain(made(*pair_args), prompt, GREEDY))


def but_time(steps: Iterable[StepTrace]) -> list[StepTrace]:
    return [dataclasses.replace(step, seconds={}) for step in steps]


# -- how much is accepted --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_equal_to_its_target_is_accepted_on_every_level(kind: str) -> None:
    tree = Tree.from_branching([2, 2, 1, 1])
    steps = list(steps_of(same_pair(kind), PROMPTS[0], GREEDY, tree))
    assert all(len(step.verdict.path) == step.tree.levels for step in steps)
    assert all(
        tree.ranks[node] == 0 for step in steps for node in step.verdict.path if step.tree == tree
    )
    assert len(steps) == math.ceil(64 / tree.levels)


def test_a_hopeless_draft_still_emits_one_token_a_step() -> None:
    pair = hopeless_pair()
    steps = list(steps_of(pair, PROMPTS[0], GREEDY, TREES["bushy"]))
    assert [len(step.emitted) for step in steps] == [1] * 64
    assert emitted(steps) == emitted(plain(pair, PROMPTS[0], GREEDY))


# -- where a run ends, and other edge cases --------------------------------------------------------


def first_inside(steps: list[StepTrace]) -> tuple[int, int]:
    """A token that first occurs on an accepted path, but not at the end of that path. Also returns
    the index of this first occurrence among the tokens of the run."""
    seen: list[int] = []
    for step in steps:
        for i, token in enumerate(step.emitted):
            if token not in seen and i < len(step.emitted) - 2:
                return token, len(seen)
            seen.append(token)
    raise AssertionError("no token is emitted for the first time inside a path")


def test_the_end_of_text_inside_an_accepted_path_ends_the_run_there() -> None:
    reference = list(steps_of(made(), PROMPTS[0], GREEDY, TREES["chain"]))
    token, at = first_inside(reference)
    pair = dataclasses.replace(made(), stop=frozenset({token}))
    steps = list(
        steps_of(pair, PROMPTS[0], dataclasses.replace(GREEDY, ignore_eos=False), TREES["chain"])
    )
    assert emitted(steps) == emitted(reference)[: at + 1]
    assert len(steps[-1].emitted) < len(steps[-1].verdict.path)
    assert [step.finish for step in steps] == [None] * (len(steps) - 1) + ["eos"]


def test_the_end_of_text_as_the_targets_own_token_ends_the_run() -> None:
    pair = hopeless_pair()
    first = next(steps_of(pair, PROMPTS[0], GREEDY, TREES["chain"])).emitted[0]
    pair = dataclasses.replace(pair, stop=frozenset({first}))
    [step] = steps_of(pair, PROMPTS[0], SamplingParams(), TREES["chain"])
    assert (step.emitted, step.finish) == ((first,), "eos")


@pytest.mark.parametrize("params", [GREEDY, WARM], ids=["greedy", "warm"])
@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("which", ["target", "draft"])
def test_logits_that_overflowed_end_a_run(
    which: str,
    verifier: str,
    params: SamplingParams,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoder = Decoder(made(), PROMPTS[0], params, TREES["ragged"], verifier)
    model = decoder.contexts[which == "draft"].model
    decoder.prefill()
    forward = model.forward
    monkeypatch.setattr(model, "forward", lambda *given: forward(*given).abs() * math.inf)
    with pytest.raises(BadModel, match=f"the {which}'s logits contain NaN or infinity"):
        decoder.step()


@pytest.mark.parametrize("params", [GREEDY, WARM], ids=["greedy", "warm"])
def test_a_draft_that_overflows_in_its_last_pass_ends_a_run(params: SamplingParams) -> None:
    """Drawing a token from NaN raises no error. All distributions are checked once the tree is
    complete."""
    tree = TREES["ragged"]
    decoder = Decoder(tiny_pair(), PROMPTS[0], params, tree)
    decoder.prefill()
    model = decoder.contexts[1].model
    numbers = iter([1.0] * (tree.levels - 2) + [math.nan])
    forward = model.forward
    model.forward = lambda *given: forward(*given) * next(numbers)
    with pytest.raises(BadModel, match="the draft's logits contain NaN"):
        decoder.step()


def test_at_temperature_0_there_are_no_residuals_to_record() -> None:
    """All of p is on one token there, and a saved run would only be larger."""
    steps = run(Decoder(tiny_pair(), PROMPTS[0], GREEDY, TREES["ragged"], has_heads=True))
    assert all(step.residual_heads == () for step in steps)


@pytest.mark.parametrize("captured", [True, False])
def test_with_cuda_graphs_slots_that_overflowed_are_zeros_after_the_step(
    captured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A captured pass also reads the slots of dropped nodes. Their weight is 0, but 0 times
    infinity is NaN."""
    decoder = Decoder(tiny_pair(), PROMPTS[0], GREEDY, Tree.from_branching([3]))
    decoder.prefill()
    graphs = SimpleNamespace(ahead=lambda *_: []) if captured else None
    monkeypatch.setattr(TreeModel, "graphs", graphs)
    target = decoder.contexts[0]
    forward = target.model.forward
    dropped = slice(target.length + 1, target.length + 4)
    unlikely = 5

    def overflowing(*given: Any) -> torch.Tensor:
        logits = forward(*given).clone()
        for layer in target.kv_cache.cache_layers:
            layer.values[:, :, dropped] = math.inf
        logits[1:] = math.nan
        logits[0, unlikely] = 1000
        return logits

    monkeypatch.setattr(target.model, "forward", overflowing)
    assert decoder.step().emitted == (unlikely,)
    for layer in target.kv_cache.cache_layers:
        assert layer.values[:, :, dropped].any() != captured


def test_the_previous_tree_is_freed_before_the_next_is_drafted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory has room for the distributions of only one tree."""
    decoder = Decoder(tiny_pair(), PROMPTS[0], WARM, TREES["ragged"])
    decoder.prefill()
    fill = decoder._drafter.fill
    earlier = []

    def filled(*given: Any) -> Any:
        assert [tree() for tree in earlier] == [None] * len(earlier)
        found = fill(*given)
        earlier.append(weakref.ref(found))
        return found

    monkeypatch.setattr(decoder._drafter, "fill", filled)
    for _ in range(3):
        decoder.step()
    assert len(earlier) == 3


def test_ignore_eos_decodes_on_through_the_end_of_text() -> None:
    token, _ = first_inside(list(steps_of(made(), PROMPTS[0], GREEDY, TREES["chain"])))
    pair = dataclasses.replace(made(), stop=frozenset({token}))
    steps = list(steps_of(pair, PROMPTS[0], GREEDY, TREES["chain"]))
    assert emitted(steps) == plain_tokens((), PROMPTS[0])
    assert steps[-1].finish == "length"


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_the_token_limit_cuts_anywhere(verifier: str) -> None:
    for most in range(1, 16):
        steps = list(
            steps_of(
                made(),
                PROMPTS[0],
                dataclasses.replace(GREEDY, max_new_tokens=most),
                TREES["ragged"],
                verifier,
            )
        )
        assert emitted(steps) == plain_tokens((), PROMPTS[0])[:most]
        assert [step.finish for step in steps] == [None] * (len(steps) - 1) + ["length"]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_the_models_context_is_filled_but_not_exceeded(kind: str) -> None:
    """The tree is cut to the levels that fit. With one token too many, GPT-2 would raise an error,
    because it has no embedding for that position."""
    for room in (1, 2, 3, 9):
        pair = tiny_pair(kind, context=len(made().encode(PROMPTS[0])) + room)
        steps = list(steps_of(pair, PROMPTS[0], GREEDY, TREES["bushy"]))
        assert len(emitted(steps)) == room
        assert steps[-1].finish == "context"
        assert emitted(steps) == emitted(plain(pair, PROMPTS[0], GREEDY))


# -- what a trace says -----------------------------------------------------------------------------


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize(
    "params", [GREEDY, WARM, dataclasses.replace(WARM, top_p=0.7)], ids=["greedy", "warm", "top-p"]
)
def test_traces_agree_with_themselves_and_with_the_models(
    params: SamplingParams, verifier: str
) -> None:
    pair = made()
    walks = verifier != "traversal"  # from the root, child by child
    text = list(made().encode(PROMPTS[0]))
    for i, step in enumerate(steps_of(pair, PROMPTS[0], params, TREES["ragged"], verifier)):
        follows = [*(step.tokens[node] for node in step.verdict.path[1:]), step.verdict.bonus]
        assert (step.index, step.prefix_len, step.tokens[0]) == (i, len(text) - 1, text[-1])
        assert list(step.emitted) == follows[: len(step.emitted)]
        assert step.verdict.path == step.tree.path(step.verdict.path[-1])
        known = {node for node, p in enumerate(step.target_p) if p is not None}
        below = {child for node in step.verdict.path for child in step.tree.children[node]}
        assert known == below if walks else known >= below
        assert step.draft_p[0] is None
        assert all(0 <= q <= 1 for q in step.draft_p[1:])
        for distribution, model in ((step.target_p, pair.target), (step.draft_p, pair.draft)):
            for node in (node for node in step.verdict.path[:2] if step.tree.children[node]):
                _same_weights(step, distribution, model, node, text, params)
        firsts = [one for one in step.verdict.trials if step.tree.ranks[one.node] == 0]
        # no sibling is tried before a first child, so its p and q are the models' own
        for trial in firsts if walks else ():
            assert trial.q == pytest.approx(step.draft_p[trial.node], rel=1e-5)
            assert trial.p == step.target_p[trial.node]
        assert set(step.seconds) == {"draft", "verify", "overhead"}
        assert all(value >= 0 for value in step.seconds.values())
        text += step.emitted


def _same_weights(
    step: StepTrace,
    distribution: tuple,
    model: TreeModel,
    node: int,
    text: list[int],
    params: SamplingParams,
) -> None:
    """Asserts that `distribution` gives the children of `node` the probabilities that the Hugging
    Face model gives them after the same text."""
    ids = torch.tensor([text + [step.tokens[above] for above in step.tree.path(node)[1:]]])
    with torch.inference_mode():
        logits = model.hf(ids).logits[0, -1].double()
    is_target = distribution is step.target_p
    if params.temperature == 0 and is_target:
        expected = torch.nn.functional.one_hot(logits.argmax(), len(logits)).double()
    else:
        expected = nucleus_by_hand(
            torch.softmax(logits / (params.temperature or 1), -1), params.top_p
        )
    for child in step.tree.children[node]:
        assert distribution[child] == pytest.approx(
            float(expected[step.tokens[child]]), rel=1e-3, abs=3e-6
        )


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_siblings_are_the_drafts_best_at_temperature_0(verifier: str) -> None:
    """At temperature 0, with every verifier, the draft takes its most probable tokens in order,
    each once."""
    decoder = Decoder(made(), PROMPTS[0], GREEDY, TREES["bushy"], verifier)
    prompt = list(decoder.prompt)
    first, *later = run(decoder)
    best = made().draft.open(len(prompt) + 8).extend(prompt).topk(len(first.tree.children[0]))
    assert [first.tokens[child] for child in first.tree.children[0]] == best.indices.tolist()
    for step in (first, *later):
        for children in step.tree.children:
            weights = [step.draft_p[child] for child in children]
            assert weights == sorted(weights, reverse=True)
            assert len({step.tokens[child] for child in children}) == len(children)


# -- cost ------------------------------------------------------------------------------------------


def counted(model: TreeModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list to which each later pass of `model` appends its number of tokens."""
    rows: list[int] = []
    forward = model.forward

    def counting(ids: torch.Tensor, *rest: object) -> torch.Tensor:
        rows.append(ids.shape[1])
        return forward(ids, *rest)

    monkeypatch.setattr(model, "forward", counting)
    return rows


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_one_target_forward_a_step_and_one_draft_forward_a_level(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accepted leaf goes through the draft in the next step, together with the token after it.
    The other leaves are skipped."""
    pair = tiny_pair()
    target = counted(pair.target, monkeypatch)
    draft = counted(pair.draft, monkeypatch)
    decoder = Decoder(pair, PROMPTS[0], GREEDY, tree)
    decoder.prefill()
    assert len(target) == len(draft) == 1
    leaf_before = False
    while decoder.finish is None:
        target.clear()
        draft.clear()
        step = decoder.step()
        assert target == [len(step.tree)]
        if len(step.tree) > 1:
            assert draft == [1 + leaf_before, *step.tree.widths[1:]]
        last = step.verdict.path[-1]
        leaf_before = bool(last) and not step.tree.children[last]


def test_no_cache_is_allocated_after_the_first_step() -> None:
    decoder = Decoder(made(), PROMPTS[0], WARM, TREES["ragged"])
    decoder.prefill()
    decoder.step()
    before = places(decoder)
    while decoder.finish is None:
        decoder.step()
    assert places(decoder) == before
    assert len(before) == 2 * 2 * 2  # keys and values, two layers, two models


def places(decoder: Decoder) -> list[int]:
    return [
        store.data_ptr()
        for context in decoder.contexts
        for layer in context.kv_cache.layers
        for store in (layer.keys, layer.values)
    ]


# -- runs beside each other, their end, and refused arguments --------------------------------------


def test_a_seed_repeats_a_run_and_another_seed_does_not() -> None:
    once, again, other = (
        but_time(
            steps_of(made(), PROMPTS[0], dataclasses.replace(WARM, seed=seed), TREES["ragged"])
        )
        for seed in (1, 1, 2)
    )
    assert once == again
    assert emitted(once) != emitted(other)


@pytest.mark.parametrize("after", [0, 1, 4, None])
def test_stop_at_any_moment_frees_both_caches(after: int | None) -> None:
    """By reference counting alone: device memory must not wait for the garbage collector."""
    decoder = Decoder(made(), PROMPTS[0], WARM, TREES["ragged"])
    caches = [weakref.ref(context.kv_cache) for context in decoder.contexts]
    steps = run(decoder)
    del decoder
    gc.collect()
    gc.disable()
    try:
        kept = list(itertools.islice(steps, after))
        assert after is None or [cache() is not None for cache in caches] == [True, True]
        steps.close()
        if after == 0:
            del steps  # since Python 3.12, closing a generator that never ran keeps its arguments
        assert [cache() for cache in caches] == [None, None]
    finally:
        gc.enable()
    assert kept or after == 0


class _Breaks(Seeded):
    """Randomness that raises an error in the middle of a step."""

    def accept(self, d: float, r: float) -> tuple[bool, float]:
        if self._host.random() < 0.2:
            raise InterruptedError
        return super().accept(d, r)


def test_a_run_that_breaks_leaves_the_next_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine, "chance_for", lambda *_: _Breaks(0))
        decoder = Decoder(made(), PROMPTS[0], WARM, TREES["ragged"])
    caches = [weakref.ref(context.kv_cache) for context in decoder.contexts]
    with pytest.raises(InterruptedError):
        list(run(decoder))
    del decoder
    gc.collect()
    assert [cache() for cache in caches] == [None, None]
    assert emitted(steps_of(made(), PROMPTS[0], GREEDY, TREES["ragged"])) == plain_tokens(
        (), PROMPTS[0]
    )


def test_an_unknown_verifier_is_refused() -> None:
    with pytest.raises(BadSamplingParams, match=r"magic.*sequoia, specinfer, topk"):
        Decoder(made(), "x", GREEDY, TREES["chain"], "magic")


# -- layouts, the size of a tree, and what a step can record ---------------------------------------


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_recording_heads_changes_nothing_else(verifier: str) -> None:
    """A head is the residual p and q of a few tokens (see residual_heads.py)."""
    pair = made()
    tree = TREES["bushy"]
    bare = but_time(run(Decoder(pair, PROMPTS[0], WARM, tree, verifier)))
    full = but_time(run(Decoder(pair, PROMPTS[0], WARM, tree, verifier, has_heads=True)))
    is_recorded = VERIFIERS[verifier].chances is not None
    assert all(bool(step.residual_heads) == is_recorded for step in full)
    assert [dataclasses.replace(step, residual_heads=()) for step in full] == bare
