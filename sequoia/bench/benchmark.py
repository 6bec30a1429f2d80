"""Every decoder on the same prompts, in interleaved rounds: `python -m sequoia.bench`.

A decoder's figure is its time for all prompts of a round, prefill included; each prompt is decoded
by all in turn. Ratios are taken within a round, against plain decoding on the same engine in
whichever number type was the faster one. Medians over rounds, with the range. The machine's times,
which trees are planned and speed-ups predicted with, are taken before each table. With --offload
the rows of accelerate are measured after the others, as the tables say.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import MAX_NODES
from sequoia.assets_folder import ASSETS
from sequoia.bench.decoders import (
    Contestant,
    accelerated,
    fastest_plain,
    grid,
    hugging_face,
    other_dtypes,
    ours,
    sized,
    streamed,
)
from sequoia.bench.prompts import text_list
from sequoia.bench.table import Row, print_table, rated, timed
from sequoia.errors import SequoiaError
from sequoia.loading.load import load_pair
from sequoia.measuring.hardware import measure_profile
from sequoia.models.describe import describe, dtype_name, place_of, versions
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile


def main(argv: Sequence[str] | None = None) -> int:
    options = _options(argv)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        report = benchmark(options)
    except SequoiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


def benchmark(options: argparse.Namespace) -> dict[str, Any]:
    """Run every block (prompts x temperature), print its table, and give everything measured
    back."""
    named = {name: ref for name in ("target", "draft") if (ref := getattr(options, name))}
    pair = load_pair(**named, device=options.device, offload=options.offload)
    others = (
        other_dtypes(named, options.device)
        if options.offload is False and not options.sizes
        else {}
    )
    _introduce(options, pair, others)
    blocks = [
        Block(options, kind, temperature)
        for kind in options.prompts
        for temperature in options.temperature
    ]
    if options.sizes:
        _sized(blocks, pair, options.sizes)
    elif options.offload is False:
        _whole(blocks, pair, others)
    else:
        _offloaded(blocks, pair)
    return {
        "date": datetime.now().isoformat(timespec="seconds"),
        "device": describe(pair.target.device),
        "placement": pair.target.placement,
        "dtype": dtype_name(pair),
        "threads": torch.get_num_threads(),
        "versions": dict(versions()),
        "tokens": options.tokens,
        "blocks": [block.report() for block in blocks],
    }


def _introduce(options: argparse.Namespace, pair: Pair, others: dict[str, Pair]) -> None:
    """What the tables are of, and how to read them."""
    print(
        f"{pair.name} on {place_of(pair.target)}, {dtype_name(pair)}, {options.tokens} new tokens "
        f"a prompt, {options.rounds} interleaved rounds; measured, medians with (lowest-highest).\n"
        "Speed-ups are medians of the ratios within each round. non-model: share of a step outside "
        "both models; repeated: 8-grams seen before."
    )
    if len(others) == 1:
        print(
            f"Plain decoding and transformers in {', '.join(others)} only; others take this device "
            "many times longer."
        )
    print()


class Block:
    """Prompts of one kind at one temperature, and the rows measured with them so far."""

    def __init__(self, options: argparse.Namespace, kind: str, temperature: float) -> None:
        self.prompts = text_list(kind, ASSETS / "bench")[: options.limit]
        self.params = SamplingParams(
            temperature=temperature,
            max_new_tokens=options.tokens,
            seed=options.seed,
            ignore_eos=True,
        )
        self.options = options
        self._kind = kind
        self.rows = list[Row]()
        self._profile: HardwareProfile | None = None

    def measure(self, pair: Pair) -> HardwareProfile:
        """The machine's times with `pair` as they are now."""
        self._profile = pair.measured.profile = measure_profile(
            pair, rounds=self.options.rounds * 10
        )
        return self._profile

    def time(self, contestants: Iterable[Contestant]) -> None:
        """Add a row for each of `contestants`, whose rounds are interleaved."""
        title = f"{self._kind}, T={self.params.temperature:g}"
        self.rows += timed([*contestants], self.prompts, self.params, self.options.rounds, title)

    def print(self) -> None:
        """The table of all rows."""
        print_table(
            rated(self.rows),
            f"{self._kind} prompts ({len(self.prompts)}), temperature {self.params.temperature:g}",
        )

    def report(self) -> dict[str, Any]:
        """Everything measured, for a JSON file."""
        return {
            "prompts": self._kind,
            "temperature": self.params.temperature,
            "profile": self._profile.to_dict() if self._profile else None,
            "rows": [asdict(row) for row in self.rows],
        }


