"""The decoders that the benchmark compares: this engine with each kind of tree, and `generate()` of
`transformers` with the same pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats, StepTrace, emitted_tokens
from sequoia.algorithm.tree import Tree
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import text_list
from sequoia.decoding.dynamic_tree import DynamicChoice
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import OutOfMemory
from sequoia.loading.load import load_pair
from sequoia.measuring.defaults import SLACK
from sequoia.measuring.hardware import least_seconds
from sequoia.measuring.stopping_chain import StoppingChain, measured_stop_rule
from sequoia.models.describe import dtype_name
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel, without_cudnn_attention
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, best_plan, bounds, predict

PLAIN_DTYPES = ("float32", "bfloat16")  # plain decoding is timed in both, where possible
HOPELESS = 3.0  # a dtype at least this many times slower than the fastest is not benchmarked
# the stop rule of a chain is chosen on this many prompts, with this many tokens decoded after each
_STOP_TEXTS = 3
_STOP_TOKENS = 48

# (prompt, params) -> (emitted tokens, totals of the steps); no totals if `transformers` decoded
Decode = Callable[[str, SamplingParams], tuple[list[int], DecodeStats | None]]


@dataclass(frozen=True)
class Contestant:
    """A named way to decode. ready: called before each prompt, untimed; returns the function that
    decodes it. predicted: the predicted speed-up over plain decoding. expected_tokens: the
    predicted tokens per step. Each is None if it was not predicted."""

    name: str
    group: str
    ready: Callable[[], Decode]
    predicted: float | None = None
    expected_tokens: float | None = None


def ours(
    pair: Pair,
    others: dict[str, Pair],
    profile: HardwareProfile,
    acceptance: Acceptance,
    temperature: float,
) -> Iterator[Contestant]:
    """The engine's own decoders. Trees are chosen for the measured `profile`. Speed-ups are
    predicted over plain decoding of `pair`. others: the pair in each dtype that plain decoding is
    timed in, by the dtype's name."""
    for name, other in others.items():
        yield _plain(f"plain, {name}", "plain", other)
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
        yield _planned(name, pair, plan)
    yield _planned("Sequoia", pair, best_plan(acceptance, profile, slack=SLACK))
    yield _dynamic(pair, profile, acceptance, temperature)
    yield _stopping(pair, profile, temperature)


def _planned(name: str, pair: Pair, plan: Plan) -> Contestant:
    """The tree of `plan`, with its prediction."""
    decode = _with_tree(pair, plan.tree)
    full_name = f"{name}, {_size(plan.tree)}"
    predicted = plan.predicted_speedup
    return Contestant(full_name, name, lambda: decode, predicted, plan.expected_tokens)


def with_other_draft(pair: Pair, acceptance: Acceptance, profile: HardwareProfile) -> Contestant:
    """The tree planned for `pair`, named after its draft."""
    name = f"Sequoia, draft {pair.draft.name}"
    return _planned(name, pair, best_plan(acceptance, profile, slack=SLACK))


def _dynamic(
    pair: Pair, profile: HardwareProfile, acceptance: Acceptance, temperature: float
) -> Contestant:
    """A tree that changes while decoding."""
    limits = bounds(profile)
    return Contestant(
        "dynamic while decoding",
        "dynamic",
        lambda: _with_tree(pair, DynamicChoice(acceptance, profile, temperature, *limits)),
    )


def _stopping(pair: Pair, profile: HardwareProfile, temperature: float) -> Contestant:
    """A chain that stops drafting after a token the draft is unsure of. Its threshold and maximum
    length are chosen on texts that are not benchmarked."""
    texts = text_list("code", ASSETS / "survey")[:_STOP_TEXTS]
    params = SamplingParams(temperature, max_new_tokens=_STOP_TOKENS, ignore_eos=True)
    rule = measured_stop_rule(pair, texts, params, profile)
    decode = _with_tree(pair, StoppingChain(rule.max_nodes, rule.min_prob))
    name = f"chain, stops below q={rule.min_prob:g}, at most {rule.max_nodes} nodes"
    return Contestant(name, "stopping chain", lambda: decode, rule.predicted_speedup)


