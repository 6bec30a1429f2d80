"""Tests CUDA graphs of a model's forward. With every prefix, a captured forward must give the same
logits as the forward itself. A replay gets its inputs from tensors whose addresses never change.

CudaCapture, which calls CUDA, is tested on a GPU (tests marked `gpu`). The other tests use
CountingCapture in its place.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from counting_capture import CountingCapture
from fakes import KINDS, PROMPTS, tiny_model, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import OutOfMemory
from sequoia.models import cuda_graphs
from sequoia.models.cache_and_mask import KVCache, TreeLayout, aligned
from sequoia.models.cuda_graphs import Capture, CudaCapture, GraphedForward, Replay
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import Context, TreeModel

TREE = Tree((-1, 0, 0, 1, 1, 2))
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)


def use_graphs(model: TreeModel) -> CountingCapture:
    """Make `model` capture its passes with the CountingCapture that is returned."""
    capture = CountingCapture()
    model.forward = GraphedForward(model.forward, capture)
    return capture


def logits(context: Context, prefix: int) -> list[torch.Tensor]:
    """The logits of five passes: over a prefix of `prefix` tokens, over two trees, over two tokens,
    and over one token. After the pass over a tree, one of its paths is kept."""
    with context.model.capturing():
        seen = [context.extend([i % 250 for i in range(prefix)]).clone()]
        layout = TreeLayout(context, TREE)
        for first in (3, 90):
            seen.append(context.forward([first + i for i in range(len(TREE))], layout).clone())
            context.keep([0, 2, 5])
        return [*seen, context.extend([7, 8]).clone(), context.extend([9]).clone()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_captured_forward_gives_the_same_logits(kind: str) -> None:
    plain, model = (TreeModel(tiny_model(kind), kind) for _ in range(2))
    use_graphs(model)
    for prefix in (1, 5, 60):
        for one, other in zip(
            logits(plain.open(200), prefix), logits(model.open(200), prefix), strict=True
        ):
            assert torch.allclose(one, other, atol=1e-4)


def test_one_graph_serves_every_prefix_within_its_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last pass has no prefix and uses the same cache. Its mask must hide the slots that were
    used by earlier passes with a prefix."""
    monkeypatch.setattr(cuda_graphs, "STEP", 64)
    plain, model = (TreeModel(tiny_model("llama"), "llama") for _ in range(2))
    capture = use_graphs(model)
    context = model.open(400)
    other = plain.open(400)
    layout, other_layout = (TreeLayout(one, TREE) for one in (context, other))
    for step in range(50):
        tokens = [(7 * step + i) % 250 for i in range(len(TREE))]
        assert torch.allclose(
            context.forward(tokens, layout), other.forward(tokens, other_layout), atol=1e-4
        )
        kept = [0, 1, 3] if step % 3 else [0]
        context.keep(kept)
        other.keep(kept)
    assert context.length == 116
    del context, layout
    short, other_short = model.open(400), plain.open(400)
    assert short.kv_cache.written == 0
    found, expected = (
        one.forward([5] * len(TREE), TreeLayout(one, TREE)) for one in (short, other_short)
    )
    assert torch.allclose(found, expected, atol=1e-4)
    assert capture.count == 2


def test_no_step_waits_for_a_capture_when_the_text_grows_beyond_a_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Captures are made between steps, before the first pass that needs them."""
    monkeypatch.setattr(cuda_graphs, "STEP", 64)
    pair = _with_plain_forward(tiny_pair())
    params = SamplingParams(max_new_tokens=300, ignore_eos=True)
    expected = [step.emitted for step in run(Decoder(pair, PROMPTS[0], params, TREE))]
    in_a_step = [False]
    captures = []  # for each capture, whether it was made during a step
    for model in (pair.target, pair.draft):
        use_graphs(model)
        graphs = model.graphs
        assert graphs is not None
        graphs._capture_work = _noting(graphs._capture_work, in_a_step, captures)
    decoder = Decoder(pair, PROMPTS[0], params, TREE)
    usual = decoder._draft_and_verify

    def step(*given: object) -> object:
        in_a_step[0] = True
        found = usual(*given)
        in_a_step[0] = False
        return found

    decoder._draft_and_verify = step
    step.prepare = usual.prepare
    step.residual_heads = usual.residual_heads
    decoder.prefill()
    found = []
    while decoder.finish is None:
        found.append(decoder.step().emitted)
    assert found == expected
    assert decoder.contexts[0].length > 4 * cuda_graphs.STEP
    # The token limit cuts the last trees to other sizes. These are too rare to be captured.
    assert not any(captures)
    # four sizes, each at the reaches 64, 128, 192, 256 and 384
    assert len(captures) == 4 * 5


def _noting(capture: Capture, in_a_step: list[bool], captures: list[bool]) -> Capture:
    def noted(work: Replay) -> Replay:
        captures.append(in_a_step[0])
        return capture(work)

    return noted


def _with_plain_forward(pair: Pair) -> Pair:
    """`pair`, with the forward of `transformers` in place of a faster one."""
    for model in (pair.target, pair.draft):
        model.forward = TreeModel(model.hf, model.name).forward
    return pair


def test_running_out_of_memory_once_does_not_end_capturing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = TreeModel(tiny_model(), "llama")
    capture = use_graphs(model)
    full = [True]

    def capture_when_there_is_memory(
        work: Callable[[], torch.Tensor],
    ) -> Callable[[], torch.Tensor]:
        if full.pop() if full else False:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return capture(work)

    model.forward._capture_work = capture_when_there_is_memory
    context = model.open(100)
    context.capture([4])
    assert (capture.count, model.forward.failed) == (0, None)
    assert [one.getMessage() for one in caplog.records] == [
        "no memory to capture a CUDA graph for 4 rows; passes of this size run without one for now"
    ]
    context.capture([4])
    assert capture.count == 1


def test_a_run_is_not_refused_for_a_cache_that_is_allocated_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Guards against counting the KV cache twice when a second run takes over that of the first."""
    pair = _with_plain_forward(tiny_pair())
    for model in (pair.target, pair.draft):
        use_graphs(model)
    first = Decoder(pair, PROMPTS[0], GREEDY, TREE)
    needs = first.needs
    missing = first.missing
    assert missing == needs
    next(run(first))
    assert first.needs == needs
    caches = sum((context._cache_bytes() for context in first.contexts), Counter())
    assert first.missing == needs - caches
    left = first.missing
    del first
    asked: list[object] = []
    monkeypatch.setattr(
        "sequoia.decoding.engine.require_each", lambda needed, *_: asked.append(needed)
    )
    Decoder(pair, PROMPTS[0], GREEDY, TREE)
    assert asked == [left]


