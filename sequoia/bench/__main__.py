"""Every decoder on the same prompts, in interleaved rounds: `python -m sequoia.bench`.

In each round, every prompt is decoded by all decoders in turn. A decoder's time in a round is its
time per token over all prompts, prefill included. The baseline is plain decoding by Sequoia's own
engine in the fastest dtype timed. A decoder's speed-up in a round is the baseline's time divided
by the decoder's time. The table shows medians over rounds, with the lowest and highest values.

The machine's profile is measured before each table, and trees are planned with it.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import (
    add_pair_options,
    option_parser,
    reports_errors,
    text_list,
    write_json,
)
from sequoia.bench.decoders import (
    PLAIN_DTYPES,
    Contestant,
    hugging_face,
    other_dtypes,
    ours,
    with_other_draft,
)
from sequoia.bench.outside_models import print_outside
from sequoia.bench.outsiders import PACKAGES, outsiders, require_packages
from sequoia.bench.table import Row, print_table, rated, timed
from sequoia.loading.load import load_pair
from sequoia.loading.pair_request import DERIVED
from sequoia.measuring.defaults import acceptance_of
from sequoia.measuring.hardware import floor_seconds, measure_profile
from sequoia.models.describe import describe, dtype_name, place_of, versions
from sequoia.models.pair import CHAT, Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.text_files import require_writable
from sequoia.this_machine.dtypes import DTYPES


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    options = _options(argv)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.json:
        require_writable(options.json)
    if options.outside:
        print_outside()
        return
    report = benchmark(options)
    if options.json:
        write_json(options.json, report)


def benchmark(options: Namespace) -> dict[str, Any]:
    """Run every block (prompts x temperature), print its table, and return all results."""
    blocks = [
        Block(options, kind, temperature)
        for kind in options.prompts
        for temperature in options.temperature
    ]
    named = {name: ref for name in ("target", "draft") if (ref := getattr(options, name))}
    pair = load_pair(**named, device=options.device, dtype=options.dtype, offload=options.offload)
    if options.outsiders:
        require_packages()
    streamed = options.offload is not False
    others = {dtype_name(pair): pair} if streamed else other_dtypes(named, options.device, pair)
    _introduce(options, pair, others)
    floor_ms = 1000 * floor_seconds(pair)
    _time(blocks, pair, others, floor_ms)
    return {
        "date": datetime.now().isoformat(timespec="seconds"),
        "device": describe(pair.target.device),
        "placement": pair.target.placement,
        "dtype": dtype_name(pair),
        "threads": torch.get_num_threads(),
        "floor_ms": floor_ms,
        "versions": dict(versions()),
        "tokens": options.tokens,
        "blocks": [block.report() for block in blocks],
    }


def _introduce(options: Namespace, pair: Pair, others: dict[str, Pair]) -> None:
    """Print what the tables show, and how to read them."""
    print(
        f"{pair.name} on {place_of(pair.target)}, {dtype_name(pair)}, {options.tokens} new tokens "
        f"per prompt, {options.rounds} interleaved rounds; measured: medians (lowest-highest).\n"
        "Speed-ups are medians of the ratios within each round. non-model: share of a step spent "
        "outside both models; repeated: share of 8-grams seen earlier in the text; of the floor: "
        "the time in which this machine reads the target's weights once, as a share of that per "
        "token."
    )
    if len(others) == 1:
        left_out = " and ".join(name for name in PLAIN_DTYPES if name not in others)
        print(
            f"Plain decoding and transformers run in {', '.join(others)} only: {left_out} would be "
            "much slower on this device, or would not fit in its memory."
        )
    print()


class Block:
    """Prompts of one kind at one temperature, and the rows measured with them so far."""

    def __init__(self, options: Namespace, kind: str, temperature: float) -> None:
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

    def asking(self, pair: Pair) -> Pair:
        """`pair`, as it is given these prompts."""
        return pair.as_chat() if self._kind == CHAT else pair

    def measure(self, pair: Pair) -> HardwareProfile:
        """Measure the machine's profile with `pair`, and store it with the pair too."""
        self._profile = pair.measured.profile = measure_profile(
            pair, rounds=self.options.rounds * 10
        )
        return self._profile

    def acceptance(self, pair: Pair) -> Acceptance:
        """The acceptance vector used to plan trees for these prompts."""
        return acceptance_of(pair, self.params, texts=self.prompts)[0].smoothed()

    def planned(self, pair: Pair) -> Contestant:
        """The tree planned for `pair`, which has another draft."""
        profile = measure_profile(pair, rounds=self.options.rounds * 10)
        return with_other_draft(pair, self.acceptance(pair), profile)

    def time(self, contestants: Iterable[Contestant]) -> None:
        """Time `contestants` in interleaved rounds, and add a row for each."""
        title = f"{self._kind}, T={self.params.temperature:g}"
        self.rows += timed([*contestants], self.prompts, self.params, self.options.rounds, title)

    def print(self, floor_ms: float) -> None:
        """Print the table of all rows. floor_ms: see `print_table`."""
        print_table(
            rated(self.rows),
            f"{self._kind} prompts ({len(self.prompts)}), temperature {self.params.temperature:g}",
            floor_ms,
        )

    def report(self) -> dict[str, Any]:
        """Everything measured, for a JSON file."""
        return {
            "prompts": self._kind,
            "temperature": self.params.temperature,
            "profile": self._profile.to_dict() if self._profile else None,
            "rows": [asdict(row) for row in self.rows],
        }