def _plain(name: str, group: str, pair: Pair) -> Contestant:
    return always(name, group, _traced(lambda prompt, params: plain(pair, prompt, params)))


def always(name: str, group: str, decode: Decode) -> Contestant:
    """A contestant with nothing to prepare before a prompt."""
    return Contestant(name, group, lambda: decode)


def _size(tree: Tree) -> str:
    return f"{len(tree)} nodes, {tree.levels} levels"


def _with_tree(pair: Pair, tree: TreeChoice) -> Decode:
    return _traced(lambda prompt, params: run(Decoder(pair, prompt, params, tree)))


def _traced(start: Callable[[str, SamplingParams], Iterator[StepTrace]]) -> Decode:
    def decode(prompt: str, params: SamplingParams) -> tuple[list[int], DecodeStats]:
        traces = list(start(prompt, params))
        return emitted_tokens(traces), DecodeStats.fold(traces)

    return decode


def hugging_face(pairs: dict[str, Pair], assistant_tokens: Sequence[int]) -> Iterator[Contestant]:
    """`generate()` in each dtype: plain, and assisted with each number in `assistant_tokens`."""
    for name, pair in pairs.items():
        if pair.target.placement:
            continue  # `transformers` cannot run a model whose layers are streamed
        yield always(f"transformers generate(), {name}", "generate", _generate(pair, None))
        for count in assistant_tokens if isinstance(pair.draft, TreeModel) else ():
            yield always(
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
        assistant = None
        if assistant_tokens and isinstance(pair.draft, TreeModel):
            assistant = pair.draft.hf
            assistant.generation_config.update(
                num_assistant_tokens=assistant_tokens,
                num_assistant_tokens_schedule="constant",
                assistant_confidence_threshold=0.0,
            )
        with torch.inference_mode(), without_cudnn_attention():
            output = pair.target.hf.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=params.max_new_tokens,
                pad_token_id=0,
                **(sampling if params.temperature else {"do_sample": False}),
                assistant_model=assistant,
            )
        return output[0, ids.shape[1] :].tolist(), None

    return decode


def other_dtypes(named: dict[str, Any], device: str, own: Pair) -> dict[str, Pair]:
    """The pair in each dtype that plain decoding is timed in, by the dtype's name. Dtypes that do
    not fit in memory are left out. So are dtypes at least HOPELESS times slower than the fastest
    one, as bfloat16 is on many CPUs. `generate()` is set to ignore the end-of-text token, so that
    it does not stop early.

    own: the pair in its usual dtype. On a GPU it is not loaded again, to save memory. If no other
    pair fits in memory, `own` is the only pair returned."""
    pairs: dict[str, Pair] = {}
    for name in PLAIN_DTYPES:
        if own.target.device.type == "cuda" and dtype_name(own) == name:
            pairs[name] = own
            continue
        with suppress(OutOfMemory):
            pairs[name] = load_pair(**named, device=device, dtype=name)
    pairs = pairs or {dtype_name(own): own}
    for pair in pairs.values():
        models = (one for one in (pair.target, pair.draft) if isinstance(one, TreeModel))
        for model in models:
            model.hf.generation_config.eos_token_id = None
    slowness = _slowness([pair.target for pair in pairs.values()])
    return {
        name: pair
        for (name, pair), times in zip(pairs.items(), slowness, strict=True)
        if times < HOPELESS
    }


def _slowness(targets: list[TreeModel]) -> list[float]:
    """How many times slower each target is than the fastest. Passes over 1 row and over 9 rows are
    timed, and the smaller of the two ratios counts. With 8 assistant tokens, assisted generation
    verifies 9 rows."""
    found = [least_seconds(targets, width) for width in (1, 9)]
    return [min(times[i] / min(times) for times in found) for i in range(len(targets))]
