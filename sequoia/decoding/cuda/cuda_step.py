"""Draft and verify one step on the device, which is waited for at the end of each phase and not for
every level and trial.

For a given tree, on CUDA with Triton. The same draws, laws and rule as on the host: chance.py,
warp.py, and verify.walk as one kernel. What the host has to know comes back in one copy.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Sequence
from functools import cache, partial

import torch

from sequoia.algorithm.distributions import overflowed, target_warp
from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verify import Trial, Verdict
from sequoia.decoding.drafter import Drafted, Drafter
from sequoia.models.per_tree import PerTree
from sequoia.models.tree_forward import Context
from sequoia.models.tree_mask import TreeLayout, whole_tree_layout
from sequoia.this_machine.step_timer import Clock, Spans, synchronize

_log = logging.getLogger(__name__)
# by verifier: how Seeded draws children on a device
_DRAWS = {"sequoia": "successive", "specinfer": "repeated"}

# and what p gave each node's token, None where p was not asked
Round = tuple[Drafted, Verdict, tuple[float | None, ...]]


def fits(target: torch.device, draft: torch.device, verifier: str) -> bool:
    """Whether steps can stay on the device: both models on one graphics card, Triton there, and a
    verifier that walks."""
    return (
        target.type == "cuda"
        and target == draft
        and verifier in _DRAWS
        and importlib.util.find_spec("triton") is not None
    )


@cache
def kernel_runs(device: torch.device, vocab: int, verifier: str) -> bool:
    """Whether Triton can build the walk here and the device runs it; where it cannot, the host
    walks. Tried once for each vocabulary, which also keeps the building off the clock of a step."""
    from sequoia.decoding.cuda.verify_kernel import TRIAL, launch

    try:
        none = torch.zeros(1, dtype=torch.long, device=device)
        p = torch.full((1, vocab), 1 / vocab, dtype=torch.float64, device=device)
        trials = torch.empty(0, TRIAL, dtype=torch.float64, device=device)
        launch(p, p[:0].float(), none, none, none, none, p[0, :1], trials, _replacing(verifier))
        synchronize(device)
    except (
        Exception
    ) as problem:  # no compiler, no headers, a card too old: whatever it is, there is another way
        if isinstance(problem, torch.OutOfMemoryError):
            raise  # says nothing of the kernel
        _log.warning(
            "the walk cannot run on %s, and the host does it: %s",
            device,
            " ".join(str(problem).split())[:200],
        )
        return False
    return True


def _replacing(verifier: str) -> bool:
    """Whether `verifier` has children drawn independently."""
    return verifier == "specinfer"


def distribution_bytes(nodes: int, vocab: int) -> int:
    """Bytes of p and q of all nodes of a tree, which are on the device at once."""
    return (8 + 4) * nodes * vocab


class CudaStep:
    """The steps of one run. Call it with a step's tree."""

    def __init__(
        self,
        target: Context,
        drafter: Drafter,
        params: SamplingParams,
        verifier: str,
        chance: Seeded,
    ) -> None:
        self._target = target
        self._drafter = drafter
        self._chance = chance
        self._warp = target_warp(params)
        self._draw = getattr(chance, _DRAWS[verifier])
        self._replacing = _replacing(verifier)
        self._rows = PerTree(partial(whole_tree_layout, target), serves=Tree.is_cut_of)
        self._layout = PerTree(partial(_Layout, target.device))

    def prepare(self, tree: Tree) -> None:
        """Make ready what all steps with `tree` have in common."""
        self._rows(tree)
        self._layout(tree)

    def __call__(self, tree: Tree, clock: Clock) -> Round:
        layout = self._layout(tree)
        drafted = Drafted(self._drafter.unread[-1], tree)
        passes = Spans(self._target.model.device)
        tokens, q = self._fill(layout, drafted, passes)
        clock.add("draft", passes.total())
        with clock.phase("verify"):
            logits = self._target.forward(tokens, self._rows(tree))
        return self._walk(layout, drafted, tokens, q, self._warp(logits))

    def _fill(
        self, layout: _Layout, drafted: Drafted, passes: Spans
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens (nodes,) of the tree, and the laws (inner nodes, vocab) their children were drawn
        from. passes: the draft's."""
        tokens = torch.full(
            (len(layout.tree),), drafted.tokens[0], device=self._target.model.device
        )
        if len(layout.tree) == 1:
            return tokens, torch.empty(0, self._target.model.vocab, device=tokens.device)
        laid_out = self._drafter.laid_out(layout.tree)
        drafted.row = laid_out.row(layout.tree)
        distributions = []
        for level in layout.levels:
            with passes.span():
                logits = self._logits(level, tokens, laid_out.rows)
            distributions.append(self._drafter.warp(logits))
            drawn = self._draw(distributions[-1], level.most)  # (nodes, most)
            tokens[level.begin : level.end] = drawn[level.parent, level.rank]
        drafted.has_read = True
        return tokens, torch.cat(distributions)

    def _logits(self, level: _Level, tokens: torch.Tensor, rows: TreeLayout) -> torch.Tensor:
        """(nodes, vocab) after the nodes of `level`; the root is read with what the draft has
        not read before it."""
        context = self._drafter.context
        if level.begin == 1:
            return context.extend(self._drafter.unread)[None]
        return context.forward(tokens[level.nodes], rows)

    def _walk(
        self,
        layout: _Layout,
        drafted: Drafted,
        tokens: torch.Tensor,
        q: torch.Tensor,
        p: torch.Tensor,
    ) -> Round:
        # Triton is there on CUDA only
        from sequoia.decoding.cuda.verify_kernel import TRIAL, launch

        noise = self._chance.noise((layout.trials + 1,), p.device)
        trials = torch.zeros(layout.trials, TRIAL, dtype=torch.float64, device=p.device)
        end = launch(
            p, q, layout.row, tokens, layout.first, layout.count, noise, trials, self._replacing
        )
        below = tokens[1:]
        weights = q[layout.row[layout.parent], below].double(), p[layout.parent, below]
        unfit = torch.stack([distribution.sum(-1).isnan().any() for distribution in (q, p)])
        results = torch.cat(
            [end, unfit.double(), tokens.double(), *weights, trials.view(-1)]
        ).tolist()
        return self._read_results(layout, drafted, results)

    @staticmethod
    def _read_results(layout: _Layout, drafted: Drafted, results: Sequence[float]) -> Round:
        """The step as the host knows it, from the figures in the order in which
        `_walk` put them."""
        n = len(layout.tree)
        (done, last, bonus, bad_draft, bad_target) = map(int, results[:5])
        if bad_draft or bad_target:
            raise overflowed("draft" if bad_draft else "target")
        figures = iter(results[5:])
        drafted.tokens = [int(next(figures)) for _ in range(n)]
        drafted.probs = [next(figures) for _ in range(n - 1)]
        asked = [None, *(next(figures) for _ in range(n - 1))]
        trials = tuple(
            _trial([next(figures) for _ in range(6)], drafted.tokens) for _ in range(done)
        )
        path = layout.tree.path(last)
        visited = {*path}
        known = tuple(
            weight if layout.tree.parents[node] in visited else None
            for node, weight in enumerate(asked)
        )
        return drafted, Verdict(path, bonus, trials), known


def _trial(figures: Sequence[float], tokens: Sequence[int]) -> Trial:
    node, p, q, u, accepted, mass = figures
    return Trial(int(node), tokens[int(node)], p, q, u, bool(accepted), None if accepted else mass)


class _Level:
    """Inner nodes of one level, and where their children stand."""

    def __init__(self, tree: Tree, nodes: Sequence[int], device: torch.device) -> None:
        children = [child for node in nodes for child in tree.children[node]]
        # breadth first: all children of a level in a row
        self.begin = children[0]
        self.end = children[-1] + 1
        self.most = max(len(tree.children[node]) for node in nodes)
        place = {node: row for row, node in enumerate(nodes)}
        self.nodes = torch.tensor(nodes, device=device)
        self.parent = torch.tensor(
            [place[tree.parents[child]] for child in children], device=device
        )
        self.rank = torch.tensor([tree.ranks[child] for child in children], device=device)


class _Layout:
    """A tree as the device needs it."""

    def __init__(self, device: torch.device, tree: Tree) -> None:
        self.tree = tree
        self.levels = [_Level(tree, nodes, device) for nodes in tree.inner]
        self.trials = _most_trials(tree)
        place = {
            node: row for row, node in enumerate(node for level in tree.inner for node in level)
        }
        self.row = torch.tensor([place.get(node, 0) for node in range(len(tree))], device=device)
        self.first = torch.tensor(
            [children[0] if children else 0 for children in tree.children], device=device
        )
        self.count = torch.tensor([len(children) for children in tree.children], device=device)
        self.parent = torch.tensor(tree.parents[1:], dtype=torch.long, device=device)


def _most_trials(tree: Tree) -> int:
    """Trials that one walk can take at most: all children on the way to a leaf."""
    most = [0] * len(tree)
    for node in range(1, len(tree)):
        most[node] = most[tree.parents[node]] + tree.ranks[node] + 1
    return max(most[node] + len(tree.children[node]) for node in range(len(tree)))
