"""Steps that stay on the device. The kernel is compared with the reference walk on the same random
numbers, and whole runs are tested.

Without a GPU, Triton's interpreter runs the kernel on the CPU. The tests marked `gpu` run it
compiled.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
import torch

pytest.importorskip("triton", reason="there is no Triton for this system")

from decoded import emitted
from doors import placed_pair, verify_on_device
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.decoding.cuda import kernel_check
from sequoia.decoding.cuda.cuda_step import CudaStep, fits
from sequoia.decoding.cuda.verify_kernel import launch
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.decoding.step import HostStep
from sequoia.errors import BadModel
from sequoia.models.compare_logits import own_logits
from sequoia.models.pair import Pair
from sequoia.this_machine.step_timer import Clock

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TREES = [
    Tree.chain(1),
    Tree.chain(5),
    Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4)),
    Tree.sequences(3, 2),
    Tree.kary(2, 4),
]
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)
WARM = SamplingParams(temperature=0.8, top_p=0.9, max_new_tokens=40, ignore_eos=True, seed=2)


# -- steps and whole runs --------------------------------------------------------------------------


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    verify_on_device(monkeypatch)


def steps(
    pair: Pair, params: SamplingParams, tree: Tree, verifier: str = "sequoia"
) -> list[StepTrace]:
    decoder = Decoder(pair, PROMPTS[0], params, tree, verifier)
    assert isinstance(decoder._draft_and_verify, CudaStep)
    return list(run(decoder))


@pytest.mark.usefixtures("on_device")
def test_the_trace_of_a_step_agrees_with_the_models() -> None:
    """A node's q is the draft's probability of its token, recomputed here from the text up to its
    parent, without our cache and mask. Its p is the target's probability, or None if the parent is
    off the path. Siblings are distinct. The nodes of the accepted trials are the path below the
    root."""
    pair = placed_pair()
    prefix = list(tiny_pair().encode(PROMPTS[0]))
    params = SamplingParams(temperature=0.8, max_new_tokens=16, ignore_eos=True)
    for step in steps(pair, params, TREES[2]):
        tree = step.tree
        assert step.prefix_len == len(prefix) - 1
        for node in range(1, len(tree)):
            text = [*prefix[:-1], *(step.tokens[v] for v in tree.path(tree.parents[node]))]
            q, p = (
                (own_logits(model, text) / 0.8).softmax(-1)[step.tokens[node]]
                for model in (pair.draft, pair.target)
            )
            assert step.draft_p[node] == pytest.approx(float(q), rel=1e-3)
            if tree.parents[node] in step.verdict.path:
                assert step.target_p[node] == pytest.approx(float(p), rel=1e-3)
            else:
                assert step.target_p[node] is None
        for children in tree.children:
            assert len({step.tokens[child] for child in children}) == len(children)
        assert (
            tuple(trial.node for trial in step.verdict.trials if trial.accepted)
            == step.verdict.path[1:]
        )
        assert (
            step.emitted
            == (*(step.tokens[node] for node in step.verdict.path[1:]), step.verdict.bonus)[
                : len(step.emitted)
            ]
        )
        assert set(step.seconds) == {"draft", "verify", "overhead"}
        assert step.seconds["draft"] > 0
        prefix += step.emitted


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("which", ["target", "draft"])
def test_logits_that_overflowed_are_refused(which: str) -> None:
    pair = placed_pair()
    decoder = Decoder(pair, PROMPTS[0], WARM, TREES[2])
    model = decoder.contexts[which == "draft"].model
    forward = model.forward
    decoder.prefill()
    model.forward = lambda *given: forward(*given) * float("nan")
    with pytest.raises(BadModel, match=f"the {which}'s logits contain NaN"):
        decoder.step()


@pytest.mark.usefixtures("on_device")
def test_an_overflow_that_the_walk_does_not_reach_is_harmless() -> None:
    """As on the host, an overflow in nodes that the walk does not reach does not end the run. The
    cache slots of these nodes are zeros afterwards, because a captured pass would read them with
    weight 0, and 0 times infinity is not 0."""
    pair = placed_pair()
    decoder = Decoder(pair, PROMPTS[0], GREEDY, Tree.from_branching([3]))
    target = decoder.contexts[0].model
    forward = target.forward
    decoder.prefill()
    length = decoder.contexts[0].length

    def overflowing(*given: Any) -> torch.Tensor:
        logits = forward(*given).clone()
        if len(logits) == 4:
            for layer in given[3].cache_layers:
                layer.values[:, :, length + 1 : length + 4] = float("inf")
            logits[1:] = float("nan")
            logits[0] = 0
            logits[0, unlikely] = 1
        return logits

    unlikely = 5
    target.forward = overflowing
    step = decoder.step()
    assert (step.verdict.path, step.emitted) == ((0,), (unlikely,))
    for layer in decoder.contexts[0].kv_cache.cache_layers:
        assert layer.values[:, :, length : length + 1].isfinite().all()
        assert not layer.values[:, :, length + 1 : length + 4].any()


@pytest.mark.skipif(DEVICE == "cuda", reason="on a GPU, CUDA events give the times")
@pytest.mark.usefixtures("on_device")
def test_the_time_of_drawing_children_is_not_draft_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a profile, draft time is the time of draft passes only; drawing is overhead. A run must
    split its time in the same way, so that predictions can be compared with it."""
    clock = [0.0]
    pair = placed_pair()
    monkeypatch.setattr("sequoia.this_machine.step_timer.time.perf_counter", lambda: clock[0])
    decoder = Decoder(pair, PROMPTS[0], WARM, TREES[2])

    def slow(name: str, seconds: float) -> None:
        work = getattr(decoder._draft_and_verify, name)
        monkeypatch.setattr(
            decoder._draft_and_verify,
            name,
            lambda *given: (clock.__setitem__(0, clock[0] + seconds), work(*given))[1],
        )

    slow("_logits", 1.0)
    slow("_draw", 100.0)
    decoder.prefill()
    levels = len(TREES[2].inner)
    assert decoder.step().seconds == {
        "draft": levels * 1.0,
        "verify": 0.0,
        "overhead": levels * 100.0,
    }


