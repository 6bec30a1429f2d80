"""Decoding: draft a tree, verify it in one target forward, keep what was accepted; one StepTrace a step.

`step` reads as the paper's algorithm. Plain decoding is the same engine with a tree of one node and no draft.
Knows nothing of planning: a tree comes in as a value (see auto.py for the one planned for this machine).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch

from .chance import Chance, chance_for
from .errors import BadPolicy, BadTree
from .guarded import shown
from .models import Context, Rows
from .pair import Pair
from .policy import Policy
from .trace import StepTrace
from .tree import Tree
from .verify import VERIFIERS, Verdict, Verifier
from .warp import draft_rows, target_rows


def verifier_named(name: str) -> Verifier:
    """The verifier called `name`; BadPolicy lists the known ones."""
    if not isinstance(name, str) or name not in VERIFIERS:
        raise BadPolicy(f"unknown verifier {shown(name)}; known are {', '.join(VERIFIERS)}")
    return VERIFIERS[name]


class Decoder:
    """The state of one run: the tokens known so far, and both models' caches. Raises BadPrompt, BadTree or BadPolicy."""

    def __init__(self, pair: Pair, prompt: str, policy: Policy, tree: Tree, verifier: str = "sequoia",
                 chance: Chance | None = None) -> None:
        self.pair, self.policy, self.tree = pair, policy, tree
        self.verifier = verifier_named(verifier)
        self.prompt = pair.encode(prompt)
        self.emitted: list[int] = []
        self.index = 0
        self.finish: str | None = None
        self._chance = chance or chance_for(policy.temperature, policy.seed, pair.draft.device)
        _check_branching(tree, pair)
        self._laid_out: Layout | None = None
        capacity = min(len(self.prompt) + policy.max_new_tokens, pair.limit) + len(tree)
        self._target = pair.target.open(capacity)
        self._draft = pair.draft.open(capacity if len(tree) > 1 else 0)  # slots are made at the first use
        self._unread: tuple[int, ...] = self.prompt  # tokens the draft has not read; the last is the root of the next tree

    @property
    def remaining(self) -> int:
        """Tokens that may still be emitted."""
        return min(self.policy.max_new_tokens, self.pair.limit - len(self.prompt)) - len(self.emitted)

    @torch.inference_mode()
    def prefill(self) -> None:
        """Read the prompt but for its last token, which is the first root."""
        if len(self.prompt) > 1:
            self._target.extend(self.prompt[:-1])
            if len(self.tree) > 1:
                self._draft.extend(self.prompt[:-1])
        self._unread = self.prompt[-1:]

    @torch.inference_mode()
    def step(self) -> StepTrace:
        """Draft, verify, keep."""
        clock = Clock()
        layout = self._layout(self.tree.limit(self.remaining))
        drafted = self._draft_tree(layout, clock)
        verdict, target_p = self._verify(layout, drafted, clock)
        prefix = self._target.length
        self._keep(layout, drafted, verdict)
        emitted = self._emit(drafted, verdict)
        trace = StepTrace(self.index, prefix, layout.tree, tuple(drafted.tokens), tuple(drafted.probs), target_p, verdict,
                          emitted, clock.stop(), self.finish)
        self.index += 1
        return trace

    def _layout(self, tree: Tree) -> Layout:
        """`tree` laid out; the last one is kept, as its masks are large and all but a run's last steps use one tree."""
        if self._laid_out is None or self._laid_out.tree != tree:
            self._laid_out = Layout(tree, self._target, self._draft)
        return self._laid_out

    def _draft_tree(self, layout: Layout, clock: Clock) -> Drafted:
        """One draft forward a level, over the nodes that have children."""
        drafted = Drafted(layout.tree, self._unread[-1])
        for depth, nodes in enumerate(layout.tree.inner):
            with clock.phase("draft"):
                if depth == 0:
                    logits = self._draft.extend(self._unread)[None]
                else:
                    logits = self._draft.forward([drafted.tokens[node] for node in nodes], layout.draft_rows)  # (nodes, vocab)
            drafted.grow(nodes, draft_rows(logits, self.policy), self.verifier, self._chance)
        return drafted

    def _verify(self, layout: Layout, drafted: Drafted, clock: Clock) -> tuple[Verdict, tuple[float | None, ...]]:
        with clock.phase("verify"):
            logits = self._target.forward(drafted.tokens, layout.target_rows)  # (nodes, vocab)
        visited: dict[int, np.ndarray] = {}

        def p(node: int) -> np.ndarray:
            visited[node] = target_rows(logits[node], self.policy).cpu().numpy()
            return visited[node]

        verdict = self.verifier.verify(layout.tree, drafted.tokens, p, drafted.q, self._chance)
        target_p: list[float | None] = [None] * len(layout.tree)
        for node, law in visited.items():
            for child in layout.tree.children[node]:
                target_p[child] = float(law[drafted.tokens[child]])
        return verdict, tuple(target_p)

    def _keep(self, layout: Layout, drafted: Drafted, verdict: Verdict) -> None:
        """Both caches go down the accepted path; what the draft has not read yet it reads with the next root."""
        self._target.keep(verdict.path)
        last = verdict.path[-1]
        self._unread = (verdict.bonus,)
        if len(layout.tree) > 1:
            self._draft.keep([layout.draft_row[node] for node in verdict.path[1:] if node in layout.draft_row])
            if last and last not in layout.draft_row:
                self._unread = (drafted.tokens[last], verdict.bonus)

    def _emit(self, drafted: Drafted, verdict: Verdict) -> tuple[int, ...]:
        """The step's tokens, cut after an end of text or at the limit; sets `finish`."""
        new = [*(drafted.tokens[node] for node in verdict.path[1:]), verdict.bonus][:self.remaining]
        end = next((i for i, token in enumerate(new) if token in self.pair.stop and not self.policy.ignore_eos), None)
        if end is not None:
            new, self.finish = new[:end + 1], "eos"
        self.emitted += new
        if self.finish is None and self.remaining == 0:
            self.finish = "length" if len(self.emitted) == self.policy.max_new_tokens else "context"
        return tuple(new)