def _whole(blocks: Sequence[Block], pair: Pair, others: dict[str, Pair]) -> None:
    """Our decoders and those of `transformers`."""
    for block in blocks:
        profile = block.measure(pair)
        plain_seconds = fastest_plain(pair, others, profile)
        trees = (
            grid(pair, profile, plain_seconds, block.params, block.prompts)
            if block.options.grid
            else ()
        )
        block.time(
            [
                *ours(pair, others, profile, plain_seconds, block.params, block.prompts),
                *trees,
                *hugging_face(others, block.options.assistant_tokens),
            ]
        )
        block.print()


def _sized(blocks: Sequence[Block], pair: Pair, sizes: Sequence[int]) -> None:
    """Trees of given sizes beside plain decoding in the same number type."""
    for block in blocks:
        block.time(sized(pair, sizes, block.params, block.prompts))
        block.print()


def _offloaded(blocks: Sequence[Block], pair: Pair) -> None:
    """Plain decoding and Sequoia over our streaming; then plain decoding over `accelerate`'s, with
    the one copy of the weights that there is room for."""
    print(
        "The rows of accelerate are measured after the others, on the same "
        "weights, no longer pinned."
    )
    if pair.target.device.type == "cpu":
        print(
            "No GPU: our copies go from host memory to host memory, accelerate makes none. These "
            "times say nothing of a GPU."
        )
    for block in blocks:
        block.time(streamed(pair, block.measure(pair), block.params, block.prompts))
    baseline = accelerated(pair)
    for block in blocks:
        block.time([baseline])
        block.print()


# -- in and out ------------------------------------------------------------------------------------


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a whole number from 1 up")
    return value


def _nodes(text: str) -> int:
    value = int(text)
    if not 1 <= value <= MAX_NODES:
        raise argparse.ArgumentTypeError(f"{value} is not a number of nodes from 1 to {MAX_NODES}")
    return value


def _layers(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value} is not a number of layers from 0 up")
    return value


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sequoia.bench",
        description=str(__doc__).split("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--target", help="folder or Hugging Face id of the target (default: the bundled pair)"
    )
    parser.add_argument("--draft", help="folder or Hugging Face id of the draft")
    parser.add_argument("--device", default="auto", help="auto, spread, cpu, cuda or cuda:NUMBER")
    parser.add_argument(
        "--offload",
        nargs="?",
        type=_layers,
        const=True,
        default=False,
        metavar="N",
        help=(
            "stream the target's layers from host memory but for N (without N: as many as fit), "
            "and compare with accelerate's offloading"
        ),
    )
    parser.add_argument(
        "--threads", type=_positive, help="torch threads (default: torch's own choice)"
    )
    parser.add_argument(
        "--prompts",
        nargs="+",
        default=["code", "prose"],
        help="code, prose, or JSON files with lists of texts",
    )
    parser.add_argument("--limit", type=_positive, default=8, help="prompts of each kind at most")
    parser.add_argument("--temperature", nargs="+", type=float, default=[0.0, 0.6])
    parser.add_argument(
        "--tokens",
        type=int,
        default=128,
        help="new tokens a prompt; the end of text is decoded through",
    )
    parser.add_argument("--rounds", type=_positive, default=5)
    parser.add_argument(
        "--assistant-tokens",
        nargs="+",
        type=_positive,
        default=[3, 5, 8],
        help="num_assistant_tokens to try",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--grid",
        action="store_true",
        help="try many other trees too, to hold the planned one against",
    )
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=_nodes,
        metavar="N",
        help="time the best trees of these sizes instead, to see "
        "what a step takes outside the models",
    )
    parser.add_argument("--json", type=Path, help="file for everything measured")
    options = parser.parse_args(argv)
    if (options.offload is not False) + options.grid + bool(options.sizes) > 1:
        parser.error(
            "--offload, --grid and --sizes are tables of their own; leave out all but one of them"
        )
    return options