def not_compiled(*_: object) -> torch.Tensor:
    raise RuntimeError("Failed to find C compiler.\n  Please specify via CC environment variable")


def other_token(*given: Any) -> torch.Tensor:
    end = launch(*given)
    end[2] += 1
    return end


def other_node(*given: Any) -> torch.Tensor:
    end = launch(*given)
    given[7][:, 0] += 1
    return end


def other_probability(*given: Any) -> torch.Tensor:
    end = launch(*given)
    given[7][:, 1] += 1e-6
    return end


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            not_compiled,
            "RuntimeError: Failed to find C compiler. Please specify via CC environment variable",
        ),
        (
            other_token,
            r"the kernel's bonus token is \d+, the reference's \d+ \(random case 1 of 10\)",
        ),
        (other_node, r"the kernel tries node 2, the reference node 1 \(random case 2 of 10\)"),
        (
            other_probability,
            r"the kernel's probabilities at node 1 are off by 1e-06 \(random case 2 of 10\)",
        ),
    ],
)
def test_where_the_kernel_fails_or_disagrees_the_host_verifies(
    fault: Any, words: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pair = placed_pair()
    kernel_check.kernel_problem.cache_clear()
    monkeypatch.setattr("sequoia.decoding.cuda.verify_kernel.launch", fault)
    decoders = [Decoder(pair, PROMPTS[0], GREEDY, TREES[2]) for _ in range(2)]
    kernel_check.kernel_problem.cache_clear()
    assert all(type(decoder._draft_and_verify) is HostStep for decoder in decoders)
    assert re.fullmatch(words, pair.target.no_gpu_verification)
    assert [record.getMessage() for record in caplog.records] == [
        f"GPU verification is off on {pair.target.device}, so the host verifies: "
        f"{pair.target.no_gpu_verification}"
    ]
    assert emitted(run(decoders[0])) == emitted(plain(pair, PROMPTS[0], GREEDY))


@pytest.mark.usefixtures("on_device")
def test_memory_that_runs_out_says_nothing_about_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    pair = placed_pair()
    kernel_check.kernel_problem.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr("sequoia.decoding.cuda.verify_kernel.launch", full)
        with pytest.raises(torch.OutOfMemoryError):
            Decoder(pair, PROMPTS[0], GREEDY, TREES[2])
    decoder = Decoder(pair, PROMPTS[0], GREEDY, TREES[2])
    assert isinstance(decoder._draft_and_verify, CudaStep)


OUT_OF_MEMORY_AT = [
    "sequoia.models.tree_forward.Context.forward",
    "sequoia.decoding.cuda.verify_kernel.launch",
    "sequoia.models.cache_and_mask.KVCache.keep",
]


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("point", OUT_OF_MEMORY_AT)
def test_memory_that_runs_out_in_a_step_ends_that_run_only(
    point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    pair = placed_pair()
    decoder = Decoder(pair, PROMPTS[0], GREEDY, TREES[2])
    decoder.prefill()
    with monkeypatch.context() as patch:
        patch.setattr(point, full)
        with pytest.raises(torch.OutOfMemoryError):
            decoder.step()
    assert emitted(steps(pair, GREEDY, TREES[2])) == emitted(plain(pair, PROMPTS[0], GREEDY))


@pytest.mark.parametrize(("target", "draft"), [("cpu", "cpu"), ("cuda:0", "cuda:1")])
def test_runs_without_both_models_on_one_gpu_stay_on_the_host(target: str, draft: str) -> None:
    assert not fits(torch.device(target), torch.device(draft))
    assert fits(torch.device("cuda:0"), torch.device("cuda:0"))


@pytest.mark.usefixtures("on_device")
def test_a_verifier_without_a_kernel_runs_on_the_host() -> None:
    decoder = Decoder(placed_pair(), PROMPTS[0], WARM, TREES[2], "topk")
    assert type(decoder._draft_and_verify) is HostStep


class GrowsToThree:
    """A dynamic tree that is complete once the root has two children."""

    def __init__(self) -> None:
        self.front: tuple[int, ...] = (0,)
        self.tree = Tree.chain(1)

    def grow(self, _distributions: torch.Tensor) -> tuple[int, ...]:
        self.front = ()
        self.tree = Tree((-1, 0, 0))
        return (2,)

    def see(self, *_drawn: object) -> None:
        """Does nothing: the shape does not depend on the draws."""


@pytest.mark.usefixtures("on_device")
def test_a_dynamic_tree_uses_the_host_step() -> None:
    found, expected = (
        Decoder(pair, PROMPTS[0], GREEDY, Tree.sequences(2, 1))
        for pair in (placed_pair(), placed_pair())
    )
    on_host = functools.partial(HostStep.__call__, expected._draft_and_verify)
    for decoder in (found, expected):
        decoder.prefill()
    clock = Clock(found.pair.target.device)
    drafted, verdict, known = found._draft_and_verify(GrowsToThree(), clock)
    fixed, same_verdict, same_known = on_host(Tree((-1, 0, 0)), clock)
    assert drafted.tree == Tree((-1, 0, 0))
    assert (drafted.tokens, verdict, known) == (fixed.tokens, same_verdict, same_known)


@pytest.mark.usefixtures("on_device")
def test_the_host_has_distributions_only_of_dynamic_trees() -> None:
    decoder = Decoder(placed_pair(), PROMPTS[0], WARM, Tree.sequences(2, 1))
    step = decoder._draft_and_verify
    clock = Clock(decoder.pair.target.device)
    decoder.prefill()
    for shape, is_known in ((GrowsToThree(), True), (Tree((-1, 0, 0)), False)):
        drafted, verdict, _ = step(shape, clock)
        assert bool(step.residual_heads(drafted, verdict)) == is_known
        decoder.contexts[0].keep(verdict.path)
        decoder._drafter.keep(drafted, verdict)
