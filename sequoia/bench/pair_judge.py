"""Evaluate a pair of models by how it predicts and continues texts.

The command is `python -m sequoia.judge_pair --target DIR --draft DIR`.

The pair reads excerpts: how well does the target predict them, and how far does the draft agree
with the target? It then continues the start of each excerpt: how repetitive is the continuation,
and is code still valid Python? The bundled pair was not trained on the default excerpts.
"""

from __future__ import annotations

import math
import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F
from tqdm import tqdm

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.sampling_params import MOST_TOKENS, SamplingParams
from sequoia.algorithm.step_trace import StepTrace, emitted_tokens, repetition
from sequoia.algorithm.tree import Tree
from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.bench.command import add_pair_options, option_parser, reports_errors, write_json
from sequoia.bench.judged_table import USUAL, mean, same_number, table, weighted
from sequoia.bench.parses import parses
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.errors import SequoiaError
from sequoia.loading.load import load_pair
from sequoia.measuring.acceptance_teacher_forced import shared_mass, teacher_forced_acceptance
from sequoia.models.attention_kernels import without_cudnn_attention
from sequoia.models.pair import Pair
from sequoia.text_files import load_json, require_writable
from sequoia.validate_input import whole

TEMPERATURES = (0.0, 0.6)
MOST_EXCERPTS = 1_000_000
MOST_DRAWS = 1000
MOST_THREADS = 1024
RANKS = 8
# size of the tree, similar to that of trees planned for CPUs
TRIED_NODES = 12
TRIED_LEVELS = 8
# The tree is built for these acceptance rates by child rank. They do not depend on the pair, so all
# pairs get the same tree.
TREE_RATES = (0.73, 0.09, 0.05, 0.03)
REPEATED = 0.25  # a continuation with at least this share of repeated 8-grams counts as a loop


@dataclass(frozen=True)
class Excerpt:
    """A piece of text, split into a prompt and the rest."""

    source: str
    prompt: str
    rest: str

    @property
    def text(self) -> str:
        return self.prompt + self.rest


@dataclass(frozen=True)
class Task:
    """Settings of an evaluation. tokens: maximum length of each continuation. draws: how often
    each prompt is continued at temperatures above 0. timed: number of prompts of each kind on which
    the speed-up is timed; 0 for none."""

    tokens: int = 128
    draws: int = 4
    timed: int = 10


@dataclass(frozen=True)
class Continuation:
    """The text that a pair wrote after a prompt."""

    prompt: str
    text: str
    repetition: float
    temperature: float
    seed: int
    steps: int
    tokens: int

    @property
    def is_code(self) -> bool:
        """Whether prompt and continuation together are valid Python, possibly cut off at the end
        (see `parses`). False for an empty continuation or a loop."""
        return (
            bool(self.text.strip())
            and self.repetition < REPEATED
            and parses(self.prompt + self.text)
        )


def judge(pair: Pair, kinds: Mapping[str, Sequence[Excerpt]], task: Task) -> dict[str, Any]:
    """All figures of a pair by kind of text. The values of each excerpt are included, so that two
    pairs can be compared excerpt by excerpt."""
    tree = best_tree(Acceptance(TREE_RATES), TRIED_NODES, TRIED_LEVELS)
    return {
        "format": "sequoia-judged",
        "version": 1,
        "target": pair.target.name,
        "draft": pair.draft.name,
        "tree": list(tree.parents),
        "tokens": task.tokens,
        "draws": task.draws,
        "kinds": {
            kind: _judged(pair, excerpts, tree, task, kind) for kind, excerpts in kinds.items()
        },
    }


def _judged(
    pair: Pair, excerpts: Sequence[Excerpt], tree: Tree, task: Task, kind: str
) -> dict[str, Any]:
    predicted = [
        _predicted(pair, excerpt) for excerpt in tqdm(excerpts, desc=f"{kind}, target", leave=False)
    ]
    forced = [
        _forced(pair, excerpt, tree)
        for excerpt in tqdm(excerpts, desc=f"{kind}, draft", leave=False)
    ]
    written = _written(pair, excerpts, tree, task, kind)
    return {
        "excerpts": len(excerpts),
        "bits_per_byte": sum(bits for bits, _ in predicted) / sum(size for _, size in predicted),
        "bits": predicted,
        "shared_mass": weighted(forced, "shared"),
        "acceptance_by_rank": mean(forced, "rates").tolist(),
        "tokens_per_step": weighted(forced, "tokens"),
        "forced": forced,
        "temperatures": {
            f"{temperature:g}": _summary(written, temperature, kind) for temperature in TEMPERATURES
        },
        "speed_up": _speed_up(pair, excerpts[: task.timed], tree, task) if task.timed else None,
        "written": [vars(continuation) for continuation in written],
    }


