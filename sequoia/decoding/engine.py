"""Decoding: draft a tree, verify it in one target forward, keep what was accepted;
one StepTrace a step.

`step` reads as the paper's algorithm. Plain decoding is the same engine with a tree of one node
and no draft. Knows nothing of planning: a tree comes in as a value (see measuring/defaults.py for
the one planned for this machine); nor of where a step is verified (see choose_step.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import torch

from sequoia.algorithm.sampling import Chance, chance_for
from sequoia.algorithm.sampling_params import Policy
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, verifier_named
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.decoding.choose_step import step_for
from sequoia.decoding.drafter import Drafted, Drafter
from sequoia.decoding.tree_choice import Fixed, Shaper
from sequoia.errors import BadTree
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import Context
from sequoia.this_machine.memory import require_each
from sequoia.this_machine.step_timer import Clock, finish

_SMALLER = "; ask for fewer tokens or a smaller tree"


class Decoder:
    """The state of one run: the tokens known so far, and both models' caches. `tree`: one
    for all steps, or a Shaper that gives each step its own. Raises BadPrompt, BadTree,
    BadPolicy or OutOfMemory."""

    def __init__(
        self,
        pair: Pair,
        prompt: str,
        policy: Policy,
        tree: Tree | Shaper,
        verifier: str = DEFAULT_VERIFIER,
        chance: Chance | None = None,
    ) -> None:
        self.pair = pair
        self.policy = policy
        self.shaper: Shaper = Fixed(tree) if isinstance(tree, Tree) else tree
        self.verifier = verifier_named(verifier)
        self.prompt = pair.encode(prompt)
        self.emitted: list[int] = []
        self.index = 0
        self.finish: str | None = None
        self._chance = chance or chance_for(policy.temperature, policy.seed, pair.draft.device)
        _check_branching(self.shaper, pair)
        capacity = min(len(self.prompt) + policy.max_new_tokens, pair.limit) + self.shaper.most
        self._target = pair.target.open(capacity)  # slots are made at the first use
        draft = pair.draft.cooled(policy.temperature).open(capacity if self.shaper.most > 1 else 0)
        self._drafter = Drafter(draft, policy, self.verifier, self._chance, self.shaper.most)
        self._draft_and_verify = step_for(
            self._target, self._drafter, policy, self.verifier, self._chance
        )
        require_each(self.missing, "the run needs", _SMALLER)

    @property
    def bytes(self) -> int:
        """What the run will keep allocated, beside the weights: all but the short-lived results of
        single operations."""
        return self.needs.total()

    @property
    def needs(self) -> Counter[torch.device]:
        """Those bytes by device."""
        found = sum((context.needs(self.shaper.most) for context in self.contexts), Counter())
        return found + self._draft_and_verify.needs(self.shaper.most)

    @property
    def missing(self) -> Counter[torch.device]:
        """Those of them that are not allocated yet, by device."""
        return self.needs - sum((context.held() for context in self.contexts), Counter())

    @property
    def contexts(self) -> tuple[Context, Context]:
        """The run's state on the target and on the draft."""
        return self._target, self._drafter.context

    @property
    def remaining(self) -> int:
        """Tokens that may still be emitted."""
        return min(self.policy.max_new_tokens, self.pair.limit - len(self.prompt)) - len(
            self.emitted
        )

    @torch.inference_mode()
    def prefill(self) -> None:
        """Read the prompt but for its last token, which is the first root."""
        if len(self.prompt) > 1:
            self._target.extend(self.prompt[:-1])
        self._drafter.read(self.prompt)
        if isinstance(self.shaper, Fixed):
            self._lay_out(self.shaper.tree)
        finish(self.pair.target.device)  # or the first step would be charged with the rest of it

    def _lay_out(self, tree: Tree) -> None:
        """Make ready what all steps with `tree` have in common."""
        self._draft_and_verify.lay_out(tree)
        if len(tree) > 1:
            self._drafter.laid_out(tree)
        self._target.rehearse([len(tree)])
        self._drafter.context.rehearse(
            {*map(len, tree.inner[1:])}, ends=(1, 2) if len(tree) > 1 else ()
        )

    @torch.inference_mode()
    def step(self) -> StepTrace:
        """Draft, verify, keep."""
        clock = Clock(self.pair.target.device)
        shape = self.shaper.next(self.remaining)
        drafted, verdict, target_p = self._draft_and_verify(shape, clock)
        prefix = self._target.length
        self._target.keep(verdict.path)
        self._drafter.keep(drafted, verdict)
        emitted = self._emit(drafted, verdict)
        self.shaper.learn(drafted.tree, verdict)
        trace = StepTrace(
            self.index,
            prefix,
            drafted.tree,
            tuple(drafted.tokens),
            (None, *drafted.probs),
            target_p,
            verdict,
            emitted,
            clock.stop(),
            self.finish,
        )
        self.index += 1
        return trace

    def _emit(self, drafted: Drafted, verdict: Verdict) -> tuple[int, ...]:
        """The step's tokens, cut after an end of text or at the limit; sets `finish`."""
        new = [*(drafted.tokens[node] for node in verdict.path[1:]), verdict.bonus][
            : self.remaining
        ]
        end = next(
            (
                i
                for i, token in enumerate(new)
                if token in self.pair.stop and not self.policy.ignore_eos
            ),
            None,
        )
        if end is not None:
            new = new[: end + 1]
            self.finish = "eos"
        self.emitted += new
        if self.finish is None and self.remaining == 0:
            self.finish = "length" if len(self.emitted) == self.policy.max_new_tokens else "context"
        return tuple(new)


def _check_branching(shaper: Shaper, pair: Pair) -> None:
    if shaper.widest > pair.draft.vocab:
        raise BadTree(
            f"a node of the tree has {shaper.widest} children; the models have only "
            f"{pair.draft.vocab} tokens"
        )


def run(decoder: Decoder) -> Iterator[StepTrace]:
    """Steps of `decoder` until its run ends. Closing the iterator ends it at once; nothing else
    holds the caches."""
    decoder.prefill()
    while decoder.finish is None:
        yield decoder.step()


def plain(pair: Pair, prompt: str, policy: Policy) -> Iterator[StepTrace]:
    """Autoregressive decoding on the same engine, one token a step: the baseline of
    every speed-up shown."""
    pair.require_room(pair.encode(prompt), policy.max_new_tokens)
    return run(Decoder(pair, prompt, policy, Tree.chain(1)))
