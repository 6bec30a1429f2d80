"""Measure the acceptance of a pair: `python -m sequoia.survey --out acceptance.json`.

Reports acceptance by rank for each kind of text and temperature, with counts, a confidence interval
and the share of repeated text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import fitted
from sequoia.algorithm.sampling_params import MOST_TOKENS, SamplingParams
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import (
    add_pair_options,
    option_parser,
    reports_errors,
    text_list,
    write_json,
)
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadAcceptance, BadSamplingParams
from sequoia.loading.load import load_pair
from sequoia.measuring.acceptance_teacher_forced import agreement
from sequoia.measuring.counted_acceptance import count_acceptance
from sequoia.models.describe import dtype_name, versions
from sequoia.models.pair import CHAT, Pair
from sequoia.text_files import require_writable
from sequoia.validate_input import whole

# size of the tree that the rates are fitted with: about the size that is planned for a CPU
TRIED_NODES = 12
TRIED_LEVELS = 8


def survey(
    pair: Pair,
    kinds: Mapping[str, Sequence[str]],
    temperatures: Sequence[float],
    tokens: int,
    ranks: int,
    draws: int,
) -> dict[str, Any]:
    """Measure acceptance. Returns the content of an acceptance file, with one entry for each kind
    of text and temperature.

    An entry contains rates by rank, counts, the 95% confidence interval of the first rank's rate,
    the share of repeated text in the continuations, and the agreement of draft and target on the
    prompts. Its `fitted` rates are for planning trees (see `expected_tokens.fitted`). The interval
    treats all visited nodes as independent, although nodes visited after the same prompt are not.

    kinds: prompts by the name of their kind; those of the kind CHAT are chat messages. Plans made
    later without a prompt use the first kind, and those for chat messages use CHAT.
    tokens: new tokens per continuation. ranks: number of siblings whose acceptance is counted.
    draws: how often each prompt is continued above temperature 0, each time with another seed.
    Raises a SequoiaError for settings that `checked` refuses, before anything is measured.
    """
    settings = checked(temperatures, tokens, ranks, draws)
    measured = []
    for kind, prompts in kinds.items():
        asked = pair.as_chat() if kind == CHAT else pair
        about = {
            "kind": kind,
            "prompts": len(prompts),
            "agreement": round(agreement(asked, prompts), 4),
        }
        for params in settings:
            temperature = params.temperature
            repeats = draws if temperature else 1
            figures = _figures(asked, [*prompts] * repeats, params, ranks, kind)
            measured.append({**about, "draws": repeats, "temperature": temperature, **figures})
    return {
        "format": "sequoia-acceptances",
        "version": 1,
        "date": date.today().isoformat(),
        "target": pair.target.name,
        "draft": pair.draft.name,
        "dtype": dtype_name(pair),
        "tokens_per_prompt": tokens,
        "versions": dict(versions()),
        "measured": measured,
    }


def checked(
    temperatures: Sequence[float], tokens: int, ranks: int, draws: int
) -> list[SamplingParams]:
    """The sampling parameters for each temperature. Raises BadAcceptance or BadSamplingParams for a
    number out of bounds. The lower bound of `tokens` leaves room for the whole tree. The upper one
    leaves room for up to TRIED_LEVELS more tokens, which `tokens_per_step` decodes."""
    whole(draws, "draws", 1, 1000, BadAcceptance)
    whole(ranks, "ranks", 1, MAX_NODES - 1, BadAcceptance)
    whole(tokens, "tokens", TRIED_LEVELS, MOST_TOKENS - TRIED_LEVELS, BadSamplingParams)
    return [
        SamplingParams(temperature, max_new_tokens=tokens, ignore_eos=True)
        for temperature in temperatures
    ]


def _figures(
    pair: Pair, prompts: Sequence[str], params: SamplingParams, ranks: int, kind: str
) -> dict[str, Any]:
    """The figures of one entry. prompts: a prompt that is continued several times is repeated.
    kind: the name of the kind of text, for the progress bar."""
    with tqdm(total=len(prompts), desc=f"{kind}, T={params.temperature:g}", leave=False) as bar:

        def advance(share: float) -> None:
            bar.update(round(share * bar.total) - bar.n)

        counted = count_acceptance(pair, prompts, params, ranks=ranks, progress=advance)
    rates = counted.acceptance.rates
    tree = best_tree(counted.acceptance.smoothed(), TRIED_NODES, TRIED_LEVELS)
    mean_tokens = tokens_per_step(pair, prompts, tree, params)
    return {
        "visited": counted.visited,
        "accepted": counted.accepted,
        "rates": list(rates),
        "first_rank_interval": [round(bound, 4) for bound in counted.intervals[0]],
        "repetition": round(counted.repetition, 4),
        "fitted": {
            "rates": list(fitted(counted.acceptance, tree, mean_tokens).rates),
            "nodes": len(tree),
            "levels": tree.levels,
            "tokens_per_step": round(mean_tokens, 4),
        },
    }


def tokens_per_step(
    pair: Pair, prompts: Sequence[str], tree: Tree, params: SamplingParams
) -> float:
    """Mean tokens per step with `tree`, over all steps that begin before a prompt has
    `params.max_new_tokens` new tokens. A prompt gets fewer steps if the context has no room left
    for the whole tree.

    All tokens of the last step count, even beyond the limit. Leaving this step out would bias the
    mean against long steps, and cutting it off at the limit would make it look short.
    """
    longer = replace(params, max_new_tokens=params.max_new_tokens + tree.levels)
    total = steps = 0
    for i, prompt in enumerate(prompts):
        tokens = 0
        decoder = Decoder(pair, prompt, longer.further(i), tree)
        for step in run(decoder):
            tokens += len(step.emitted)
            steps += 1
            if tokens >= params.max_new_tokens or decoder.remaining < tree.levels:
                break
        total += tokens
    return total / steps


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    parser = option_parser("python -m sequoia.survey", __doc__)
    add_pair_options(parser)
    parser.add_argument(
        "--temperature",
        nargs="+",
        type=float,
        default=[0.0, 0.3, 0.6, 0.8, 1.0],
        help="sampling temperatures; 0 is greedy",
    )
    parser.add_argument(
        "--prompts",
        nargs="+",
        default=["code", "prose"],
        metavar="KIND",
        help="code, prose, chat, or JSON files with lists of texts; plans without a prompt use the "
        "first",
    )
    parser.add_argument("--tokens", type=int, default=128, help="new tokens per prompt")
    parser.add_argument(
        "--ranks", type=int, default=32, help="number of siblings whose acceptance is counted"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=8,
        help="continuations sampled per prompt at temperatures above 0",
    )
    parser.add_argument("--out", type=Path, help="file to write (default: print)")
    options = parser.parse_args(argv)
    checked(options.temperature, options.tokens, options.ranks, options.draws)
    kinds = {Path(name).stem: name for name in options.prompts}
    if len(kinds) < len(options.prompts):
        parser.error(
            f"--prompts {' '.join(options.prompts)} names the same kind twice; a file's kind is "
            "its name without the folder and .json, so rename one of the files"
        )
    if options.out:
        require_writable(options.out)
    kinds = {kind: text_list(name, ASSETS / "survey") for kind, name in kinds.items()}
    pair = load_pair(target=options.target, draft=options.draft)
    found = survey(pair, kinds, options.temperature, options.tokens, options.ranks, options.draws)
    if options.out:
        write_json(options.out, found)
    else:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.exit(main())