class Layout:
    """A tree laid out for one run's two caches: masks and depths of the rows, and where each drafted node's row is."""

    def __init__(self, tree: Tree, target: Context, draft: Context) -> None:
        self.tree, self._draft = tree, draft
        self.target_rows = Rows(tree, range(len(tree)), target)
        self._inner = [node for level in tree.inner[1:] for node in level]  # the root is read with the prefix
        self.draft_row = {node: row for row, node in enumerate(self._inner)}

    @cached_property
    def draft_rows(self) -> Rows:
        return Rows(self.tree, self._inner, self._draft, below=1)


class Drafted:
    """A tree being filled with tokens, level by level."""

    def __init__(self, tree: Tree, root: int) -> None:
        self._tree = tree
        self.tokens = [root] + [0] * (len(tree) - 1)
        self.probs: list[float | None] = [None] * len(tree)
        self._laws: dict[int, tuple[torch.Tensor, int]] = {}

    def grow(self, nodes: tuple[int, ...], laws: torch.Tensor, verifier: Verifier, chance: Chance) -> None:
        """Draw the children of `nodes` from their laws, (nodes, vocab)."""
        drawn = verifier.draw(chance, laws, max(len(self._tree.children[node]) for node in nodes))  # (nodes, k)
        tokens, probs = drawn.tolist(), laws.gather(1, drawn).tolist()
        for row, node in enumerate(nodes):
            self._laws[node] = laws, row
            for rank, child in enumerate(self._tree.children[node]):
                self.tokens[child], self.probs[child] = tokens[row][rank], probs[row][rank]

    def q(self, node: int) -> np.ndarray:
        laws, row = self._laws[node]
        return laws[row].cpu().numpy()


class Clock:
    """Wall time of one step by phase; what is in no phase is overhead."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._seconds = {"draft": 0.0, "verify": 0.0}

    def phase(self, name: str) -> _Phase:
        return _Phase(self._seconds, name)

    def stop(self) -> dict[str, float]:
        total = time.perf_counter() - self._start
        return {**self._seconds, "overhead": total - sum(self._seconds.values())}


class _Phase:
    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self._seconds, self._name = seconds, name

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._name] += time.perf_counter() - self._start


def _check_branching(tree: Tree, pair: Pair) -> None:
    widest = max(map(len, tree.children))
    if widest > pair.draft.vocab:
        raise BadTree(f"a node of the tree has {widest} children; the models have only {pair.draft.vocab} tokens")


def run(decoder: Decoder) -> Iterator[StepTrace]:
    """Steps of `decoder` until its run ends. Closing the iterator ends it at once; nothing else holds the caches."""
    decoder.prefill()
    while decoder.finish is None:
        yield decoder.step()


def plain(pair: Pair, prompt: str, policy: Policy) -> Iterator[StepTrace]:
    """Autoregressive decoding on the same engine, one token a step: the baseline of every speed-up shown."""
    return run(Decoder(pair, prompt, policy, Tree.chain(1)))