def constant(work: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """A stand-in for a capture. Like a CUDA graph, it keeps the result but not `work`."""
    result = work()
    return lambda: result


def test_the_cache_of_a_finished_run_goes_to_the_next_one_with_its_graphs() -> None:
    model = TreeModel(tiny_model(), "llama")
    capture = use_graphs(model)
    first = model.open(100)
    first.capture([6])
    first.extend(range(20))
    kv_cache = first.kv_cache
    keys = first.kv_cache.cache_layers[0].keys
    assert capture.count == 1
    del first
    second = model.open(300)  # the same capacity, rounded up
    assert second.kv_cache is kv_cache
    assert (kv_cache.length, kv_cache.written, int(keys.count_nonzero())) == (0, 0, 0)
    second.capture([6])
    assert capture.count == 1
    assert model.open(300).kv_cache is not kv_cache  # it is in use


def test_a_run_that_does_not_fit_frees_the_caches_of_finished_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = _with_plain_forward(tiny_pair())
    use_graphs(pair.target)
    pair.target.open(100)
    assert pair.target.graphs is not None
    spares = []

    def require(*_: object) -> None:
        spares.append(len(pair.target.graphs._spares))
        if len(spares) == 1:
            raise OutOfMemory("the run needs too much")

    monkeypatch.setattr("sequoia.decoding.engine.require_each", require)
    pair.target.graphs.release(KVCache(2, 64))
    Decoder(pair, PROMPTS[0], GREEDY, TREE)
    assert spares == [1, 0]


@pytest.mark.parametrize("other", [600, None])
def test_a_cache_that_no_run_takes_is_freed(other: int | None) -> None:
    """Guards against graphs that keep their cache alive: every run's cache and graphs would stay
    for good."""
    model = TreeModel(tiny_model(), "llama")
    model.forward = GraphedForward(model.forward, constant)
    context = model.open(100)
    context.capture([6])
    kv_cache = weakref.ref(context.kv_cache)
    del context
    assert kv_cache() is not None
    model.open(other) if other else model.forget()
    assert kv_cache() is None


def test_a_capture_uses_positions_that_the_model_has() -> None:
    """Near the end of the model's context, a tree can have more nodes than there are positions
    left. On a GPU, all work fails once a pass has used a position that the model lacks."""
    model = TreeModel(tiny_model("gpt2"), "gpt2")
    capture = use_graphs(model)
    nodes = model.limit + 8
    model.open(model.limit + nodes).capture([nodes])
    assert capture.count == 1


def test_the_rows_of_a_mask_on_a_gpu_are_aligned_to_16_bytes() -> None:
    rows, columns = 4, 40
    mask = torch.randn(rows, columns + 20)[None, None, :, 3 : 3 + columns]
    for times in (1, 3):
        found = aligned(mask, times)
        assert torch.equal(found, mask.repeat(1, 1, times, 1))
        assert all(found[0, 0, row].data_ptr() % 16 == 0 for row in range(times * rows))


@pytest.mark.gpu
def test_random_numbers_can_be_drawn_after_a_failed_capture() -> None:
    capture = CudaCapture(torch.device("cuda", 0))
    with pytest.raises(RuntimeError):
        capture(lambda: torch.zeros(1, device="cuda").cpu())
    assert torch.rand(4, device="cuda").sum() > 0


@pytest.mark.gpu
def test_capturing_works_after_all_graphs_of_a_run_are_dropped() -> None:
    """Guards against a shared memory pool that is closed for good with a run's last graph."""
    model = TreeModel(tiny_model().cuda(), "llama")
    model.forward = GraphedForward(model.forward, CudaCapture(model.device))
    for capacity in (100, 600, 1200):
        model.open(capacity).capture([4, 8])
    assert model.forward.failed is None


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_cuda_graphs_give_the_logits_of_the_model(kind: str) -> None:
    plain, model = (TreeModel(tiny_model(kind).cuda(), kind) for _ in range(2))
    model.forward = GraphedForward(model.forward, CudaCapture(model.device))
    for one, other in zip(logits(plain.open(200), 5), logits(model.open(200), 5), strict=True):
        assert torch.allclose(one, other, atol=1e-3)
    assert model.forward.failed is None
