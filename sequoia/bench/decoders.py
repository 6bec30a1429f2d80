"""Who takes part in the benchmark: our engine with each kind of tree, and what `transformers`
offers for the same pair."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats, StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.decoding.growing_tree import Dynamic
from sequoia.decoding.replanned_tree import Replanned
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.loading.large.load_large import StreamedModel, offloaded_by_accelerate
from sequoia.loading.load import load_pair
from sequoia.measuring.defaults import SLACK, acceptance_of
from sequoia.models.fastest_number_type import least_seconds
from sequoia.models.pair import Pair
from sequoia.models.pair_cache import PairCache
from sequoia.models.pass_times import Pass, opened
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, best_plan, bounds, predict

HOPELESS = 3.0  # times as slow as the fastest number type
_ONE_ROW_PASSES = 30
GRID_NODES = (3, 5, 8, 12, 16, 24, 32)
GRID_LEVELS = (3, 4, 6, 8, 12)

# -> emitted tokens, totals where the engine made them
Decode = Callable[[str, SamplingParams], tuple[list[int], DecodeStats | None]]


@dataclass(frozen=True)
class Contestant:
    """A named way to decode. `ready` is called before each prompt, on no clock: a tree that
    learns begins anew, and a fixed one was planned before, too. `predicted` and
    `expected_tokens`: the speed-up over plain and the tokens a step that the planner expects,
    where it planned the tree."""

    name: str
    group: str
    ready: Callable[[], Decode]
    predicted: float | None = None
    expected_tokens: float | None = None


def ours(
    pair: Pair,
    others: dict[str, Pair],
    profile: HardwareProfile,
    plain_seconds: float,
    params: SamplingParams,
    prompts: Sequence[str],
) -> Iterator[Contestant]:
    """The engine's own decoders; trees are chosen from the measured profile, as the app does.
    Speed-ups are predicted over plain decoding at `plain_seconds` a token."""
    acceptance = acceptance_of(pair, params, texts=prompts)[0].smoothed()
    for name, other in others.items():
        yield _always(
            f"plain, {name}",
            "plain",
            _traced(lambda prompt, params, other=other: plain(other, prompt, params)),
        )
    shapes = {
        "chain": [Tree.chain(n) for n in range(2, 13)],
        "k sequences": [
            Tree.sequences(k, length) for k in (2, 3, 4, 6, 8) for length in range(1, 9)
        ],
    }
    for name, trees in shapes.items():
        plan = max(
            (predict(tree, acceptance, profile) for tree in trees),
            key=lambda plan: plan.predicted_speedup,
        )
        yield _planned(name, pair, plan, plain_seconds)
    yield _planned("Sequoia", pair, best_plan(acceptance, profile, slack=SLACK), plain_seconds)
    yield _changing(
        "replanned", pair, lambda: Replanned(acceptance, profile, *bounds(profile), slack=SLACK)
    )
    yield _changing(
        "dynamic", pair, lambda: Dynamic(acceptance, profile, params.temperature, *bounds(profile))
    )


def fastest_plain(pair: Pair, others: dict[str, Pair], profile: HardwareProfile) -> float:
    """Seconds of a token of plain decoding in the number type that makes it fastest, be it not the
    one that trees run fastest in: a pass over one row, and the overhead. How much faster a type is
    than the pair's own is timed now, side by side, and the pair's own pass is the profile's, so
    that a machine that changes its pace meanwhile changes no prediction."""
    own, *passes = [
        Pass(opened(one.target, 1, profile.prefix_length), 1) for one in (pair, *others.values())
    ]
    for _ in range(_ONE_ROW_PASSES):
        for one in (own, *passes):
            one.run()
    ratio = min(statistics.median(one.times) for one in (own, *passes)) / statistics.median(
        own.times
    )
    return ratio * profile.verify_seconds(1) + profile.overhead(1)


def grid(
    pair: Pair,
    profile: HardwareProfile,
    plain_seconds: float,
    params: SamplingParams,
    prompts: Sequence[str],
) -> Iterator[Contestant]:
    """The best trees of many sizes and level caps, to hold the planned one against."""
    acceptance = acceptance_of(pair, params, texts=prompts)[0].smoothed()
    sizes = [(nodes, levels) for nodes in GRID_NODES for levels in GRID_LEVELS if levels <= nodes]
    trees = dict.fromkeys(best_tree(acceptance, nodes, levels) for nodes, levels in sizes)
    for tree in trees:
        yield _planned("grid", pair, predict(tree, acceptance, profile), plain_seconds)


def sized(
    pair: Pair, sizes: Sequence[int], params: SamplingParams, prompts: Sequence[str]
) -> Iterator[Contestant]:
    """Plain decoding, and the best tree of each size."""
    acceptance = acceptance_of(pair, params, texts=prompts)[0].smoothed()
    yield _always("plain", "plain", _traced(lambda prompt, params: plain(pair, prompt, params)))
    for tree in (best_tree(acceptance, nodes) for nodes in sizes):
        decode = _traced(lambda prompt, params, tree=tree: run(Decoder(pair, prompt, params, tree)))
        yield _always(f"{len(tree)} nodes, {tree.levels} levels", "size", decode)


def streamed(
    pair: Pair, profile: HardwareProfile, params: SamplingParams, prompts: Sequence[str]
) -> Iterator[Contestant]:
    """Plain decoding, and the planned tree, on a target whose layers are streamed."""
    acceptance = acceptance_of(pair, params, texts=prompts)[0].smoothed()
    yield _always(
        "plain, layers streamed",
        "plain",
        _traced(lambda prompt, params: plain(pair, prompt, params)),
    )
    yield _planned(
        "Sequoia", pair, best_plan(acceptance, profile, slack=SLACK), profile.plain_seconds
    )


def accelerated(pair: Pair) -> Contestant:
    """Plain decoding on the same engine over `accelerate`'s offloading; the pair can stream
    no more afterwards."""
    assert isinstance(pair.target, StreamedModel)
    held = replace(pair, target=offloaded_by_accelerate(pair.target), measured=PairCache())
    return _always(
        "plain, accelerate cpu_offload",
        "accelerate",
        _traced(lambda prompt, params: plain(held, prompt, params)),
    )


def _planned(name: str, pair: Pair, plan: Plan, plain_seconds: float) -> Contestant:
    """The tree of `plan`; its speed-up is predicted over plain decoding at
    `plain_seconds` a token."""
    decode = _traced(lambda prompt, params: run(Decoder(pair, prompt, params, plan.tree)))
    predicted = plan.expected_tokens * plain_seconds / plan.predicted_seconds
    full_name = f"{name}, {len(plan.tree)} nodes, {plan.tree.levels} levels"
    return Contestant(full_name, name, lambda: decode, predicted, plan.expected_tokens)


def _changing(name: str, pair: Pair, make: Callable[[], TreeChoice]) -> Contestant:
    """A tree that changes while decoding."""

    def ready() -> Decode:
        tree_choice = make()
        return _traced(lambda prompt, params: run(Decoder(pair, prompt, params, tree_choice)))

    return Contestant(f"{name} while decoding", name, ready)


def _always(name: str, group: str, decode: Decode) -> Contestant:
    """One that decodes every prompt alike."""
    return Contestant(name, group, lambda: decode)


def _traced(start: Callable[[str, SamplingParams], Iterator[StepTrace]]) -> Decode:
    def decode(prompt: str, params: SamplingParams) -> tuple[list[int], DecodeStats]:
        traces = list(start(prompt, params))
        return [token for trace in traces for token in trace.emitted], DecodeStats.fold(traces)

    return decode


def hugging_face(pairs: dict[str, Pair], assistant_tokens: Sequence[int]) -> Iterator[Contestant]:
    """`generate()` plain and assisted, in each number type."""
    for name, pair in pairs.items():
        yield _always(f"transformers generate(), {name}", "generate", _generate(pair, None))
        for count in assistant_tokens:
            yield _always(
                f"transformers assisted, {count} tokens, {name}", "assisted", _generate(pair, count)
            )


def _generate(pair: Pair, assistant_tokens: int | None) -> Decode:
    def decode(prompt: str, params: SamplingParams) -> tuple[list[int], None]:
        ids = torch.tensor([pair.encode(prompt)], device=pair.target.device)
        torch.manual_seed(params.seed)
        sampling = {
            "do_sample": True,
            "temperature": params.temperature,
            "top_p": params.top_p,
            "top_k": 0,
        }
        helper = {"assistant_model": pair.draft.hf} if assistant_tokens else {}
        with _assistant(pair, assistant_tokens), torch.inference_mode():
            output = pair.target.hf.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=params.max_new_tokens,
                pad_token_id=0,
                **(sampling if params.temperature else {"do_sample": False}),
                **helper,
            )
        return output[0, ids.shape[1] :].tolist(), None

    return decode


@contextmanager
def _assistant(pair: Pair, tokens: int | None) -> Iterator[None]:
    """The draft's generation settings for `tokens` assistant tokens a step; what they were before
    comes back after."""
    config = pair.draft.hf.generation_config
    wanted = {
        "num_assistant_tokens": tokens,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }
    before = {name: getattr(config, name, None) for name in wanted}
    try:
        if tokens:
            config.update(**wanted)
        yield
    finally:
        config.update(**before)


def other_dtypes(named: dict[str, Any], device: str) -> dict[str, Pair]:
    """The pair in each number type that plain decoding is tried in, told to decode through the end
    of text. Left out is a type that takes this device many times longer, as bfloat16 does on many a
    CPU: it cannot be the faster one."""
    pairs = {
        name: load_pair(**named, device=device, dtype=name) for name in ("float32", "bfloat16")
    }
    for pair in pairs.values():
        for model in (pair.target, pair.draft):
            model.hf.generation_config.eos_token_id = None
    slowness = _slowness([pair.target for pair in pairs.values()])
    return {
        name: pair
        for (name, pair), times in zip(pairs.items(), slowness, strict=True)
        if times < HOPELESS
    }


def _slowness(targets: list[TreeModel]) -> list[float]:
    """How many times longer each takes than the fastest, for one row or for as many as assisted
    generation verifies, whichever flatters it more."""
    found = [least_seconds(targets, width) for width in (1, 9)]
    return [min(times[i] / min(times) for times in found) for i in range(len(targets))]
