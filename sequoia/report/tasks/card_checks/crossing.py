"""Times the steps of a run whose text becomes longer than its first CUDA graphs allow. On a GPU,
new graphs are captured between two steps, so no step should have to wait for them."""

from __future__ import annotations

import statistics

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.loading.load import load_pair
from sequoia.models.cuda_graphs import STEP
from sequoia.report.tasks.found import Found

_TREE = Tree.sequences(5, 3)
_PROMPT = "def area(width, height):\n    return width * height\n\n" * 16
_TOKENS = 320


def crossing() -> Found:
    """Time the steps of a run whose text grows past STEP tokens. The first two steps only warm up
    and are left out."""
    params = SamplingParams(temperature=0.6, max_new_tokens=_TOKENS, ignore_eos=True)
    steps = [*run(Decoder(load_pair(online=False), _PROMPT, params, _TREE))][2:]
    seconds = [step.total_seconds for step in steps]
    usual = statistics.median(seconds)
    slowest = max(range(len(steps)), key=seconds.__getitem__)
    figures = {
        "usual step, seconds": usual,
        "slowest step, seconds": seconds[slowest],
        "prefix of the slowest": steps[slowest].prefix_len,
        "first prefix": steps[0].prefix_len,
        "last prefix": steps[-1].prefix_len,
        "seconds beyond the usual": sum(seconds) - usual * len(seconds),
    }
    words = (
        f"usual step {1e3 * usual:.2f} ms; slowest {1e3 * seconds[slowest]:.1f} ms after "
        f"{steps[slowest].prefix_len} tokens (on a card, the first graphs are for up to {STEP} "
        "tokens)"
    )
    return Found(words, figures)