@torch.inference_mode()
def _predicted(pair: Pair, excerpt: Excerpt) -> tuple[float, int]:
    """The excerpt's information content under the target in bits, and its size in bytes. The bits
    leave out the first token if the pair has no beginning-of-text token."""
    ids = torch.tensor(pair.encode(excerpt.text), device=pair.target.device)
    with without_cudnn_attention():
        found = pair.target.hf(input_ids=ids[None, :-1])
    logits = found.logits[0].float()  # (tokens - 1, vocab)
    nats = F.cross_entropy(logits[:, : pair.target.vocab], ids[1:], reduction="sum").item()
    return nats / math.log(2), len(excerpt.text.encode())


def _forced(pair: Pair, excerpt: Excerpt, tree: Tree) -> dict[str, Any]:
    """Teacher-forced figures of one excerpt: the number of positions, acceptance rates by rank, the
    expected tokens per step with `tree` at these rates, and the shared probability mass (the mean
    of sum(min(p, q)) at temperature 1, see `shared_mass`)."""
    counted = teacher_forced_acceptance(
        pair, [excerpt.text], SamplingParams(temperature=USUAL), ranks=RANKS, own=False
    )
    rates = counted.acceptance.rates
    return {
        "positions": counted.visited,
        "rates": list(rates),
        "tokens": expected_tokens(tree, Acceptance(rates)),
        "shared": float(shared_mass(pair, [excerpt.text]).mean()),
    }


# -- continuations ---------------------------------------------------------------------------------


def _written(
    pair: Pair, excerpts: Sequence[Excerpt], tree: Tree, task: Task, kind: str
) -> list[Continuation]:
    asked = [
        SamplingParams(temperature, max_new_tokens=task.tokens, seed=seed)
        for temperature in TEMPERATURES
        for seed in range(task.draws if temperature else 1)
    ]
    pieces = [(excerpt, params) for params in asked for excerpt in excerpts]
    return [
        _continuation(pair, excerpt, params, tree)
        for excerpt, params in tqdm(pieces, desc=f"{kind}, written", leave=False)
    ]


def _continuation(pair: Pair, excerpt: Excerpt, params: SamplingParams, tree: Tree) -> Continuation:
    steps = list(run(Decoder(pair, excerpt.prompt, params, tree)))
    ids = [token for step in steps for token in step.emitted if token not in pair.stop]
    text = pair.tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    return Continuation(
        excerpt.prompt,
        text,
        repetition(ids),
        params.temperature,
        params.seed,
        len(steps),
        len(ids),
    )


def _summary(written: Sequence[Continuation], temperature: float, kind: str) -> dict[str, float]:
    here = [each for each in written if each.temperature == temperature]
    found = {
        "repeated_8_grams": statistics.fmean(each.repetition for each in here),
        "loops": statistics.fmean(each.repetition >= REPEATED for each in here),
        "tokens_per_step": sum(each.tokens for each in here) / sum(each.steps for each in here),
    }
    return (
        {**found, "parse": statistics.fmean(each.is_code for each in here)}
        if kind == "code"
        else found
    )


def _speed_up(pair: Pair, excerpts: Sequence[Excerpt], tree: Tree, task: Task) -> dict[str, float]:
    """The time of plain decoding divided by the time with the tree, over the prompts: median,
    lowest and highest. Each prompt is decoded plainly and then with the tree. Also the mean share
    of repeated 8-grams in the texts decoded with the tree."""
    params = SamplingParams(USUAL, max_new_tokens=task.tokens, ignore_eos=True)
    ratios = []
    repeated = []
    for prompt in (excerpt.prompt for excerpt in excerpts):
        plain_seconds, _ = _timed(lambda prompt=prompt: plain(pair, prompt, params))
        tree_seconds, steps = _timed(lambda prompt=prompt: run(Decoder(pair, prompt, params, tree)))
        ratios.append(plain_seconds / tree_seconds)
        repeated.append(repetition(emitted_tokens(steps)))
    return {
        "median": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
        "repeated_8_grams": statistics.fmean(repeated),
    }


