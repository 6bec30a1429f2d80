"""Write canned.json: short runs over toy distributions, for the browser tests and the test pages in
`pages`. The tokens are drawn and verified by the real code.

    PYTHONPATH=. python tests/browser/make_canned.py

Each distribution is a mixture of three: how often each word of the text below follows the last two
words, the last word, or any word. The first weighs most for the target, the second for the draft.
Times are computed from the tree, with some noise. The runs say "recorded" only so that the page
treats them as a recording.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.residual_heads import residual_heads
from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.decoding.recorder import rounded
from sequoia.saved_files.run_file import Run

TEXT = """A small model writes a draft, and a large model reads it. The draft is not one line but a
tree: at every word the small model may go on in several ways, and each way is a branch. The large
model reads the whole tree in one pass, because a pass over many words takes hardly more time than a
pass over one word. Then the walk begins at the root. At every node the first child is held against
the law of the large model. If it is accepted, the walk goes down to it; if it is rejected, the
share of the draft is taken out of the law and the next child is tried. When no child is left, the
large model adds a word of its own from what is left of its law, and the step ends. When the walk
reaches a leaf, the large model adds one word for free. So every step adds at least one word, and a
good draft adds many. The words follow the law of the large model exactly, whatever the tree is and
however bad the draft is. A bad draft only costs time. A tree that is too small leaves words on the
table, and a tree that is too large takes time to read. The best tree for a machine depends on two
things: how often a child of each rank is accepted, and how long the machine takes to read a tree of
each size. Both can be measured before the run. At the root the first child is accepted most often,
and every later child adds less. A chain is the best tree when the first child is nearly always
right. A wide tree is the best tree when the draft is often wrong but the right word is among its
first few guesses. The river runs down from the hills to the sea, and in the morning the light lies
on the water like a sheet of glass. A fisher sits at the end of the pier and counts the boats that
leave the harbour. "There are more of them every year," she says, "and fewer fish." In the evening
the boats come back one by one, and the gulls follow them down the river as far as the bridge.
"""
RATES = (
    0.58, 0.14, 0.07, 0.04, 0.025, 0.017, 0.012, 0.009, 0.007, 0.005, 0.004, 0.003, 0.003, 0.002,
    0.002, 0.001,
)  # fmt: skip
ROOT = Path(__file__).parent


class Words:
    """The words and punctuation marks of a text, and how often each follows the 0, 1 or 2 before
    it."""

    def __init__(self, text: str) -> None:
        found = re.findall(r" ?\w+|[^\w\s]|\n", re.sub(r"\n(?!$)", " ", text))
        self.pieces = sorted(set(found))
        ids = {piece: i for i, piece in enumerate(self.pieces)}
        self.stream = [ids[piece] for piece in found]
        self.counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for n in (0, 1, 2):
            for i in range(n, len(self.stream)):
                self.counts[tuple(self.stream[i - n : i])][self.stream[i]] += 1

    def distribution(self, context: tuple[int, ...], weights: tuple[float, ...]) -> np.ndarray:
        """(vocab,) mixture of the distributions after 0, 1 and 2 words of context."""
        distribution = np.full(len(self.pieces), 1e-4)
        for n, weight in enumerate(weights):
            counts = self.counts.get(context[len(context) - n :], Counter())
            for token, count in counts.items():
                distribution[token] += weight * count / counts.total()
        return distribution / distribution.sum()

    def target(self, context: tuple[int, ...], greedy: bool) -> np.ndarray:
        distribution = self.distribution(context, (0.06, 0.44, 0.50))
        return np.eye(len(distribution))[distribution.argmax()] if greedy else distribution

    def draft(self, context: tuple[int, ...]) -> np.ndarray:
        return self.distribution(context, (0.24, 0.74, 0.02))


def step(
    words: Words, tree: Tree, prefix: list[int], chance: Seeded, index: int, greedy: bool
) -> StepTrace:
    """One step over the toy distributions: draft the tree node by node, and verify it. Its times
    are invented but plausible."""
    tokens = [prefix[-1]] + [0] * (len(tree) - 1)
    distributions = {}

    def context(node: int) -> tuple[int, ...]:
        return (*prefix[:-1][-2:], *(tokens[v] for v in tree.path(node)))[-2:]

    for node, children in enumerate(tree.children):
        if children:
            distributions[node] = words.draft(context(node))
            drawn = chance.without_replacement(
                torch.from_numpy(distributions[node]).float()[None], [len(children)]
            )[0]
            for child, token in zip(children, drawn, strict=True):
                tokens[child] = token
    p_after = lambda node: words.target(context(node), greedy)  # noqa: E731
    q_after = distributions.__getitem__
    verdict = SEQUOIA.verify(tree, tokens, p_after, q_after, chance)
    heads = () if greedy else residual_heads(tree, verdict, p_after, q_after, SEQUOIA.reject)
    reached = set(verdict.path)
    q = [None] + [
        float(distributions[parent][tokens[node]])
        for node, parent in enumerate(tree.parents)
        if node
    ]
    p = [None] + [
        float(words.target(context(parent), greedy)[tokens[node]]) if parent in reached else None
        for node, parent in enumerate(tree.parents)
        if node
    ]
    rng = np.random.default_rng(index)
    seconds = {
        "draft": (tree.levels - 1) * 0.0015 * rng.uniform(0.9, 1.15),
        "verify": (0.0072 + len(tree) * 4e-5) * rng.uniform(0.92, 1.2),
        "overhead": 0.0011 * rng.uniform(0.8, 1.6),
    }
    emitted = (*(tokens[node] for node in verdict.path[1:]), verdict.bonus)
    return StepTrace(
        index,
        len(prefix),
        tree,
        tuple(tokens),
        tuple(q),
        tuple(p),
        verdict,
        emitted,
        seconds,
        residual_heads=heads,
    )


def run(words: Words, tree: Tree, steps: int, seed: int, how: str, greedy: bool = False) -> Run:
    """A run of `steps` steps after a fixed prompt. how: where the tree comes from, in words."""
    prompt = words.stream[:9]
    prefix = list(prompt)
    chance = Seeded(seed)
    traces = []
    for index in range(steps):
        traces.append(step(words, tree, prefix, chance, index, greedy))
        prefix += traces[-1].emitted
    used = sorted({token for trace in traces for token in trace.shown_tokens})
    params = {
        "temperature": 0.0 if greedy else 1.0,
        "top_p": 1.0,
        "max_new_tokens": 4096,
        "seed": seed,
    }
    meta = {
        "label": "recorded",
        "target": "toy-trigram",
        "draft": "toy-bigram",
        "device": "no device",
        "dtype": "float64",
        "verifier": "sequoia",
        "params": params,
        "prompt": "".join(words.pieces[t] for t in prompt),
        "tree": {"nodes": len(tree), "levels": tree.levels, "description": how},
        "date": "2026-11-21",
    }
    return Run(
        meta,
        {t: words.pieces[t] for t in used},
        tuple(
            replace(trace, text=tuple(words.pieces[t] for t in trace.emitted))
            for trace in map(rounded, traces)
        ),
    )


def main() -> None:
    torch.set_num_threads(1)
    words = Words(TEXT)
    rates = Acceptance(RATES)
    plans = {
        "16": (best_tree(rates, 16), 48, False),
        "64": (best_tree(rates, 64), 48, False),
        "128": (best_tree(rates, 128), 32, False),
        "512": (best_tree(rates, 512), 8, False),
        "greedy": (best_tree(rates, 24), 24, True),
        "chain": (Tree.chain(8), 30, False),
        "one": (Tree.chain(1), 24, False),
    }
    how = {"chain": "chain", "one": "plain decoding"}
    runs = {
        name: json.loads(
            run(words, tree, steps, 7, how.get(name, "planned for toy models"), greedy).to_json()
        )
        for name, (tree, steps, greedy) in plans.items()
    }
    path = ROOT / "canned.json"
    path.write_text(
        json.dumps(runs, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n",
        encoding="utf-8",
    )
    for name, data in runs.items():
        emitted = sum(len(s["emitted"]) for s in data["steps"])
        steps = len(data["steps"])
        print(
            f"{name:>7}: {data['meta']['tree']['nodes']} nodes, {steps} steps, "
            f"{emitted / steps:.2f} tokens per step"
        )
    print(f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