def _time(blocks: Sequence[Block], pair: Pair, others: dict[str, Pair], floor_ms: float) -> None:
    """Time the engine's decoders, `generate()` of `transformers`, and other engines if asked."""
    options = blocks[0].options
    target = {"target": options.target} if options.target else {}
    drafts = [
        load_pair(**target, draft=name, device=options.device, dtype=options.dtype)
        for name in options.other_drafts
    ]
    with TemporaryDirectory() as folder:
        foreign = [*outsiders(pair, Path(folder))] if options.outsiders else []
        for block in blocks:
            asked = block.asking(pair)
            plain = {name: block.asking(one) for name, one in others.items()}
            profile = block.measure(asked)
            known = profile, block.acceptance(asked)
            block.time(
                [
                    *ours(asked, plain, *known, block.params.temperature),
                    *(block.planned(block.asking(one)) for one in drafts),
                    *hugging_face(plain, options.assistant_tokens),
                    *foreign,
                ]
            )
            block.print(floor_ms)


# -- the command line ------------------------------------------------------------------------------


def _at_least(least: int) -> Callable[[str], int]:
    """A parser of whole numbers from `least` on."""

    def whole_number(text: str) -> int:
        if (value := int(text)) < least:
            raise ValueError
        return value

    return whole_number


_positive = _at_least(1)


def _options(argv: Sequence[str] | None) -> Namespace:
    parser = option_parser("python -m sequoia.bench", __doc__)
    add_pair_options(parser)
    parser.add_argument("--device", default="auto", help="auto, spread, cpu, cuda or cuda:NUMBER")
    parser.add_argument("--dtype", default="auto", help=f"auto, {', '.join(DTYPES)}")
    parser.add_argument(
        "--offload",
        nargs="?",
        type=_at_least(0),
        const=True,
        default=False,
        metavar="N",
        help=(
            "keep N of the target's layers on the device (without N: as many as fit), and stream "
            "the others from host memory"
        ),
    )
    parser.add_argument("--threads", type=_positive, help="CPU threads (default: chosen by torch)")
    parser.add_argument(
        "--prompts",
        nargs="+",
        default=["code", "prose"],
        help="code, prose, chat (questions, for models that answer them), or JSON files with lists "
        "of texts",
    )
    parser.add_argument(
        "--limit", type=_positive, default=8, help="maximum number of prompts of each kind"
    )
    parser.add_argument(
        "--temperature",
        nargs="+",
        type=float,
        default=[0.0, 0.6],
        help="sampling temperatures; 0 is greedy",
    )
    parser.add_argument(
        "--tokens",
        type=int,
        default=128,
        help="new tokens per prompt; decoding does not stop at an end of text",
    )
    parser.add_argument("--rounds", type=_positive, default=5, help="rounds over all decoders")
    parser.add_argument(
        "--assistant-tokens",
        nargs="+",
        type=_positive,
        default=[3, 5, 8],
        help="num_assistant_tokens to try",
    )
    parser.add_argument(
        "--outsiders",
        action="store_true",
        help="time llama.cpp and OpenVINO too, with the same weights (needs "
        f"{', '.join(PACKAGES.values())})",
    )
    parser.add_argument(
        "--other-drafts",
        nargs="+",
        choices=DERIVED,
        default=[],
        help="time the target with other drafts too: a copy with its weights rounded, or a lookup "
        "in the text",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the runs on the prompts")
    parser.add_argument(
        "--outside",
        action="store_true",
        help="instead, print what a step costs outside the models, with large vocabularies; no "
        "model is loaded",
    )
    parser.add_argument("--json", type=Path, help="write all results to this file")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
