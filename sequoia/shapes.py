"""Time models with the shapes of real ones: `python -m sequoia.shapes --out profiles`.

The weights are random. Times depend on the shapes and not on the values of the weights, so nothing
has to be downloaded. With random weights almost no draft tokens are accepted, so no speed-up can be
measured. The result for each pair is a hardware profile: the times of passes, by number of nodes.
From the profile and a real pair's acceptance vector (see Acceptance), a speed-up can be predicted.
Each profile comes with figures of the engine's efficiency.
"""

from __future__ import annotations

import statistics
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen3Config

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.bench.command import option_parser, reports_errors, write_json
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadModel
from sequoia.loading.model_checks import checked_device
from sequoia.loading.placement import OffloadPlacement, StreamedModel
from sequoia.measuring.hardware import (
    SIZES,
    WIDTHS,
    bytes_read,
    checked_effort,
    measure_profile,
    read_speed,
)
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.text_files import require_writable
from sequoia.this_machine.dtypes import narrowest_dtype
from sequoia.this_machine.memory import require
from sequoia.validate_input import shown

ALL_SIZES = (*SIZES, 256, 512, 1024)
# Acceptance for which a tree is planned, to time a step's work outside the models. Any tree with
# many branches would do.
ASSUMED = Acceptance.power_law(2.0, 0.6, 32)
_TEXT = "The quick brown fox jumps over the lazy dog. " * 4
_NODES = 128  # of that tree
_DRAWN = 2**22  # random numbers drawn for a matrix on a CPU, and repeated to fill it


@dataclass(frozen=True)
class ModelShape:
    """The shape of a model; all but `tiny` and `tinier` are published models. config: its config
    class in transformers. config_values: those values of its config.json that determine the
    shape."""

    name: str
    config: Any
    config_values: dict[str, Any]

    def build(self, device: torch.device, dtype: torch.dtype) -> Any:
        """The model with random weights, created directly on `device`. Raises OutOfMemory if they
        do not fit."""
        config = self.config(**self.config_values, dtype=dtype)
        with torch.device("meta"):
            hf: Any = AutoModelForCausalLM.from_config(config)
        require(
            hf.num_parameters() * dtype.itemsize, device, f"{self.name} with random weights needs"
        )
        hf = hf.to(dtype).to_empty(device=device)
        hf.tie_weights()
        for weight in hf.parameters():
            _fill(weight.data)
        # `to_empty` left the rotary frequencies undefined too, and they are not parameters
        hf.model.rotary_emb = type(hf.model.rotary_emb)(config).to(device)
        return hf


def _fill(weight: torch.Tensor) -> None:
    """Fill a matrix with random numbers and a norm with ones, in place. On a CPU the same numbers
    are repeated: drawing 32 billion parameters there would take a quarter of an hour."""
    if weight.dim() < 2:
        weight.fill_(1)
    elif weight.device.type != "cpu":
        weight.normal_(std=0.02)
    else:
        numbers = torch.empty(min(_DRAWN, weight.numel()), dtype=weight.dtype).normal_(std=0.02)
        for part in weight.view(-1).split(len(numbers)):
            part.copy_(numbers[: len(part)])


def _llama(name: str, context: int, *sizes: int) -> ModelShape:
    rest = {"vocab_size": 32_000, "max_position_embeddings": context}
    return ModelShape(name, LlamaConfig, _sizes(*sizes) | rest)


def _qwen3(name: str, tied: bool, *sizes: int) -> ModelShape:
    rest = {
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151_936,
        "max_position_embeddings": 40_960,
        "tie_word_embeddings": tied,
    }
    return ModelShape(name, Qwen3Config, _sizes(*sizes) | rest)


def _sizes(hidden: int, inner: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
    }


@dataclass(frozen=True)
class PairShape:
    """A target and a draft. streamed: the target's layers stay in host memory and are copied to the
    device for each pass."""

    target: ModelShape
    draft: ModelShape
    streamed: bool = False


_QWEN3_32B = _qwen3("Qwen3-32B", False, 5120, 25_600, 64, 64)
_QWEN3_06B = _qwen3("Qwen3-0.6B", True, 1024, 3072, 28, 16)
_QWEN3_4B = _qwen3("Qwen3-4B", True, 2560, 9728, 36, 32)
SHAPES = {
    "llama-2-7b": PairShape(
        _llama("Llama-2-7B", 4096, 4096, 11_008, 32, 32),
        _llama("llama-68m", 2048, 768, 3072, 2, 12),
    ),
    "qwen3-8b": PairShape(
        _qwen3("Qwen3-8B", False, 4096, 12_288, 36, 32),
        _QWEN3_06B,
    ),
    "qwen3-32b": PairShape(_QWEN3_32B, _qwen3("Qwen3-1.7B", True, 2048, 6144, 28, 16)),
    "qwen3-32b-0.6b": PairShape(_QWEN3_32B, _QWEN3_06B),
    "qwen3-32b-offloaded": PairShape(_QWEN3_32B, _QWEN3_4B, streamed=True),
    "tiny": PairShape(_llama("tiny", 2048, 64, 128, 2, 4), _llama("tinier", 2048, 32, 64, 1, 4)),
}


class ByteTokenizer:
    """A tokenizer for models with random weights: a character's token is its code point modulo
    256."""

    eos_token_id = None

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": [ord(character) % 256 for character in text]}

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        return "".join(chr(token % 256) for token in ids)


