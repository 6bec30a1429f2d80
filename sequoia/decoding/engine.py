"""Decoding: draft a tree, verify it in one target pass, keep what was accepted; one StepTrace per
step.

`Decoder._step` reads like the algorithm in the Sequoia paper. Plain decoding is the same engine
with a tree of one node and no draft. The tree is an argument; measuring/defaults.py plans one for
this machine. step.py verifies it on the host, cuda/cuda_step.py on a GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import torch

from sequoia.algorithm.residual_heads import ResidualHead
from sequoia.algorithm.sampling import Seeded, chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, verifier_named
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.decoding.cuda.cuda_step import CudaStep, fits
from sequoia.decoding.cuda.kernel_check import kernel_problem
from sequoia.decoding.step import Drafted, Drafter, HostStep
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import OutOfMemory
from sequoia.models.draft import DraftContext
from sequoia.models.native.native_llama import one_torch_thread
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import Context
from sequoia.this_machine.memory import DeviceBytes, require_each
from sequoia.this_machine.step_timer import Clock, synchronize

_SMALLER = "; ask for fewer tokens or a smaller tree"


class Decoder:
    """The state of one run: the tokens known so far, and both models' caches. tree: one Tree
    for all steps, or another TreeChoice that gives each step its own. has_heads: whether to fill
    in `residual_heads` of the traces, outside a step's measured time. They exist only above
    temperature 0, and never with a verifier that starts at the leaves, nor in steps that a GPU
    verifies. Raises BadPrompt, BadSamplingParams or OutOfMemory."""

    def __init__(
        self,
        pair: Pair,
        prompt: str,
        params: SamplingParams,
        tree: TreeChoice,
        verifier: str = DEFAULT_VERIFIER,
        has_heads: bool = False,
    ) -> None:
        self.pair = pair
        self.params = params
        self.verifier = verifier_named(verifier)
        self.prompt = pair.encode(prompt)
        self.emitted: list[int] = []
        self.index = 0
        self.finish: str | None = None
        # at temperature 0, p is one-hot, so there is nothing to see in its residuals
        self._has_heads = has_heads and params.temperature > 0
        draft = pair.draft
        self.tree_choice = tree = draft.offered(tree)
        self._chance = chance_for(params.temperature, params.seed, draft.device)
        self._room = min(params.max_new_tokens, pair.limit - len(self.prompt))
        capacity = len(self.prompt) + self._room + tree.most
        self._target = pair.target.open(capacity)  # memory is allocated at the first pass
        drafting = draft.open(capacity if tree.most > 1 else 0)
        self._drafter = Drafter(drafting, params, self.verifier, self._chance, tree.most)
        self._draft_and_verify = self._step_on_gpu() or HostStep(
            self._target, self._drafter, params, self.verifier, self._chance
        )
        self._require_memory()

    def _step_on_gpu(self) -> CudaStep | None:
        """What drafts and verifies on the GPU, if the models' devices, the verifier and the source
        of randomness allow this and the kernel passes its check."""
        rule, chance, target = self.verifier.on_gpu, self._chance, self._target
        if rule is None or not isinstance(chance, Seeded):
            return None
        if not fits(target.device, self._drafter.context.device):
            return None
        model = target.model
        model.no_gpu_verification = kernel_problem(target.device, model.vocab, rule.replacing)
        if model.no_gpu_verification:
            return None
        return CudaStep(target, self._drafter, self.params, self.verifier, chance, rule)

    def _require_memory(self) -> None:
        """If the run does not fit in memory, free the KV caches that the models keep for later
        runs. Raises OutOfMemory if it still does not fit."""
        try:
            require_each(self.missing, "the run needs", _SMALLER)
        except OutOfMemory:
            for context in self.contexts:
                context.model.forget()
            require_each(self.missing, "the run needs", _SMALLER)

    @property
    def bytes(self) -> int:
        """Predicted bytes that the run allocates besides the weights."""
        return self.needs.total()

    @property
    def needs(self) -> DeviceBytes:
        """`bytes` by device."""
        found = sum((context.needs(self.tree_choice.most) for context in self.contexts), Counter())
        return found + self._draft_and_verify.needs(self.tree_choice.most)

    @property
    def missing(self) -> DeviceBytes:
        """The part of `needs` that is not allocated yet, by device."""
        return self.needs - sum((context.held() for context in self.contexts), Counter())

    @property
    def contexts(self) -> tuple[Context, DraftContext]:
        """The run's state on the target and on the draft."""
        return self._target, self._drafter.context

    @property
    def remaining(self) -> int:
        """Tokens that may still be emitted."""
        return self._room - len(self.emitted)

    @torch.inference_mode()
    def prefill(self) -> None:
        """Run the prompt through the target, and through the draft if the run uses it. The prompt's
        last token is left out, because it is the root of the first tree. For a fixed tree, also
        build its masks and capture CUDA graphs if the models use them."""
        if len(self.prompt) > 1:
            self._target.extend(self.prompt[:-1])
        self._drafter.prefill(self.prompt)
        if isinstance(self.tree_choice, Tree):
            self._prepare(self.tree_choice)
        # without this, the first step's clock would include the end of the prefill
        synchronize(self.pair.target.device)

    def _prepare(self, tree: Tree) -> None:
        """Build masks and capture CUDA graphs once for a tree that every step uses."""
        self._draft_and_verify.prepare(tree)
        if len(tree) > 1:
            self._drafter.passes(tree)
        self._target.capture([len(tree)])
        self._drafter.context.capture(
            {*map(len, tree.inner[1:])}, ends=(1, 2) if len(tree) > 1 else ()
        )

    @torch.inference_mode()
    def step(self) -> StepTrace:
        """Draft, verify, keep."""
        self._capture_ahead()
        with one_torch_thread(context.model for context in self.contexts):
            return self._step()

    def _step(self) -> StepTrace:
        clock = Clock(self.pair.target.device)
        shape = self.tree_choice.next(self.remaining)
        drafted, verdict, target_p = self._draft_and_verify(shape, clock)
        prefix = self._target.length
        self._target.keep(verdict.path)  # the target's layout has all nodes: rows are numbers
        self._drafter.keep(drafted, verdict)
        emitted = self._emit(drafted, verdict)
        self.tree_choice.learn(drafted.tree, verdict)
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
            level_seconds=clock.spans("draft"),
            residual_heads=self._heads(drafted, verdict),
        )
        self.index += 1
        return trace

    def _capture_ahead(self) -> None:
        """Capture CUDA graphs for longer prefixes before the step's clock starts."""
        for context in self.contexts:
            context.capture_ahead(self.tree_choice.most)

    def _heads(self, drafted: Drafted, verdict: Verdict) -> tuple[ResidualHead, ...]:
        if not self._has_heads:
            return ()
        return self._draft_and_verify.residual_heads(drafted, verdict)

    def _emit(self, drafted: Drafted, verdict: Verdict) -> tuple[int, ...]:
        """Append the tokens that the step emits to `emitted` and return them. They are cut after an
        end-of-text token (unless `ignore_eos` is set) and after `remaining` tokens. Sets `finish`
        if the run ends here."""
        accepted = [drafted.tokens[node] for node in verdict.path[1:]]
        new = [*accepted, verdict.bonus][: self.remaining]
        stop = frozenset[int]() if self.params.ignore_eos else self.pair.stop
        end = next((i for i, token in enumerate(new) if token in stop), None)
        if end is not None:
            new = new[: end + 1]
            self.finish = "eos"
        self.emitted += new
        if self.finish is None and self.remaining == 0:
            self.finish = "length" if len(self.emitted) == self.params.max_new_tokens else "context"
        return tuple(new)


def run(decoder: Decoder) -> Iterator[StepTrace]:
    """Run the prefill of `decoder`, then yield its steps until its run ends. Closing the iterator
    stops the run early."""
    try:
        decoder.prefill()
        while decoder.finish is None:
            yield decoder.step()
    finally:
        del decoder  # some versions of Python keep the variables of a closed generator


def plain(pair: Pair, prompt: str, params: SamplingParams) -> Iterator[StepTrace]:
    """Autoregressive decoding on the same engine, one token per step: the baseline of measured
    speed-ups. Raises BadPrompt or OutOfMemory when it is called, before the first step."""
    pair.require_room(prompt, params.max_new_tokens)
    return run(Decoder(pair, prompt, params, Tree.chain(1)))