def _timed(decode: Callable[[], Iterator[StepTrace]]) -> tuple[float, list[StepTrace]]:
    started = time.perf_counter()
    steps = list(decode())
    return time.perf_counter() - started, steps


# -- the command line ------------------------------------------------------------------------------


def excerpts_of(folder: Path, kind: str, limit: int | None = None) -> list[Excerpt]:
    """The excerpts in `folder`/KIND.json, at most `limit`. Raises SequoiaError if the file is
    missing, damaged or empty."""
    path = folder / f"{kind}.json"
    try:
        found = [Excerpt(item["source"], item["prompt"], item["rest"]) for item in load_json(path)]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise SequoiaError(
            f"{str(path)[:200]!r} is not a list of excerpts: {str(problem)[:200]}"
        ) from None
    if not found:
        raise SequoiaError(f"{str(path)[:200]!r} contains no excerpts; at least 1 is needed")
    return found[:limit]


def pair_of(target: str | None, draft: str | None) -> Pair:
    """The pair to evaluate, with the bundled target or draft where None is given. Its prompts begin
    with the tokenizer's beginning-of-text token, if there is one."""
    pair = load_pair(
        target=target or str(BUNDLED_PAIR / "target"), draft=draft or str(BUNDLED_PAIR / "draft")
    )
    first = pair.tokenizer.bos_token_id
    return pair if first is None else replace(pair, begin=(first,))


@reports_errors
def main(argv: Sequence[str] | None) -> None:
    options = _options(argv)
    _check(options)
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    kinds = {kind: excerpts_of(options.excerpts, kind, options.limit) for kind in options.kinds}
    before = _before(options.before, kinds) if options.before else None
    task = Task(options.tokens, options.draws, options.timed)
    found = judge(pair_of(options.target, options.draft), kinds, task)
    if options.json:
        write_json(options.json, found)
    print(table(found, before))


def _check(options: Namespace) -> None:
    """Raises SequoiaError for a number out of bounds, or a file that cannot be written."""
    if options.limit is not None:
        whole(options.limit, "--limit", 1, MOST_EXCERPTS, SequoiaError)
    whole(options.tokens, "--tokens", 1, MOST_TOKENS, SequoiaError)
    whole(options.draws, "--draws", 1, MOST_DRAWS, SequoiaError)
    whole(options.timed, "--timed", 0, MOST_EXCERPTS, SequoiaError)
    if options.threads is not None:
        whole(options.threads, "--threads", 1, MOST_THREADS, SequoiaError)
    if options.json:
        require_writable(options.json)


def _before(path: Path, kinds: Mapping[str, Sequence[Excerpt]]) -> Any:
    """The earlier results in the file at `path`. Raises SequoiaError if --json did not write it, or
    if a kind's number of excerpts differs from that in `kinds`."""
    try:
        before = load_json(path)
        table(before, before)
        for kind, excerpts in kinds.items():
            if kind in before["kinds"]:
                same_number(len(before["kinds"][kind]["bits"]), len(excerpts))
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
    ) as problem:
        raise SequoiaError(
            f"--before: {str(path)[:200]!r}: not a file that --json wrote "
            f"({type(problem).__name__}: {str(problem)[:200]})"
        ) from None
    return before


def _options(argv: Sequence[str] | None) -> Namespace:
    task = Task()
    parser = option_parser("python -m sequoia.judge_pair", __doc__)
    add_pair_options(parser, together=False)
    parser.add_argument(
        "--before", type=Path, help="compare with these results: a file that --json wrote"
    )
    parser.add_argument(
        "--excerpts",
        type=Path,
        default=ASSETS / "judge",
        help="folder with one file of excerpts for each kind, KIND.json",
    )
    parser.add_argument("--kinds", nargs="+", default=["code", "prose"], help="kinds of excerpts")
    parser.add_argument(
        "--limit", type=int, help="maximum number of excerpts of each kind (default: all)"
    )
    parser.add_argument(
        "--tokens", type=int, default=task.tokens, help="maximum tokens per continuation"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=task.draws,
        help="continuations sampled per prompt at temperatures above 0",
    )
    parser.add_argument(
        "--timed",
        type=int,
        default=task.timed,
        help="prompts of each kind timed for the speed-up; 0 for none",
    )
    parser.add_argument("--threads", type=int, help="CPU threads (default: chosen by torch)")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    return parser.parse_args(argv)