def build(name: str, device: torch.device, graphs: bool = True) -> Pair:
    """The pair `name` of SHAPES with random weights on `device`. All layers of a streamed target
    are in host memory. graphs: False makes the models use the forward pass of `transformers`,
    without CUDA graphs. It has no effect on a streamed target, which never uses CUDA graphs. Raises
    OutOfMemory."""
    shape = SHAPES[name]
    dtype = narrowest_dtype(device)
    draft = _with_forward(TreeModel(shape.draft.build(device, dtype), shape.draft.name), graphs)
    if shape.streamed:
        hf = shape.target.build(torch.device("cpu"), dtype)
        plan = OffloadPlacement(device, 0, hf.config.num_hidden_layers)
        target = StreamedModel(hf, shape.target.name, plan)
    else:
        target = TreeModel(shape.target.build(device, dtype), shape.target.name)
        target = _with_forward(target, graphs)
    return Pair(f"{name}, random weights", target, draft, ByteTokenizer())


def _with_forward(model: TreeModel, graphs: bool) -> TreeModel:
    return use_fast_forward(model) if graphs else model


def shape_file(
    name: str, profile: HardwareProfile, figures: dict[str, float], graphs: bool = True
) -> dict[str, Any]:
    """The content of a measured shape's file: its profile, and `figures` of its efficiency."""
    return {
        **profile.to_dict(),
        "name": f"{profile.device}, {name} shape{'' if graphs else ', no CUDA graphs'}",
        "figures": figures,
        "note": (
            "Random weights: the times are those of models of this shape, and say nothing about "
            "acceptance."
        ),
    }


def efficiency(pair: Pair, profile: HardwareProfile) -> dict[str, float]:
    """Figures of the engine's efficiency by name: some from `profile`, some counted or predicted,
    the others measured now on the pair's device. Times are in seconds, sizes in bytes."""
    weights = bytes_read(pair.target)
    speed = read_speed(pair.target.device)
    found = {
        "target bytes": weights,
        "memory, bytes read a second": speed,
        "64-node pass over reading the weights": profile.verify_seconds(64) / (weights / speed),
        "512-node pass over a one-token pass": profile.verify_seconds(512)
        / profile.verify_seconds(1),
        "draft pass of one row": profile.draft_seconds_at(1),
    }
    return {**found, **non_model_share_and_memory(pair)}


def non_model_share_and_memory(pair: Pair) -> dict[str, float]:
    """Figures by name: the share of a step of 128 nodes spent outside both models (median), and the
    bytes that a run needs in addition to the weights: predicted, and on CUDA also the measured
    peak."""
    device = pair.target.device
    for model in (pair.target, pair.draft):
        model.forget()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
    decoder = Decoder(
        pair,
        _TEXT,
        SamplingParams(temperature=0.6, max_new_tokens=40, ignore_eos=True),
        best_tree(ASSUMED, _NODES),
    )
    steps = [*run(decoder)][2:]
    found = {
        f"non-model share of a step, {_NODES} nodes": statistics.median(
            step.seconds["overhead"] / step.total_seconds for step in steps
        ),
        "run's bytes, predicted": decoder.bytes,
    }
    if device.type == "cuda":
        found["run's bytes, most in use"] = torch.cuda.max_memory_allocated(device) - before
    return found


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    options = _options(argv)
    device = checked_device(options.device)
    checked_effort(options.rounds, options.seconds)
    for name in options.shapes:
        if name not in SHAPES:
            raise BadModel(f"unknown shape {shown(name)}; known: {', '.join(SHAPES)}")
        if options.out:
            require_writable(options.out / f"{name}.json")
    for name in options.shapes:
        _measure(name, device, options)


def _measure(name: str, device: torch.device, options: Namespace) -> None:
    """Measure one pair and print its efficiency. With --out, write its profile and efficiency to a
    file."""
    pair = build(name, device, options.graphs)
    profile = measure_profile(
        pair,
        sizes=ALL_SIZES,
        widths=(*WIDTHS, 64),
        rounds=options.rounds,
        seconds=options.seconds,
    )
    print(f"{name}: {pair.target.forward_name} on {profile.device}, {profile.dtype} (measured)")
    found = efficiency(pair, profile)
    for what, value in found.items():
        print(f"  {what:<44}{value:>16.6g}")
    if options.out:
        data = shape_file(name, profile, found, options.graphs)
        write_json(options.out / f"{name}.json", data)


def _options(argv: Sequence[str] | None) -> Namespace:
    parser = option_parser("python -m sequoia.shapes", __doc__)
    parser.add_argument(
        "shapes",
        nargs="*",
        default=["llama-2-7b", "qwen3-8b", "qwen3-32b"],
        help=f"any of {', '.join(SHAPES)}",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    parser.add_argument(
        "--rounds",
        type=int,
        default=15,
        help="timed rounds over all passes; fewer if --seconds run out first",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="approximate time limit for the profile of each pair, in seconds",
    )
    parser.add_argument(
        "--no-graphs",
        dest="graphs",
        action="store_false",
        help="use the forward passes of transformers, without CUDA graphs (no effect on a "
        "streamed target)",
    )
    parser.add_argument("--out", type=Path, help="folder to write the profiles to")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
